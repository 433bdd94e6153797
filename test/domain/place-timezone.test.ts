// Which timezone an event's place has, and when its clock differs from the event's. Offsets are compared with Temporal's.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import timezoneAt from '@photostructure/tz-lookup';
import { otherTimezoneAt } from '../../src/domain/events/place-timezone.ts';
import { Chance } from '../support/random.ts';

const BERLIN = { lat: 52.52, lng: 13.405 };
const SUMMER = '2031-07-01T18:00Z';
const WINTER = '2031-01-15T18:00Z';

function otherAt(place: { lat: number; lng: number }, timezone: string, start: string): string | undefined {
  return otherTimezoneAt({ ...place, timezone, start_ms: Date.parse(start) });
}

describe('the timezone of a place', () => {
  const FITTING: [what: string, place: { lat: number; lng: number }, timezone: string, start: string][] = [
    ['the same', BERLIN, 'Europe/Berlin', SUMMER],
    ['another name with the same clock', BERLIN, 'Europe/Paris', SUMMER],
    ['a link', { lat: 22.57, lng: 88.36 }, 'Asia/Calcutta', SUMMER],
    ['London in winter as UTC', { lat: 51.507, lng: -0.128 }, 'UTC', WINTER],
    ['a place in the ocean with its nautical time', { lat: 30, lng: -40 }, 'Etc/GMT+3', SUMMER],
    ['Moscow and Minsk in 2031', { lat: 55.75, lng: 37.62 }, 'Europe/Minsk', SUMMER],
  ];
  for (const [what, place, timezone, start] of FITTING)
    it(`fits: ${what}`, () => assert.equal(otherAt(place, timezone, start), undefined));

  const OTHERS: [
    what: string,
    place: { lat: number; lng: number },
    timezone: string,
    start: string,
    there: string,
  ][] = [
    ['lat and lng swapped', { lat: 13.405, lng: 52.52 }, 'Europe/Berlin', SUMMER, timezoneAt(13.405, 52.52)],
    ['UTC in Berlin', BERLIN, 'UTC', WINTER, 'Europe/Berlin'],
    ['London in summer as UTC', { lat: 51.507, lng: -0.128 }, 'UTC', SUMMER, 'Europe/London'],
    ['New York in Berlin', BERLIN, 'America/New_York', SUMMER, 'Europe/Berlin'],
    ['half an hour', { lat: 28.61, lng: 77.21 }, 'Asia/Karachi', SUMMER, 'Asia/Kolkata'],
    [
      'Moscow and Minsk in 2012',
      { lat: 55.75, lng: 37.62 },
      'Europe/Minsk',
      '2012-01-15T18:00Z',
      'Europe/Moscow',
    ],
  ];
  for (const [what, place, timezone, start, there] of OTHERS)
    it(`does not fit: ${what}`, () => assert.equal(otherAt(place, timezone, start), there));

  it('agrees with Temporal for any place, timezone and start, also at the instants of clock changes', () => {
    const chance = new Chance(1);
    const zones = Intl.supportedValuesOf('timeZone');
    const offsetOf = (timezone: string, ms: number) =>
      Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).offsetNanoseconds;
    let differing = 0;
    for (let count = 0; count < 4_000; count++) {
      const place = { lat: chance.between(-90, 90), lng: chance.between(-180, 180) };
      const there = timezoneAt(place.lat, place.lng);
      const timezone = chance.chance(0.3) ? there : chance.pick(zones);
      const around = Date.UTC(chance.integer(1890, 2040), chance.integer(0, 11), chance.integer(1, 28));
      const change = Temporal.Instant.fromEpochMilliseconds(around)
        .toZonedDateTimeISO(chance.pick([timezone, there]))
        .getTimeZoneTransition('next')?.epochMilliseconds;
      const start_ms = (change ?? around) + chance.pick([-1, 0, 1, chance.integer(-1e9, 1e9)]);
      const differs = offsetOf(there, start_ms) !== offsetOf(timezone, start_ms);
      const found = otherTimezoneAt({ ...place, timezone, start_ms });
      assert.equal(found, differs ? there : undefined, JSON.stringify({ place, there, timezone, start_ms }));
      if (differs) differing++;
    }
    assert.ok(differing > 1_000);
  });

  it('takes every place: the poles, ±180° and the years 1 and 9999', () => {
    for (const lat of [-90, -89.999, 0, 90])
      for (const lng of [-180, -0, 0, 180])
        for (const start_ms of [-62_135_596_800_000, 253_402_300_799_999])
          assert.equal(
            typeof (otherTimezoneAt({ lat, lng, timezone: 'Asia/Tokyo', start_ms }) ?? ''),
            'string',
          );
  });
});
