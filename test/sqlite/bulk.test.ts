// Bulk work on the embedded engine: the rules of a create for many rows at once, correct counts, and reading while
// another process writes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { StartError } from '../../src/domain/errors.ts';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import { SqliteBulkReader, SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { eventsOf, findAgent, NOW_MS, newAgentRow, newEventRow, newKey } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { countCommits, execute, readRows } from './files.ts';

/** Closed at the latest when the test ends: an open thread would keep a failure from being reported. */
async function openNew(test: TestContext) {
  const folder = join(temporaryFolder(), 'data');
  const writer = await SqliteBulkWriter.open(folder);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= writer.close());
  test.after(close);
  const agent = newAgentRow();
  const key = newKey();
  await writer.addAgent(agent, key);
  const path = databasePath(folder);
  const counts = () =>
    readRows(path, 'SELECT event_count FROM agents ORDER BY created_ms').map((row) => row.event_count);
  const titles = () => readRows(path, 'SELECT title FROM events ORDER BY row_id').map((row) => row.title);
  return { folder, path, writer, close, agent, key, counts, titles };
}

async function readAll(folder: string, agentId?: string): Promise<EventRow[]> {
  const reader = new SqliteBulkReader(folder);
  const rows = (await Array.fromAsync(reader.events(agentId))).flat().map((row) => ({ ...row }));
  await reader.close();
  return rows;
}

describe('a bulk writer', () => {
  it('adds rows in one transaction and returns the outcome of each, in order', async (test) => {
    const { writer, agent, path, counts, titles } = await openNew(test);
    const [a, b, c] = [newEventRow(agent), newEventRow(agent), newEventRow(agent)];
    const twin = { ...newEventRow(agent), title: a.title };
    const commits = countCommits(path);
    assert.deepEqual(await writer.createEvents([a, b, twin], 0), ['created', 'created', 'existing']);
    assert.equal(countCommits(path), commits + 1);
    assert.deepEqual(await writer.createEvents([{ ...twin }, c], 0), ['existing', 'created']);
    assert.deepEqual(counts(), [3]);
    assert.deepEqual(titles(), [a.title, b.title, c.title]);
  });

  it('enforces the limit of each agent, and still finds existing events at the limit', async (test) => {
    const { writer, agent, counts } = await openNew(test);
    const other = newAgentRow();
    await writer.addAgent(other, newKey());
    const rows = Array.from({ length: 3 }, () => newEventRow(agent));
    const outcomes = await writer.createEvents(
      [...rows, newEventRow(other), { ...rows[1]!, event_id: 'x' }],
      2,
    );
    assert.deepEqual(outcomes, ['created', 'created', 'limit', 'created', 'existing']);
    assert.deepEqual(await writer.createEvents([rows[2]!, newEventRow(other)], 2), ['limit', 'created']);
    assert.deepEqual(counts(), [2, 2]);
  });

  it('enforces the limit of bytes, and still finds existing events at the limit', async (test) => {
    const { writer, agent, counts } = await openNew(test);
    const rows = Array.from({ length: 3 }, () => newEventRow(agent));
    const limit = Buffer.byteLength(
      rows
        .slice(0, 2)
        .map((row) => encodeEvent(row))
        .join(''),
    );
    const batch = [...rows, { ...rows[1]!, event_id: 'x' }];
    const outcomes = await writer.createEvents(batch, 0, limit);
    assert.deepEqual(outcomes, ['created', 'created', 'size-limit', 'existing']);
    assert.deepEqual(await writer.createEvents([rows[2]!], 0, limit), ['size-limit']);
    assert.deepEqual(await writer.createEvents([rows[2]!], 0, 0), ['created']);
    assert.deepEqual(counts(), [3]);
  });

  it('adds nothing for an agent that does not exist', async (test) => {
    const { writer, agent, titles } = await openNew(test);
    const row = newEventRow(agent);
    assert.deepEqual(await writer.createEvents([newEventRow(newAgentRow()), row], 0), [
      'no-agent',
      'created',
    ]);
    assert.deepEqual(titles(), [row.title]);
  });

  it('adds none of the rows if one breaks a constraint', async (test) => {
    const { writer, agent, counts, titles } = await openNew(test);
    const row = newEventRow(agent);
    const sameId = { ...newEventRow(agent), event_id: row.event_id };
    await assert.rejects(writer.createEvents([row, sameId], 0), /UNIQUE constraint failed: events.event_id/);
    assert.deepEqual([counts(), titles()], [[0], []]);
    assert.deepEqual(await writer.createEvents([row], 0), ['created']);
  });

  it('finds active agents by their key', async (test) => {
    const { writer, agent, key, path } = await openNew(test);
    const found = await writer.findAgentByKey(key.hash, NOW_MS);
    assert.deepEqual({ ...found }, { ...agent, last_used_ms: null, event_count: 0 });
    assert.equal(await writer.findAgentByKey(newKey().hash, NOW_MS), undefined);
    execute(path, `UPDATE keys SET expires_ms = ${NOW_MS}`);
    assert.equal((await writer.findAgentByKey(key.hash, NOW_MS - 1))?.agent_id, agent.agent_id);
    assert.equal(await writer.findAgentByKey(key.hash, NOW_MS), undefined);
    execute(path, 'UPDATE keys SET expires_ms = NULL; UPDATE agents SET is_active = 0');
    assert.equal(await writer.findAgentByKey(key.hash, NOW_MS), undefined);
  });

  it('finishes the work it has accepted before it closes, and then releases the folder', async (test) => {
    const { writer, close, agent, folder, counts } = await openNew(test);
    const batches = Array.from({ length: 5 }, () => Array.from({ length: 100 }, () => newEventRow(agent)));
    const written = Promise.all(batches.map((rows) => writer.createEvents(rows, 0)));
    await assert.rejects(SqliteStore.open({ folder, cacheBytes: 0 }), StartError);
    await close();
    assert.ok((await written).flat().every((outcome) => outcome === 'created'));
    assert.deepEqual(counts(), [500]);
    const store = await SqliteStore.open({ folder, cacheBytes: 0 });
    test.after(() => store.close());
    assert.equal((await eventsOf(store, agent.agent_id)).length, 500);
  });
});

describe('a bulk reader', () => {
  it('returns every row as it was written, while a writer has the folder open and afterwards', async (test) => {
    const { writer, close, agent, folder } = await openNew(test);
    const other = newAgentRow();
    await writer.addAgent(other, newKey());
    const all = {
      description: 'd',
      end_ms: 2e12,
      address: 'a',
      url: 'u',
      cost: 'c',
      audience: 'kids',
    } as const;
    const rows = [
      newEventRow(agent, { start_ms: 2 }),
      newEventRow(other, all),
      newEventRow(agent, { start_ms: 1 }),
    ];
    await writer.createEvents(rows, 0);
    const check = async () => {
      assert.deepEqual(await readAll(folder), rows);
      assert.deepEqual(await readAll(folder, agent.agent_id), [rows[2], rows[0]]);
      assert.deepEqual(await readAll(folder, newAgentRow().agent_id), []);
    };
    await check();
    await close();
    await check();
  });

  it('reads the data of one moment, whatever is written meanwhile', async (test) => {
    const { writer, agent, folder } = await openNew(test);
    await writer.createEvents(
      Array.from({ length: 2_500 }, () => newEventRow(agent)),
      0,
    );
    const reader = new SqliteBulkReader(folder);
    let read = 0;
    for await (const rows of reader.events(undefined)) {
      read += rows.length;
      await writer.createEvents([newEventRow(agent)], 0);
    }
    assert.equal(read, 2_500);
    assert.equal(await reader.countEvents(), 2_503);
    assert.equal((await findAgent(reader, agent.agent_id))?.event_count, 2_503);
    await reader.close();
  });

  it('refuses a folder without data, and a file that is not a database', () => {
    const folder = temporaryFolder();
    assert.throws(() => new SqliteBulkReader(folder), StartError);
    writeFileSync(databasePath(folder), 'x'.repeat(100_000));
    assert.throws(() => new SqliteBulkReader(folder), StartError);
  });
});
