// The last use of an agent is visible from the request on, even while it is being written.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it, mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readAgentList } from '../../src/domain/administration/list.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
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
  const folder = temporaryFolder();
  let store: SqliteStore;
  before(async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    store = await SqliteStore.open({ folder, cacheBytes: 1024 });
    await store.addAgent(agent, { hash: 'hash', prefix: 'lev_abcd' });
  });
  after(async () => {
    await store.close();
    mock.timers.reset();
  });
  const lastUses = async () => {
    const found = (await store.findAgentDetails(agent.agent_id, 0))?.agent;
    const [listed] = await store.listAgents();
    return [found?.last_used_ms, listed?.last_used_ms];
  };

  it('is visible before, during and after its write', async () => {
    assert.deepEqual(await lastUses(), [null, null]);
    store.noteUse(agent.agent_id, 1_000);
    assert.deepEqual(await lastUses(), [1_000, 1_000]);
    mock.timers.tick(10_000);
    assert.deepEqual(await lastUses(), [1_000, 1_000]);
    await store.check();
    assert.deepEqual(await lastUses(), [1_000, 1_000]);
  });

  it('orders a list that is read during its write', async () => {
    const others = ['0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e91', '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e92'];
    for (const [index, agent_id] of others.entries()) {
      await store.addAgent({ ...agent, agent_id }, { hash: `hash${index}`, prefix: 'lev_abcd' });
    }
    const query = readAgentList({ sort: '-last_used_at', limit: 3 })!;
    for (let nowMs = 1_100; nowMs < 1_200; nowMs++) {
      const agentId = others[nowMs % 2]!;
      store.noteUse(agentId, nowMs);
      mock.timers.tick(10_000);
      const { items } = await store.agentPage(query, nowMs);
      assert.equal(items[0]!.agent_id, agentId);
    }
  });

  it('is written every few seconds, not with every request', async () => {
    const file = new DatabaseSync(databasePath(folder), { readOnly: true });
    const written = () => file.prepare('SELECT last_used_ms FROM agents').get()!.last_used_ms;
    const before = written();
    for (let ms = 2_000; ms < 2_100; ms++) store.noteUse(agent.agent_id, ms);
    await store.check();
    assert.equal(written(), before);
    mock.timers.tick(10_000);
    await nextTurn(); // the write is on its way
    await store.check();
    assert.equal(written(), 2_099);
    file.close();
  });
});
