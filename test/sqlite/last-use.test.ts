// The last use of an agent is known from the request on, also while it is being written.
import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { temporaryFolder } from '../support/service.ts';

describe('the last use of an agent', () => {
  const agent = {
    agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90',
    email: 'agent@example.com',
    agent_name: 'agent',
    tier: 'read',
    is_active: true,
    created_ms: 1,
  } as const;
  let store: SqliteStore;
  before(async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    store = await SqliteStore.open({ folder: temporaryFolder(), cacheBytes: 1024 });
    await store.addAgent(agent, { hash: 'hash', prefix: 'lev_abcd' });
  });
  after(async () => {
    await store.close();
    mock.timers.reset();
  });
  const lastUses = async () => {
    const found = await store.findAgent(agent.agent_id);
    const [listed] = await store.listAgents();
    return [found?.last_used_ms, listed?.last_used_ms];
  };

  it('is known before, while and after it is written', async () => {
    assert.deepEqual(await lastUses(), [null, null]);
    store.noteUse(agent.agent_id, 1_000);
    assert.deepEqual(await lastUses(), [1_000, 1_000]);
    mock.timers.tick(10_000);
    assert.deepEqual(await lastUses(), [1_000, 1_000]);
    await store.check();
    assert.deepEqual(await lastUses(), [1_000, 1_000]);
  });
});
