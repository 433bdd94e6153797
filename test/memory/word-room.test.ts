// Memory for words: what each owner uses, and who may add more when little is left.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toWire } from '../../src/domain/wire.ts';
import { bytesOfWords, WordRoom } from '../../src/memory/word-room.ts';
import { WordIndex } from '../../src/words/word-index.ts';
import { Chance } from '../support/random.ts';

const settle = (index: WordIndex) => {
  while (!index.isSettled) index.settle();
};
const USE = 6;
const WORD = 44;

describe('the memory that words of an owner take', () => {
  it('is shared out completely, however events come, change and go', () => {
    const chance = new Chance(30);
    const index = new WordIndex(1);
    const events = new Map<number, Set<string>>();
    for (let round = 0; round < 3_000; round++) {
      const handle = chance.integer(1, 60);
      if (chance.chance(0.3)) {
        index.drop(handle);
        settle(index);
        events.delete(handle);
      } else {
        const words = Array.from({ length: chance.integer(0, 12) }, () => `w${chance.integer(0, 300)}`);
        index.put(handle, toWire(words.join(' ')), handle % 4);
        events.set(handle, new Set(words));
      }
      const uses = [...events.values()].reduce((sum, { size }) => sum + size, 0);
      const all = [0, 1, 2, 3].reduce((sum, owner) => sum + index.bytesOf(owner), 0);
      assert.equal(all, USE * uses + WORD * index.size);
      for (const owner of [0, 1, 2, 3]) {
        const own = [...events].filter(([handle]) => handle % 4 === owner).flatMap(([, words]) => [...words]);
        const bytes = index.bytesOf(owner);
        const [least, most] = [USE * own.length, USE * own.length + WORD * new Set(own).size];
        assert.ok(bytes >= least && bytes <= most, `${least} ≤ ${bytes} ≤ ${most}`);
      }
    }
  });

  it('cannot be left to others: whoever still has the words pays for them', () => {
    const index = new WordIndex(1);
    const words = toWire(Array.from({ length: 1_000 }, (_, at) => `w${at}`).join(' '));
    index.put(1, words, 1);
    index.put(2, words, 2);
    assert.deepEqual([index.bytesOf(1), index.bytesOf(2)], [50_000, 6_000]);
    index.drop(1);
    settle(index);
    assert.deepEqual([index.bytesOf(1), index.bytesOf(2)], [0, 50_000]);
  });
});

describe('WordRoom', () => {
  it('reserves as long as the owner uses at most eight times as much as is left', () => {
    const room = new WordRoom(1_000);
    assert.ok(room.reserve(100, 0, 0));
    assert.equal(room.reserve(100, 0, 840), undefined, 'what is being stored counts');
    const other = new WordRoom(1_000);
    assert.equal(other.reserve(50, 800, 820), undefined);
    assert.ok(other.reserve(50, 100, 820));
  });

  it('ends a reservation once', () => {
    const room = new WordRoom(1_000);
    const end = room.reserve(600, 0, 0)!;
    assert.equal(room.reserve(600, 0, 0), undefined);
    end();
    end();
    assert.ok(room.reserve(600, 0, 0));
    assert.equal(room.reserve(600, 0, 0), undefined);
  });

  it('lets nobody use all of it, however many try, and those who use less still add something', () => {
    const limit = 1_000_000;
    const room = new WordRoom(limit);
    const used = Array<number>(20).fill(0);
    const total = () => used.reduce((sum, bytes) => sum + bytes, 0);
    let isFull = false;
    while (!isFull) {
      isFull = true;
      for (const [owner, own] of used.entries()) {
        const end = room.reserve(100, own, total());
        if (!end) continue;
        used[owner]! += 100;
        end();
        isFull = false;
      }
    }
    assert.ok(total() > limit * 0.9 && total() < limit * 0.95, `${total()}`);
    assert.ok(room.reserve(1_000, 0, total()), 'a newcomer');
    assert.ok(room.reserve(1_000, used[0]! / 2, total()));
  });

  it('refuses nothing without a limit', () => {
    const room = new WordRoom(Number.POSITIVE_INFINITY);
    assert.ok(room.reserve(1e12, 1e12, 1e12));
  });

  it('counts words beyond those that an event had', () => {
    assert.equal(bytesOfWords(toWire('a b c'), 0), 150);
    assert.equal(bytesOfWords(toWire('a b c'), 3), 0);
    assert.equal(bytesOfWords(toWire('a b c'), 5), -100);
  });
});
