// Limits per network on connections and requests, over real connections from several addresses of this machine.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, Client } from '../../support/client.ts';
import { RawConnection, request } from '../../support/raw-http.ts';
import { startTestService } from '../../support/service.ts';

async function start(test: TestContext, env: Record<string, string>) {
  const service = await startTestService(env, { until: test });
  const open = async (localAddress: string) => {
    const connection = await RawConnection.open(service.url, localAddress);
    test.after(() => connection.destroy());
    return connection;
  };
  const openMany = (count: number, localAddress: string) =>
    Promise.all(Array.from({ length: count }, () => open(localAddress)));
  return { ...service, open, openMany };
}

async function statusOn(connection: RawConnection, path = '/llms.txt'): Promise<number | undefined> {
  connection.write(request('GET', path));
  return (await connection.next())?.status;
}

async function statusesOn(connection: RawConnection, count: number): Promise<(number | undefined)[]> {
  const statuses: (number | undefined)[] = [];
  while (statuses.length < count) statuses.push((await connection.next())?.status);
  return statuses;
}

const TIMEOUT = { timeout: 60_000 };

describe('connections', { concurrency: true }, () => {
  it(
    'are refused with a 429 above the share of their network; /health and others are served',
    TIMEOUT,
    async (test) => {
      const { open, openMany } = await start(test, { MAX_CONNECTIONS_PER_NETWORK: '20' });
      const held = await openMany(20, '127.0.0.2');
      for (const connection of held) assert.equal(await statusOn(connection), 200);
      const refused = await open('127.0.0.2');
      refused.write(request('GET', '/llms.txt'));
      const response = await refused.next();
      assertError(response!, 429, 'RATE_LIMITED');
      assert.match(response!.body.error.message, /^Your network has 20 connections/);
      assert.equal(response!.headers.get('retry-after'), '5');
      assert.equal(await statusOn(await open('127.0.0.2'), '/health'), 200);
      assert.equal(await statusOn(await open('127.0.0.3')), 200);
      held[0]!.destroy();
      while ((await statusOn(await open('127.0.0.2'))) !== 200) await sleep(20);
    },
  );

  it(
    'that send thousands of requests at once are closed, and the rest of these is not parsed',
    TIMEOUT,
    async (test) => {
      const { open } = await start(test, {});
      let parsed = 0;
      const count = (message: unknown) => {
        if ((message as { request: IncomingMessage }).request.url?.endsWith('?at-once')) parsed++;
      };
      subscribe('http.server.request.start', count);
      test.after(() => unsubscribe('http.server.request.start', count));
      for (const path of ['/health', '/nothing']) {
        const connection = await open('127.0.0.2');
        connection.write(request('GET', `${path}?at-once`).repeat(20_000));
        await connection.closed;
      }
      assert.ok(parsed > 100 && parsed < 600, `${parsed} requests were parsed`);
      assert.equal(await statusOn(await open('127.0.0.2')), 200);
    },
  );

  it('that are refused and send nothing are closed soon', TIMEOUT, async (test) => {
    const { open, openMany } = await start(test, { MAX_CONNECTIONS_PER_NETWORK: '2' });
    for (const connection of await openMany(2, '127.0.0.2')) await statusOn(connection);
    await (await open('127.0.0.2')).closed;
  });

  it(
    'that have been idle longest are closed when nearly all are in use, of the network with the most',
    TIMEOUT,
    async (test) => {
      const { open, openMany } = await start(test, { MAX_CONNECTIONS: '200' });
      const polite = await open('127.0.0.1');
      assert.equal(await statusOn(polite), 200);
      const idle = await openMany(150, '127.0.0.2');
      for (const connection of idle) assert.equal(await statusOn(connection), 200);
      // More than there is room for: each of them gets in, because the idle ones are closed.
      for (let from = 0; from < 100; from += 10) {
        for (const connection of await openMany(10, '127.0.0.3'))
          assert.equal(await statusOn(connection), 200);
      }
      assert.ok(idle.filter(({ isClosed }) => isClosed).length >= 50);
      assert.equal(idle[0]!.isClosed, true);
      assert.equal(await statusOn(polite), 200, 'the connection of somebody else stays open');
    },
  );

  it('of a trusted proxy have no share; its clients have', TIMEOUT, async (test) => {
    const { openMany } = await start(test, {
      MAX_CONNECTIONS_PER_NETWORK: '3',
      TRUST_PROXY: '127.0.0.2',
    });
    for (const connection of await openMany(10, '127.0.0.2')) assert.equal(await statusOn(connection), 200);
  });
});

describe('requests in progress', { concurrency: true }, () => {
  it('are limited per network, and released when the client leaves', TIMEOUT, async (test) => {
    const { open, openMany } = await start(test, { MAX_REQUESTS_PER_NETWORK: '30' });
    const connection = await open('127.0.0.2');
    // Not reading the first response keeps the others waiting behind it.
    connection.write(request('GET', '/llms.txt').repeat(100));
    const statuses = await statusesOn(connection, 100);
    const refused = statuses.filter((status) => status === 429).length;
    assert.ok(refused > 0 && refused <= 70, `${refused} refused`);
    assert.equal(statuses.filter((status) => status === 200).length, 100 - refused);

    const leaving = await openMany(29, '127.0.0.2');
    const withoutBody = { 'Content-Type': 'application/json', 'Content-Length': '9' };
    for (const each of leaving) each.write(request('POST', '/v1/auth/register', withoutBody));
    const isRefused = async () => {
      const next = await open('127.0.0.2');
      next.write(request('GET', '/llms.txt').repeat(15));
      const all = await statusesOn(next, 15);
      next.destroy();
      return all.includes(429);
    };
    while (!(await isRefused())) await sleep(20);
    for (const each of leaving) each.destroy();
    while (await isRefused()) await sleep(20);
  });

  it(
    'are limited per connection: a client that sends thousands without waiting is cut off',
    TIMEOUT,
    async (test) => {
      const { open } = await start(test, {});
      for (const path of ['/health', '/nothing', '/v1/admin/agents']) {
        const greedy = await open('127.0.0.2');
        greedy.write(request('GET', path).repeat(20_000));
        const polite = await open('127.0.0.3');
        polite.write(request('GET', '/llms.txt'));
        assert.equal((await polite.next())?.status, 200);
        const statuses = await statusesOn(greedy, 20_000);
        assert.ok(statuses.includes(undefined), `${path}: ${statuses.length} responses`);
        polite.destroy();
      }
      const again = await open('127.0.0.2');
      again.write(request('GET', '/llms.txt').repeat(100));
      assert.deepEqual(await statusesOn(again, 100), Array(100).fill(200));
    },
  );

  it('are limited per agent', TIMEOUT, async (test) => {
    const { url, open } = await start(test, { MAX_REQUESTS_PER_AGENT: '5' });
    const { body } = await new Client(url).post('/v1/auth/register', {
      email: 'a@example.com',
      agent_name: 'a',
    });
    const key = { 'x-api-key': body.api_key };
    const connection = await open('127.0.0.2');
    const search = request('GET', '/v1/events/nearby?lat=1&lng=1', key);
    connection.write(search.repeat(60));
    const statuses = await statusesOn(connection, 60);
    assert.ok(statuses.includes(429) && statuses.includes(200), String(statuses));
    connection.write(search);
    assert.equal((await connection.next())?.status, 200);
  });
});
