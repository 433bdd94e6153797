// Every candidate can be sent, and means exactly that candidate; so does Resolved-Place. For names of all kinds of places.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describePlace } from '../../src/domain/places.ts';
import { size } from '../support/sizes.ts';
import { data, gazetteer, placeAt } from './gazetteer-file.ts';

/** In the short run one of many places, in the long run all of them. */
const numbers = Array.from(
  { length: Math.floor(data.lats.length / size(53, 1)) },
  (_, at) => at * size(53, 1),
);

function meansPlaceAt(text: string, { lat, lng }: { lat: number; lng: number }): boolean {
  const resolution = gazetteer.resolve(text);
  return resolution.kind === 'found' && resolution.place.lat === lat && resolution.place.lng === lng;
}

describe('the names of all places', () => {
  it('that are ambiguous have one to five candidates, each of which can be sent and means itself', () => {
    let asked = 0;
    for (const number of numbers) {
      const { name } = placeAt(number);
      const resolution = gazetteer.resolve(name);
      assert.notEqual(resolution.kind, 'unknown', name);
      if (resolution.kind !== 'ambiguous') continue;
      asked++;
      const { candidates } = resolution;
      assert.ok(candidates.length >= 1 && candidates.length <= 5, name);
      for (const candidate of candidates)
        assert.ok(meansPlaceAt(candidate.place, candidate), JSON.stringify(candidate));
      assert.equal(new Set(candidates.map(({ place }) => place)).size, candidates.length, name);
    }
    assert.ok(asked > 1_000, String(asked));
  });

  it('can be sent as Resolved-Place has them, in ASCII', () => {
    for (const number of numbers) {
      const place = placeAt(number);
      const text = describePlace({ ...place, within: place.region });
      assert.match(text, /^[\x20-\x7e]+, [A-Z]{2}; -?\d+(?:\.\d+)?,-?\d+(?:\.\d+)?$/);
      assert.ok(meansPlaceAt(text, place), text);
    }
  });
});
