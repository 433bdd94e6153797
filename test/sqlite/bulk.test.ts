// Bulk work on the embedded engine: the contract, transactions, and reading while another process writes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { StartError } from '../../src/domain/errors.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { SqliteBulkReader, SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { type BulkEngine, bulkContract } from '../store/contract-bulk.ts';
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

describe('bulk work on the embedded engine', () => {
  let engine: BulkEngine;
  before(async () => {
    const folder = join(temporaryFolder(), 'data');
    const writer = await SqliteBulkWriter.open(folder);
    engine = { writer, openReader: async () => new SqliteBulkReader(folder) };
  });
  after(() => engine.writer.close());

  bulkContract(() => engine);
});

describe('a bulk writer', () => {
  it('adds rows in one transaction', async (test) => {
    const { writer, agent, path } = await openNew(test);
    const commits = countCommits(path);
    await writer.createEvents([newEventRow(agent), newEventRow(agent)], 0);
    assert.equal(countCommits(path), commits + 1);
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
  it('reads while a writer has the folder open and afterwards', async (test) => {
    const { writer, close, agent, folder } = await openNew(test);
    const row = newEventRow(agent);
    await writer.createEvents([row], 0);
    const check = async () => {
      const reader = new SqliteBulkReader(folder);
      const [[found]] = (await Array.fromAsync(reader.events(undefined))) as [[EventRow]];
      assert.deepEqual({ ...found }, row);
      await reader.close();
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
