// Limits on the bytes of request bodies that are being received, over real connections.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, Client } from '../../support/client.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { startTestService } from '../../support/service.ts';

const BODY = 900_000;
const TIMEOUT = { timeout: 60_000 };

async function start(test: TestContext, env: Record<string, string>) {
  const service = await startTestService(env, { until: test });
  const register = async () => {
    const agent = { email: 'a@example.com', agent_name: 'a' };
    return (await new Client(service.url).post('/v1/auth/register', agent)).body.api_key as string;
  };
  /** Sends a body that does not end. */
  const begin = async (key: string, localAddress: string) => {
    const connection = await RawConnection.open(service.url, localAddress);
    test.after(() => connection.destroy());
    const head = `POST /v1/events HTTP/1.1\r\nHost: a\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
    connection.write(`${head}Content-Length: ${BODY + 1}\r\n\r\n`);
    connection.write(Buffer.alloc(BODY, ' '));
    return connection;
  };
  return { ...service, register, begin };
}

describe('bodies being received', { concurrency: true }, () => {
  it(
    'are refused with a 429 when one client has too many, and its next one is taken when they are gone',
    TIMEOUT,
    async (test) => {
      const { begin, register } = await start(test, { MAX_BODIES_MB_PER_CLIENT: '2' });
      const key = await register();
      const held = await Promise.all([1, 2, 3].map(() => begin(key, '127.0.0.2')));
      const refused = await Promise.race(
        held.map(async (connection) => ({ connection, response: await connection.next() })),
      );
      assertError(refused.response!, 429, 'RATE_LIMITED');
      assert.match(
        refused.response!.body.error.message,
        /^You may send at most 2 MiB of request bodies at a time, and all clients of your network together 4 MiB\. /,
      );
      assert.equal(refused.response!.headers.get('retry-after'), '2');
      for (const connection of held) connection.destroy();
      for (let status: number | undefined; status !== 422; ) {
        const next = await begin(key, '127.0.0.2');
        next.write(' ');
        status = (await next.next())?.status;
        next.destroy();
      }
    },
  );

  it('go on when a client has so many that its new ones are refused', TIMEOUT, async (test) => {
    const { begin, register, url } = await start(test, { MAX_BODIES_MB_PER_CLIENT: '2' });
    const key = await register();
    const held = await Promise.all([1, 2].map(() => begin(key, '127.0.0.2')));
    const client = new Client(url, { 'X-API-Key': key });
    for (let tried = 0; (await client.post('/v1/events', {})).status !== 429; tried++) {
      assert.ok(tried < 1_000);
      await sleep(1);
    }
    for (const connection of held) {
      connection.write(' ');
      assert.equal((await connection.next())?.status, 422);
    }
  });

  it('of others are taken', TIMEOUT, async (test) => {
    const { begin, register } = await start(test, { MAX_BODIES_MB_PER_CLIENT: '2', MAX_BODIES_MB: '3' });
    const [greedy, polite] = [await register(), await register()];
    for (let count = 0; count < 8; count++) await begin(greedy, count % 2 ? '127.0.0.2' : '127.0.0.3');
    await sleep(100);
    const connection = await begin(polite, '127.0.0.1');
    connection.write(' ');
    assert.equal((await connection.next())?.status, 422);
  });
});
