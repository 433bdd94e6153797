// The threads that read. On the permanent one, small reads do not wait behind a queue of pages, and pages do not wait behind a queue
// of small reads. Those of lists start only when they are needed, and their failures affect nothing else.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { ReaderClient } from '../../src/sqlite/threads/reader-client.ts';
import { addAgent, NOW_MS } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';

const PAGE = Array.from({ length: 100 }, (_, row) => row);

/** Sends the first calls, all at once, then one more; returns how many of the first were answered before that one. */
async function answeredBefore(
  first: (client: ReaderClient) => Promise<unknown>,
  then: (client: ReaderClient) => Promise<unknown>,
): Promise<number> {
  const path = join(temporaryFolder(), 'rows.db');
  openForWriting(path).close();
  const client = await ReaderClient.start(path);
  let answered = 0;
  const calls = Array.from({ length: 200 }, () => first(client).then(() => answered++));
  await then(client);
  const before = answered;
  await Promise.all(calls);
  await client.close();
  return before;
}

const readPage = (client: ReaderClient) => client.run('findEvents', [PAGE], () => {});
const readSetting = (client: ReaderClient) => client.run('findSetting', ['name'], () => {});
const readOneEvent = (client: ReaderClient) => client.run('findEvents', [[7]], () => {});
const wait = (client: ReaderClient) => client.run('ping', [], () => {});

describe('the permanent reader thread', () => {
  for (const [name, read] of Object.entries({ readSetting, readOneEvent })) {
    it(`answers a small read before pages that wait (${name})`, async () => {
      assert.ok((await answeredBefore(readPage, read)) <= 16);
    });
  }

  it('answers a small read after at most three of the largest pages, however many wait', async () => {
    const read = async (client: ReaderClient) => {
      await nextTurn(); // by then, the first pages are on their way
      await readSetting(client);
    };
    assert.ok((await answeredBefore(readPage, read)) <= 3);
  });

  it('answers a page before small reads that wait', async () => {
    assert.ok((await answeredBefore(readSetting, readPage)) <= 16);
  });

  it('answers small reads of the same turn of the event loop with one message', async () => {
    const path = join(temporaryFolder(), 'rows.db');
    openForWriting(path).close();
    const threads: Worker[] = [];
    process.once('worker', (thread) => threads.push(thread));
    const client = await ReaderClient.start(path);
    let messages = 0;
    threads[0]!.on('message', () => messages++);
    await Promise.all(Array.from({ length: 16 }, () => readOneEvent(client)));
    assert.equal(messages, 1);
    await client.close();
  });

  it('answers a ping after all calls before it', async () => {
    assert.equal(await answeredBefore(readPage, wait), 200);
  });
});

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
    await readOneEvent(client).then(() => answered.push('row'));
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
