// Requests that are not valid HTTP or are too large, sent as raw bytes: each gets the same error envelope.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anyone, sendRaw } from './client.ts';
import { assertError } from './samples.ts';

describe('requests that are not valid HTTP', { concurrency: true }, () => {
  const post = 'POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
  const broken: Record<string, string | Uint8Array> = {
    'a word': 'nonsense\r\n\r\n',
    'an unknown method': 'FETCH /health HTTP/1.1\r\nHost: a\r\n\r\n',
    'a method in lower case': 'get /health HTTP/1.1\r\nHost: a\r\n\r\n',
    'a CONNECT': 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
    'a version that does not exist': 'GET /health HTTP/9.9\r\nHost: a\r\n\r\n',
    'another protocol': 'GET /health ICE/1.0\r\nHost: a\r\n\r\n',
    'no Host': 'GET /health HTTP/1.1\r\n\r\n',
    'two Hosts': 'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    'the same Host twice': 'GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nhost: a\r\n\r\n',
    'two Hosts in HTTP/1.0': 'GET /live HTTP/1.0\r\nHOST: a\r\nHost: b\r\n\r\n',
    'a header without a colon': 'GET /health HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n',
    'a space in the name of a header': 'GET /health HTTP/1.1\r\nHost: a\r\nX Y: 1\r\n\r\n',
    'a NUL in a header': 'GET /health HTTP/1.1\r\nHost: a\r\nA: \0\r\n\r\n',
    'lines that end with a bare CR': 'GET /health HTTP/1.1\rHost: a\r\r',
    'a space in the URL': 'GET /v1/events /nearby HTTP/1.1\r\nHost: a\r\n\r\n',
    'a length that is no number': `${post}Content-Length: x\r\n\r\n`,
    'a hexadecimal length': `${post}Content-Length: 0x10\r\n\r\n`,
    'a negative length': `${post}Content-Length: -1\r\n\r\n`,
    'two lengths': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    'a length together with chunks': `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'an unknown transfer encoding': `${post}Transfer-Encoding: gzip\r\n\r\n`,
    'chunked not as the last encoding': `${post}Transfer-Encoding: chunked, gzip\r\n\r\n`,
    'a chunk whose size is not a number': `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    'a chunk longer than its size': `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n`,
    'a TLS handshake': Buffer.from('16030100c8010000c40303', 'hex'),
  };
  for (const [name, bytes] of Object.entries(broken)) {
    it(`get BAD_REQUEST: ${name}`, async () => {
      assertError(await sendRaw(bytes), 400, 'BAD_REQUEST');
    });
  }

  it('get HEADERS_TOO_LARGE if their headers have more than 16 KiB, however many they are', async () => {
    const many = (count: number, value: string) =>
      Array.from({ length: count }, (_, at) => `X-${at}: ${value}\r\n`).join('');
    const send = (headers: string) => sendRaw(`GET /health HTTP/1.1\r\nHost: a\r\n${headers}\r\n`);
    for (const headers of [
      `X-Long: ${'x'.repeat(17_000)}\r\n`,
      many(500, 'x'.repeat(40)),
      many(2_000, 'x'),
      `X-Long: ${'x'.repeat(17_000)}\r\nX-API-Key: ${'x'.repeat(100_000)}\r\n`,
    ])
      assertError(await send(headers), 431, 'HEADERS_TOO_LARGE');
    assert.equal((await send(many(2, 'x'.repeat(7_500)))).status, 200);
  });

  for (const length of [17_000, 60_000, 200_000]) {
    it(`get URI_TOO_LONG if the URL alone has ${length} characters`, async () => {
      const bytes = `GET /v1/events/nearby?x=${'x'.repeat(length)} HTTP/1.1\r\nHost: a\r\n\r\n`;
      assertError(await sendRaw(bytes), 414, 'URI_TOO_LONG');
    });
  }

  it('get REQUEST_TIMEOUT if their headers do not end', async () => {
    assertError(await sendRaw('GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: '), 408, 'REQUEST_TIMEOUT');
  });

  it('get REQUEST_TIMEOUT if their body does not end', async () => {
    assertError(await sendRaw(`${post}Content-Length: 9\r\n\r\n{`), 408, 'REQUEST_TIMEOUT');
  });

  it('do not block other requests', async () => {
    const slow = sendRaw('GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    assert.equal((await anyone.get('/health')).status, 200);
    assertError(await slow, 408, 'REQUEST_TIMEOUT');
  });
});
