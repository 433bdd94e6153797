import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WordsByEvent } from '../../src/words/words-by-event.ts';
import { Chance } from '../support/random.ts';

const HANDLES = 500;

describe('the words of events', () => {
  it('come back as they were put, for numbers of one to four bytes, while events change', () => {
    const chance = new Chance(5);
    const words = new WordsByEvent();
    words.grow(HANDLES);
    const expected = new Map<number, number[]>();
    const randomWord = () => {
      const end = 2 ** (7 * chance.integer(1, 4));
      return chance.pick([1, end - 1, Math.min(end, 2 ** 28 - 1), chance.integer(1, end - 1)]);
    };
    for (let change = 0; change < 20_000; change++) {
      const handle = chance.integer(0, HANDLES - 1);
      const length = chance.chance(0.01) ? chance.integer(100, 2_000) : chance.integer(0, 30);
      const put = Array.from({ length }, randomWord);
      if (length === 0) words.clear(handle);
      else words.set(handle, Int32Array.from(put));
      expected.set(handle, put);
      const other = chance.integer(0, HANDLES - 1);
      assert.deepEqual([...words.read(other)], expected.get(other) ?? []);
    }
  });

  it('take one byte for each of the first words', () => {
    const words = new WordsByEvent();
    words.grow(100_000);
    const empty = words.bytes;
    for (let handle = 0; handle < 100_000; handle++)
      words.set(handle, Int32Array.of(1, 2, 3, 4, 125, 126, 127, 1));
    const perWord = (words.bytes - empty) / 800_000;
    assert.ok(perWord < 1.5, `${perWord} bytes per word`);
  });
});
