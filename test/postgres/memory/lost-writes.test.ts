// Servers that lose the end of their history: after a crash without waiting for the disk, and after a failover to a standby that
// lagged. No node shows an event, or content, that the server does not have, although IDs of transactions and versions repeat.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../../src/config.ts';
import type { AgentRow } from '../../../src/domain/agent.ts';
import type { EventRow } from '../../../src/domain/events/event.ts';
import { PostgresBulkWriter } from '../../../src/postgres/bulk.ts';
import type { SearchChange } from '../../../src/postgres/memory/node-events.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { addAgent, HOUR_MS, NOW_MS, newAgentRow, newEventRow, newKey, search } from '../../store/rows.ts';
import { type Cluster, startCluster } from '../../support/postgres-cluster.ts';
import { childrenOf, isAlive } from '../../support/postgres-programs.ts';
import { size } from '../../support/sizes.ts';

/** Commits do not wait for the disk. */
const LAZY = { synchronous_commit: 'off', bgwriter_lru_maxpages: 0, autovacuum: 'off', wal_buffers: '64MB' };

/** More events than a poll returns, deleted together. They start after all others. */
const MANY = 2_500;
const MANY_START_MS = NOW_MS + 48 * HOUR_MS;
const PAGE = 100;

const FAILOVERS = size(0, 5);

interface Node {
  readonly store: PostgresStore;
  readonly changes: SearchChange[];
}

/** Opens a node that has its events in memory. With `commonHistoryMs`, no change before the last few must be known to the server. */
async function openNode(test: TestContext, url: string, commonHistoryMs?: number): Promise<Node> {
  const changes: SearchChange[] = [];
  const store = await PostgresStore.open({
    ...readConfig({ DATABASE_URL: url }).database!,
    cacheBytes: 10_000_000,
    commonHistoryMs,
    onChange: (change) => changes.push(change),
  });
  test.after(() => store.close());
  while (store.eventsInMemory === undefined) await sleep(5);
  return { store, changes };
}

/** Repeats work that fails while there is no primary. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + 20_000; ; ) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await sleep(50);
    }
  }
}

/** Compares a search on the node with the rows of the server. */
async function assertSame({ store }: Node, url: string): Promise<void> {
  const page = await persist(() => store.nearby(search({ limit: PAGE }), NOW_MS));
  const rows = await persist(() =>
    run(url, (sql) => sql`SELECT json FROM events ORDER BY start_ms, event_id`),
  );
  assert.deepEqual(
    page.events.map((event) => Buffer.from(event, 'latin1').toString()),
    rows.slice(0, PAGE).map(({ json }) => json),
  );
  assert.equal(page.total, rows.length);
}

function run<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1 });
  return work(sql).finally(() => sql.end());
}

/** In several transactions: a node that starts afterwards remembers only the last ones. */
async function addMany(url: string): Promise<AgentRow> {
  const writer = await PostgresBulkWriter.open(readConfig({ DATABASE_URL: url }).database!);
  const agent = newAgentRow();
  await writer.addAgent(agent, newKey());
  const rows = Array.from({ length: MANY }, () => newEventRow(agent, { start_ms: MANY_START_MS }));
  for (let from = 0; from < MANY; from += 500) await writer.createEvents(rows.slice(from, from + 500), 0);
  await writer.close();
  return agent;
}

/** Changes that will be lost, seen by every node: creates, changes and deletes. */
async function changeAll(
  nodes: readonly Node[],
  agent: { agent_id: string },
  rows: readonly EventRow[],
): Promise<void> {
  const { store } = nodes[0]!;
  const changed = { ...rows[0]!, version: rows[0]!.version + 1, title: `lost ${rows[0]!.version}` };
  assert.equal((await store.replaceEvent(changed)).kind, 'replaced');
  await store.createEvent(newEventRow(agent, { title: 'lost event' }), 0);
  assert.equal(await store.deleteEvent(rows[1]!.event_id, agent.agent_id), true);
  for (const node of nodes) {
    const { events } = await node.store.nearby(search(), NOW_MS);
    const text = events.join();
    assert.ok(/lost event/.test(text) && /"lost \d/.test(text) && !text.includes(rows[1]!.event_id));
  }
}

/** Stops the process that writes commits to the disk. The returned function kills it: the server then restarts from its disk. */
function stopWriting(cluster: Cluster): () => Promise<void> {
  const children = childrenOf(cluster.pid);
  const writer = children.find((pid) => /walwriter/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')))!;
  process.kill(writer, 'SIGSTOP');
  return async () => {
    process.kill(writer, 'SIGKILL');
    while (children.some(isAlive)) await sleep(5);
  };
}

const RECONCILED = [0, [['memory']]] as const;
const RELOADED = [undefined, [['memory'], ['database', 'reload'], ['memory']]] as const;

for (const [commonHistoryMs, expected] of size([RECONCILED], [RECONCILED, RELOADED])) {
  const how =
    commonHistoryMs === 0
      ? 'reads only what may differ'
      : 'loads all events if it does not know which may differ';
  it(`after a crash that lost commits, a node ${how}`, async (test) => {
    const cluster = await startCluster({ settings: LAZY });
    test.after(() => cluster.remove());
    const agent = await addMany(cluster.url());
    const node = await openNode(test, cluster.url(), commonHistoryMs);
    const rows = [newEventRow(agent), newEventRow(agent), newEventRow(agent)];
    for (const row of rows) {
      await node.store.createEvent(row, 0);
      await assertSame(node, cluster.url());
    }
    await sleep(5);
    await run(cluster.url(), (sql) => sql`CHECKPOINT`);
    const crash = stopWriting(cluster);
    await changeAll([node], agent, rows);
    await run(cluster.url(), (sql) => sql`DELETE FROM events WHERE start_ms = ${MANY_START_MS}`);
    assert.equal((await node.store.nearby(search(), NOW_MS)).total, rows.length);
    await crash();
    await assertSame(node, cluster.url());
    const { events, total } = await persist(() => node.store.nearby(search(), NOW_MS));
    assert.equal(total, rows.length + MANY);
    assert.ok(!/lost/.test(events.join()), 'the server has lost them');
    // Now the same versions and transactions come again, with other contents.
    const again = { ...rows[0]!, version: 2, title: 'kept' };
    assert.equal((await persist(() => node.store.replaceEvent(again))).kind, 'replaced');
    await assertSame(node, cluster.url());
    while (node.store.eventsInMemory === undefined) await sleep(5);
    await assertSame(node, cluster.url());
    const reported = node.changes.map((change) =>
      change.by === 'memory' ? ['memory'] : [change.by, change.reason],
    );
    assert.deepEqual(reported, expected);
  });
}

describe('after a failover to a standby that lagged', () => {
  for (let number = 1; number <= FAILOVERS; number++) {
    it(`two nodes show what the new primary has (${number})`, async (test) => {
      const primary = await startCluster();
      test.after(() => primary.remove());
      const standby = await primary.startStandby('asynchronous');
      test.after(() => standby.remove());
      const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
      const nodes = [await openNode(test, url, 0), await openNode(test, url, 0)];
      const { store } = nodes[0]!;
      const { agent } = await addAgent(store);
      const rows = Array.from({ length: 20 }, () => newEventRow(agent));
      for (const row of rows) await store.createEvent(row, 0);
      for (const node of nodes) await assertSame(node, primary.url());
      const caughtUp = postgres(standby.url(), { max: 1 });
      while ((await caughtUp`SELECT 1 FROM events`).length < rows.length) await sleep(10);
      await caughtUp.end();
      await standby.cutOff();
      await changeAll(nodes, agent, rows);
      for (let count = 0; count < 50; count++) await store.createEvent(newEventRow(agent), 0);
      for (const node of nodes) await assertSame(node, primary.url());
      await primary.kill9();
      await standby.promote();
      // At once, and while the new primary takes the same versions and transactions.
      const again = { ...rows[0]!, version: 2, title: 'kept' };
      assert.equal((await persist(() => store.replaceEvent(again))).kind, 'replaced');
      for (let count = 0; count < 60; count++) {
        await persist(() => store.createEvent(newEventRow(agent), 0));
        await assertSame(nodes[count % 2]!, standby.url());
      }
      for (const { changes } of nodes)
        assert.deepEqual(
          changes.map(({ by }) => by),
          ['memory'],
          'nothing was reloaded',
        );
    });
  }
});
