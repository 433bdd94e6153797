// A damaged database, and a write-ahead log that is not emptied any more: /health and /ready say so.
import assert from 'node:assert/strict';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { assertError, Client, newEvent } from '../support/client.ts';
import { launchService } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

/** Position and length of the root page of the index that finds duplicates. */
function findIndexPage(path: string): { at: number; bytes: number } {
  const database = new DatabaseSync(path, { readOnly: true });
  const [index] = database
    .prepare(
      `SELECT s.rootpage AS page FROM pragma_index_list('events') AS l, sqlite_schema AS s
       WHERE s.name = l.name AND l."unique" AND (SELECT count(*) FROM pragma_index_info(l.name)) = 5`,
    )
    .all() as { page: number }[];
  const { page_size: bytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
  database.close();
  return { at: (index!.page - 1) * bytes, bytes };
}

it('is unhealthy from the moment when a request met a damaged index; searches go on', async (t) => {
  const folder = temporaryFolder();
  const first = await startTestService({ DATA_DIR: folder });
  const { headers } = await first.newAgent();
  await first.client.with(headers).create();
  await first.close();
  const path = databasePath(folder);
  const { at, bytes } = findIndexPage(path);

  // A process of its own: closing the file in the process that serves it would release SQLite's locks.
  const { child, url } = await launchService({ DATA_DIR: folder });
  t.after(() => child.kill('SIGKILL'));
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 0xee), 0, bytes, at);
  closeSync(file);
  const client = new Client(url);
  const agent = client.with(headers);
  assert.equal((await client.get('/health')).status, 200, 'nobody has met the damage yet');
  assertError(await agent.post('/v1/events', newEvent()), 503, 'UNAVAILABLE');
  for (let time = 0; time < 2; time++) {
    const health = await client.get('/health');
    assertError(health, 503, 'UNAVAILABLE');
    assert.match(health.body.error.message, /^The database of the service is damaged\./);
    assert.equal(health.body.status, 'unavailable');
  }
  assert.equal((await client.get('/ready')).body.part, 'database');
  assert.equal((await agent.nearby()).body.total, 1);
});

it('is unhealthy while the write-ahead log grows and cannot be emptied, and healthy again after that', async (t) => {
  const folder = temporaryFolder();
  const store = await SqliteStore.open({ folder, cacheBytes: 0, maxWalBytes: 68_000_000 });
  t.after(() => store.close());
  const path = databasePath(folder);
  const write = async (count: number) => {
    for (let time = 0; time < count; time++) {
      await store.getSetting(`${time} ${count} ${Math.floor(performance.now())}`, async () =>
        'x'.repeat(1_000_000),
      );
    }
  };
  const until = async (isHealthy: boolean) => {
    const untilMs = performance.now() + 15_000;
    while (
      (await store.check().then(
        () => true,
        () => false,
      )) !== isHealthy
    ) {
      assert.ok(performance.now() < untilMs);
      await sleep(100);
    }
  };
  await until(true);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM settings').get(); // from now on, the log must keep what comes after
  await write(75);
  assert.ok(statSync(`${path}-wal`).size > 2 * statSync(path).size);
  await until(false);
  await assert.rejects(store.check(), {
    code: 'UNAVAILABLE',
    part: 'database',
    message: /^The write-ahead log of the service grows and is not emptied\./,
  });
  reader.close();
  await write(2); // the first commit empties it, the second begins it anew
  await until(true);
});
