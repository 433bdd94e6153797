// Changes of events that are made by hand: the sum of an agent's bytes stays right.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { encodeEvent } from '../../src/domain/events/event.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, addEvent } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

let store: PostgresStore;
let sql: postgres.Sql;
before(async () => {
  const url = await newDatabase();
  store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  sql = postgres(url, { max: 2, onnotice: () => {} });
});
after(async () => {
  await sql.end();
  await store.close();
});

async function assertSum(agentId: string): Promise<number> {
  const [agent] = await sql`
    SELECT event_bytes::integer, (
      SELECT coalesce(sum(octet_length(json)), 0)::integer FROM events WHERE agent_id = ${agentId}
    ) AS bytes FROM agents WHERE agent_id = ${agentId}`;
  assert.equal(agent!.event_bytes, agent!.bytes);
  return agent!.bytes;
}

it('counts changes and deletes', async () => {
  const { agent } = await addAgent(store);
  const row = await addEvent(store, agent);
  for (let count = 0; count < 3; count++) await addEvent(store, agent, { description: 'é'.repeat(500) });
  const before = await assertSum(agent.agent_id);
  const longer = encodeEvent({ ...row, description: 'x'.repeat(70) });
  await sql`UPDATE events SET json = ${longer} WHERE event_id = ${row.event_id}`;
  assert.equal(await assertSum(agent.agent_id), before - 'null'.length + 72);
  await sql`DELETE FROM events WHERE agent_id = ${agent.agent_id} AND event_id <> ${row.event_id}`;
  assert.equal(await assertSum(agent.agent_id), longer.length);
});

it('never fails a delete because of a sum that is too small', async () => {
  const { agent } = await addAgent(store);
  const row = await addEvent(store, agent);
  await sql`UPDATE agents SET event_bytes = 5 WHERE agent_id = ${agent.agent_id}`;
  assert.equal(await store.deleteEvent(row.event_id, agent.agent_id), true);
  assert.equal(await assertSum(agent.agent_id), 0);
});
