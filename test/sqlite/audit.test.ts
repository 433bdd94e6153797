// The audit log in the file: each administrative change and its entry are written in one transaction.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { addAgent, addEvent, auditOf, deleteOne, deleteSelected, findAgent } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute, readRows } from './files.ts';

describe('the audit log', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'local-events.db');
  let store: SqliteStore;
  let agent: AgentRow;
  let eventId: string;
  before(async () => {
    store = await SqliteStore.open({ folder, cacheBytes: 0 });
  });
  after(() => store.close());
  beforeEach(async () => {
    execute(path, 'DELETE FROM audit');
    ({ agent } = await addAgent(store));
    eventId = (await addEvent(store, agent)).event_id;
    await addEvent(store, agent, { start_ms: 0 });
  });

  const written = () =>
    readRows(path, 'SELECT * FROM audit ORDER BY audit_id').map(({ audit_id, ...row }) => row);
  const changes = {
    updateAgent: (agentId: string) =>
      store.updateAgent(agentId, { tier: 'read' }, auditOf('update_agent', agentId, '{"tier":"read"}')),
    deleteAgent: (agentId: string) => store.deleteAll(agentId, auditOf('delete_agent', agentId), true),
    deleteAllEvents: (agentId: string) =>
      store.deleteAll(agentId, auditOf('delete_agent_events', agentId), false),
    deleteSelected: (agentId: string) =>
      deleteSelected(store, agentId, [eventId], auditOf('delete_selected_events', agentId)),
    deleteOne: (id: string) => deleteOne(store, id, auditOf('delete_event', id)),
  };
  for (const name of Object.keys(changes) as (keyof typeof changes)[]) {
    const target = () => (name === 'deleteOne' ? eventId : agent.agent_id);

    it(`has an entry for ${name}`, async () => {
      await changes[name](target());
      assert.deepEqual(
        written().map((entry) => entry.target),
        [target()],
      );
    });

    it(`fails together with ${name}: either both are written or neither`, async () => {
      const state = () => [readRows(path, 'SELECT * FROM agents'), readRows(path, 'SELECT * FROM events')];
      const unchanged = state();
      execute(path, "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no ink'); END");
      await assert.rejects(changes[name](target()), /no ink/);
      execute(path, 'DROP TRIGGER full');
      assert.deepEqual(state(), unchanged);
      assert.deepEqual(await findAgent(store, agent.agent_id), {
        ...agent,
        last_used_ms: null,
        event_count: 2,
      });
      assert.equal((await store.findEvent(eventId))?.version, 1);
    });
  }

  it('has no entry for what agents do with their own events', async () => {
    await store.deleteEvent(eventId, agent.agent_id);
    assert.deepEqual(written(), []);
  });
});
