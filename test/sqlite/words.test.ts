// Words of stored events in the embedded engine: they are read after the start, while others write.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AppError } from '../../src/domain/errors.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { readNearby } from '../../src/domain/events/nearby.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { addAgent, idOf, NOW_MS, newEventRow, search, searchAll } from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { oracleMatches, oracleWordsOf, randomSearch, randomText } from '../support/words-oracle.ts';

it('finds the words of all events after a start, and of those that are written and deleted at that moment', async () => {
  const chance = new Chance(5);
  const folder = temporaryFolder();
  const open = () =>
    SqliteStore.open({ folder, cacheBytes: 1_000_000, hashSeed: chance.integer(0, 2 ** 31) });
  let store = await open();
  const { agent } = await addAgent(store);
  const rows = new Map<string, EventRow>();
  let made = 0;
  const newRow = (fields: Partial<EventRow> = {}) =>
    newEventRow(agent, {
      title: `${randomText(chance)} ${++made}.`,
      description: randomText(chance),
      ...fields,
    });
  const add = async (row: EventRow) => {
    rows.set(row.event_id, row);
    await store.createEvent(row, 0);
  };
  for (let slice = 0; slice < size(1, 40); slice++) {
    await Promise.all(Array.from({ length: 500 }, () => add(newRow()))); // more at once would exceed the deadline of writes
  }
  for (let round = 0; round < size(3, 20); round++) {
    await store.close();
    store = await open();
    // The words are being read. Creates, changes and deletes, in any order with that.
    const old = chance.some([...rows.values()], 0.05);
    const changes = old.map(async (row) => {
      if (chance.chance(0.5)) {
        rows.delete(row.event_id);
        assert.equal(await store.deleteEvent(row.event_id, agent.agent_id), true);
      } else {
        const next = newRow({ event_id: row.event_id, version: row.version + 1 });
        rows.set(row.event_id, next);
        assert.equal((await store.replaceEvent(next)).kind, 'replaced');
      }
    });
    await Promise.all([...changes, ...Array.from({ length: 20 }, () => add(newRow()))]);
    for (let count = 0; count < size(8, 50); count++) {
      const q = chance.chance(0.3) ? 'jazz' : randomSearch(chance);
      if (oracleMatches(q, new Set()) === undefined) continue;
      const terms = readNearby({ lat: 0, lng: 0, q }, 'query').terms;
      const found = (await untilKnown(() => searchAll(store, search({ terms }), NOW_MS))).map(idOf);
      const expected = [...rows.values()]
        .filter((row) => oracleMatches(q, oracleWordsOf(row)))
        .map(({ event_id }) => event_id);
      assert.deepEqual(found, expected.sort(), JSON.stringify({ q, round }));
    }
  }
  await store.close();
});

/** On a busy machine, reading the words can take longer than a search waits for them. */
async function untilKnown<T>(find: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await find();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAVAILABLE') throw error;
    }
  }
}
