// Store contract: closing. An operation that was accepted is finished, however many steps it has; a later one is refused.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../src/domain/store.ts';
import { exchangeOf, newClient, newGrantOf, newTokens } from './grant-rows.ts';
import { addAgent, addEvent, auditOf, NOW_MS, newAgentRow, newEventRow, newKey, search } from './rows.ts';

const LIST = { q: '', after: undefined, limit: 10, when: 'all' } as const;

export function closeContract(open: () => Promise<Store>): void {
  it('finishes an operation that is between two of its steps', async () => {
    const store = await open();
    const closing = Promise.withResolvers<void>();
    const value = await store.getSetting('last', async () => {
      closing.resolve(store.close());
      await sleep(200); // a store that does not wait would be closed by then
      return 'words';
    });
    assert.equal(value, 'words');
    await closing.promise;
  });

  it('finishes operations of several steps that have just begun', async () => {
    const store = await open();
    const { agent } = await addAgent(store);
    const first = await addEvent(store, agent);
    const second = await addEvent(store, agent);
    // Not the same agent: PostgreSQL does not wait for the row of one that is being changed, and writes its last use later.
    const { agent: user } = await addAgent(store);
    store.noteUse(user.agent_id, NOW_MS + 5);
    const replacing = store.replaceEvent({ ...second, version: 2, title: first.title });
    const counting = store.stats(NOW_MS);
    const listing = store.agentPage({ ...LIST, sort: { key: 'last_used_at', descending: true } }, NOW_MS);
    const spending = Promise.all([1, 2, 3].map(() => store.spend('bucket', 3, 1, NOW_MS)));
    await store.close();
    assert.deepEqual(await replacing, { kind: 'duplicate', id: first.event_id });
    assert.deepEqual(await counting, {
      agents: 2,
      agents_active_today: 1,
      events: 2,
      events_upcoming: 2,
    });
    assert.deepEqual(
      (await listing).items.map(({ last_used_ms }) => last_used_ms),
      [NOW_MS + 5, null],
    );
    assert.deepEqual(
      (await spending).map(({ remaining }) => remaining),
      [2, 1, 0],
    );
  });

  it('refuses operations with UNAVAILABLE while it closes, and afterwards', async () => {
    const store = await open();
    const { agent, key } = await addAgent(store);
    const row = await addEvent(store, agent);
    const { agent_id } = agent;
    const later: Record<string, () => Promise<unknown>> = {
      check: () => store.check(),
      addAgent: () => store.addAgent(newAgentRow(), newKey()),
      rotateKey: () => store.rotateKey(agent_id, key.hash, newKey(), NOW_MS, NOW_MS),
      revokeKey: () => store.revokeKey(key.hash),
      findAgentDetails: () => store.findAgentDetails(agent_id, NOW_MS),
      revokeAgentKey: () => store.revokeAgentKey(agent_id, key.prefix, auditOf('revoke_key', agent_id)),
      replaceAgentKeys: () => store.replaceAgentKeys(agent_id, newKey(), auditOf('new_key', agent_id)),
      findSetting: () => store.findSetting('ada'),
      setSetting: () => store.setSetting('ada', 'one'),
      createEvent: () => store.createEvent(newEventRow(agent), 0),
      findEvent: () => store.findEvent(row.event_id),
      replaceEvent: () => store.replaceEvent({ ...row, version: 2 }),
      deleteEvent: () => store.deleteEvent(row.event_id, agent_id),
      nearby: () => store.nearby(search(), NOW_MS),
      listAgents: () => store.listAgents(),
      agentPage: () => store.agentPage({ ...LIST, sort: { key: 'created_at', descending: true } }, NOW_MS),
      agentEventPage: () =>
        store.agentEventPage(agent_id, { ...LIST, sort: { key: 'start_at', descending: true } }, NOW_MS),
      auditPage: () => store.auditPage({ after: undefined, limit: 1 }),
      stats: () => store.stats(NOW_MS),
      countCreated: () => store.countCreated([NOW_MS]),
      updateAgent: () => store.updateAgent(agent_id, { tier: 'read' }, auditOf('update_agent', agent_id)),
      deleteAgent: () => store.deleteAll(agent_id, auditOf('delete_agent', agent_id), true),
      addClient: () => store.addClient(newClient()),
      findClient: () => store.findClient('ada'),
      addGrant: () => store.addGrant(newGrantOf(agent, key)),
      exchangeCode: () => store.exchangeCode(exchangeOf(newGrantOf(agent, key)), newTokens(), NOW_MS),
      findRefreshToken: () => store.findRefreshToken('ada', NOW_MS),
      refreshGrant: () => store.refreshGrant('ada', newTokens(), NOW_MS),
      endToken: () => store.endToken('ada', 'ada'),
      listGrants: () => store.listGrants(agent_id, NOW_MS),
      endGrants: () => store.endGrants(agent_id),
      removeIdleGrants: () => store.removeIdleGrants(NOW_MS),
      getSetting: () => store.getSetting('late', async () => 'words'),
    };
    const outcomesOf = () =>
      Promise.all(
        Object.entries(later).map(async ([name, operation]) => [
          name,
          await operation().then(
            () => 'done',
            (error) => error.code,
          ),
        ]),
      );
    const refused = Object.keys(later).map((name) => [name, 'UNAVAILABLE']);
    const closing = store.close();
    assert.deepEqual(await outcomesOf(), refused);
    await closing;
    assert.deepEqual(await outcomesOf(), refused);
  });
}
