// The threads of lists: they start only when they are needed, nothing else waits behind them, and their failures affect nothing else.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { ReaderClient } from '../../src/sqlite/threads/reader-client.ts';
import { addAgent, NOW_MS } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';

const shortList = (client: ReaderClient) =>
  client.run('auditPage', [{ after: undefined, limit: 1 }], ({ total }) => total);
const agents = (client: ReaderClient, q = '') =>
  client.run('agentPage', [{ ...QUERY, q }, NOW_MS], ({ total }) => total);

const QUERY: AgentListQuery = {
  q: '',
  sort: { key: 'created_at', descending: false },
  after: undefined,
  limit: 10,
};
const workers = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

describe('a thread of lists', () => {
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

  it('answers a short list before two long ones that began earlier, and a row before three', async () => {
    const path = join(temporaryFolder(), 'long.db');
    const database = openForWriting(path);
    database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 60000)
      INSERT INTO agents (agent_id, agent_name, email, tier, is_active, created_ms)
      SELECT printf('%026d', n), 'agent ' || n, n || '@example.com', 'read', 1, n FROM numbers`);
    database.close();
    const client = await ReaderClient.start(path);
    await Promise.all([1, 2, 3].map(() => shortList(client))); // all threads have started
    const answered: string[] = [];
    const longList = () => agents(client, 'nobody').then(() => answered.push('long'));
    const long = [longList(), longList()];
    await shortList(client).then(() => answered.push('short'));
    await Promise.all(long);
    assert.deepEqual(answered.splice(0), ['short', 'long', 'long']);
    const three = [longList(), longList(), longList()];
    await client.run('findEvents', [[7]], () => {}).then(() => answered.push('row'));
    await Promise.all(three);
    assert.deepEqual(answered, ['row', 'long', 'long', 'long']);
    await client.close();
  });

  it('is started again after a failed start', async () => {
    const path = join(temporaryFolder(), 'later.db');
    openForWriting(path).close();
    const client = await ReaderClient.start(path);
    renameSync(path, `${path}.away`);
    await assert.rejects(agents(client), {
      code: 'UNAVAILABLE',
      message: 'The list could not be read. Retry.',
    });
    renameSync(`${path}.away`, path);
    assert.equal(await agents(client), 0);
    await client.close();
  });

  it('rejects a list that it cannot read, and still serves the next one', async () => {
    const path = join(temporaryFolder(), 'broken.db');
    const database = openForWriting(path);
    const client = await ReaderClient.start(path);
    assert.equal(await shortList(client), 0);
    database.exec('ALTER TABLE audit RENAME TO hidden');
    await assert.rejects(shortList(client), { code: 'UNAVAILABLE' });
    database.exec('ALTER TABLE hidden RENAME TO audit');
    assert.equal(await shortList(client), 0);
    await client.close();
    database.close();
  });

  it('finishes the calls it has accepted before it closes, and rejects later ones', async () => {
    const path = join(temporaryFolder(), 'closed.db');
    openForWriting(path).close();
    const client = await ReaderClient.start(path);
    const asked = agents(client);
    await client.close();
    assert.equal(await asked, 0);
    await assert.rejects(agents(client), { code: 'UNAVAILABLE' });
    await (await ReaderClient.start(path)).close();
  });
});
