// What people write leads to what they mean, or the service asks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Resolution } from '../../src/domain/places.ts';
import { gazetteer } from './gazetteer-file.ts';
import { type Expected, LACKING, WRITTEN_CASES } from './written-cases.ts';

/** Sources differ in where the middle of a city is. */
const TOLERANCE_DEGREES = 0.15;

function agrees(resolution: Resolution, expected: Expected): boolean {
  if (resolution.kind !== 'found') return expected === (resolution.kind === 'ambiguous' ? 'ask' : 'unknown');
  if (typeof expected === 'string') return false;
  const [code, lat, lng] = expected;
  const { place } = resolution;
  return (
    place.country === code &&
    Math.abs(place.lat - lat) < TOLERANCE_DEGREES &&
    Math.abs(place.lng - lng) < TOLERANCE_DEGREES
  );
}

describe('the written cases', () => {
  it('are more than 100, in at least 20 scripts', () => {
    assert.ok(WRITTEN_CASES.length > 100);
    assert.ok(new Set(WRITTEN_CASES.map(({ script }) => script)).size >= 20);
    const written = new Set(WRITTEN_CASES.map(({ place }) => place));
    assert.deepEqual(
      Object.keys(LACKING).filter((place) => !written.has(place)),
      [],
    );
  });

  for (const { script, place, expected } of WRITTEN_CASES) {
    const lacking = LACKING[place];
    it(`${script}: ${place}${lacking ? ` is not in the data: ${lacking}` : ''}`, () => {
      const resolution = gazetteer.resolve(place);
      assert.ok(agrees(resolution, lacking ?? expected), JSON.stringify(resolution));
    });
  }
});
