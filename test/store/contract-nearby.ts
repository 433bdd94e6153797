// The part of the store contract about searching: filters, order, pages, the end of events; and a random world held
// against the brute-force oracle of test/spatial.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import { AUDIENCES, EVENT_TYPES, type EventRow } from '../../src/domain/event.ts';
import type { NearbyQuery } from '../../src/domain/nearby.ts';
import type { Store } from '../../src/domain/store.ts';
import type { IndexEntry, IndexQuery } from '../../src/spatial/event-index.ts';
import { Oracle } from '../spatial/oracle.ts';
import { WORLD_BEGINS_MS, World } from '../spatial/world.ts';
import { Chance } from '../support/random.ts';
import { type OpenStore, useStore } from './contract.ts';
import {
  addAgent,
  addEvent,
  assertRecords,
  HOUR_MS,
  NOW_MS,
  newEventRow,
  newUlid,
  search,
  searchAll,
} from './rows.ts';

export function nearbyContract(open: OpenStore): void {
  describe('filters', () => filterContract(useStore(open)));
  describe('pages', () => pageContract(useStore(open)));
  describe('a random world', () => oracleContract(useStore(open)));
}

function filterContract(store: () => Store): void {
  /** Each test has a year of its own. */
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
    assertRecords(page.records, expected);
    assert.equal(page.total, expected.length);
    assert.equal(page.next, undefined);
  };

  it('finds nothing where there is nothing', async () => {
    assert.deepEqual(await store().nearby(search(newYear()), NOW_MS), {
      records: [],
      total: 0,
      next: undefined,
    });
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

  it('finds what lies on the very spot with the smallest radius', () =>
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

  it('takes starts_after as inclusive and starts_before as exclusive', async () => {
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
    it(`tells ${type} from the other types`, () =>
      check(
        EVENT_TYPES.map((event_type) => [{ event_type }, event_type === type]),
        { types: [type] },
      ));
  }

  it('takes several types as any of them', () =>
    check(
      EVENT_TYPES.map((event_type) => [
        { event_type },
        event_type === 'workshop' || event_type === 'ceremony',
      ]),
      { types: ['ceremony', 'workshop', 'ceremony'] },
    ));

  it('matches audiences exactly: all is a value', () =>
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

  describe('the end', () => {
    const cases: [string, Partial<EventRow>, number][] = [
      ['at its end_at', { start_ms: NOW_MS, end_ms: NOW_MS + 10 }, NOW_MS + 10],
      ['at once when it ends as it starts', { start_ms: NOW_MS, end_ms: NOW_MS }, NOW_MS],
      ['3 hours after its start without an end_at', { start_ms: NOW_MS }, NOW_MS + 3 * HOUR_MS],
      ['years after its start', { start_ms: 0, end_ms: NOW_MS + 77 }, NOW_MS + 77],
    ];
    for (const [name, fields, endMs] of cases) {
      it(`comes ${name}, to the millisecond`, async () => {
        const { agent } = await addAgent(store());
        const row = await addEvent(store(), agent, { ...fields, event_type: 'tour' });
        const foundAt = async (nowMs: number) =>
          (await searchAll(store(), search({ types: ['tour'] }), nowMs)).some(
            ({ id }) => id === row.event_id,
          );
        assert.deepEqual([await foundAt(endMs - 1), await foundAt(endMs)], [true, false]);
        assertRecords([(await store().findEvent(row.event_id))!], [row]);
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

function pageContract(store: () => Store): void {
  const START_MS = NOW_MS + HOUR_MS;
  const addSeries = async (count: number, fields: (at: number) => Partial<EventRow>) => {
    const { agent } = await addAgent(store());
    const rows = Array.from({ length: count }, (_, at) => newEventRow(agent, fields(at)));
    await Promise.all(rows.toReversed().map((row) => store().createEvent(row, 0)));
    return rows;
  };

  it('orders by start, then event_id, and gives the position of the last record while more follow', async () => {
    const rows = await addSeries(7, (at) => ({
      start_ms: START_MS + Math.floor(at / 3),
      event_type: 'social',
    }));
    const query = search({ types: ['social'], limit: 3 });
    const pages = [];
    for (let after: NearbyQuery['after']; pages.length < 3; after = pages.at(-1)!.next) {
      pages.push(await store().nearby({ ...query, after }, NOW_MS));
    }
    for (const [at, page] of pages.entries()) {
      assertRecords(page.records, rows.slice(at * 3, at * 3 + 3));
      assert.equal(page.total, 7);
      const last = rows[at * 3 + 2];
      assert.deepEqual(page.next, last && { startMs: last.start_ms, id: last.event_id });
    }
  });

  it('ends without a further position when the last page is exactly full', async () => {
    const rows = await addSeries(4, (at) => ({ start_ms: START_MS + at, event_type: 'market' }));
    const query = search({ types: ['market'], limit: 2 });
    const first = await store().nearby(query, NOW_MS);
    const second = await store().nearby({ ...query, after: first.next }, NOW_MS);
    assertRecords([...first.records, ...second.records], rows);
    assert.equal(second.next, undefined);
    const whole = await store().nearby({ ...query, limit: 4 }, NOW_MS);
    assert.deepEqual([whole.records.length, whole.next], [4, undefined]);
  });

  it('goes on from a position whose event is gone, or never was', async () => {
    const rows = await addSeries(5, (at) => ({ start_ms: START_MS + at, event_type: 'festival' }));
    const query = search({ types: ['festival'], limit: 2 });
    const { next } = await store().nearby(query, NOW_MS);
    await store().deleteEvent(rows[1]!.event_id, rows[1]!.agent_id);
    const page = await store().nearby({ ...query, after: next }, NOW_MS);
    assertRecords(page.records, rows.slice(2, 4));
    assert.equal(page.total, 4);
    const never = { startMs: START_MS + 3, id: '00000000000000000000000000' };
    assertRecords((await store().nearby({ ...query, after: never }, NOW_MS)).records, rows.slice(3));
    const beyond = { startMs: START_MS + 4, id: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' };
    assert.deepEqual(await store().nearby({ ...query, after: beyond }, NOW_MS), {
      ...{ records: [], total: 4, next: undefined },
    });
  });

  it('keeps the meaning of a position when limit and filters change', async () => {
    const rows = await addSeries(6, (at) => ({
      start_ms: START_MS + at,
      event_type: at % 2 === 0 ? 'support' : 'conference',
    }));
    const { next } = await store().nearby(search({ types: ['support'], limit: 1 }), NOW_MS);
    const page = await store().nearby(
      search({ types: ['support', 'conference'], limit: 2, after: next }),
      NOW_MS,
    );
    assertRecords(page.records, rows.slice(1, 3));
    assert.equal(page.total, 6);
  });

  it('shows, on a walk during writes, every event that does not change exactly once', async () => {
    const rows = await addSeries(60, (at) => ({ start_ms: START_MS + at, event_type: 'exhibition' }));
    const stable = rows.filter((_, at) => at % 2 === 0);
    const moving = rows.filter((_, at) => at % 2 === 1);
    const seen: string[] = [];
    for (let after: NearbyQuery['after']; ; ) {
      const page = await store().nearby(search({ types: ['exhibition'], limit: 4, after }), NOW_MS);
      seen.push(...page.records.map(({ id }) => id));
      if (!page.next) break;
      after = page.next;
      const moved = moving.pop()!;
      await Promise.all([
        store().replaceEvent({ ...moved, version: 2, start_ms: START_MS + 30 }),
        store().createEvent({ ...moved, event_id: newUlid(), start_ms: START_MS - 1 }, 0),
      ]);
    }
    const own = new Set(stable.map((row) => row.event_id));
    assert.deepEqual(
      seen.filter((id) => own.has(id)),
      stable.map((row) => row.event_id),
    );
  });
}

function oracleContract(store: () => Store): void {
  it('answers 400 searches among writes and passing time as brute force does', async () => {
    const chance = new Chance(7);
    const world = new World(chance);
    const oracle = new Oracle();
    const { agent } = await addAgent(store());
    const entries = Array.from({ length: 400 }, () => world.entry());
    await Promise.all(entries.map((entry) => store().createEvent(toRow(agent, entry), 0)));
    oracle.load(entries);
    let nowMs = WORLD_BEGINS_MS;
    for (let searches = 0; searches < 400; searches++) {
      if (chance.chance(0.02)) nowMs = world.passingTime(WORLD_BEGINS_MS, entries);
      const known = chance.pick(entries);
      const stored = oracle.find(known.id);
      if (stored && chance.chance(0.2)) {
        oracle.remove(known.id);
        assert.equal(await store().deleteEvent(known.id, agent.agent_id), true);
      } else if (stored && chance.chance(0.4)) {
        const next = world.entry({ id: stored.id, version: stored.version + 1 });
        entries.push(next);
        oracle.put(next);
        assert.equal((await store().replaceEvent(toRow(agent, next))).kind, 'replaced');
      }
      const query = world.query(entries);
      const expected = oracle.search(query, nowMs);
      const page = await store().nearby(toNearby(query), nowMs);
      const last = expected.entries.at(-1);
      assert.deepEqual(
        { found: page.records.map(({ id, version }) => [id, version]), total: page.total, next: page.next },
        {
          found: expected.entries.map(({ id, version }) => [id, version]),
          total: expected.total,
          next: expected.more && last ? { startMs: last.startMs, id: last.id } : undefined,
        },
      );
    }
  });
}

/** The row of an entry; its title keeps tuples apart. */
function toRow(agent: AgentRow, entry: IndexEntry): EventRow {
  return newEventRow(agent, {
    event_id: entry.id,
    version: entry.version,
    title: entry.id,
    start_ms: entry.startMs,
    end_ms: entry.endsMs === entry.startMs + 3 * HOUR_MS ? null : entry.endsMs,
    lat: entry.lat,
    lng: entry.lng,
    event_type: EVENT_TYPES[entry.type]!,
    audience: AUDIENCES[entry.audience]!,
  });
}

function toNearby(query: IndexQuery): NearbyQuery {
  const chosen = <T>(values: readonly T[], mask: number): T[] | undefined =>
    mask === -1 ? undefined : values.filter((_, number) => (mask & (1 << number)) !== 0);
  const finite = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined);
  return {
    lat: query.lat,
    lng: query.lng,
    radiusMiles: query.radiusMiles,
    types: chosen(EVENT_TYPES, query.typeMask),
    audiences: chosen(AUDIENCES, query.audienceMask),
    startsFromMs: finite(query.startsFromMs),
    startsBeforeMs: finite(query.startsBeforeMs),
    after: query.after,
    limit: query.limit,
  };
}
