// Requests of agents in the last hour, counted by two nodes over one database.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, HOUR_MS, NOW_MS } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

const QUERY: AgentListQuery = {
  q: '',
  sort: { key: 'requests_1h', descending: true },
  after: undefined,
  limit: 10,
  requests: true,
};

it('adds up what all nodes count, and keeps it for an hour only', async () => {
  const url = await newDatabase();
  const open = () => PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  const [one, two] = [await open(), await open()];
  const sql = postgres(url, { max: 1 });
  try {
    const { agent } = await addAgent(one);
    const other = (await addAgent(one)).agent;
    for (const store of [one, two, two]) store.noteUse(agent.agent_id, NOW_MS);
    two.noteRefusal(agent.agent_id, NOW_MS);
    two.noteUse(other.agent_id, NOW_MS - HOUR_MS);
    await two.agentPage(QUERY, NOW_MS); // writes
    const found = (await one.agentPage(QUERY, NOW_MS)).items.map((item) => [item.agent_id, item.requests]);
    assert.deepEqual(found, [
      [agent.agent_id, { requests_1h: 3, refusals_1h: 1 }],
      [other.agent_id, { requests_1h: 0, refusals_1h: 0 }],
    ]);
    // A node whose clock is a year ahead counts for itself.
    const aheadMs = NOW_MS + 365 * 24 * HOUR_MS;
    two.noteUse(agent.agent_id, aheadMs);
    assert.equal((await two.agentPage(QUERY, aheadMs)).items[0]?.requests?.requests_1h, 1);
    one.noteUse(other.agent_id, NOW_MS + HOUR_MS);
    const later = (await one.agentPage(QUERY, NOW_MS + HOUR_MS)).items.map(
      ({ requests }) => requests?.requests_1h,
    );
    assert.deepEqual(later, [1, 0]);
    const rows = await sql`SELECT count(*)::integer AS count FROM agent_requests`;
    assert.equal(rows[0]!.count, 1);
  } finally {
    await one.close();
    await two.close();
    await sql.end();
  }
});
