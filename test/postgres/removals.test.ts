// Several nodes remove ended events and unused agents: one at a time, and together exactly what is to be removed.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, auditOf, findAgent, NOW_MS, newEventRow } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Side } from './side.ts';

let nodes: PostgresStore[];
let side: Side;
before(async () => {
  const url = await newDatabase();
  const options = readConfig({ DATABASE_URL: url, DATABASE_POOL_TIMEOUT_MS: '60000' }).database!;
  nodes = await Promise.all([1, 2, 3].map(() => PostgresStore.open(options)));
  side = new Side(url);
});
after(async () => {
  await Promise.all(nodes.map((node) => node.close()));
  await side.close();
});

const sumOf = async (slices: AsyncIterable<number>) =>
  (await Array.fromAsync(slices)).reduce((sum, count) => sum + count, 0);
const removeEnded = async (node: PostgresStore) => {
  const slices = await Array.fromAsync(node.removeEnded(NOW_MS, auditOf('delete_events', ''), undefined));
  return slices.reduce((sum, { deleted }) => sum + deleted, 0);
};
const removeUnused = (node: PostgresStore) => sumOf(node.removeUnusedAgents(1, auditOf('delete_agent', '')));

it('removes every ended event once, whichever nodes try, without a deadlock', async () => {
  const [node] = nodes as [PostgresStore];
  const agents = await Promise.all(Array.from({ length: 20 }, () => addAgent(node)));
  const rows = agents.flatMap(({ agent }) =>
    Array.from({ length: 40 }, (_, at) => newEventRow(agent, { start_ms: at })),
  );
  await Promise.all(rows.map((row) => node.createEvent(row, 0)));
  // The agents delete at the same time.
  const deleting = Promise.all(
    rows.slice(0, 200).map((row, at) => nodes[at % 3]!.deleteEvent(row.event_id, row.agent_id)),
  );
  const removed = await Promise.all(nodes.map((each) => removeEnded(each)));
  const deleted = (await deleting).filter((isDeleted) => isDeleted).length;
  const rest = await removeEnded(node); // what a node left that found the lock taken
  assert.equal(removed.reduce((sum, count) => sum + count, rest) + deleted, rows.length);
  const [left] = await side.sql`
    SELECT (SELECT count(*)::integer FROM events) AS events, sum(event_count)::integer AS counted, sum(event_bytes)::integer AS bytes
    FROM agents`;
  assert.deepEqual({ ...left }, { events: 0, counted: 0, bytes: 0 });
});

it('stops at once while another node is at it', async () => {
  const [node] = nodes as [PostgresStore];
  const { agent } = await addAgent(node, { created_ms: 1 });
  const { agent: unused } = await addAgent(node, { created_ms: 1 });
  await node.createEvent(newEventRow(agent, { start_ms: 1 }), 0);
  const held = await side.hold((sql) => sql`SELECT pg_advisory_xact_lock(7305914227)`);
  assert.equal(await removeEnded(node), 0);
  assert.equal(await removeUnused(node), 0);
  await held.release();
  assert.equal(await removeUnused(node), 1);
  assert.equal(await findAgent(node, unused.agent_id), undefined);
  assert.equal(await removeEnded(node), 1);
});
