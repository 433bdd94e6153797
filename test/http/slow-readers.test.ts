// Clients that send requests and do not read are disconnected, the bytes that wait for them are bounded, and others are not
// affected. The tests add their own routes to the real server, for responses of the size and the ending that they need.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import type { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Backlog, type BacklogLimits } from '../../src/http/admission/backlog.ts';
import { fileUrl } from '../../src/http/browser/page-files.ts';
import { bareServer, listen } from '../support/bare-server.ts';
import { assertError, Client } from '../support/client.ts';
import { RawConnection, request } from '../support/raw-http.ts';

const MB = 2 ** 20;
/** More than the operating system buffers between two sockets. */
const HUGE = 24 * MB;
/** Less than the default of any limit that a test sets, so that the test fails if its limit is ignored. */
const TIMEOUT = { timeout: 25_000 };

interface Limits extends Partial<BacklogLimits> {
  readonly inactivityMs?: number;
}

/** Status of a request from this local address. */
function statusFrom(localAddress: string, url: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  get(url, { localAddress, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode);
  }).on('error', reject);
  return promise;
}

async function start(test: TestContext, { inactivityMs, ...limits }: Limits = {}) {
  const backlog = new Backlog(limits);
  const log: Record<string, unknown>[] = [];
  const store = { engine: 'sqlite', check: async () => {} };
  let named = 0;
  const app = bareServer({
    logger: pino({}, { write: (line: string) => void log.push(JSON.parse(line)) }),
    newRequestId: () => `request-${++named}`,
    context: { store },
    backlog,
    ...(inactivityMs && { inactivityMs }),
  });
  const asked = { count: 0 };
  app.get('/text/:bytes', async (request, reply) => {
    asked.count++;
    const { bytes } = request.params as { bytes: string };
    return reply.type('text/plain').send('x'.repeat(Number(bytes)));
  });
  app.get('/slow/:ms', async (request, reply) => {
    asked.count++;
    await sleep(Number((request.params as { ms: string }).ms));
    return reply.type('text/plain').send('y'.repeat(MB));
  });
  const gate = Promise.withResolvers<void>();
  app.get('/gated', async (_request, reply) => {
    asked.count++;
    await gate.promise;
    return reply.type('text/plain').send('z'.repeat(MB));
  });
  app.get('/empty', (_request, reply) => reply.code(204).send());
  app.get('/error', () => {
    throw new Error('nobody foresaw this');
  });
  app.get('/unsendable', (_request, reply) =>
    reply.header('content-type', 'text/plain\n').send('x'.repeat(MB)),
  );
  const url = await listen(app);
  test.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });

  /** A client that sends and never reads; `gone` settles when the service closes the connection. */
  async function neverRead(bytes: string): Promise<{ client: RawConnection; gone: Promise<unknown> }> {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>;
    const client = await RawConnection.open(url);
    client.socket.setTimeout(0).pause();
    test.after(() => client.destroy());
    const [socket] = await accepted;
    client.write(bytes);
    return { client, gone: new Promise((resolve) => socket.once('close', resolve)) };
  }
  return { app, url, backlog, log, asked, gate, client: new Client(url), neverRead };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

describe('a client that does not read', { concurrency: true }, () => {
  it('is disconnected after the inactivity time without progress', TIMEOUT, async (test) => {
    const { app, backlog, log, neverRead } = await start(test, { inactivityMs: 500 });
    assert.equal(app.server.timeout, 500);
    const startedMs = performance.now();
    const { gone } = await neverRead(request('GET', `/text/${HUGE}`));
    await until(() => backlog.waitingBytes > 0);
    assert.equal(backlog.waitingBytes, HUGE);
    await gone;
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > 450, `it took ${tookMs} ms`);
    await until(() => log.length > 0);
    assert.equal(log[0]!.status, 499);
    assert.equal(backlog.waitingBytes, 0);
  });

  it('is disconnected after the total time if it reads slowly', TIMEOUT, async (test) => {
    const { backlog, neverRead } = await start(test, { largeMs: 1_000 });
    const startedMs = performance.now();
    const { client, gone } = await neverRead(request('GET', `/text/${2 * HUGE}`));
    let received = 0;
    client.socket.on('data', (bytes) => {
      received += bytes.length;
      client.socket.pause();
    });
    const drip = setInterval(() => client.socket.resume(), 50);
    await gone;
    clearInterval(drip);
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > 950, `it took ${tookMs} ms`);
    assert.ok(received > 0, `it had read ${received} bytes`);
    await until(() => backlog.waitingBytes === 0);
  });

  it('is disconnected after the total time if it requests many responses at once', TIMEOUT, async (test) => {
    const { asked, backlog, neverRead } = await start(test, { largeMs: 500, largeBytes: MB });
    const { gone } = await neverRead(request('GET', '/text/500000').repeat(120)); // none of them is large
    await until(() => asked.count > 60);
    assert.ok(backlog.waitingBytes > 10 * MB);
    await gone;
    await until(() => backlog.waitingBytes === 0);
  });
});

describe('while too many bytes wait', { concurrency: true }, () => {
  it(
    'refuses new requests of their client with a 429, except /health, until the bytes are gone',
    TIMEOUT,
    async (test) => {
      // Half of what a network may have; clients without a key have only the limit of their network.
      const unreadBytes = { perClient: HUGE / 2 + 1, shared: 10 * HUGE };
      const { url, asked, backlog, client, neverRead } = await start(test, { unreadBytes, largeMs: 6_000 });
      const first = await neverRead(request('GET', `/text/${HUGE}`));
      await until(() => backlog.waitingBytes === HUGE);
      assert.equal((await client.get('/text/10')).status, 200, 'as much as may wait');
      const second = await neverRead(request('GET', `/text/${HUGE}`));
      await until(() => backlog.waitingBytes === 2 * HUGE);

      const before = asked.count;
      for (const path of ['/text/10', '/v1/events/nearby', '/openapi.json', '/docs', '/nothing-here']) {
        const refused = await client.get(path);
        assertError(refused, 429, 'RATE_LIMITED');
        assert.match(
          refused.body.error.message,
          /^You may leave at most 12 MiB of responses unread, and all clients of your network together 24 MiB\. /,
        );
        assert.equal(refused.headers.get('retry-after'), '5');
        assert.match(refused.headers.get('x-request-id')!, /^request-/);
      }
      assert.equal(asked.count, before, 'nothing is done for them');
      assert.equal((await client.get('/health')).body.status, 'ok');
      assert.equal((await client.send('HEAD', '/health')).status, 200);
      assert.equal(await statusFrom('127.0.0.2', `${url}/text/10`), 200, 'others are served');

      await Promise.all([first.gone, second.gone]);
      await until(() => backlog.waitingBytes === 0);
      assert.equal((await client.get('/text/10')).text, 'x'.repeat(10));
    },
  );

  it('refuses some of many requests that arrive together', TIMEOUT, async (test) => {
    const unreadBytes = { perClient: 6 * MB, shared: 100 * MB };
    const { backlog, neverRead } = await start(test, { unreadBytes });
    const count = 40;
    const { client } = await neverRead(request('GET', `/slow/50`).repeat(count));
    await until(() => backlog.waitingBytes >= 12 * MB);
    client.socket.resume();
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push((await client.next())!.status);
    const answered = statuses.filter((status) => status === 200).length;
    assert.ok(answered >= 12 && answered < count, `${answered} were answered`);
    assert.equal(statuses.filter((status) => status === 429).length, count - answered);
    await until(() => backlog.waitingBytes === 0);
  });

  it(
    'refuses those with the most to read, with a 503, when all together have too much',
    TIMEOUT,
    async (test) => {
      const unreadBytes = { perClient: 10 * HUGE, shared: HUGE };
      const { url, client, backlog, neverRead } = await start(test, { unreadBytes });
      await neverRead(request('GET', `/text/${HUGE}`));
      await until(() => backlog.waitingBytes === HUGE);
      assertError(await client.get('/text/10'), 503, 'OVERLOADED');
      assert.equal(await statusFrom('127.0.0.2', `${url}/text/10`), 200, 'others are served');
    },
  );

  it('still sends a document that was requested before: it takes no memory', TIMEOUT, async (test) => {
    const { backlog, url } = await start(test, { unreadBytes: { perClient: MB + 1, shared: 10 * MB } });
    const connection = await RawConnection.open(url);
    test.after(() => connection.destroy());
    connection.socket.pause();
    // Compressing the document takes longer than making both texts.
    const document = request('GET', '/openapi.json', { 'Accept-Encoding': 'gzip' });
    connection.write(document + request('GET', `/text/${MB}`).repeat(2));
    await until(() => backlog.waitingBytes === 2 * MB);
    connection.socket.resume();
    const answer = await connection.next();
    assert.equal(answer?.status, 200);
    assert.equal(answer?.headers.get('content-encoding'), 'gzip');
  });
});

describe('clients that read', { concurrency: true }, () => {
  it('have limits of 20 s, without a byte during a request and between two requests', async (test) => {
    const { server } = (await start(test)).app;
    assert.deepEqual([server.timeout, server.keepAliveTimeout], [20_000, 20_000]);
  });

  it('keep an idle connection beyond the inactivity and the total time', TIMEOUT, async (test) => {
    const { url } = await start(test, { inactivityMs: 300, largeMs: 300 });
    const connection = await RawConnection.open(url);
    test.after(() => connection.destroy());
    for (const pauseMs of [1_000, 1_000, 0]) {
      connection.write(request('GET', `/text/${MB}`));
      assert.equal((await connection.next())?.text.length, MB);
      await sleep(pauseMs);
      assert.equal(connection.isClosed, false);
    }
  });

  it('get a response that takes 4 s to make', TIMEOUT, async (test) => {
    const { client } = await start(test);
    assert.equal((await client.get('/slow/4000')).text.length, MB);
  });

  it('get complete responses of any size, many at once', TIMEOUT, async (test) => {
    const { client, backlog } = await start(test);
    const sizes = [0, 1, 65_536, 65_537, MB, HUGE];
    const answers = await Promise.all(sizes.map((size) => client.get(`/text/${size}`)));
    assert.deepEqual(
      answers.map(({ text }) => text.length),
      sizes,
    );
    await until(() => backlog.waitingBytes === 0);
  });
});

describe('no bytes are counted as waiting', { concurrency: true }, () => {
  const ENDINGS: Record<string, readonly [method: string, path: string, status: number]> = {
    'a small response': ['GET', '/text/10', 200],
    'a large response': ['GET', `/text/${MB}`, 200],
    'a HEAD': ['HEAD', `/text/${MB}`, 200],
    'a 204': ['GET', '/empty', 204],
    'an error': ['GET', '/error', 500],
    'a response that cannot be sent': ['GET', '/unsendable', 500],
    'an unknown URL': ['GET', '/nothing-here', 404],
    'a malformed escape': ['GET', '/%zz', 404],
    'a preflight': ['OPTIONS', '/v1/events', 204],
    'a file of the docs': ['GET', fileUrl('operations.js'), 200],
  };
  for (const [name, [method, path, status]] of Object.entries(ENDINGS)) {
    it(`after ${name}`, TIMEOUT, async (test) => {
      const { client, backlog, log } = await start(test);
      assert.equal((await client.send(method, path)).status, status);
      await until(() => log.some(({ msg }) => msg === 'request'));
      assert.equal(backlog.waitingBytes, 0);
    });
  }

  it('for documents, which all clients share', TIMEOUT, async (test) => {
    const { asked, backlog, client, neverRead } = await start(test);
    const { text } = await client.get('/openapi.json');
    const perConnection = 60;
    const count = Math.ceil((2 * HUGE) / Buffer.byteLength(text) / perConnection);
    assert.ok(count > 3, `${count} connections`);
    for (let connections = 1; connections <= count; connections++) {
      // The last response is counted and shows that all others were sent.
      await neverRead(request('GET', '/openapi.json').repeat(perConnection) + request('GET', '/text/1'));
      await until(() => asked.count === connections);
      await sleep(20);
      assert.equal(backlog.waitingBytes, connections);
    }
  });

  it('after a client left while its response was made', TIMEOUT, async (test) => {
    const { asked, backlog, client, gate, neverRead } = await start(test);
    const left = await neverRead(request('GET', '/gated'));
    await until(() => asked.count === 1);
    left.client.destroy();
    await left.gone;
    gate.resolve();
    assert.equal((await client.get('/gated')).status, 200); // made after the other
    await until(() => backlog.waitingBytes === 0);
  });

  it('after a client left while its responses waited', TIMEOUT, async (test) => {
    const { asked, backlog, neverRead } = await start(test);
    const left = await neverRead(request('GET', `/text/${HUGE}`).repeat(3));
    await until(() => asked.count === 3 && backlog.waitingBytes === 3 * HUGE);
    left.client.destroy();
    await left.gone;
    await until(() => backlog.waitingBytes === 0);
  });
});
