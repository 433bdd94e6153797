// Requests that are not valid HTTP or are too large, sent as raw bytes: each gets the same error envelope.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anyone, sendRaw } from './client.ts';
import { assertError } from './samples.ts';

describe('requests that are not valid HTTP', { concurrency: true }, () => {
  const broken: [name: string, bytes: string][] = [
    ['a word', 'nonsense\r\n\r\n'],
    ['a version that does not exist', 'GET /health HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['no Host', 'GET /health HTTP/1.1\r\n\r\n'],
    ['a header without a colon', 'GET /health HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n'],
    ['a space in the name of a header', 'GET /health HTTP/1.1\r\nHost: a\r\nX Y: 1\r\n\r\n'],
    ['a length that is no number', 'POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n'],
    [
      'a length together with chunks',
      'POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a chunk whose size is not a number',
      'POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ],
  ];
  for (const [name, bytes] of broken) {
    it(`get BAD_REQUEST: ${name}`, async () => {
      assertError(await sendRaw(bytes), 400, 'BAD_REQUEST');
    });
  }

  it('get HEADERS_TOO_LARGE if their headers have 20000 characters', async () => {
    const bytes = `GET /health HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`;
    assertError(await sendRaw(bytes), 431, 'HEADERS_TOO_LARGE');
    const many = Array.from({ length: 500 }, (_, number) => `X-${number}: ${'x'.repeat(40)}\r\n`).join('');
    assertError(await sendRaw(`GET /health HTTP/1.1\r\nHost: a\r\n${many}\r\n`), 431, 'HEADERS_TOO_LARGE');
  });

  it('get URI_TOO_LONG if the URL alone has 40000 characters', async () => {
    const bytes = `GET /v1/events/nearby?x=${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`;
    assertError(await sendRaw(bytes), 414, 'URI_TOO_LONG');
  });

  it('get REQUEST_TIMEOUT if their headers do not end', async () => {
    assertError(await sendRaw('GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: '), 408, 'REQUEST_TIMEOUT');
  });

  it('get REQUEST_TIMEOUT if their body does not end', async () => {
    const head =
      'POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n';
    assertError(await sendRaw(`${head}{`), 408, 'REQUEST_TIMEOUT');
  });

  it('do not block other requests', async () => {
    const slow = sendRaw('GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    assert.equal((await anyone.get('/health')).status, 200);
    assertError(await slow, 408, 'REQUEST_TIMEOUT');
  });
});
