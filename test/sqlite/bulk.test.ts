// Bulk work on the embedded engine: the rules of a create for many rows at once, counts that stay right, and reading
// beside whoever writes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { StartError } from '../../src/domain/errors.ts';
import type { EventRow } from '../../src/domain/event.ts';
import { SqliteBulkReader, SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { eventsOf, NOW_MS, newAgentRow, newEventRow, newKey } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { countCommits, execute, readRows } from './files.ts';

/** Closed when the test ends, or before: the thread of one left open would keep a failure from being reported. */
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

describe('an writer', () => {
  it('adds rows in one transaction and tells what became of each, in order', async (test) => {
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

  it('keeps the limit of each agent, and finds what is there beyond it', async (test) => {
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

  it('adds nothing for an agent that there is not', async (test) => {
    const { writer, agent, titles } = await openNew(test);
    const row = newEventRow(agent);
    assert.deepEqual(await writer.createEvents([newEventRow(newAgentRow()), row], 0), [
      'no-agent',
      'created',
    ]);
    assert.deepEqual(titles(), [row.title]);
  });

  it('adds none of the rows when one breaks a rule of the file', async (test) => {
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

  it('finishes what it accepted before it closes, and then lets the folder go', async (test) => {
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

describe('an writer reader', () => {
  it('gives every row as it was written, beside a writer and after it', async (test) => {
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

  it('sees one moment, whatever is written meanwhile', async (test) => {
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
    assert.equal((await reader.findAgent(agent.agent_id))?.event_count, 2_503);
    await reader.close();
  });

  it('refuses a folder without data, and a file that is no database', () => {
    const folder = temporaryFolder();
    assert.throws(() => new SqliteBulkReader(folder), StartError);
    writeFileSync(databasePath(folder), 'x'.repeat(100_000));
    assert.throws(() => new SqliteBulkReader(folder), StartError);
  });
});
