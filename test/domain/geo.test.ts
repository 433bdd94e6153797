// Chords on the sphere compared with great circles by the haversine formula.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  chordSquared,
  chordSquaredOfMiles,
  EARTH_RADIUS_METRES,
  METRES_PER_MILE,
  milesBetween,
  unitVector,
} from '../../src/domain/events/geo.ts';
import { haversineMiles } from '../spatial/oracle.ts';

const place = fc.record({
  lat: fc.double({ min: -90, max: 90, noNaN: true }),
  lng: fc.double({ min: -180, max: 180, noNaN: true }),
});

/** A step of up to about 100 miles from a place. */
const step = fc.record({
  lat: fc.double({ min: -1.4, max: 1.4, noNaN: true }),
  lng: fc.double({ min: -1.4, max: 1.4, noNaN: true }),
});

const MILES_PER_MILLIMETRE = 0.001 / 1_609.344;

/** Whether b lies within the radius around a. */
function isWithin(a: { lat: number; lng: number }, b: { lat: number; lng: number }, miles: number): boolean {
  return chordSquared(unitVector(a.lat, a.lng), unitVector(b.lat, b.lng)) <= chordSquaredOfMiles(miles);
}

function property(
  name: string,
  check: fc.IPropertyWithHooks<[{ lat: number; lng: number }, { lat: number; lng: number }]>,
) {
  it(name, () => fc.assert(check, { seed: 1, numRuns: 5_000 }));
}

describe('distance', () => {
  it('is on a sphere of the radius that PostGIS uses, in international miles', () => {
    assert.equal(EARTH_RADIUS_METRES, Number('6371008.7714150598'));
    assert.equal(METRES_PER_MILE, 1_609.344);
  });

  property(
    'equals the haversine distance, anywhere',
    fc.property(place, place, (a, b) => {
      const miles = haversineMiles(a, b);
      fc.pre(miles < 12_400); // near the antipode the haversine itself is inexact
      assert.equal(isWithin(a, b, miles + MILES_PER_MILLIMETRE), true);
      if (miles > MILES_PER_MILLIMETRE) assert.equal(isWithin(a, b, miles - MILES_PER_MILLIMETRE), false);
    }),
  );

  property(
    'is exact to a millimetre within 100 miles',
    fc.property(place, step, (a, by) => {
      const b = { lat: Math.max(-90, Math.min(90, a.lat + by.lat)), lng: a.lng + by.lng };
      const miles = haversineMiles(a, b);
      assert.equal(isWithin(a, b, miles + MILES_PER_MILLIMETRE), true);
      if (miles > MILES_PER_MILLIMETRE) assert.equal(isWithin(a, b, miles - MILES_PER_MILLIMETRE), false);
    }),
  );

  it('treats every longitude at a pole as the same place', () => {
    for (const lat of [90, -90]) {
      for (const lng of [-180, -90, 0, 13.4, 180]) {
        assert.ok(isWithin({ lat, lng: 0 }, { lat, lng }, MILES_PER_MILLIMETRE));
      }
    }
  });

  it('gives a place that has several names one vector', () => {
    for (const lat of [-89.9, -33.9, -0, 0, 1e-9, 52.52])
      assert.deepEqual(unitVector(lat, -180), unitVector(lat, 180), String(lat));
    for (const lng of [-180, -90, -1e-200, 13.405, 90, 180]) {
      for (const lat of [-90, 90]) {
        const { x, y, z } = unitVector(lat, lng);
        // -0 compares like 0.
        assert.deepEqual([x + 0, y + 0, z], [0, 0, lat / 90], String(lng));
      }
    }
  });

  it('has no edge at the antimeridian', () => {
    assert.ok(isWithin({ lat: 10, lng: 180 }, { lat: 10, lng: -180 }, MILES_PER_MILLIMETRE));
    const miles = haversineMiles({ lat: 0, lng: 179.5 }, { lat: 0, lng: -179.5 });
    assert.ok(Math.abs(miles - 69.0935) < 0.001, String(miles));
    assert.ok(isWithin({ lat: 0, lng: 179.5 }, { lat: 0, lng: -179.5 }, 69.1));
    assert.ok(!isWithin({ lat: 0, lng: 179.5 }, { lat: 0, lng: -179.5 }, 69));
  });

  it('crosses the pole if that is shorter', () => {
    assert.ok(isWithin({ lat: 89.5, lng: 0 }, { lat: 89.5, lng: 180 }, 69.1));
    assert.ok(!isWithin({ lat: 89.5, lng: 0 }, { lat: 89.5, lng: 180 }, 69));
  });

  it('is right from London to Paris and from pole to pole', () => {
    const miles = haversineMiles({ lat: 51.5074, lng: -0.1278 }, { lat: 48.8566, lng: 2.3522 });
    assert.ok(Math.abs(miles - 213.5) < 0.2, String(miles));
    assert.equal(chordSquared(unitVector(90, 0), unitVector(-90, 0)), 4);
  });
});

describe('milesBetween', () => {
  type Place = { lat: number; lng: number };
  const between = (a: Place, b: Place) => milesBetween(unitVector(a.lat, a.lng), unitVector(b.lat, b.lng));

  property(
    'equals the haversine distance to a millimetre, and is the same both ways',
    fc.property(place, place, (a, b) => {
      const miles = between(a, b);
      assert.equal(miles, between(b, a));
      fc.pre(miles < 12_400); // near the antipode the haversine itself is inexact
      assert.ok(Math.abs(miles - haversineMiles(a, b)) < MILES_PER_MILLIMETRE, String(miles));
    }),
  );

  it('is 0 from a place to itself, and half the circumference to its antipode', () => {
    const half = (Math.PI * EARTH_RADIUS_METRES) / METRES_PER_MILE;
    for (const [lat, lng] of [
      [0, 0],
      [90, 0],
      [-90, 77],
      [52.52, 13.405],
      [-33.9, -180],
    ] as const) {
      assert.equal(between({ lat, lng }, { lat, lng }), 0);
      const antipode = { lat: -lat, lng: lng > 0 ? lng - 180 : lng + 180 };
      assert.ok(Math.abs(between({ lat, lng }, antipode) - half) < MILES_PER_MILLIMETRE);
    }
  });

  it('distinguishes millimetres near the place and near its antipode', () => {
    const step = 1e-8; // degrees: 1.1 mm
    const degreeMiles = (Math.PI * EARTH_RADIUS_METRES) / 180 / METRES_PER_MILE;
    const near = between({ lat: 0, lng: 0 }, { lat: 0, lng: step });
    assert.ok(Math.abs(near / degreeMiles / step - 1) < 1e-6, String(near));
    const far = between({ lat: 0, lng: 0 }, { lat: 0, lng: 180 - step });
    assert.ok(Math.abs(180 - far / degreeMiles - step) < step / 10, String(far));
  });
});
