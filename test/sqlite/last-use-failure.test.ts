// The last use of an agent is written once the store can write again.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { addAgent, auditOf, NOW_MS } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute, readRows } from './files.ts';

describe('the last use of an agent, when it cannot be written', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'local-events.db');
  let store: SqliteStore;
  before(async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    store = await SqliteStore.open({ folder, cacheBytes: 0 });
  });
  after(async () => {
    await store.close();
    mock.timers.reset();
  });

  const passTime = async () => {
    mock.timers.tick(5_000);
    await nextTurn(); // the write is on its way
    await store.check(); // the writer has finished its earlier work
  };
  const writtenOf = (agentId: string) =>
    readRows(path, 'SELECT last_used_ms FROM agents WHERE agent_id = ?', agentId)[0]?.last_used_ms;

  it('is written once writing works again, even if another agent was deleted meanwhile', async () => {
    const { agent } = await addAgent(store);
    const { agent: deleted } = await addAgent(store);
    execute(
      path,
      "CREATE TRIGGER stuck BEFORE UPDATE OF last_used_ms ON agents BEGIN SELECT RAISE(ABORT, 'stuck'); END",
    );
    store.noteUse(agent.agent_id, NOW_MS);
    store.noteUse(deleted.agent_id, NOW_MS);
    await passTime();
    assert.equal(writtenOf(agent.agent_id), null);
    await store.deleteAll(deleted.agent_id, auditOf('delete_agent', deleted.agent_id), true);
    execute(path, 'DROP TRIGGER stuck');
    await passTime();
    assert.equal(writtenOf(agent.agent_id), NOW_MS);
    store.noteUse(agent.agent_id, NOW_MS + 1);
    await passTime();
    assert.equal(writtenOf(agent.agent_id), NOW_MS + 1);
  });
});
