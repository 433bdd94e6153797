// How bodies are received: in any chunks, counted while they arrive, and refused without losing the response. Clients are
// sockets, because libraries hide when a connection is reset.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { newApiKey } from '../../src/domain/api-key.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { BodyMeter } from '../../src/http/request/body.ts';
import { systemRandom } from '../../src/system.ts';
import { anyText } from '../support/any-text.ts';
import { bareServer, contextWithAgent, listen } from '../support/bare-server.ts';
import { assertError, assertInvalid } from '../support/client.ts';
import { RawConnection, request } from '../support/raw-http.ts';

const SEED = 20_261_115;
const MIB = 1_048_576;
const MAX_DISCARDED = 16 * MIB;
const REGISTER = '/v1/auth/register';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const CHUNKED = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' };
const TIMEOUT = { timeout: 30_000 };

/** Records what the meter is told; `refuseAt` is the number of bytes from which on it refuses. */
class Recorder implements BodyMeter {
  bytes = 0;
  finishes = 0;
  refuseAt = Number.POSITIVE_INFINITY;

  received(_request: unknown, bytes: number): void {
    this.bytes += bytes;
    if (this.bytes >= this.refuseAt) throw new AppError('UNAVAILABLE', 'The meter refuses.');
  }

  finished(): void {
    this.finishes++;
  }

  reset(): void {
    this.bytes = 0;
    this.finishes = 0;
  }

  /** Bytes and number of ends so far. */
  get told(): [bytes: number, finishes: number] {
    return [this.bytes, this.finishes];
  }
}

/** A server without a store. Its /mcp, which takes 1 MiB, returns the body; there is room for any number of agents. */
async function start(test: TestContext) {
  const meter = new Recorder();
  const key = newApiKey(systemRandom);
  const context = contextWithAgent({ registrationsPerHour: 0, failedRegistrationsPerHour: 0 });
  const app = bareServer({
    context,
    bodyMeter: meter,
    mcp: async ({ body }) => Response.json({ body }),
  });
  test.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const url = await listen(app);
  const open = async () => {
    const connection = await RawConnection.open(url);
    test.after(() => connection.destroy());
    return connection;
  };
  return { url, open, meter, keyed: { 'X-API-Key': key } };
}

function encodeChunks(chunks: readonly Uint8Array[]): Buffer {
  const parts = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']);
  return Buffer.concat([...parts, '0\r\n\r\n'].map((part) => Buffer.from(part as string)));
}

/**
 * Writes everything before it reads anything, as simple clients do. Returns what it read until the server closed the connection;
 * rejects if the connection is reset or broken.
 */
async function writeThenRead(url: string, head: string, body: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error as Error));
  failed.catch(() => {}); // after the race, too
  const exchange = async () => {
    socket.pause();
    socket.write(head);
    await new Promise((resolve) => socket.write(body, resolve));
    socket.setEncoding('utf8').resume();
    let text = '';
    for await (const part of socket) text += part;
    return text;
  };
  return Promise.race([exchange(), failed]).finally(() => socket.destroy());
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

describe('a body', () => {
  it('is the same in whatever chunks it arrives', TIMEOUT, async (test) => {
    const { open, keyed } = await start(test);
    const text = anyText({ maxLength: 3_000 });
    const cuts = fc.array(fc.nat(9_000), { maxLength: 20 });
    const property = fc.asyncProperty(text, cuts, fc.boolean(), async (value, places, isChunked) => {
      const connection = await open();
      const body = Buffer.from(JSON.stringify(value));
      const ends = [...places.map((place) => place % body.length), body.length].sort((a, b) => a - b);
      const chunks = ends
        .map((end, at) => body.subarray(ends[at - 1] ?? 0, end))
        .filter((chunk) => chunk.length > 0);
      if (isChunked) {
        connection.write(request('POST', '/mcp', { ...keyed, ...CHUNKED }));
        connection.write(encodeChunks(chunks));
      } else {
        const length = { 'Content-Length': String(body.length) };
        connection.write(request('POST', '/mcp', { ...keyed, ...JSON_TYPE, ...length }));
        for (const chunk of chunks) {
          connection.write(chunk);
          await new Promise(setImmediate); // so that most are read one by one
        }
      }
      assert.equal((await connection.next('POST'))?.body.body, value);
      connection.destroy();
    });
    await fc.assert(property, { seed: SEED, numRuns: 150 });
  });

  it('may arrive byte by byte', TIMEOUT, async (test) => {
    const { open, keyed, meter } = await start(test);
    const connection = await open();
    const value = 'é'.repeat(20_000);
    const body = Buffer.from(JSON.stringify(value));
    connection.write(request('POST', '/mcp', { ...keyed, ...CHUNKED }));
    connection.write(encodeChunks([...body].map((byte) => Uint8Array.of(byte))));
    assert.equal((await connection.next('POST'))?.body.body, value);
    assert.deepEqual(meter.told, [body.length, 1]);
  });

  it('counts as none if it is empty', TIMEOUT, async (test) => {
    const { open, keyed } = await start(test);
    const connection = await open();
    connection.write(request('POST', '/mcp', { ...keyed, ...JSON_TYPE }, ''));
    assert.deepEqual((await connection.next('POST'))?.body, {});
    connection.write(request('POST', '/mcp', { ...keyed, ...CHUNKED }));
    connection.write('0\r\n\r\n');
    assert.deepEqual((await connection.next('POST'))?.body, {});
  });

  describe('that is refused before it has arrived', () => {
    for (const bytes of [20_000, 300_000, 2 * MIB, 6 * MIB]) {
      it(`gets its response even if the client first sends all its ${bytes} bytes`, TIMEOUT, async (test) => {
        const { url } = await start(test);
        const body = Buffer.alloc(bytes, ' ');
        const announced = { ...JSON_TYPE, 'Content-Length': String(bytes) };
        const cases: [headers: Record<string, string>, sent: Buffer, status: string][] = [
          [announced, body, '413'],
          [CHUNKED, encodeChunks([body]), '413'],
          [{ ...announced, 'Content-Encoding': 'gzip' }, body, '415'],
        ];
        for (const [headers, sent, status] of cases) {
          const text = await writeThenRead(url, request('POST', REGISTER, headers), sent);
          assert.equal(text.slice(9, 12), status);
          assert.match(text, /\r\nconnection: close\r\n.*\}$/is, 'the response is complete');
        }
      });
    }

    it('gets its response at once, also if the client waits for it', TIMEOUT, async (test) => {
      const { open, meter } = await start(test);
      const connection = await open();
      connection.write(request('POST', REGISTER, { ...JSON_TYPE, 'Content-Length': String(MAX_DISCARDED) }));
      assertError((await connection.next('POST'))!, 413, 'PAYLOAD_TOO_LARGE');
      assert.ok(!connection.isClosed, 'the client may still send');
      assert.deepEqual(meter.told, [0, 0], 'nothing was read');
      await connection.closed;
    });

    it('is not read for ever: the connection closes whatever the client sends', TIMEOUT, async (test) => {
      const { open, url } = await start(test);
      const connection = await open();
      connection.write(request('POST', REGISTER, { ...JSON_TYPE, 'Content-Length': String(2 ** 40) }));
      assertError((await connection.next('POST'))!, 413, 'PAYLOAD_TOO_LARGE');
      const part = Buffer.alloc(MIB, ' ');
      let sentBytes = 0;
      while (connection.socket.writable && sentBytes < 16 * MAX_DISCARDED) {
        await new Promise((resolve) => connection.socket.write(part, resolve));
        sentBytes += part.length;
      }
      assert.ok(!connection.socket.writable, `${sentBytes} bytes were read`);
      const next = await RawConnection.open(url);
      next.write(request('GET', '/health'));
      assert.equal((await next.next())?.status, 200);
      next.destroy();
    });

    it(
      'closes a connection that was used before, and the requests behind it get no response',
      TIMEOUT,
      async (test) => {
        const { open } = await start(test);
        const health = request('GET', '/health');
        for (const bytes of [20_000, 100_000]) {
          const kept = await open();
          kept.write(health);
          assert.equal((await kept.next())?.status, 200);
          kept.write(request('POST', REGISTER, JSON_TYPE, ' '.repeat(bytes)));
          assertError((await kept.next('POST'))!, 413, 'PAYLOAD_TOO_LARGE');
          await kept.closed;

          const pipelined = await open();
          pipelined.write(health + request('POST', REGISTER, JSON_TYPE, ' '.repeat(bytes)) + health);
          assert.equal((await pipelined.next())?.status, 200);
          assertError((await pipelined.next('POST'))!, 413, 'PAYLOAD_TOO_LARGE');
          assert.equal(await pipelined.next(), undefined);
        }
      },
    );
  });

  it('that nobody reads, as the key is missing, does not end the connection', TIMEOUT, async (test) => {
    const { open } = await start(test);
    const connection = await open();
    connection.write(request('POST', '/mcp', JSON_TYPE, ' '.repeat(500_000)) + request('GET', '/health'));
    assertError((await connection.next('POST'))!, 401, 'MISSING_API_KEY');
    assert.equal((await connection.next())?.status, 200);
  });
});

describe('the meter of bodies', () => {
  it('hears of every byte, and of the end once', TIMEOUT, async (test) => {
    const { open, keyed, meter } = await start(test);
    const connection = await open();
    for (const [raw, status] of [
      ['{"a":1}', 200],
      ['{"a":', 422],
      [JSON.stringify(Array(3_000).fill(1)), 413],
      [JSON.stringify('x'.repeat(300_000)), 200],
    ] as const) {
      meter.reset();
      const client = status === 200 ? connection : await open();
      client.write(request('POST', '/mcp', { ...keyed, ...JSON_TYPE }, raw));
      assert.equal((await client.next('POST'))?.status, status);
      assert.deepEqual(meter.told, [raw.length, 1]);
    }
  });

  it('hears of the end if the body is too large or the client leaves', TIMEOUT, async (test) => {
    const { open, keyed, meter } = await start(test);
    const large = await open();
    large.write(request('POST', REGISTER, CHUNKED));
    large.write('2710\r\n');
    large.write(' '.repeat(10_000));
    await until(() => meter.bytes === 10_000);
    large.write('\r\n2710\r\n');
    large.write(' '.repeat(10_000));
    assertError((await large.next('POST'))!, 413, 'PAYLOAD_TOO_LARGE');
    assert.equal(meter.finishes, 1);
    assert.ok(meter.bytes <= 16_384, 'bytes over the limit are not kept');

    for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
      meter.reset();
      const gone = await open();
      gone.write(request('POST', '/mcp', { ...keyed, ...JSON_TYPE, 'Content-Length': '1000' }));
      gone.write('{"a":');
      await until(() => meter.bytes === 5);
      gone.socket[leave]();
      await until(() => meter.finishes > 0);
      await gone.closed;
      assert.deepEqual(meter.told, [5, 1], leave);
    }
  });

  it('may refuse a body while it arrives', TIMEOUT, async (test) => {
    const { url, open, keyed, meter } = await start(test);
    meter.refuseAt = 10_000;
    const head = request('POST', '/mcp', { ...keyed, ...JSON_TYPE, 'Content-Length': '1000000' });
    const text = await writeThenRead(url, head, Buffer.alloc(1_000_000, ' '));
    assert.match(text, /^HTTP\/1\.1 503 .*The meter refuses\."\}\}$/s);
    assert.match(text, /\r\nconnection: close\r\n/i);
    assert.equal(meter.finishes, 1);
    meter.refuseAt = Number.POSITIVE_INFINITY;
    meter.reset();
    const connection = await open();
    connection.write(request('POST', '/mcp', { ...keyed, ...JSON_TYPE }, '[1]'));
    assert.deepEqual((await connection.next('POST'))?.body, { body: [1] });
  });

  it('hears nothing of requests without a body, or whose body is not read', TIMEOUT, async (test) => {
    const { open, keyed, meter } = await start(test);
    const connection = await open();
    connection.write(request('POST', '/mcp', JSON_TYPE, '{}'));
    assertError((await connection.next('POST'))!, 401, 'MISSING_API_KEY');
    connection.write(request('POST', '/mcp', { ...keyed, 'Content-Type': 'text/plain' }, '{}'));
    assertError((await connection.next('POST'))!, 415, 'UNSUPPORTED_MEDIA_TYPE');
    connection.write(request('POST', '/mcp', keyed));
    assert.deepEqual((await connection.next('POST'))?.body, {});
    connection.write(request('POST', REGISTER));
    assert.deepEqual(assertInvalid((await connection.next('POST'))!), ['body: missing']);
    assert.deepEqual(meter.told, [0, 0]);
  });
});
