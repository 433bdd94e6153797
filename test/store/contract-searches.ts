// Store contract: what a search finds. Filters, circles, and the end of events.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUDIENCES, EVENT_TYPES, type EventRow, STATUSES } from '../../src/domain/events/event.ts';
import type { NearbyQuery } from '../../src/domain/events/nearby.ts';
import type { Store } from '../../src/domain/store.ts';
import {
  addAgent,
  addEvent,
  assertEvents,
  assertRecord,
  findRow,
  HOUR_MS,
  idOf,
  NOW_MS,
  search,
  searchAll,
} from './rows.ts';

export function searchContract(store: () => Store): void {
  /** Each test has its own year. */
  let year = 2040;
  const newYear = (): { startsFromMs: number; startsBeforeMs: number } => {
    year++;
    return { startsFromMs: Date.UTC(year), startsBeforeMs: Date.UTC(year + 1) };
  };
  /** Adds events with these fields in the window; returns those that a search in the window finds. */
  const check = async (cases: readonly [Partial<EventRow>, boolean][], fields: Partial<NearbyQuery>) => {
    const window = newYear();
    const { agent } = await addAgent(store());
    const expected: EventRow[] = [];
    for (const [at, [event, isFound]] of cases.entries()) {
      const row = await addEvent(store(), agent, { start_ms: window.startsFromMs + at, ...event });
      if (isFound) expected.push(row);
    }
    const page = await store().nearby(search({ ...window, ...fields }), NOW_MS);
    assertEvents(page.events, expected);
    assert.equal(page.total, expected.length);
    assert.equal(page.next, undefined);
  };

  it('finds nothing in an empty window', async () => {
    assert.deepEqual(await store().nearby(search(newYear()), NOW_MS), {
      events: [],
      details: [],
      total: 0,
      next: undefined,
    });
  });

  for (const radiusMiles of [undefined, 50]) {
    it(`returns place and position of each event if asked, ${radiusMiles ? 'within' : 'without'} a radius`, async () => {
      const window = newYear();
      const { agent } = await addAgent(store());
      const places = [
        { lat: 0.1 + 0.2, lng: -1 / 3 },
        { lat: 5e-324, lng: 1e-7 },
        { lat: 0, lng: 0 },
      ];
      const rows: EventRow[] = [];
      for (const place of places)
        rows.push(await addEvent(store(), agent, { start_ms: window.startsFromMs + rows.length, ...place }));
      const page = await store().nearby(search({ ...window, radiusMiles, details: true }), NOW_MS);
      assertEvents(page.events, rows);
      assert.deepEqual(
        page.details.map(({ id, startMs, lat, lng, version, updatedMs }) => ({
          ...{ id, startMs, lat, lng, version, updatedMs },
        })),
        rows.map(({ event_id, start_ms, lat, lng, updated_ms }) => ({
          ...{ id: event_id, startMs: start_ms, lat, lng, version: 1, updatedMs: updated_ms },
        })),
      );
    });
  }

  for (const radiusMiles of [undefined, 50]) {
    it(`finds events by their status, ${radiusMiles ? 'within' : 'without'} a radius`, async () => {
      const cases = (isScheduled: boolean, isCancelled: boolean): [Partial<EventRow>, boolean][] => [
        [{}, isScheduled],
        [{ status: 'cancelled' }, isCancelled],
        [{}, isScheduled],
        [{ status: 'cancelled', event_type: 'tour' }, false],
      ];
      const place = { lat: 52.52, lng: 13.405, radiusMiles, types: ['talk'] } as const;
      await check(cases(true, false), { ...place, status: 'scheduled' });
      await check(cases(false, true), { ...place, status: 'cancelled' });
      await check(cases(true, true), { ...place, status: 'any' });
    });

    it(`counts cancelled events in progress among those of their status, ${radiusMiles ? 'within' : 'without'} a radius`, async () => {
      // At another time than other tests: these events have begun.
      const nowMs = Date.UTC(2020, 5, radiusMiles ? 1 : 10);
      const { agent } = await addAgent(store());
      const times = [
        { start_ms: nowMs - HOUR_MS, end_ms: nowMs + 1 },
        { start_ms: nowMs - 48 * HOUR_MS, end_ms: nowMs + 1 },
        { start_ms: nowMs + 1, end_ms: nowMs + 2 },
        { start_ms: nowMs - HOUR_MS, end_ms: nowMs },
      ];
      const place = { lat: -52.52, lng: 13.405 + (radiusMiles ?? 0) };
      for (const time of times)
        for (const status of STATUSES) await addEvent(store(), agent, { ...time, ...place, status });
      const window = { startsFromMs: nowMs - 72 * HOUR_MS, startsBeforeMs: nowMs + HOUR_MS };
      for (const [status, total] of [
        ['scheduled', 3],
        ['cancelled', 3],
        ['any', 6],
      ] as const) {
        const page = await store().nearby(search({ ...place, ...window, radiusMiles, status }), nowMs);
        assert.deepEqual([page.total, page.events.length], [total, total], status);
      }
    });
  }

  it('follows an event that is called off and put on again, and keeps it readable', async () => {
    const window = newYear();
    const { agent } = await addAgent(store());
    let row = await addEvent(store(), agent, { start_ms: window.startsFromMs });
    for (const status of ['cancelled', 'scheduled', 'cancelled'] as const) {
      row = { ...row, status, version: row.version + 1, updated_ms: row.updated_ms + 1_000 };
      assert.equal((await store().replaceEvent(row)).kind, 'replaced');
      for (const asked of STATUSES) {
        const page = await store().nearby(search({ ...window, status: asked }), NOW_MS);
        assertEvents(page.events, asked === status ? [row] : []);
        assert.equal(page.total, Number(asked === status));
      }
      const found = await store().findEvent(row.event_id);
      assertRecord(found, row);
      assert.equal(found!.updatedMs, row.updated_ms);
      assert.deepEqual({ ...(await findRow(store(), row.event_id)) }, row);
      const query = {
        q: '',
        sort: { key: 'start_at', descending: false },
        after: undefined,
        limit: 9,
      } as const;
      const list = await store().agentEventPage(agent.agent_id, { ...query, when: 'upcoming' }, NOW_MS);
      assertEvents(
        list.items.map(({ json }) => json),
        [row],
      );
      assert.deepEqual(
        list.items.map(({ version, updatedMs }) => [version, updatedMs]),
        [[row.version, row.updated_ms]],
      );
    }
  });

  it('leaves cancelled events out of the number of upcoming ones', async () => {
    const { agent } = await addAgent(store());
    const before = await store().stats(NOW_MS);
    await addEvent(store(), agent, { status: 'cancelled' });
    await addEvent(store(), agent);
    const { events, events_upcoming } = await store().stats(NOW_MS);
    assert.deepEqual([events - before.events, events_upcoming - before.events_upcoming], [2, 1]);
  });

  it('finds events anywhere without a radius', () =>
    check(
      [
        [{ lat: 90, lng: 0 }, true],
        [{ lat: -33.9, lng: 151.2 }, true],
        [{ lat: 0, lng: 180 }, true],
      ],
      { lat: 0, lng: 0 },
    ));

  // One degree of latitude is 69.0935 miles.
  it('draws a circle of miles', () =>
    check(
      [
        [{ lat: 53, lng: 13 }, true],
        [{ lat: 52.001, lng: 13 }, true],
        [{ lat: 51.999, lng: 13 }, false],
        [{ lat: 53, lng: 14.6 }, true],
        [{ lat: 53, lng: 14.7 }, false],
      ],
      { lat: 53, lng: 13, radiusMiles: 69.0935 },
    ));

  it('finds events at exactly the centre with the smallest radius', () =>
    check(
      [
        [{ lat: 52.52, lng: 13.405 }, true],
        [{ lat: 52.5214, lng: 13.405 }, true],
        [{ lat: 52.5215, lng: 13.405 }, false],
      ],
      { lat: 52.52, lng: 13.405, radiusMiles: 0.1 },
    ));

  it('draws the circle across the antimeridian', () =>
    check(
      [
        [{ lat: 0, lng: 180 }, true],
        [{ lat: 0, lng: -180 }, true],
        [{ lat: 0, lng: 179.6 }, true],
        [{ lat: 0, lng: -179.6 }, true],
        [{ lat: 0, lng: 178.9 }, false],
        [{ lat: 0, lng: -178.9 }, false],
      ],
      { lat: 0, lng: -180, radiusMiles: 69 },
    ));

  it('draws the circle around and across a pole', () =>
    check(
      [
        [{ lat: 90, lng: 77 }, true],
        [{ lat: 89.8, lng: 0 }, true],
        [{ lat: 89.6, lng: 180 }, true],
        [{ lat: 89.4, lng: 180 }, false],
        [{ lat: -90, lng: 0 }, false],
      ],
      { lat: 89.5, lng: 0, radiusMiles: 69 },
    ));

  it('treats starts_after as inclusive and starts_before as exclusive', async () => {
    const base = Date.UTC(2039);
    await check(
      [
        [{ start_ms: base - 1 }, false],
        [{ start_ms: base }, true],
        [{ start_ms: base + 9 }, true],
        [{ start_ms: base + 10 }, false],
      ],
      { startsFromMs: base, startsBeforeMs: base + 10 },
    );
  });

  it('finds nothing in a window that ends before it begins', () =>
    check([[{}, false]], { startsFromMs: NOW_MS + HOUR_MS, startsBeforeMs: NOW_MS }));

  for (const type of EVENT_TYPES) {
    it(`distinguishes ${type} from the other types`, () =>
      check(
        EVENT_TYPES.map((event_type) => [{ event_type }, event_type === type]),
        { types: [type] },
      ));
  }

  it('finds events of any of several types', () =>
    check(
      EVENT_TYPES.map((event_type) => [
        { event_type },
        event_type === 'workshop' || event_type === 'ceremony',
      ]),
      { types: ['ceremony', 'workshop', 'ceremony'] },
    ));

  it('matches audiences exactly: `all` is a value like the others', () =>
    check(
      AUDIENCES.map((audience) => [{ audience }, audience !== 'kids']),
      { audiences: ['all', 'adults'] },
    ));

  it('applies all filters together', () =>
    check(
      [
        [{ event_type: 'game', audience: 'kids', lat: 1, lng: 1 }, true],
        [{ event_type: 'talk', audience: 'kids', lat: 1, lng: 1 }, false],
        [{ event_type: 'game', audience: 'all', lat: 1, lng: 1 }, false],
        [{ event_type: 'game', audience: 'kids', lat: 3, lng: 1 }, false],
      ],
      { types: ['game'], audiences: ['kids'], lat: 1, lng: 1, radiusMiles: 100 },
    ));

  it('finds events that are on in an interval, also those that began before', async () => {
    const from = Date.UTC(2500);
    await check(
      [
        [{ start_ms: from - HOUR_MS, end_ms: from + 1 }, true],
        [{ start_ms: from - HOUR_MS + 1, end_ms: from }, false],
        [{ start_ms: from, end_ms: from }, true],
        [{ start_ms: from + 99 }, true],
        [{ start_ms: from + 100 }, false],
      ],
      { startsFromMs: undefined, startsBeforeMs: undefined, activeFromMs: from, activeBeforeMs: from + 100 },
    );
  });

  it('judges a word in the timezone of each event', () =>
    check(
      [
        // NOW_MS is noon of 1 May in UTC: 14:00 in Berlin, 02:00 of 2 May on Kiritimati.
        [{ start_ms: NOW_MS + 11 * HOUR_MS, timezone: 'Europe/Berlin', lat: 7, lng: 7 }, false],
        [{ start_ms: NOW_MS + 9 * HOUR_MS, end_ms: NOW_MS + 10 * HOUR_MS, lat: 7, lng: 7 }, true],
        [{ start_ms: NOW_MS + 21 * HOUR_MS, timezone: 'Pacific/Kiritimati', lat: 7, lng: 7 }, true],
        [{ start_ms: NOW_MS + 22 * HOUR_MS, timezone: 'Pacific/Kiritimati', lat: 7, lng: 7 }, false],
      ],
      { startsFromMs: undefined, startsBeforeMs: undefined, when: 'today', lat: 7, lng: 7, radiusMiles: 1 },
    ));

  it('orders by distance, then start, page by page', async () => {
    const window = newYear();
    const { agent } = await addAgent(store());
    const places = [3, 1, 2, 1, 0, 4];
    const rows: EventRow[] = [];
    for (const [at, lat] of places.entries())
      rows.push(await addEvent(store(), agent, { start_ms: window.startsFromMs + at, lat, lng: 0 }));
    const query = search({ ...window, lat: 0, lng: 0, sort: 'distance', limit: 2 });
    assertEvents(
      await searchAll(store(), query, NOW_MS),
      [4, 1, 3, 2, 0, 5].map((at) => rows[at]!),
    );
    const within = await store().nearby({ ...query, radiusMiles: 100 }, NOW_MS);
    assert.equal(within.total, 3);
  });

  describe('the end of an event', () => {
    const cases: [string, Partial<EventRow>, number][] = [
      ['at its end_at', { start_ms: NOW_MS, end_ms: NOW_MS + 10 }, NOW_MS + 10],
      ['at once if it ends when it starts', { start_ms: NOW_MS, end_ms: NOW_MS }, NOW_MS],
      ['3 hours after its start without an end_at', { start_ms: NOW_MS }, NOW_MS + 3 * HOUR_MS],
      ['years after its start', { start_ms: 0, end_ms: NOW_MS + 77 }, NOW_MS + 77],
    ];
    for (const [name, fields, endMs] of cases) {
      it(`comes ${name}, to the millisecond`, async () => {
        const { agent } = await addAgent(store());
        const row = await addEvent(store(), agent, { ...fields, event_type: 'tour' });
        const foundAt = async (nowMs: number) =>
          (await searchAll(store(), search({ types: ['tour'] }), nowMs)).map(idOf).includes(row.event_id);
        assert.deepEqual([await foundAt(endMs - 1), await foundAt(endMs)], [true, false]);
        assertRecord(await store().findEvent(row.event_id), row);
      });
    }

    it('moves with the event', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent, {
        start_ms: NOW_MS,
        end_ms: NOW_MS + 1,
        event_type: 'club',
      });
      const found = async () =>
        (await store().nearby(search({ types: ['club'], startsBeforeMs: NOW_MS + 1 }), NOW_MS + 5)).total;
      assert.equal(await found(), 0);
      await store().replaceEvent({ ...row, version: 2, end_ms: NOW_MS + 6 });
      assert.equal(await found(), 1);
      await store().replaceEvent({ ...row, version: 3, end_ms: null });
      assert.equal(await found(), 1);
      await store().replaceEvent({ ...row, version: 4, end_ms: NOW_MS + 5 });
      assert.equal(await found(), 0);
    });
  });
}
