// Every city of at least 100,000 people, by its name alone: it is found, or the service asks. The few exceptions are known by name.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { milesBetween, unitVector } from '../../src/domain/events/geo.ts';
import { data, gazetteer, placeAt } from './gazetteer-file.ts';

const LARGE = 100_000;
/** A search around one finds the events in the other: 10 km. */
const SAME_PLACE_MILES = 6.3;

/** Cities whose name means a city in another country that is at least five times as large. */
const OVERSHADOWED = [
  'Alexandria, Virginia, US',
  'Athens, Georgia, US',
  'Birmingham, Alabama, US',
  'Kingston, Ontario, CA',
  'London, Ontario, CA',
  'Santiago, Cagayan Valley, PH',
  'Sydney, Nova Scotia, CA',
  'Tripoli, North Lebanon, LB',
];

describe('the cities of at least 100,000 people', () => {
  const count = data.populations.findIndex((population) => population < LARGE);
  const outcomes = Array.from({ length: count }, (_, number) => {
    const place = placeAt(number);
    const resolution = gazetteer.resolve(place.name);
    if (resolution.kind !== 'found') return { place, outcome: resolution.kind };
    const { lat, lng } = resolution.place;
    const miles = milesBetween(unitVector(place.lat, place.lng), unitVector(lat, lng));
    return { place, outcome: miles < SAME_PLACE_MILES ? 'right' : 'another' };
  });
  const having = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted);

  it('are all known', () => {
    assert.equal(count, 4442);
    assert.deepEqual(having('unknown'), []);
  });

  it('are found by their names, or the service asks', (t) => {
    t.diagnostic(`${having('right').length} right, ${having('ambiguous').length} asked`);
    assert.ok(having('right').length >= 4160, String(having('right').length));
  });

  it('are taken for another city only if that is far larger and in another country', () => {
    const names = having('another').map(({ place: { name, region, country } }) =>
      [name, region, country].join(', '),
    );
    assert.deepEqual(names.sort(), OVERSHADOWED);
  });

  it('are found by their name with region and country, or the service asks', () => {
    const other = outcomes.filter(({ place: { name, region, country, lat, lng } }) => {
      const text = [name, region, country].filter((part) => part !== null).join(', ');
      const resolution = gazetteer.resolve(text);
      if (resolution.kind !== 'found') return resolution.kind === 'unknown';
      const { place } = resolution;
      return milesBetween(unitVector(place.lat, place.lng), unitVector(lat, lng)) > SAME_PLACE_MILES;
    });
    assert.deepEqual(other, []);
  });
});
