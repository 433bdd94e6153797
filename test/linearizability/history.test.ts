// The checker itself: histories that are linearizable pass, and each kind of violation is found.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findViolations, type Search, type Write } from './history.ts';

const write = (
  object: string,
  version: number,
  beganMs: number,
  ackedMs: number,
  isDelete = false,
): Write => ({
  object,
  version,
  isDelete,
  beganMs,
  ackedMs,
});
const search = (beganMs: number, endedMs: number, seen: Record<string, number>): Search => ({
  beganMs,
  endedMs,
  seen: new Map(Object.entries(seen)),
  by: `search ${beganMs}`,
});

/** Created at 0 to 10, changed at 20 to 30, deleted at 40 to 50. */
const A = [write('a', 1, 0, 10), write('a', 2, 20, 30), write('a', 3, 40, 50, true)];

const GOOD: Record<string, [writes: Write[], searches: Search[]]> = {
  'each version while it was there': [
    A,
    [search(11, 12, { a: 1 }), search(31, 32, { a: 2 }), search(51, 52, {}), search(-2, -1, {})],
  ],
  'either version during a write': [
    A,
    [search(21, 22, { a: 1 }), search(23, 24, { a: 2 }), search(41, 42, {})],
  ],
  'a write whose outcome is unknown, or not': [
    [write('a', 1, 0, Number.POSITIVE_INFINITY), write('b', 1, 0, Number.POSITIVE_INFINITY)],
    [search(100, 101, { a: 1 }), search(200, 201, { a: 1 })],
  ],
  'writes at the same time in any order': [
    [write('a', 1, 0, 10), write('b', 1, 0, 10)],
    [search(1, 2, { a: 1 }), search(3, 4, { a: 1, b: 1 })],
  ],
  'an object that was created and deleted during the search': [
    [write('a', 1, 10, 20), write('a', 2, 30, 40, true)],
    [search(5, 50, {}), search(6, 50, { a: 1 })],
  ],
};

const BAD: Record<string, [writes: Write[], searches: Search[], found: RegExp]> = {
  'misses an acknowledged create': [A, [search(11, 12, {})], /did not see a/],
  'sees an old version after an acknowledged change': [A, [search(31, 32, { a: 1 })], /saw a version 1/],
  'sees an event after its deletion': [A, [search(51, 52, { a: 2 })], /saw a version 2/],
  'sees the future': [A, [search(11, 12, { a: 2 })], /saw a version 2/],
  'sees what nobody wrote': [A, [search(51, 52, { b: 1 })], /saw b, which nobody created/],
  'forgets what another saw': [
    A,
    [search(21, 22, { a: 2 }), search(23, 24, { a: 1 })],
    /after somebody saw 2/,
  ],
  'sees a later write without an earlier one': [
    [write('a', 1, 0, 10), write('a', 2, 11, 15), write('b', 1, 16, 30)],
    [search(5, 40, { a: 1, b: 1 })],
    /but not the earlier version 2 of a/,
  ],
  'sees two writes in another order than somebody else': [
    [write('a', 1, 0, 100), write('b', 1, 0, 100)],
    [search(10, 50, { a: 1 }), search(11, 50, { b: 1 })],
    /saw less of/,
  ],
};

describe('a history is linearizable if a search sees', () => {
  for (const [name, [writes, searches]] of Object.entries(GOOD))
    it(name, () => assert.deepEqual(findViolations(writes, searches), []));
});

describe('a history is not linearizable if a search', () => {
  for (const [name, [writes, searches, found]] of Object.entries(BAD))
    it(name, () => {
      const violations = findViolations(writes, searches);
      assert.notDeepEqual(violations, []);
      assert.match(violations.join('\n'), found);
    });
});
