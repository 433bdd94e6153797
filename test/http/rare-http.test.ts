// Rarely used HTTP: a body that ends early, Expect, pipelining, absolute URLs. What is not HTTP is in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchange, RawConnection, request } from '../support/raw-http.ts';
import { useTestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const REGISTER = '/v1/auth/register';
const REGISTRATION = JSON.stringify({ email: 'agent@example.com', agent_name: 'a name' });
const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('HTTP itself', () => {
  const service = useTestService();

  it('refuses a body that ends before its Content-Length', async () => {
    const connection = await RawConnection.open(service.url);
    connection.socket.end(request('POST', REGISTER, { ...JSON_TYPE, 'Content-Length': '100' }, '{'));
    assertPlainError((await connection.next())!, 400, 'BAD_REQUEST');
    await connection.closed;
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

  it('sends no body after HEAD', async () => {
    const connection = await RawConnection.open(service.url);
    for (const path of ['/health', '/nothing', '/v1/events/nearby?lat=0&lng=0', '/openapi.json', '/docs']) {
      connection.write(request('HEAD', path) + request('GET', '/health'));
      await connection.next('HEAD');
      assert.equal((await connection.next())?.body.status, 'ok', path);
    }
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
