// /live and /ready: the process, and whether it can serve; which part cannot.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { bareServer } from '../support/bare-server.ts';
import { assertError, type Client, newEvent } from '../support/client.ts';
import { getAdministratorUrl, newDatabase } from '../support/postgres.ts';
import { launchService } from '../support/process.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

async function assertNotReady(client: Client, status: string, part: string): Promise<void> {
  const answer = await client.get('/ready');
  assertError(answer, 503, 'UNAVAILABLE');
  assert.deepEqual(answer.body, { error: answer.body.error, status, part });
  assert.equal(answer.headers.get('retry-after'), '1');
  assert.equal((await client.send('HEAD', '/ready')).status, 503);
}

/** Waits until /ready has this status. */
async function untilReady(client: Client, status: number): Promise<void> {
  const untilMs = performance.now() + 20_000;
  while ((await client.get('/ready')).status !== status) {
    assert.ok(performance.now() < untilMs);
    await sleep(50);
  }
}

describe('a service that works', () => {
  it('is live and ready, without a key', async (t) => {
    const service = await startTestService({}, { until: t });
    const [live, ready] = [await service.client.get('/live'), await service.client.get('/ready')];
    assert.equal(live.text, '{"status":"ok"}');
    assert.equal(ready.text, '{"status":"ready"}');
    for (const { status, headers } of [live, ready]) {
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  it('says so to everybody, also above the limits of requests', async (t) => {
    const service = await startTestService(
      { MAX_REQUESTS_PER_NETWORK: '1', MAX_REQUESTS: '1' },
      { until: t },
    );
    const held = await RawConnection.open(service.url);
    t.after(() => held.destroy());
    held.write(
      request('POST', '/v1/auth/register', { 'Content-Type': 'application/json', 'Content-Length': '100' }),
    );
    await sleep(100);
    assert.equal((await service.client.get('/docs')).status, 429);
    for (const path of ['/live', '/ready', '/health'])
      assert.equal((await service.client.get(path)).status, 200, path);
  });
});

it('is live but not ready while it starts', async () => {
  const app = bareServer({
    readiness: () => ({ done: 3, total: 10 }),
  });
  const live = await app.inject('/live');
  assert.deepEqual([live.statusCode, live.body], [200, '{"status":"ok"}']);
  const ready = await app.inject('/ready');
  assert.equal(ready.statusCode, 503);
  const { error, ...rest } = ready.json();
  assert.match(error.message, /starting: 3 of 10/);
  assert.deepEqual(rest, { status: 'starting', part: 'startup' });
});

it('is live but not ready once it was told to stop', async (t) => {
  const { child, url, output, ended } = await launchService({ DATA_DIR: temporaryFolder() });
  t.after(() => child.kill('SIGKILL'));
  /** A connection on which a request has begun, so that it stays open. */
  const begin = async (path: string) => {
    const connection = await RawConnection.open(url);
    connection.write(`GET ${path} HTTP/1.1\r\n`);
    return connection;
  };
  const [live, ready] = [await begin('/live'), await begin('/ready')];
  assert.equal((await fetch(`${url}/ready`)).status, 200);
  child.kill('SIGTERM');
  while (
    await fetch(`${url}/live`).then(
      () => true,
      () => false,
    )
  )
    await sleep(20); // it has closed its port
  for (const connection of [live, ready]) connection.write('Host: localhost\r\n\r\n');
  assert.equal((await live.next())?.status, 200);
  const answer = await ready.next();
  assert.equal(answer?.status, 503);
  const { error, ...rest } = answer.body;
  assert.equal(error.message, 'The service is stopping. Retry.');
  assert.deepEqual(rest, { status: 'stopping', part: 'shutdown' });
  assert.equal((await ended).code, 0, output().stderr);
});

describe('the part that cannot serve', () => {
  it('is the data folder if it is gone', async (t) => {
    const service = await startTestService({}, { until: t });
    const { folder, client } = service;
    assert.equal((await client.get('/ready')).status, 200);
    renameSync(folder, `${folder}-gone`);
    t.after(() => renameSync(`${folder}-gone`, folder));
    await untilReady(client, 503);
    await assertNotReady(client, 'unavailable', 'data_folder');
    assert.equal((await client.get('/live')).status, 200);
  });

  it('is the database if PostgreSQL does not accept connections, until it does', async (t: TestContext) => {
    const DATABASE_URL = await newDatabase();
    const name = new URL(DATABASE_URL).pathname.slice(1);
    const service = await startTestService({ DATABASE_URL }, { until: t });
    const { client } = service;
    await untilReady(client, 200); // it first looks for other nodes
    const sql = postgres(await getAdministratorUrl(), { max: 1, onnotice: () => {} });
    t.after(() => sql.end());
    await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`;
    await untilReady(client, 503);
    await assertNotReady(client, 'unavailable', 'database');
    assert.equal((await client.get('/live')).status, 200);
    await sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await untilReady(client, 200);
    const agent = await service.newAgent();
    assert.equal((await agent.post('/v1/events', newEvent())).status, 200);
  });
});
