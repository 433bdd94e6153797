// Changes and deletes of one agent's events, by the agent and by administrators, do not deadlock.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, auditOf, newEventRow } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';
import { Side } from './side.ts';

const AGENTS = size(8, 60);

it('has no deadlock between an agent that creates, changes and deletes and an administrator who deletes', async (t) => {
  const url = await newDatabase();
  const side = new Side(url);
  t.after(() => side.close());
  const store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  for (let agents = 0; agents < AGENTS; agents++) {
    const { agent } = await addAgent(store);
    const { agent_id } = agent;
    let isOver = false;
    const write = async () => {
      while (!isOver) {
        const row = newEventRow(agent);
        if ((await store.createEvent(row, 0)).kind === 'no-agent') return;
        await Promise.all([
          store.replaceEvent({ ...row, version: 2, description: 'longer' }),
          store.deleteEvent(row.event_id, agent_id),
          store.deleteEventAsAdmin(row.event_id, auditOf('delete_event', row.event_id)),
        ]);
      }
    };
    const writing = Promise.all(Array.from({ length: 8 }, write));
    try {
      for (let times = 0; times < 5; times++) {
        await store.deleteAgentEvents(agent_id, auditOf('delete_agent_events', agent_id));
      }
      assert.equal(await store.deleteAgent(agent_id, auditOf('delete_agent', agent_id)), true);
    } finally {
      isOver = true;
      await writing;
    }
  }
  await store.close();
  // its connections report their statistics when they end
  const [found] = await side.sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
  assert.deepEqual({ ...found }, { deadlocks: '0' });
});
