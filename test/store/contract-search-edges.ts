// Store contract: places that have several names, and days that a timezone skips.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EventRow } from '../../src/domain/events/event.ts';
import type { Store } from '../../src/domain/store.ts';
import { addAgent, addEvent, assertEvents, HOUR_MS, idOf, NOW_MS, search, searchAll } from './rows.ts';

export function searchEdgeContract(store: () => Store): void {
  /** Each test has its own year, or its own latitude. */
  let tests = 0;
  const newYear = (): { startsFromMs: number; startsBeforeMs: number } => {
    tests++;
    return { startsFromMs: Date.UTC(2040 + tests), startsBeforeMs: Date.UTC(2041 + tests) };
  };
  const newLatitude = () => ++tests;

  for (const { where, centre, places } of [
    { where: '180 degrees', centre: { lat: 0, lng: 180 }, places: [180, -180, 180, -180] },
    { where: '-180 degrees', centre: { lat: 0, lng: -180 }, places: [180, -180, 180, -180] },
    { where: 'the north pole', centre: { lat: 90, lng: 77 }, places: [0, 77, -180, -90] },
    { where: 'the south pole', centre: { lat: -90, lng: 0 }, places: [0, 77, -180, -90] },
  ]) {
    it(`orders events at ${where} by start, whatever longitude they name`, async () => {
      const window = newYear();
      const { agent } = await addAgent(store());
      const rows: EventRow[] = [];
      for (const [at, lng] of [...places, ...places].entries()) {
        const place = { lat: centre.lat, lng };
        rows.unshift(await addEvent(store(), agent, { start_ms: window.startsFromMs - at + 10, ...place }));
      }
      for (const radiusMiles of [undefined, 1]) {
        const query = search({ ...window, ...centre, radiusMiles, sort: 'distance', limit: 3 });
        assertEvents(await searchAll(store(), query, NOW_MS), rows);
      }
    });
  }

  // 30 December 2011 does not exist in Apia: after 23:59:59 of the 29th at -10:00 it was 00:00 of the 31st at +14:00.
  for (const { when, now, isFound } of [
    { when: 'today', now: '2011-12-29T12:00-10:00', isFound: true },
    { when: 'tomorrow', now: '2011-12-29T12:00-10:00', isFound: false },
    { when: 'tonight', now: '2011-12-29T23:00-10:00', isFound: true },
    { when: 'tonight', now: '2011-12-31T03:59+14:00', isFound: false },
    { when: 'today', now: '2011-12-31T00:00+14:00', isFound: true },
  ] as const) {
    for (const radiusMiles of [undefined, 1]) {
      const range = radiusMiles ? 'within' : 'without';
      it(`finds ${isFound ? 'what is on' : 'nothing'} ${when} at ${now} where a day is skipped, ${range} a radius`, async () => {
        const nowMs = Date.parse(now);
        const skippedMs = Date.UTC(2011, 11, 30, 10);
        const lat = newLatitude();
        const { agent } = await addAgent(store());
        const there = { timezone: 'Pacific/Apia', lat, lng: 0 };
        const rows: EventRow[] = [];
        for (const [start_ms, end_ms] of [
          [skippedMs - 200 * HOUR_MS, skippedMs + 200 * HOUR_MS],
          [skippedMs - 20 * HOUR_MS, skippedMs + 20 * HOUR_MS],
        ] as const)
          rows.push(await addEvent(store(), agent, { start_ms, end_ms, ...there }));
        // On at this time in a timezone that skips nothing.
        const elsewhere = {
          start_ms: nowMs - HOUR_MS,
          end_ms: nowMs + 48 * HOUR_MS,
          timezone: 'Pacific/Pago_Pago',
        };
        const other = await addEvent(store(), agent, { ...elsewhere, lat, lng: 0 });
        const query = search({ lat, lng: 0, radiusMiles, when, limit: 100 });
        const found = await store().nearby(query, nowMs);
        const ids = found.events
          .map(idOf)
          .filter((id) => [...rows, other].some(({ event_id }) => event_id === id));
        assert.deepEqual(
          ids,
          [...(isFound ? rows : []), other].map(({ event_id }) => event_id),
        );
      });
    }
  }
}
