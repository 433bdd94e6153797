// Clients that send too slowly get a 408 and are disconnected after 3 to 6 seconds, without affecting others. All run at once.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RawConnection, request } from '../support/raw-http.ts';
import { useTestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const POST = `POST /v1/auth/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
const BODY = JSON.stringify({ email: 'agent@example.com', agent_name: 'slow' });
const DRIP_MS = 200;

/** What each client sends at first, and what it keeps sending every 200 ms. */
const SLOW: Record<string, { first: string; drip?: string }> = {
  'sends half a request line': { first: 'GET /hea' },
  'sends headers without an end': { first: 'GET /health HTTP/1.1\r\nHost: x\r\n' },
  'drips a header': { first: 'GET /health HTTP/1.1\r\nHost: x\r\nA: ', drip: 'x' },
  'drips headers': { first: 'GET /health HTTP/1.1\r\nHost: x\r\n', drip: 'A: b\r\n' },
  'sends no body': { first: `${POST}Content-Length: 100\r\n\r\n` },
  'sends half a body': { first: `${POST}Content-Length: 100\r\n\r\n{"email":` },
  'drips a body': { first: `${POST}Content-Length: 1000\r\n\r\n{"email":`, drip: ' ' },
  'sends half a chunk': { first: `${POST}Transfer-Encoding: chunked\r\n\r\n10\r\n{` },
  'drips chunks': { first: `${POST}Transfer-Encoding: chunked\r\n\r\n`, drip: '1\r\n \r\n' },
  'stalls in its second request': { first: `${request('GET', '/health')}GET /hea` },
};

describe('slow clients', () => {
  const service = useTestService();

  it('get a 408 and are cut off after seconds; others are unaffected', { timeout: 20_000 }, async () => {
    const startedMs = performance.now();
    const slow = Object.entries(SLOW).map(async ([name, { first, drip }]) => {
      const connection = await RawConnection.open(service.url);
      connection.write(first);
      const dripping = drip ? setInterval(() => connection.write(drip), DRIP_MS) : undefined;
      try {
        if (first.includes('\r\n\r\nGET')) assert.equal((await connection.next())?.status, 200, name);
        const answer = await connection.next();
        assert.ok(answer, `the client that ${name} gets an answer`);
        assertPlainError(answer, 408, 'REQUEST_TIMEOUT');
        assert.equal(answer.headers.get('connection'), 'close', name);
        await connection.closed;
      } finally {
        clearInterval(dripping);
        connection.destroy();
      }
      const tookMs = performance.now() - startedMs;
      assert.ok(tookMs > 2_900 && tookMs < 9_000, `the client that ${name} took ${tookMs} ms`);
    });
    const silent = RawConnection.open(service.url).then((connection) => connection.closed);
    const idle = await RawConnection.open(service.url);
    idle.write(request('GET', '/health'));
    assert.equal((await idle.next())?.status, 200);

    const quick = await service.client.send('POST', '/v1/auth/register', { raw: BODY });
    assert.equal(quick.status, 200);
    assert.ok(performance.now() - startedMs < 2_900, 'others do not wait');

    await Promise.all([...slow, silent]);
    idle.write(request('GET', '/health'));
    assert.equal((await idle.next())?.status, 200, 'a connection between requests stays open');
    idle.destroy();
    assert.deepEqual(
      service.log.filter((line) => (line.level as number) > 30),
      [],
    );
  });
});
