// Responses of /mcp are bounded like all others: their bytes count while they wait for a client that does not read, also
// those that older clients get as a stream, and a long one is not started while too many bytes wait.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApiKey } from '../../src/domain/api-key.ts';
import { Backlog } from '../../src/http/admission/backlog.ts';
import { systemRandom } from '../../src/system.ts';
import { bareServer, contextWithAgent, listen } from '../support/bare-server.ts';
import { assertError, Client } from '../support/client.ts';
import { RawConnection, request } from '../support/raw-http.ts';

const MB = 2 ** 20;
/** More than the operating system buffers between two sockets. */
const HUGE = 24 * MB;
const TIMEOUT = { timeout: 20_000 };

/** A service whose responses at /mcp have the length given in `id`, and wait for the gate. */
async function start(test: TestContext, type: string, gate: Promise<void> = Promise.resolve()) {
  const backlog = new Backlog({ unreadBytes: { perClient: MB, shared: 100 * MB }, largeMs: 5_000 });
  const signals: AbortSignal[] = [];
  const app = bareServer({
    context: contextWithAgent(),
    backlog,
    mcp: async ({ request, body }) => {
      signals.push(request.signal);
      await gate;
      const { id } = body as { id: number };
      return new Response('x'.repeat(id), { headers: { 'content-type': type } });
    },
  });
  test.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const url = await listen(app);
  const headers = { 'x-api-key': newApiKey(systemRandom), 'content-type': 'application/json' };
  return { url, backlog, signals, headers, client: new Client(url, headers) };
}

async function neverRead(test: TestContext, url: string, headers: Record<string, string>, bytes: number) {
  const connection = await RawConnection.open(url);
  connection.socket.setTimeout(0).pause();
  test.after(() => connection.destroy());
  connection.write(request('POST', '/mcp', headers, JSON.stringify({ id: bytes })));
  return connection;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

describe('a response at /mcp that nobody reads', { concurrency: true }, () => {
  for (const type of ['application/json', 'text/event-stream']) {
    it(`counts while it waits, and makes new requests fail: ${type}`, TIMEOUT, async (test) => {
      const { url, backlog, headers, client } = await start(test, type);
      await neverRead(test, url, headers, HUGE);
      await until(() => backlog.waitingBytes === HUGE);
      assertError(await client.post('/mcp', { id: 1 }), 429, 'RATE_LIMITED');
      await until(() => backlog.waitingBytes === 0); // the client was disconnected
      assert.equal((await client.post('/mcp', { id: 1 })).text, 'x');
    });
  }

  it('is not started if it is long and too many bytes wait; a short one is', TIMEOUT, async (test) => {
    const gate = Promise.withResolvers<void>();
    const { backlog, signals, client } = await start(test, 'application/json', gate.promise);
    const [long, short] = [client.post('/mcp', { id: 300_000 }), client.post('/mcp', { id: 200_000 })];
    await until(() => signals.length === 2);
    const raw = { socket: { destroyed: false, destroy() {} } };
    const unread = { network: '127.0.0.1', name: 'one' };
    backlog.add({ request: { method: 'POST', raw, client: unread }, raw, waitingBytes: 0 } as never, 2 * MB);
    gate.resolve();
    assertError(await long, 429, 'RATE_LIMITED');
    assert.equal((await short).status, 200);
  });
});

describe('a client at /mcp that hangs up', () => {
  it('aborts the work on its request', TIMEOUT, async (test) => {
    const gate = Promise.withResolvers<void>();
    const { url, signals, headers } = await start(test, 'application/json', gate.promise);
    const connection = await neverRead(test, url, headers, 1);
    await until(() => signals.length === 1);
    assert.equal(signals[0]!.aborted, false);
    connection.destroy();
    await until(() => signals[0]!.aborted);
    gate.resolve();
  });
});
