// Deleting an agent, or all its events: at once for every reader, while the rows follow in slices, also after a restart.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRow } from '../../src/domain/agent.ts';
import { ROWS_PER_SLICE } from '../../src/domain/store.ts';
import { backUp, restore } from '../../src/sqlite/files/backup.ts';
import { SqliteBulkReader, SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteTransfer } from '../../src/sqlite/files/transfer.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import {
  addEvent,
  assertEvents,
  assertRecord,
  auditOf,
  deleteOne,
  eventsOf,
  findAgent,
  findRow,
  NOW_MS,
  newAgentRow,
  newEventRow,
  newKey,
  newUlid,
  search,
} from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { UNWATCHED } from './data.ts';
import { assertSound, readRows } from './files.ts';

/** Many slices, so that a test sees the rows before they are gone. */
const MANY = 24 * ROWS_PER_SLICE;

const open = (folder: string) => SqliteStore.open({ folder, cacheBytes: 1_000_000, nowMs: NOW_MS });

async function makeFolder() {
  const folder = join(temporaryFolder(), 'data');
  const writer = await SqliteBulkWriter.open(folder);
  const [agent, other] = [newAgentRow(), newAgentRow()];
  const [key, otherKey] = [newKey(), newKey()];
  await writer.addAgent(agent, key);
  await writer.addAgent(other, otherKey);
  const rows = Array.from({ length: MANY }, (_, at) => newEventRow(agent, { start_ms: NOW_MS + at }));
  const kept = newEventRow(other, { start_ms: NOW_MS + 7 });
  await writer.createEvents([...rows, kept], 0);
  await writer.close();
  return { folder, agent, key, other, rows, kept };
}

let made: ReturnType<typeof makeFolder> | undefined;

/** A folder with an agent that has many events, and another with one: made once, and copied. */
async function newFolder() {
  made ??= makeFolder();
  const { folder: original, ...data } = await made;
  const { agent } = data;
  const folder = join(temporaryFolder(), 'data');
  cpSync(original, folder, { recursive: true });
  const countRows = () =>
    readRows(
      databasePath(folder),
      'SELECT count(*) AS count FROM events WHERE agent_id = ?',
      agent.agent_id,
    )[0].count as number;
  return { ...data, folder, countRows };
}

const deleteEvents = (store: SqliteStore, { agent_id }: AgentRow) =>
  store.deleteAll(agent_id, auditOf('delete_agent_events', agent_id), false);
const deleteAgent = (store: SqliteStore, { agent_id }: AgentRow) =>
  store.deleteAll(agent_id, auditOf('delete_agent', agent_id), true);

async function untilRemoved(folder: string): Promise<void> {
  while (readRows(databasePath(folder), 'SELECT 1 FROM removals').length > 0) await sleep(10);
}

const LIST = {
  after: undefined,
  q: '',
  when: 'all',
  limit: 10,
  sort: { key: 'start_at', descending: false },
} as const;
const AGENTS = {
  after: undefined,
  q: '',
  limit: 10,
  sort: { key: 'created_at', descending: false },
} as const;

/** Asserts that no reader finds anything but these events, all of `other`. */
async function assertOnly(
  store: SqliteStore,
  { agent, rows, kept }: Awaited<ReturnType<typeof newFolder>>,
): Promise<void> {
  const page = await store.nearby(search(), NOW_MS);
  assert.equal(page.total, 1);
  assertEvents(page.events, [kept]);
  const near = await store.nearby(search({ lat: kept.lat, lng: kept.lng, radiusMiles: 5 }), NOW_MS);
  assert.equal(near.total, 1);
  for (const row of [rows[0]!, rows[MANY / 2]!, rows.at(-1)!]) {
    assert.equal(await store.findEvent(row.event_id), undefined);
    assert.equal(await findRow(store, row.event_id), undefined);
    assert.equal(await store.deleteEvent(row.event_id, agent.agent_id), false);
    assert.equal(await deleteOne(store, row.event_id, auditOf('delete_event', '')), false);
    assert.deepEqual(await store.replaceEvent({ ...row, version: 2 }), { kind: 'conflict' });
  }
  assert.deepEqual(await eventsOf(store, agent.agent_id), []);
  assert.equal((await store.agentEventPage(agent.agent_id, LIST, NOW_MS)).total, 0);
  const stats = await store.stats(NOW_MS);
  assert.deepEqual([stats.events, stats.events_upcoming], [1, 1]);
}

/** Asserts that an export has only the kept event. */
async function assertExported(folder: string, agent: AgentRow, kept: string): Promise<void> {
  const reader = new SqliteBulkReader(folder);
  const all = (await Array.fromAsync(reader.events(undefined))).flat();
  assert.deepEqual(
    all.map(({ event_id }) => event_id),
    [kept],
  );
  assert.deepEqual(await Array.fromAsync(reader.events(agent.agent_id)), []);
  assert.equal(await reader.countEvents(), 1);
  await reader.close();
}

describe('deleting an agent with many events', () => {
  it('is done for every reader at once; rows, and with the last of them the agent, follow', async (t) => {
    const world = await newFolder();
    const { folder, agent, key, other, kept, countRows } = world;
    const store = await open(folder);
    t.after(() => store.close());
    assert.equal(await deleteAgent(store, agent), true);
    assert.ok(countRows() > 3, 'the rows are still there');
    await assertOnly(store, world);
    await assertExported(folder, agent, kept.event_id);
    assert.equal(await findAgent(store, agent.agent_id), undefined);
    assert.equal(await store.findAgentByKey(key.hash, NOW_MS), undefined);
    assert.deepEqual(
      (await store.listAgents()).map(({ agent_id }) => agent_id),
      [other.agent_id],
    );
    assert.equal((await store.agentPage(AGENTS, NOW_MS)).total, 1);
    assert.equal((await store.stats(NOW_MS)).agents, 1);
    assert.deepEqual(await store.createEvent(newEventRow(agent), 0), { kind: 'no-agent' });
    const audit = auditOf('update_agent', agent.agent_id);
    assert.equal(await store.updateAgent(agent.agent_id, { tier: 'read' }, audit), undefined);
    assert.equal(await deleteAgent(store, agent), false);
    assert.equal(await deleteEvents(store, agent), false);
    const { items } = await store.auditPage({ after: undefined, limit: 10 });
    assert.deepEqual(
      items.map(({ action, count }) => [action, count]),
      [['delete_agent', MANY]],
    );
    assertSound(databasePath(folder));
    await untilRemoved(folder);
    assert.equal(countRows(), 0);
    assert.deepEqual(
      readRows(databasePath(folder), 'SELECT agent_id FROM agents').map(({ agent_id }) => agent_id),
      [other.agent_id],
    );
    await assertOnly(store, world);
    assertSound(databasePath(folder));
  });

  it('lets other writes run between the slices', async (t) => {
    const { folder, agent, other, countRows } = await newFolder();
    const store = await open(folder);
    t.after(() => store.close());
    await deleteAgent(store, agent);
    let meanwhile = 0;
    for (; countRows() > 0; meanwhile++) await addEvent(store, other);
    assert.ok(meanwhile > 10, `${meanwhile} writes`);
  });
});

describe('deleting all events of an agent', () => {
  it('keeps what the agent creates afterwards, equal events included', async (t) => {
    const { folder, agent, rows, kept, countRows } = await newFolder();
    const store = await open(folder);
    t.after(() => store.close());
    await deleteEvents(store, agent);
    // The same titles, starts and places as rows that are still there: the first, the last and some in between.
    const again = [rows[0]!, rows[MANY / 2]!, rows.at(-1)!].map((row) => ({ ...row, event_id: newUlid() }));
    for (const row of again) assert.equal((await store.createEvent(row, 3)).kind, 'created');
    assert.deepEqual(await store.createEvent(newEventRow(agent), 3), { kind: 'limit' });
    const moved = { ...again[0]!, version: 2, start_ms: rows[5]!.start_ms, title: rows[5]!.title };
    assert.equal((await store.replaceEvent(moved)).kind, 'replaced');
    assert.ok(countRows() > 3, 'the rows are still there');
    assertSound(databasePath(folder));
    const left = [moved, again[1]!, again[2]!];
    const check = async () => {
      assertEvents(await eventsOf(store, agent.agent_id), left);
      const page = await store.nearby(search(), NOW_MS);
      assertEvents(page.events, [moved, kept, again[1]!, again[2]!]);
      assert.equal(page.total, 4);
      for (const query of [LIST, { ...LIST, when: 'upcoming' }, { ...LIST, q: 'event' }] as const) {
        const list = await store.agentEventPage(agent.agent_id, query, NOW_MS - 1);
        assertEvents(
          list.items.map(({ json }) => json),
          left,
        );
        assert.equal(list.total, 3);
      }
      assert.equal((await findAgent(store, agent.agent_id))?.event_count, 3);
    };
    await check();
    await untilRemoved(folder);
    await check();
    assert.equal(countRows(), 3);
    assertSound(databasePath(folder));
  });

  it('can be done again while the rows of the last time are still there', async (t) => {
    const { folder, agent, countRows } = await newFolder();
    const store = await open(folder);
    t.after(() => store.close());
    await deleteEvents(store, agent);
    const row = await addEvent(store, agent);
    assert.equal(await deleteEvents(store, agent), true);
    assert.equal(await store.findEvent(row.event_id), undefined);
    // Takes the place of the last row: its number must not be used again.
    const last = { ...row, event_id: newUlid() };
    assert.equal((await store.createEvent(last, 0)).kind, 'created');
    assertRecord(await store.findEvent(last.event_id), last);
    assertEvents(await eventsOf(store, agent.agent_id), [last]);
    const counts = (await store.auditPage({ after: undefined, limit: 10 })).items.map(({ count }) => count);
    assert.deepEqual(counts, [1, MANY]);
    await untilRemoved(folder);
    assertRecord(await store.findEvent(last.event_id), last);
    assert.equal(countRows(), 1);
  });
});

describe('a removal that was interrupted', () => {
  it('shows nothing after a restart, and is completed', async (t) => {
    const world = await newFolder();
    const { folder, agent, countRows } = world;
    const before = await open(folder);
    await deleteAgent(before, agent);
    await before.close(); // waits for one slice, not for all
    assert.ok(countRows() > 0, 'it was interrupted');
    const store = await open(folder);
    t.after(() => store.close());
    await assertOnly(store, world);
    await untilRemoved(folder);
    assert.equal(countRows(), 0);
    assertSound(databasePath(folder));
  });

  it('is completed from a backup made in its middle', async (t) => {
    const world = await newFolder();
    const { folder, agent } = world;
    const store = await open(folder);
    await deleteAgent(store, agent);
    const file = join(temporaryFolder(), 'copy.db');
    const summary = await backUp(folder, file, UNWATCHED);
    await store.close();
    assert.deepEqual([summary.events, summary.agents], [1, 1]);
    assert.ok(readRows(file, 'SELECT 1 FROM removals').length > 0, 'it is a copy of the middle');
    const copy = join(temporaryFolder(), 'restored');
    assert.equal((await restore(file, copy, UNWATCHED)).events, 1);
    await assertExported(copy, agent, world.kept.event_id);
    const restored = await open(copy);
    t.after(() => restored.close());
    await assertOnly(restored, world);
    await untilRemoved(copy);
    assertSound(databasePath(copy));
  });

  for (const [name, openAndClose] of [
    ['an import', async (folder: string) => (await SqliteBulkWriter.open(folder)).close()],
    ['a move', async (folder: string) => SqliteTransfer.openSource(folder).close()],
  ] as const) {
    it(`is completed by ${name}`, async () => {
      const { folder, agent, kept, countRows } = await newFolder();
      const store = await open(folder);
      await deleteAgent(store, agent);
      await store.close();
      assert.ok(countRows() > 0, 'it was interrupted');
      await openAndClose(folder);
      const left = readRows(databasePath(folder), 'SELECT event_id FROM events');
      assert.deepEqual(left, [{ event_id: kept.event_id }]);
      assert.equal(readRows(databasePath(folder), 'SELECT agent_id FROM agents').length, 1);
      assertSound(databasePath(folder));
    });
  }
});
