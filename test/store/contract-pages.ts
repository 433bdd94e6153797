// Store contract: pages of searches and their positions, and a random world compared with the brute-force oracle of
// test/spatial.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import {
  AUDIENCES,
  type Audience,
  EVENT_TYPES,
  type EventRow,
  type EventType,
} from '../../src/domain/events/event.ts';
import { ALL_EVENTS, type NearbyQuery } from '../../src/domain/events/nearby.ts';
import type { Store } from '../../src/domain/store.ts';
import type { Wire } from '../../src/domain/wire.ts';
import type { IndexEntry, IndexQuery } from '../../src/spatial/index-entry.ts';
import { TAGS, TagSet } from '../../src/spatial/tags.ts';
import { Oracle } from '../spatial/oracle.ts';
import { WORLD_BEGINS_MS, World } from '../spatial/world.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import {
  addAgent,
  assertEvents,
  HOUR_MS,
  idOf,
  NOW_MS,
  newEventRow,
  newUlid,
  parseEvent,
  search,
} from './rows.ts';

const SEARCHES = size(150, 400);

export function pageContract(store: () => Store): void {
  const START_MS = NOW_MS + HOUR_MS;
  const addSeries = async (count: number, fields: (at: number) => Partial<EventRow>) => {
    const { agent } = await addAgent(store());
    const rows = Array.from({ length: count }, (_, at) => newEventRow(agent, fields(at)));
    await Promise.all(rows.toReversed().map((row) => store().createEvent(row, 0)));
    return rows;
  };

  it('orders by start, then event_id, and returns the position of the last event if more follow', async () => {
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
      assertEvents(page.events, rows.slice(at * 3, at * 3 + 3));
      assert.equal(page.total, 7);
      const last = rows[at * 3 + 2];
      assert.deepEqual(page.next, last && { startMs: last.start_ms, id: last.event_id });
    }
  });

  it('returns no position with the last page, even if it is exactly full', async () => {
    const rows = await addSeries(4, (at) => ({ start_ms: START_MS + at, event_type: 'market' }));
    const query = search({ types: ['market'], limit: 2 });
    const first = await store().nearby(query, NOW_MS);
    const second = await store().nearby({ ...query, after: first.next }, NOW_MS);
    assertEvents([...first.events, ...second.events], rows);
    assert.equal(second.next, undefined);
    const whole = await store().nearby({ ...query, limit: 4 }, NOW_MS);
    assert.deepEqual([whole.events.length, whole.next], [4, undefined]);
  });

  it('continues from a position whose event was deleted, or never existed', async () => {
    const rows = await addSeries(5, (at) => ({ start_ms: START_MS + at, event_type: 'festival' }));
    const query = search({ types: ['festival'], limit: 2 });
    const { next } = await store().nearby(query, NOW_MS);
    await store().deleteEvent(rows[1]!.event_id, rows[1]!.agent_id);
    const page = await store().nearby({ ...query, after: next }, NOW_MS);
    assertEvents(page.events, rows.slice(2, 4));
    assert.equal(page.total, 4);
    const never = { startMs: START_MS + 3, id: '00000000000000000000000000' };
    assertEvents((await store().nearby({ ...query, after: never }, NOW_MS)).events, rows.slice(3));
    const beyond = { startMs: START_MS + 4, id: '7ZZZZZZZZZZZZZZZZZZZZZZZZZ' };
    assert.deepEqual(await store().nearby({ ...query, after: beyond }, NOW_MS), {
      ...{ events: [], details: [], total: 4, next: undefined },
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
    assertEvents(page.events, rows.slice(1, 3));
    assert.equal(page.total, 6);
  });

  it('shows every unchanged event exactly once on a walk during writes', async () => {
    const rows = await addSeries(60, (at) => ({ start_ms: START_MS + at, event_type: 'exhibition' }));
    const stable = rows.filter((_, at) => at % 2 === 0);
    const moving = rows.filter((_, at) => at % 2 === 1);
    const seen: string[] = [];
    for (let after: NearbyQuery['after']; ; ) {
      const page = await store().nearby(search({ types: ['exhibition'], limit: 4, after }), NOW_MS);
      seen.push(...page.events.map(idOf));
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

export function oracleContract(store: () => Store): void {
  it(`returns the results of brute force for ${SEARCHES} searches, during writes and as time passes`, async () => {
    const chance = new Chance(7);
    const world = new World(chance);
    const oracle = new Oracle();
    const { agent } = await addAgent(store());
    const newEntry = (fields: Partial<IndexEntry> = {}) =>
      world.entry({ tag: chance.integer(0, TAGS - 1), ...fields });
    const entries = Array.from({ length: 400 }, () => newEntry());
    await Promise.all(entries.map((entry) => store().createEvent(toRow(agent, entry), 0)));
    oracle.load(entries);
    let nowMs = WORLD_BEGINS_MS;
    for (let searches = 0; searches < SEARCHES; searches++) {
      if (chance.chance(0.02)) nowMs = world.passingTime(WORLD_BEGINS_MS, entries);
      const known = chance.pick(entries);
      const stored = oracle.find(known.id);
      if (stored && chance.chance(0.2)) {
        oracle.remove(known.id);
        assert.equal(await store().deleteEvent(known.id, agent.agent_id), true);
      } else if (stored && chance.chance(0.4)) {
        const next = newEntry({ id: stored.id, version: stored.version + 1 });
        entries.push(next);
        oracle.put(next);
        assert.equal((await store().replaceEvent(toRow(agent, next))).kind, 'replaced');
      }
      const types = chance.chance(0.5) ? undefined : chance.some(EVENT_TYPES, 0.3);
      const audiences = chance.chance(0.6) ? undefined : chance.some(AUDIENCES, 0.6);
      const query = { ...world.query(entries), tags: toTags(types, audiences) };
      const expected = oracle.search(query, nowMs);
      const page = await store().nearby({ ...toNearby(query), types, audiences }, nowMs);
      const last = expected.entries.at(-1);
      assert.deepEqual(
        { found: page.events.map(idAndVersion), total: page.total, next: page.next },
        {
          found: expected.entries.map(({ id, version }) => [id, String(version)]),
          total: expected.total,
          next: expected.more && last ? { startMs: last.startMs, id: last.id } : undefined,
        },
      );
    }
  });
}

/** The version is in `cost`, where toRow writes it. */
function idAndVersion(event: Wire) {
  const { event_id, cost } = parseEvent(event);
  return [event_id, cost];
}

/** The row of an entry; its title makes the tuple unique. */
function toRow(agent: AgentRow, entry: IndexEntry): EventRow {
  return newEventRow(agent, {
    event_id: entry.id,
    version: entry.version,
    title: entry.id,
    cost: String(entry.version),
    start_ms: entry.startMs,
    end_ms: entry.endsMs === entry.startMs + 3 * HOUR_MS ? null : entry.endsMs,
    lat: entry.lat,
    lng: entry.lng,
    event_type: EVENT_TYPES[Math.floor(entry.tag / AUDIENCES.length)]!,
    audience: AUDIENCES[entry.tag % AUDIENCES.length]!,
    status: entry.isCancelled ? 'cancelled' : 'scheduled',
    updated_ms: NOW_MS + entry.version,
  });
}

function toTags(
  types: readonly EventType[] = EVENT_TYPES,
  audiences: readonly Audience[] = AUDIENCES,
): TagSet {
  const tags = types.flatMap((type) =>
    audiences.map((audience) => EVENT_TYPES.indexOf(type) * AUDIENCES.length + AUDIENCES.indexOf(audience)),
  );
  return new TagSet(tags);
}

function toNearby(query: IndexQuery): Omit<NearbyQuery, 'types' | 'audiences'> {
  const finite = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined);
  return {
    ...ALL_EVENTS,
    lat: query.lat,
    lng: query.lng,
    radiusMiles: query.radiusMiles,
    startsFromMs: finite(query.startsFromMs),
    startsBeforeMs: finite(query.startsBeforeMs),
    status: query.status,
    after: query.after,
    limit: query.limit,
  };
}
