// Differences between words.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { editDistance } from '../../src/config.ts';

it('counts inserted, deleted, replaced and swapped characters', () => {
  for (const [one, other, distance] of [
    ['', '', 0],
    ['', 'PORT', 4],
    ['PORT', 'PORT', 0],
    ['POTR', 'PORT', 1],
    ['PORTS', 'PORT', 1],
    ['POT', 'PORT', 1],
    ['POST', 'PORT', 1],
    ['CACHE_DIR', 'CACHE_MB', 3],
    ['kitten', 'sitting', 3],
  ] as const) {
    assert.equal(editDistance(one, other), distance, `${one} ${other}`);
    assert.equal(editDistance(other, one), distance, `${other} ${one}`);
  }
});
