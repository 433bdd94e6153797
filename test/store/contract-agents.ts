// Store contract: agents, their keys and their last use.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentRecord } from '../../src/domain/agent.ts';
import type { Store } from '../../src/domain/store.ts';
import { addAgent, addEvent, findAgent, NOW_MS, newAgentRow, newKey, newUlid, newUuid } from './rows.ts';

export function agentContract(store: () => Store): void {
  it('finds an agent by its key and by its ID', async () => {
    const { agent, key } = await addAgent(store(), {
      email: 'ü@example.com',
      agent_name: ' 🎪 ',
      tier: 'admin',
    });
    assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
    assert.deepEqual(await findAgent(store(), agent.agent_id), {
      ...agent,
      last_used_ms: null,
      event_count: 0,
    });
  });

  it('finds nobody by an unknown key or ID', async () => {
    assert.equal(await store().findAgentByKey(newKey().hash, NOW_MS), undefined);
    assert.equal(await store().findAgentByKey('', NOW_MS), undefined);
    assert.equal(await findAgent(store(), newUuid()), undefined);
  });

  it('finds nobody by the key of an agent that was added inactive', async () => {
    const { key } = await addAgent(store(), { is_active: false });
    assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
  });

  it('never gives the key of one agent to another', async () => {
    const { agent, key } = await addAgent(store());
    const second = newAgentRow();
    await assert.rejects(store().addAgent(second, key));
    assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
    assert.equal(await findAgent(store(), second.agent_id), undefined);
  });

  it('adds 100 agents at once', async () => {
    const added = await Promise.all(Array.from({ length: 100 }, () => addAgent(store())));
    for (const { agent, key } of added)
      assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
  });

  it('lists agents by creation, not by ID or arrival', async () => {
    const times = [5, 1, 4, 2, 3];
    const added = await Promise.all(times.map((time) => addAgent(store(), { created_ms: time })));
    const own = new Set(added.map(({ agent }) => agent.agent_id));
    const listed = (await store().listAgents()).filter(({ agent_id }) => own.has(agent_id));
    const expected = added
      .map(({ agent }) => ({ ...agent, last_used_ms: null, event_count: 0 }))
      .sort((a, b) => a.created_ms - b.created_ms);
    assert.deepEqual(listed, expected);
  });

  it('counts the events of an agent, ended ones included', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    await addEvent(store(), agent, { start_ms: NOW_MS - 1_000 * 86_400_000 });
    await store().createEvent({ ...row, event_id: newUlid() }, 0);
    assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 2);
    await store().deleteEvent(row.event_id, agent.agent_id);
    assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 1);
    const listed = (await store().listAgents()).find(({ agent_id }) => agent_id === agent.agent_id);
    assert.equal(listed?.event_count, 1);
  });

  it('shows the last use within 10 seconds, in the agent and in the list', async () => {
    const { agent } = await addAgent(store());
    for (const usedMs of [NOW_MS + 1, NOW_MS + 20_000]) {
      store().noteUse(agent.agent_id, usedMs);
      await shownWithin10Seconds(store(), agent.agent_id, usedMs);
    }
    const listed = (await store().listAgents()).find(({ agent_id }) => agent_id === agent.agent_id);
    assert.equal(listed?.last_used_ms, NOW_MS + 20_000);
  });

  it('ignores the use of an agent that does not exist', async () => {
    const unknown = newUuid();
    store().noteUse(unknown, NOW_MS);
    assert.equal(await findAgent(store(), unknown), undefined);
    await store().check();
  });
}

/** Polls, because an engine may write last uses late and does not tell when. */
async function shownWithin10Seconds(store: Store, agentId: string, usedMs: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  let found: AgentRecord | undefined;
  do {
    found = await findAgent(store, agentId);
    if (found?.last_used_ms === usedMs) return;
    await sleep(50);
  } while (performance.now() < deadline);
  assert.equal(found?.last_used_ms, usedMs);
}
