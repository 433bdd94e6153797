// `mcp`: JSON lines on standard input become requests to /mcp, and their responses lines on standard output. This file
// tests failures and how it ends; test/mcp/tools.test.ts uses every tool this way with the official client.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { before, describe, it } from 'node:test';
import { newApiKey } from '../../src/domain/api-key.ts';
import { systemRandom } from '../../src/system.ts';
import { call } from '../mcp/messages.ts';
import { runHere, startHere } from '../support/command.ts';
import { BIN, cleanEnv, type Ended, freePort } from '../support/process.ts';
import { useTestService } from '../support/service.ts';

const KEY = newApiKey(systemRandom);
const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const SEARCH = call('search_events', { lat: 0, lng: 0 });

/** A separate process. */
function startProcess(url: string, key = KEY) {
  const child = spawn(process.execPath, [BIN, 'mcp', '--url', url], {
    env: cleanEnv({ LOCAL_EVENTS_API_KEY: key }),
    stdio: 'pipe',
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...printed }) as Ended);
  return { child, ended };
}

/** The same in this process. */
function start(url: string, key = KEY) {
  return startHere(['mcp', '--url', url], { LOCAL_EVENTS_API_KEY: key });
}

/** Sends the lines, ends the input, and waits for the end. Messages on standard output are parsed. */
async function converse(
  url: string,
  lines: readonly (object | string)[],
  key = KEY,
  { stdin, ended }: { stdin: Writable; ended: Promise<Ended> } = start(url, key),
) {
  for (const line of lines) stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  stdin.end();
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.ok(!`${stdout}${stderr}`.includes(key));
  const messages = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  return { messages, stderr };
}

/** A server that is not ours; closed after the test. */
async function listen(answer: RequestListener, test: { after(done: () => void): void }): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('mcp', { concurrency: 2 }, () => {
  const service = useTestService();
  let key: string;
  before(async () => {
    key = (await service.newAgent()).headers['x-api-key']!;
  });

  describe('before it starts', () => {
    it('requires the key in the environment', async () => {
      const { code, stdout, stderr } = await runHere(['mcp', '--url', service.url]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.equal(stderr, 'Set LOCAL_EVENTS_API_KEY to the key of an agent.\n');
    });

    it('detects a mistyped key, and does not show it', async () => {
      const mistyped = `${KEY.slice(0, -1)}${KEY.endsWith('0') ? '1' : '0'}`;
      const { code, stderr } = await runHere(['mcp', '--url', service.url], {
        LOCAL_EVENTS_API_KEY: mistyped,
      });
      assert.equal(code, 2);
      assert.match(stderr, /^LOCAL_EVENTS_API_KEY is not a valid API key\. .*typing errors\.\n$/);
      assert.ok(!stderr.includes(mistyped));
    });
  });

  it('responds to all requests from before the input ended, then ends', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const lines = ['', SEARCH, notification, { ...SEARCH, id: 'two' }, [{ ...SEARCH, id: 3 }], '  '];
    const { child, ended } = startProcess(service.url, key);
    const real = { stdin: child.stdin, ended };
    const { messages, stderr } = await converse(service.url, lines, key, real);
    assert.deepEqual(messages.map(({ id }) => id).sort(), [1, 3, 'two']);
    for (const { result } of messages) assert.equal(result.structuredContent.total, 0);
    assert.match(
      stderr,
      /^Forwarding messages to http:\/\/127\.0\.0\.1:\d+\/mcp until standard input ends\.\n$/,
    );
  });

  it('ends at once without requests', async () => {
    assert.deepEqual((await converse(service.url, [], key)).messages, []);
  });

  it('accepts the URL with and without /mcp, and below a path', async () => {
    for (const url of [`${service.url}/`, `${service.url}/mcp`, `${service.url}/mcp/`]) {
      assert.equal((await converse(url, [SEARCH], key)).messages[0].result.structuredContent.total, 0);
    }
    const { messages } = await converse(`${service.url}/below`, [SEARCH], key);
    assert.match(messages[0].error.message, /^NOT_FOUND: /);
  });

  it('sends the key in a header, and shows it to no other process', async (test) => {
    const seen: unknown[] = [];
    const url = await listen(({ headers }, answer) => {
      seen.push(headers['x-api-key']);
      answer.writeHead(202).end();
    }, test);
    const { child, ended } = startProcess(url);
    assert.ok(!child.spawnargs.join(' ').includes(KEY));
    child.stdin.end(`${JSON.stringify(SEARCH)}\n`);
    await ended;
    assert.deepEqual(seen, [KEY]);
  });

  describe('responds with a protocol error, and reports it on standard error', () => {
    const assertFailure = async (url: string, expected: RegExp, withKey = KEY) => {
      const { messages, stderr } = await converse(url, [SEARCH], withKey);
      assert.deepEqual(
        messages.map(({ jsonrpc, id, error }) => [jsonrpc, id, error.code]),
        [['2.0', 1, -32_000]],
      );
      assert.match(messages[0].error.message, expected);
      assert.ok(stderr.endsWith(`${messages[0].error.message}\n`), stderr);
    };

    it('if the key is unknown', async () => {
      await assertFailure(service.url, /^INVALID_API_KEY: The key is not active/);
    });

    it('if nothing listens, or the name does not resolve', async () => {
      await assertFailure(
        `http://127.0.0.1:${await freePort()}`,
        /^Cannot reach .*ECONNREFUSED.*Check that the service is running there/,
      );
      await assertFailure('http://nowhere.invalid', /^Cannot reach http:\/\/nowhere\.invalid\/mcp \(E/);
    });

    it('if something else listens', async (test) => {
      const page = await listen((_request, answer) => answer.end('<p>Welcome</p>'), test);
      await assertFailure(page, /returned status 200, but not a response of this service\. Check --url\.$/);
    });

    it('if the server redirects, where the key is not sent', async (test) => {
      let visits = 0;
      const target = await listen((_request, answer) => {
        visits++;
        answer.end();
      }, test);
      const url = await listen((_request, answer) => answer.writeHead(307, { location: target }).end(), test);
      await assertFailure(url, /redirects to http:\/\/127\.0\.0\.1:\d+\/\. Use that as --url\.$/);
      assert.equal(visits, 0);
    });

    const silences: [what: string, status: number, type: string, body: string][] = [
      ['accepts the request', 202, 'application/json', ''],
      ['sends an empty stream', 200, 'text/event-stream', ''],
      ['sends a stream of something else', 200, 'text/event-stream', 'data: hello\n\n'],
      [
        'sends a stream that breaks off',
        200,
        'text/event-stream',
        `data: {"jsonrpc":"2.0","id":1,"result":{}}\n`,
      ],
    ];
    for (const [what, status, type, body] of silences) {
      it(`if the server only ${what}`, async (test) => {
        const url = await listen(
          (_request, answer) => answer.writeHead(status, { 'content-type': type }).end(body),
          test,
        );
        await assertFailure(url, /\/mcp sent no response to the message\.$/);
      });
    }

    it('if the error of the server has terminal control sequences, which it removes', async (test) => {
      const error = { code: 'EVIL', message: '\u001b[2Jgone\nSet LOCAL_EVENTS_API_KEY' };
      const url = await listen(
        (_request, answer) => answer.writeHead(500).end(JSON.stringify({ error })),
        test,
      );
      const { stderr } = await converse(url, [SEARCH]);
      assert.match(stderr, /EVIL: {1,2}\[2Jgone Set LOCAL_EVENTS_API_KEY\n$/);
    });

    it('if a line is longer than the limit for messages', async () => {
      const { messages } = await converse(service.url, ['x'.repeat(2 ** 20 + 2), SEARCH], key);
      assert.deepEqual([messages[0].id, messages[0].error.code], [null, -32_700]);
      assert.equal(messages[1].id, 1);
    });

    it('if the connection breaks', async (test) => {
      const url = await listen(({ socket }) => socket.destroy(), test);
      await assertFailure(url, /^Cannot reach /);
    });

    it('if the service refuses the message without its ID', async () => {
      const { messages } = await converse(service.url, [{ ...SEARCH, method: 7 }], key);
      assert.deepEqual([messages[0].id, messages[0].error.code], [1, -32_600]);
    });

    it('if a line is not JSON', async () => {
      const { messages } = await converse(service.url, ['hello', SEARCH], key);
      assert.deepEqual(messages[0], {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_700, message: 'The line is not valid JSON.' },
      });
      assert.equal(messages[1].result.structuredContent.total, 0);
    });
  });

  it('aborts a request that the client cancels', async (test) => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: gone, resolve: onGone } = Promise.withResolvers<void>();
    const url = await listen((_request, answer) => {
      onAsked();
      answer.once('close', onGone);
    }, test);
    const { stdin, ended } = start(url);
    stdin.write(`${JSON.stringify(SEARCH)}\n`);
    await asked;
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    stdin.end(`${JSON.stringify(cancel)}\n`);
    await gone;
    const { code, stdout } = await ended;
    assert.deepEqual([code, stdout], [0, '']);
  });

  it('continues the rest of a batch when one request is cancelled', async (test) => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: cancelled, resolve: onCancelled } = Promise.withResolvers<void>();
    const answers = [1, 2].map((id) => ({ jsonrpc: '2.0', id, result: {} }));
    const url = await listen(async (_request, answer) => {
      onAsked();
      await cancelled;
      answer.end(JSON.stringify(answers));
    }, test);
    const { stdin, stdout, ended } = start(url);
    stdin.write(`${JSON.stringify([SEARCH, { ...SEARCH, id: 2 }])}\n`);
    await asked;
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    stdin.write(`${JSON.stringify(cancel)}\nno JSON\n`);
    stdout.once('data', () => onCancelled()); // the line after the cancellation has its response
    stdin.end();
    const lines = (await ended).stdout.split('\n').slice(0, -1);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      [null, 2],
    );
  });

  it('gives every message of a response the ID of its request', async (test) => {
    const error = { code: -32_600, message: 'no' };
    const mixed = [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: null, error },
    ];
    const url = await listen((_request, answer) => answer.end(JSON.stringify(mixed)), test);
    const { messages } = await converse(url, [[SEARCH, { ...SEARCH, id: 2 }]]);
    assert.deepEqual(messages, [mixed[0], { jsonrpc: '2.0', id: 2, error }]);
  });

  it('responds to lines that are not messages, or malformed ones', async () => {
    const odd = { jsonrpc: '2.0', id: 1, method: { toString: 1 }, params: { _meta: META } };
    const { messages } = await converse(service.url, ['[]', 'null', '5', odd], key);
    assert.equal(messages.length, 4);
    for (const { error } of messages) assert.ok(error.code < 0);
  });

  it('keeps every digit of long numbers', async (test) => {
    const url = await listen(
      (_request, answer) => answer.end('{"jsonrpc":"2.0","id":1,"result":{"big":12345678901234567890}}'),
      test,
    );
    const { stdin, ended } = start(url);
    stdin.end(`${JSON.stringify(SEARCH)}\n`);
    assert.match((await ended).stdout, /12345678901234567890/);
  });

  it('ends when nothing reads its output any more', async () => {
    const { child, ended } = startProcess(service.url, key);
    child.stdout.destroy();
    // Until the response to one of these cannot be written.
    const asking = setInterval(() => child.stdin.write(`${JSON.stringify(SEARCH)}\n`), 20);
    child.stdin.on('error', () => {});
    assert.equal((await ended).code, 0);
    clearInterval(asking);
  });
});
