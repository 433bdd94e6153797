// The radius of a search, compared with great-circle distances that are computed here by another formula (haversine).
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { ids, iso, newEvent, ownDay, randomPlace, titles } from './samples.ts';

const SPHERE_METRES = 6_371_008.771415059;
const MILE_METRES = 1_609.344;
const RADIANS = Math.PI / 180;

/** Relative tolerance: above the error of the arithmetic, and only 0.2 mm in 100 miles. */
const TOLERANCE = 1e-9;

interface Place {
  readonly lat: number;
  readonly lng: number;
}

function miles(a: Place, b: Place): number {
  const half = (from: number, to: number) => Math.sin(((to - from) * RADIANS) / 2) ** 2;
  const h = half(a.lat, b.lat) + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * half(a.lng, b.lng);
  return (2 * Math.asin(Math.sqrt(h)) * SPHERE_METRES) / MILE_METRES;
}

/** The point at a distance and a direction (degrees from north) from a place. */
function walk({ lat, lng }: Place, distanceMiles: number, direction: number): Place {
  const angle = (distanceMiles * MILE_METRES) / SPHERE_METRES;
  const [phi, theta] = [lat * RADIANS, direction * RADIANS];
  const sine = Math.sin(phi) * Math.cos(angle) + Math.cos(phi) * Math.sin(angle) * Math.cos(theta);
  const turned = Math.atan2(
    Math.sin(theta) * Math.sin(angle) * Math.cos(phi),
    Math.cos(angle) - Math.sin(phi) * sine,
  );
  return { lat: Math.asin(sine) / RADIANS, lng: ((lng + turned / RADIANS + 540) % 360) - 180 };
}

describe('the radius of GET /v1/events/nearby', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  /** An event on a day that no other test uses, and a search of that day. */
  async function eventAt(place: Place) {
    const { startMs, ...window } = ownDay('here');
    await agent.create(newEvent({ ...place, start_at: iso(startMs) }));
    return async (centre: Place, radius: number) => {
      const { total, count } = await agent.nearby({ ...centre, radius, ...window });
      assert.equal(total, count);
      return total === 1;
    };
  }

  for (const distance of [0.1, 1, 25, 99.9]) {
    for (const direction of [0, 90, 217]) {
      it(`ends at exactly ${distance} miles in the direction ${direction}`, async () => {
        const centre = randomPlace();
        const place = walk(centre, distance * (1 + 1e-6), direction);
        const isFound = await eventAt(place);
        const exact = miles(centre, place);
        assert.equal(await isFound(centre, exact * (1 + TOLERANCE)), true);
        assert.equal(await isFound(centre, exact * (1 - TOLERANCE)), false);
      });
    }
  }

  it('is in miles of 1609.344 m on a sphere with a radius of 6371008.77 m', async () => {
    // One degree of a meridian.
    const isFound = await eventAt({ lat: 11, lng: 20 });
    const degree = (SPHERE_METRES * RADIANS) / MILE_METRES;
    assert.ok(Math.abs(degree - 69.0936) < 1e-3);
    assert.equal(await isFound({ lat: 10, lng: 20 }, degree * (1 + TOLERANCE)), true);
    assert.equal(await isFound({ lat: 10, lng: 20 }, degree * (1 - TOLERANCE)), false);
  });

  const special: [name: string, centre: Place, place: Place, distanceMiles: number][] = [
    ['the antimeridian, eastward', { lat: 10, lng: 179.9 }, { lat: 10, lng: -179.9 }, 13.609],
    ['the antimeridian, westward', { lat: -40, lng: -179.95 }, { lat: -40.1, lng: 179.95 }, 8.701],
    ['180 and -180, which are one line', { lat: 5, lng: 180 }, { lat: 5.1, lng: -180 }, 6.909],
    ['the north pole', { lat: 89.9, lng: 0 }, { lat: 89.8, lng: 180 }, 20.728],
    ['the south pole', { lat: -89.9, lng: 45 }, { lat: -89.8, lng: -135 }, 20.728],
    ['a pole itself as the centre', { lat: 90, lng: 0 }, { lat: 89, lng: 123 }, 69.094],
    ['a pole itself as the place', { lat: -89, lng: -77 }, { lat: -90, lng: 0 }, 69.094],
    ['the equator', { lat: 0.5, lng: 30 }, { lat: -0.5, lng: 30 }, 69.094],
    ['the meridian of Greenwich', { lat: 51.5, lng: 0.5 }, { lat: 51.5, lng: -0.5 }, 43.012],
  ];
  for (const [name, centre, place, distance] of special) {
    it(`reaches across ${name}`, async () => {
      const isFound = await eventAt(place);
      const exact = miles(centre, place);
      assert.ok(Math.abs(exact - distance) < 1e-3, String(exact));
      assert.equal(await isFound(centre, exact * (1 + TOLERANCE)), true);
      assert.equal(await isFound(centre, exact * (1 - TOLERANCE)), false);
    });
  }

  it('finds an event at a pole from any longitude', async () => {
    const isFound = await eventAt({ lat: 90, lng: 12 });
    for (const lng of [-180, -90, 0, 12, 180]) assert.equal(await isFound({ lat: 90, lng }, 0.1), true);
  });

  it('finds an event at its own place at its minimum, and an antipode only when it is omitted', async () => {
    const place = randomPlace();
    const antipode = { lat: -place.lat, lng: place.lng > 0 ? place.lng - 180 : place.lng + 180 };
    const isFound = await eventAt(place);
    assert.equal(await isFound(place, 0.1), true);
    assert.equal(await isFound(antipode, 100), false);
  });

  it('agrees with a brute-force count for many events and circles', async () => {
    const { startMs, ...window } = ownDay('here');
    const centre = randomPlace();
    const places = Array.from({ length: 90 }, (_, number) => ({
      title: `at ${number}`,
      start_at: iso(startMs + number),
      ...walk(centre, 1.6 * number, (number * 137.5) % 360),
    }));
    await Promise.all(places.map((place) => agent.create(newEvent(place))));
    for (let circle = 0; circle < 40; circle++) {
      const from = walk(centre, circle * 2.5, (circle * 77) % 360);
      const radius = 0.1 + (circle * 99.9) / 39;
      const expected = places.filter((place) => miles(from, place) <= radius).map((place) => place.title);
      const page = await agent.nearby({ ...from, radius, ...window, limit: 100 });
      assert.deepEqual(titles(page), expected, `circle ${circle}`);
      assert.equal(page.total, expected.length);
    }
  });

  it('distinguishes places that differ only in the last digits', async () => {
    const place = randomPlace();
    const near = { lat: place.lat + 1e-9, lng: place.lng };
    const events = [await agent.create(newEvent(place)), await agent.create(newEvent(near))];
    const found = ids(await agent.nearby({ ...place, radius: 0.1 }));
    assert.deepEqual(found, events.map((event) => event.event_id).sort());
  });
});
