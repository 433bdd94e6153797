// Memory for words: what each owner uses, and who may add more when little is left.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Words } from '../../src/domain/events/words.ts';
import { toWire } from '../../src/domain/wire.ts';
import { bytesOfWords, WordRoom } from '../../src/memory/word-room.ts';
import { WordIndex } from '../../src/words/word-index.ts';
import { Chance } from '../support/random.ts';

const settle = (index: WordIndex) => {
  while (!index.isSettled) index.settle();
};
const sum = (words: ReadonlySet<string>) =>
  [...words].reduce((bytes, { length }) => bytes + wordBytes(length), 0);
const USE = 6;
/** A word of `length` bytes, without its uses. */
const wordBytes = (length: number) => 38 + length;

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
      const distinct = new Set([...events.values()].flatMap((words) => [...words]));
      assert.equal(index.size, distinct.size);
      assert.equal(all, USE * uses + sum(distinct));
      for (const owner of [0, 1, 2, 3]) {
        const own = [...events].filter(([handle]) => handle % 4 === owner).flatMap(([, words]) => [...words]);
        const bytes = index.bytesOf(owner);
        const [least, most] = [USE * own.length, USE * own.length + sum(new Set(own))];
        assert.ok(bytes >= least && bytes <= most, `${least} ≤ ${bytes} ≤ ${most}`);
      }
    }
  });

  it('cannot be left to others: whoever still has the words pays for them', () => {
    const index = new WordIndex(1);
    const words = toWire(Array.from({ length: 1_000 }, (_, at) => `w${at + 10_000}`).join(' '));
    index.put(1, words, 1);
    index.put(2, words, 2);
    assert.deepEqual([index.bytesOf(1), index.bytesOf(2)], [50_000, 6_000]);
    index.drop(1);
    settle(index);
    assert.deepEqual([index.bytesOf(1), index.bytesOf(2)], [0, 50_000]);
  });
});

describe('the memory that other words take', () => {
  const wordsFrom = (first: number, count: number, length: number) =>
    toWire(Array.from({ length: count }, (_, at) => `${first + at}`.padStart(length, 'w')).join(' '));

  it('is counted with the bytes of long words, and so is their owner', () => {
    for (const length of [100, 990]) {
      const index = new WordIndex(1);
      const count = Math.floor(10_000 / length);
      for (let handle = 1; handle <= 800; handle++)
        index.put(handle, wordsFrom(handle * 10_000, count, length), 1);
      const counted = index.bytesOf(1);
      const [used, most] = [index.bytes, 800 * bytesOfWords(wordsFrom(0, count, length))];
      assert.ok(Math.abs(counted / used - 1) < 0.25, `${length}: ${counted} of ${used}`);
      assert.ok(most >= counted && most < 1.2 * counted, `${length}: ${most} for ${counted}`);
    }
  });

  it('is all that an event had alone, and none of what other events have, too', () => {
    const index = new WordIndex(1);
    const [shared, own, fresh] = [1, 2, 3].map((at) => wordsFrom(at * 10_000, 100, 10)) as [
      Words,
      Words,
      Words,
    ];
    index.put(1, shared, 1);
    index.put(2, shared, 1);
    index.put(3, own, 1);
    const whole = 100 * (wordBytes(10) + USE);
    assert.equal(index.growthOf(fresh, 1), whole - 100 * USE, 'the other event keeps the words');
    assert.equal(index.growthOf(fresh, 3), 0);
    assert.equal(index.growthOf(own, 3), 0);
    assert.equal(index.growthOf(toWire(''), 3), -whole);
    assert.equal(index.growthOf(own, 1), whole - 100 * USE, 'event 3 may lose them first');
    assert.equal(index.growthOf(own, 4), whole, 'no event yet');
    assert.equal(index.growthOf(toWire(`${own} one one`), 3), wordBytes(3) + USE);
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

  it('leaves little to new words, until those of stored events were read', async () => {
    const room = new WordRoom(100_000);
    const reading = Promise.withResolvers<void>();
    const reserve = (bytes: number, allRead?: Promise<void>) => room.reserve(bytes, 0, 0, allRead);
    assert.equal(reserve(3_000, reading.promise), undefined);
    reserve(2_000, reading.promise)!(); // it has been stored; it still counts
    assert.equal(reserve(2_000, reading.promise), undefined, 'what was stored meanwhile counts');
    assert.ok(reserve(100, reading.promise));
    reading.resolve();
    await reading.promise;
    assert.equal(reserve(84_500), undefined);
    assert.ok(reserve(84_000), 'all of it is free again');
  });
});
