// Last uses while they are being written: a read at that moment sees them too.
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, findAgent, NOW_MS } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

/** Interval of the writes. */
const INTERVAL_MS = 5_000;

describe('the last use of an agent', () => {
  let store: PostgresStore;

  before(async () => {
    const { database } = readConfig({ DATABASE_URL: await newDatabase() });
    mock.timers.enable({ apis: ['setInterval'] });
    store = await PostgresStore.open(database!);
  });
  after(async () => {
    await store.close();
    mock.timers.reset();
  });

  it('is visible before, during and after its write', async () => {
    const { agent } = await addAgent(store);
    for (let usedMs = NOW_MS; usedMs < NOW_MS + 300; usedMs++) {
      store.noteUse(agent.agent_id, usedMs);
      const found = [findAgent(store, agent.agent_id)];
      mock.timers.tick(INTERVAL_MS);
      for (let times = 0; times < 5; times++) found.push(findAgent(store, agent.agent_id));
      const seen = (await Promise.all(found)).map((record) => record?.last_used_ms);
      assert.deepEqual([...new Set(seen)], [usedMs]);
    }
  });
});
