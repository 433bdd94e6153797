// Store contract: what a search returns of each event, and how it follows changes. Which events it finds is compared with oracles, in
// contract-pages.ts, test/memory/ and test/postgres/.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type EventRow, STATUSES } from '../../src/domain/events/event.ts';
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

  it('ends each event to the millisecond, within a radius and without', async () => {
    const { agent } = await addAgent(store());
    const cases: [Partial<EventRow>, endMs: number][] = [
      [{ start_ms: NOW_MS, end_ms: NOW_MS + 10 }, NOW_MS + 10],
      [{ start_ms: NOW_MS, end_ms: NOW_MS }, NOW_MS],
      [{ start_ms: NOW_MS }, NOW_MS + 3 * HOUR_MS],
      [{ start_ms: 0, end_ms: NOW_MS + 77 }, NOW_MS + 77],
    ];
    for (const [fields, endMs] of cases) {
      const { event_id } = await addEvent(store(), agent, { ...fields, event_type: 'tour' });
      for (const radiusMiles of [undefined, 50]) {
        const query = search({ types: ['tour'], lat: 52.52, lng: 13.405, radiusMiles });
        const isFoundAt = async (nowMs: number) =>
          (await searchAll(store(), query, nowMs)).map(idOf).includes(event_id);
        assert.deepEqual([await isFoundAt(endMs - 1), await isFoundAt(endMs)], [true, false]);
      }
    }
  });

  it('moves the end of an event with it', async () => {
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
}
