// The list reader thread: it starts only when it is needed, and its failures affect nothing else.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { ListReaderClient } from '../../src/sqlite/threads/list-reader-client.ts';
import { addAgent, NOW_MS } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';

const QUERY: AgentListQuery = {
  q: '',
  sort: { key: 'created_at', descending: false },
  after: undefined,
  limit: 10,
};
const workers = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

describe('the list reader thread', () => {
  it('is started by the first list, joined by two others for lists at the same time, and ends with the store', async () => {
    const before = workers();
    const store = await SqliteStore.open({ folder: temporaryFolder(), cacheBytes: 0 });
    const opened = workers();
    await addAgent(store);
    assert.equal(workers(), opened);
    for (let list = 0; list < 3; list++) await store.agentPage(QUERY, NOW_MS);
    assert.equal(workers(), opened + 1);
    const pages = await Promise.all(Array.from({ length: 8 }, () => store.agentPage(QUERY, NOW_MS)));
    assert.deepEqual(new Set(pages.map(({ total }) => total)), new Set([1]));
    assert.equal(workers(), opened + 3);
    await store.close();
    assert.equal(workers(), before);
  });

  it('answers a short list before two long ones that began earlier', async () => {
    const path = join(temporaryFolder(), 'long.db');
    const database = openForWriting(path);
    database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 60000)
      INSERT INTO agents (agent_id, agent_name, email, tier, is_active, created_ms)
      SELECT printf('%026d', n), 'agent ' || n, n || '@example.com', 'read', 1, n FROM numbers`);
    database.close();
    const client = new ListReaderClient(path);
    const shortList = () => client.run('auditPage', [{ after: undefined, limit: 1 }]);
    await Promise.all([shortList(), shortList(), shortList()]); // all threads have started
    const answered: string[] = [];
    const long = [1, 2].map(() =>
      client.run('agentPage', [{ ...QUERY, q: 'nobody' }, NOW_MS]).then(() => answered.push('long')),
    );
    await shortList().then(() => answered.push('short'));
    await Promise.all(long);
    assert.deepEqual(answered, ['short', 'long', 'long']);
    await client.close();
  });

  it('is started again after a failed start', async () => {
    const path = join(temporaryFolder(), 'later.db');
    const client = new ListReaderClient(path);
    await assert.rejects(client.run('agentPage', [QUERY, NOW_MS]), { code: 'UNAVAILABLE' });
    openForWriting(path).close();
    assert.equal((await client.run('agentPage', [QUERY, NOW_MS])).total, 0);
    await client.close();
  });

  it('rejects a list that it cannot read, and still serves the next one', async () => {
    const path = join(temporaryFolder(), 'broken.db');
    const database = openForWriting(path);
    const client = new ListReaderClient(path);
    assert.equal((await client.run('auditPage', [{ after: undefined, limit: 1 }])).total, 0);
    database.exec('ALTER TABLE audit RENAME TO hidden');
    await assert.rejects(client.run('auditPage', [{ after: undefined, limit: 1 }]), { code: 'UNAVAILABLE' });
    database.exec('ALTER TABLE hidden RENAME TO audit');
    assert.equal((await client.run('auditPage', [{ after: undefined, limit: 1 }])).total, 0);
    await client.close();
    database.close();
  });

  it('finishes the calls it has accepted before it closes, and rejects later ones', async () => {
    const path = join(temporaryFolder(), 'closed.db');
    openForWriting(path).close();
    const client = new ListReaderClient(path);
    const asked = client.run('agentPage', [QUERY, NOW_MS]);
    await client.close();
    assert.equal((await asked).total, 0);
    await assert.rejects(client.run('agentPage', [QUERY, NOW_MS]), { code: 'UNAVAILABLE' });
    await new ListReaderClient(path).close();
  });
});
