// Errors before an endpoint is reached: wrong URLs, methods, sizes and media types all get the error envelope. Invalid HTTP
// is in broken-http.test.ts, slow senders are in slow-clients.test.ts, a failing store is in failures.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertInvalid, type Client } from '../support/client.ts';
import { exchange, RawConnection, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const REGISTER = '/v1/auth/register';
const REGISTRATION = JSON.stringify({ email: 'agent@example.com', agent_name: 'a name' });
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Limit of bodies without an event; body-limits.test.ts has those of every route. */
const MAX_BYTES = 16_384;

describe('errors before an endpoint', () => {
  let service: TestService;
  let agent: Client;
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
  });
  after(() => service.close());

  describe('404', () => {
    const urls = [
      '/v1',
      '/v1/',
      '/v2/events',
      '/v1/events//nearby',
      '/V1/events',
      '/v1/events/nearby/more',
      '/v1/admin',
      '/admin/assets/nothing.js',
      '/health/',
      '/docs/../health',
      '/docs/nothing.js',
      '/v1/events/%',
      '/v1/events/%zz',
      '/v1/events/%ff',
      '/%c3%28',
      '/%00',
      '//',
    ];
    for (const url of urls) {
      it(`responds 404 at ${url}`, async () => {
        assertPlainError(await exchange(service.url, request('GET', url)), 404, 'NOT_FOUND');
      });
    }

    it('responds to HEAD without a body', async () => {
      const connection = await RawConnection.open(service.url);
      connection.write(request('HEAD', '/nothing') + request('GET', '/health'));
      assert.equal((await connection.next('HEAD'))?.status, 404);
      assert.equal((await connection.next())?.body.status, 'ok');
      connection.destroy();
    });
  });

  describe('405', () => {
    const METHODS = [
      'GET',
      'HEAD',
      'POST',
      'PATCH',
      'DELETE',
      'PUT',
      'TRACE',
      'PROPFIND',
      'QUERY',
      'OPTIONS',
    ];

    it('names the methods of every path in Allow, and comes before the key check', async () => {
      const { paths } = (await service.client.get('/openapi.json')).body as { paths: Record<string, object> };
      const documents = { '/openapi.json': { get: 0 }, '/docs': { get: 0 }, '/': { get: 0 } };
      const operations = Object.entries({ ...paths, ...documents });
      for (const [path] of operations) {
        const url = path.replaceAll(/\{\w+\}/g, '01JZ9GX4T0QW3N1V8R5Y7K2MHD');
        // A URL may match several paths: "nearby" could be the ID of an event.
        const methods = operations
          .filter(([other]) => new RegExp(`^${other.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url))
          .flatMap(([, methodsOfPath]) => Object.keys(methodsOfPath))
          .filter((name) => name !== 'parameters')
          .map((method) => method.toUpperCase());
        const allowed = new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods);
        if (!path.startsWith('/v1/admin')) allowed.add('OPTIONS');
        for (const method of METHODS.filter((name) => !allowed.has(name))) {
          const answer = await exchange(service.url, request(method, url), method);
          const allow = answer.headers.get('allow')?.split(', ') ?? [];
          assert.deepEqual(allow.sort(), [...allowed].sort(), `${method} ${url}`);
          if (method === 'HEAD') assert.equal(answer.status, 405);
          else assertPlainError(answer, 405, 'METHOD_NOT_ALLOWED');
        }
      }
    });

    it('does not apply to an unknown path, which is 404 for every method', async () => {
      for (const method of METHODS.filter((name) => name !== 'HEAD')) {
        assertPlainError(await exchange(service.url, request(method, '/nothing')), 404, 'NOT_FOUND');
      }
    });
  });

  describe('413', () => {
    const padded = (bytes: number) => REGISTRATION + ' '.repeat(bytes - REGISTRATION.length);

    it('takes a body of 16 KiB and refuses one byte more', async () => {
      const send = (bytes: number) => service.client.send('POST', REGISTER, { raw: padded(bytes) });
      assert.equal((await send(MAX_BYTES)).status, 200);
      assertPlainError(await send(MAX_BYTES + 1), 413, 'PAYLOAD_TOO_LARGE');
    });

    it('takes a chunked body of 16 KiB and refuses one byte more', async () => {
      const send = (bytes: number) => {
        const half = bytes >> 1;
        const body = padded(bytes);
        const chunks = [body.slice(0, half), body.slice(half), ''].map(
          (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
        );
        const head = request('POST', REGISTER, { ...JSON_TYPE, 'Transfer-Encoding': 'chunked' });
        return exchange(service.url, head + chunks.join(''));
      };
      assert.equal((await send(MAX_BYTES)).status, 200);
      assertPlainError(await send(MAX_BYTES + 1), 413, 'PAYLOAD_TOO_LARGE');
    });

    it('refuses by the announced length, without waiting for the body', async () => {
      const head = request('POST', REGISTER, { ...JSON_TYPE, 'Content-Length': '99999999999' });
      assertPlainError(await exchange(service.url, head), 413, 'PAYLOAD_TOO_LARGE');
    });
  });

  describe('414', () => {
    it('takes a URL of 8 KiB and refuses one byte more', async () => {
      const send = (bytes: number) =>
        exchange(service.url, request('GET', '/health?'.padEnd(bytes, 'x'), {}));
      assert.equal((await send(8_192)).status, 200);
      assertPlainError(await send(8_193), 414, 'URI_TOO_LONG');
    });

    it('refuses a URL that is longer than the limit for all headers', async () => {
      for (const bytes of [17_000, 60_000, 200_000]) {
        const answer = await exchange(service.url, request('GET', '/health?'.padEnd(bytes, 'x')));
        assertPlainError(answer, 414, 'URI_TOO_LONG');
      }
    });
  });

  describe('415', () => {
    const send = (headers: Record<string, string>, body = REGISTRATION) =>
      exchange(service.url, request('POST', REGISTER, headers, body));

    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json ;charset=utf-8',
      'application/vnd.agent+json',
    ]) {
      it(`takes ${type}`, async () => assert.equal((await send({ 'Content-Type': type })).status, 200));
    }

    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json-seq',
      'text/json',
      'json',
      '*/*',
      '',
    ]) {
      it(`refuses "${type}"`, async () => {
        assertPlainError(await send({ 'Content-Type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE');
      });
    }

    it('refuses a body without a media type', async () => {
      assertPlainError(await send({}), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    it('refuses a body of another media type even if the endpoint needs no body', async () => {
      const headers = { 'content-type': 'text/plain' };
      const answer = await agent.send('DELETE', '/v1/events/nothing', { raw: 'x', headers });
      assertPlainError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
    });

    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity']) {
      it(`refuses a body encoded as ${encoding}`, async () => {
        const answer = await service.client.send('POST', REGISTER, {
          raw: new Uint8Array(gzipSync(REGISTRATION)),
          headers: { 'content-encoding': encoding },
        });
        assertPlainError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
      });
    }

    it('takes a body that says it is not encoded', async () => {
      assert.equal((await send({ ...JSON_TYPE, 'Content-Encoding': 'identity' })).status, 200);
    });
  });

  it('takes a JSON media type without a body on GET and DELETE', async () => {
    const { event_id } = await agent.create();
    const headers = { 'content-type': 'application/json' };
    assert.equal((await agent.send('GET', `/v1/events/${event_id}`, { headers })).status, 200);
    assert.equal((await agent.send('DELETE', `/v1/events/${event_id}`, { headers })).status, 204);
  });

  it('reports the missing body of a POST', async () => {
    assert.deepEqual(assertInvalid(await exchange(service.url, request('POST', REGISTER))), [
      'body: missing',
    ]);
    const answer = await exchange(service.url, request('POST', REGISTER, JSON_TYPE, ''));
    assert.deepEqual(assertInvalid(answer), ['body: missing']);
  });

  describe('431', () => {
    it('refuses headers of more than 16 KiB', async () => {
      for (const headers of [
        { A: 'x'.repeat(17_000) },
        Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`A${at}`, 'xxxxxxxx'])),
        { A: 'x'.repeat(17_000), 'X-API-Key': 'x'.repeat(100_000) },
      ]) {
        const answer = await exchange(service.url, request('GET', '/health', headers));
        assertPlainError(answer, 431, 'HEADERS_TOO_LARGE');
      }
    });

    it('takes headers of 15 KiB', async () => {
      const headers = { A: 'x'.repeat(7_500), B: 'x'.repeat(7_500) };
      assert.equal((await exchange(service.url, request('GET', '/health', headers))).status, 200);
    });
  });
});
