// Requests that are not valid HTTP, and rarely used HTTP: Expect, pipelining, absolute URLs.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchange, RawConnection, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const REGISTER = '/v1/auth/register';
const REGISTRATION = JSON.stringify({ email: 'agent@example.com', agent_name: 'a name' });
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('HTTP itself', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.close());

  describe('400', () => {
    const post = `POST ${REGISTER} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const broken: Record<string, string | Buffer> = {
      'an unknown method': request('FETCH', '/health'),
      'a method in lower case': request('get', '/health'),
      'a CONNECT': 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
      'an unknown HTTP version': 'GET /health HTTP/3.7\r\nHost: x\r\n\r\n',
      'another protocol': 'GET /health ICE/1.0\r\nHost: x\r\n\r\n',
      'no Host': 'GET /health HTTP/1.1\r\n\r\n',
      'two Hosts': 'GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n',
      'the same Host twice': 'GET / HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nhost: x\r\n\r\n',
      'two Hosts in HTTP/1.0': 'GET /live HTTP/1.0\r\nHOST: x\r\nHost: y\r\n\r\n',
      'a header without a colon': 'GET /health HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n',
      'a space in a header name': 'GET /health HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n',
      'a NUL in a header': 'GET /health HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n',
      'lines ended by a bare CR': 'GET /health HTTP/1.1\rHost: x\r\r',
      'a space in the URL': 'GET /v1/events /nearby HTTP/1.1\r\nHost: x\r\n\r\n',
      'a negative Content-Length': `${post}Content-Length: -1\r\n\r\n`,
      'a Content-Length that is not a number': `${post}Content-Length: 0x10\r\n\r\n`,
      'two Content-Lengths': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      'Content-Length together with chunks': `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'an unknown transfer encoding': `${post}Transfer-Encoding: gzip\r\n\r\n`,
      'chunked not as the last encoding': `${post}Transfer-Encoding: chunked, gzip\r\n\r\n`,
      'a chunk size that is not a number': `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      'a chunk longer than its size': `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n`,
      'a TLS handshake': Buffer.from('16030100c8010000c40303', 'hex'),
    };
    for (const [name, bytes] of Object.entries(broken)) {
      it(`refuses ${name}`, async () => {
        assertPlainError(await exchange(service.url, bytes), 400, 'BAD_REQUEST');
      });
    }

    it('refuses a body that ends before its Content-Length', async () => {
      const connection = await RawConnection.open(service.url);
      connection.socket.end(request('POST', REGISTER, { ...JSON_TYPE, 'Content-Length': '100' }, '{'));
      assertPlainError((await connection.next())!, 400, 'BAD_REQUEST');
      await connection.closed;
    });
  });

  it('closes the connection after a request that is not HTTP', async () => {
    const connection = await RawConnection.open(service.url);
    connection.write('nonsense\r\n\r\n');
    assert.equal((await connection.next())?.headers.get('connection'), 'close');
    await connection.closed;
  });

  it('sends 100 Continue when the request expects it', async () => {
    const connection = await RawConnection.open(service.url);
    const length = String(REGISTRATION.length);
    connection.write(
      request('POST', REGISTER, { ...JSON_TYPE, 'Content-Length': length, Expect: '100-continue' }),
    );
    const answer = connection.next();
    await connection.continued;
    connection.write(REGISTRATION);
    assert.equal((await answer)?.status, 200);
    connection.destroy();
  });

  it('ignores an unknown expectation', async () => {
    assert.equal(
      (await exchange(service.url, request('GET', '/health', { Expect: 'miracles' }))).status,
      200,
    );
  });

  it('responds to pipelined requests in order', async () => {
    const connection = await RawConnection.open(service.url);
    connection.write(
      request('POST', REGISTER, JSON_TYPE, REGISTRATION) +
        request('GET', '/nothing') +
        request('GET', '/v1/events/nearby?lat=0&lng=0') +
        request('HEAD', '/health') +
        request('PUT', '/v1/events') +
        request('GET', '/health'),
    );
    const statuses: (number | undefined)[] = [];
    for (const method of ['POST', 'GET', 'GET', 'HEAD', 'PUT', 'GET']) {
      statuses.push((await connection.next(method))?.status);
    }
    assert.deepEqual(statuses, [200, 404, 401, 200, 405, 200]);
    connection.destroy();
  });

  it('accepts an absolute URL, an unknown upgrade and HTTP/1.0', async () => {
    for (const bytes of [
      request('GET', 'http://example.com/health'),
      request('GET', '/health', { Connection: 'Upgrade', Upgrade: 'h2c' }),
      'GET /health HTTP/1.0\r\n\r\n',
    ]) {
      assert.equal((await exchange(service.url, bytes)).body.status, 'ok', bytes);
    }
    assertPlainError(
      await exchange(service.url, request('PUT', 'http://example.com/health')),
      405,
      'METHOD_NOT_ALLOWED',
    );
  });
});
