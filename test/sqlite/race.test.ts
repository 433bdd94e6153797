// Searches while the file changes: a search never sees the index and the file at different versions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import type { Store } from '../../src/domain/store.ts';
import type { Wire } from '../../src/domain/wire.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { addAgent, addEvent, HOUR_MS, NOW_MS, newEventRow, parseEvent, search } from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { temporaryFolder } from '../support/service.ts';

const EVENTS = 40;
const WRITERS = 8;

/** All fields follow from the version, so that a mixture of two versions is noticed. */
function fieldsOf(version: number): Partial<EventRow> {
  return {
    version,
    cost: String(version),
    start_ms: NOW_MS + ((version * 7_919) % 1_000) * 60_000,
    end_ms: NOW_MS + 100 * HOUR_MS,
    event_type: version % 2 === 1 ? 'talk' : 'market',
    lat: version % 2 === 1 ? 10 : -10,
  };
}

function assertWhole(page: readonly Wire[], type: string): void {
  const events = page.map(parseEvent);
  for (const [at, event] of events.entries()) {
    const { start_ms, event_type, lat } = fieldsOf(Number(event.cost));
    assert.deepEqual(
      [event.event_type, event.lat, Date.parse(String(event.start_at))],
      [event_type, lat, start_ms],
    );
    assert.equal(event.event_type, type);
    const before = events[at - 1];
    const order = ({ start_at, event_id }: typeof event) => `${start_at} ${event_id}`;
    if (before) assert.ok(order(before) < order(event));
  }
}

/** Changes its own events, or replaces one by a new one, while `goesOn` is true. */
async function write(store: Store, agent: AgentRow, chance: Chance, goesOn: () => boolean): Promise<void> {
  const rows = Array.from({ length: EVENTS / WRITERS }, () => newEventRow(agent, fieldsOf(1)));
  for (const row of rows) await store.createEvent(row, 0);
  while (goesOn()) {
    const at = chance.integer(0, rows.length - 1);
    const row = rows[at]!;
    if (chance.chance(0.3)) {
      await store.deleteEvent(row.event_id, agent.agent_id);
      rows[at] = await addEvent(store, agent, fieldsOf(1));
    } else {
      rows[at] = { ...row, ...fieldsOf(row.version + 1) };
      assert.equal((await store.replaceEvent(rows[at])).kind, 'replaced');
    }
  }
}

/** Searches until enough writes have happened. */
async function searchDuring(store: Store, countWrites: () => number): Promise<void> {
  const sizes = new Set<number>();
  for (let searches = 0; countWrites() < 400 || searches < 100; searches++) {
    const type = searches % 2 === 0 ? 'talk' : 'market';
    const place = searches % 3 === 0 ? { lat: type === 'talk' ? 10 : -10, lng: 13.405, radiusMiles: 1 } : {};
    const page = await store.nearby(search({ types: [type], limit: 100, ...place }), NOW_MS);
    assert.equal(page.total, page.events.length);
    assert.ok(page.total <= EVENTS);
    assertWhole(page.events, type);
    sizes.add(page.total);
    await nextTurn();
  }
  assert.ok(sizes.size > 5, 'the searches saw changes');
}

describe('a search while others write', () => {
  for (const cacheBytes of [0, 10_000, 1_000_000]) {
    it(`returns whole events, in order and with the exact total, with a cache of ${cacheBytes} bytes`, async () => {
      const store = await SqliteStore.open({ folder: temporaryFolder(), cacheBytes });
      const { agent } = await addAgent(store);
      let isOver = false;
      let writes = 0;
      const goesOn = () => ++writes > 0 && !isOver;
      const writing = Array.from({ length: WRITERS }, (_, seed) =>
        write(store, agent, new Chance(seed), goesOn),
      );
      try {
        await Promise.race([searchDuring(store, () => writes), Promise.all(writing)]);
      } finally {
        isOver = true;
        await Promise.allSettled(writing);
        await store.close();
      }
    });
  }
});
