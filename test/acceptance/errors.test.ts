// Errors that no single endpoint owns: routes, methods, media types, sizes, broken JSON, and their order.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Agent, administrator, anyone, newAgent, RUN, type SendOptions, sendRaw } from './client.ts';
import { assertError, assertInvalid, fullEvent, newEvent, UNKNOWN_ULID, UNKNOWN_UUID } from './samples.ts';

const ONE_MIB = 1_048_576;

describe('errors', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });
  const create = (options: SendOptions) => agent.send('POST', '/v1/events', options);

  describe('404 for URLs that do not exist', () => {
    const paths = [
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/v2/events/nearby',
      '/V1/events/nearby',
      '/events/nearby',
      '/v1/events/nearby/',
      '/v1/events//nearby',
      `/v1/events/${UNKNOWN_ULID}/more`,
      '/v1/auth',
      '/v1/auth/register/',
      '/v1/admin',
      '/v1/admin/nothing',
      `/v1/admin/agents/${UNKNOWN_UUID}/nothing`,
      '/v1/../health',
      '/health/',
      '/openapi.yaml',
      '/.env',
      '/%00',
      '//',
    ];
    for (const path of paths) {
      it(`responds NOT_FOUND to ${path}`, async () => {
        for (const method of ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'TRACE', 'PROPFIND', 'QUERY']) {
          assertError(await anyone.send(method, path), 404, 'NOT_FOUND');
        }
      });
    }

    for (const path of ['/docs/nothing.js', '/docs/../health', '/admin/assets/nothing.js']) {
      it(`responds NOT_FOUND to a GET of ${path}`, async () => {
        assertError(await anyone.get(path), 404, 'NOT_FOUND');
      });
    }

    for (const malformed of ['%', '%2', '%zz', '%ff', '%C3%28', '%ED%A0%80']) {
      it(`responds NOT_FOUND to the escape ${malformed}, with and without a key`, async () => {
        for (const path of [`/v1/events/${malformed}`, `/v1/admin/events/${malformed}`, `/${malformed}`]) {
          assertError(await anyone.send('GET', path), 404, 'NOT_FOUND');
          assertError(await agent.send('DELETE', path), 404, 'NOT_FOUND');
        }
      });
    }
  });

  describe('405 for methods that do not exist', () => {
    const allowed: [path: string, methods: string[]][] = [
      ['/v1/auth/register', ['POST']],
      ['/v1/events', ['POST']],
      [`/v1/events/${UNKNOWN_ULID}`, ['GET', 'HEAD', 'PATCH', 'DELETE']],
      ['/v1/agents/me', ['GET', 'HEAD']],
      ['/v1/agents/me/events', ['GET', 'HEAD']],
      ['/v1/admin/me', ['GET', 'HEAD']],
      ['/v1/admin/agents', ['GET', 'HEAD']],
      [`/v1/admin/agents/${UNKNOWN_UUID}`, ['GET', 'HEAD', 'PATCH', 'DELETE']],
      [`/v1/admin/agents/${UNKNOWN_UUID}/events`, ['GET', 'HEAD', 'DELETE']],
      [`/v1/admin/events/${UNKNOWN_ULID}`, ['GET', 'HEAD', 'DELETE']],
      ['/health', ['GET', 'HEAD']],
    ];
    for (const [path, methods] of allowed) {
      it(`responds METHOD_NOT_ALLOWED on ${path} and lists ${methods.join(', ')}`, async () => {
        const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];
        for (const method of others.filter((other) => !methods.includes(other))) {
          const answer = await anyone.send(method, path);
          assertError(answer, 405, 'METHOD_NOT_ALLOWED');
          const listed = answer.headers.allow!.split(', ').filter((name) => name !== 'OPTIONS');
          assert.deepEqual(listed.sort(), [...methods].sort());
        }
      });
    }
  });

  it('names the methods that /openapi.json has for a path in Allow, for every other method and without a key', async () => {
    const { paths } = (await anyone.get('/openapi.json')).body as { paths: Record<string, object> };
    const pages = { '/openapi.json': { get: 0 }, '/docs': { get: 0 }, '/': { get: 0 } };
    const operations = Object.entries({ ...paths, ...pages });
    const methods = [
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
    for (const [template] of operations) {
      const path = template.replaceAll(/\{\w+\}/g, UNKNOWN_ULID);
      // A URL may match several paths: "nearby" could be the ID of an event.
      const listed = operations
        .filter(([other]) => new RegExp(`^${other.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
        .flatMap(([, methodsOfPath]) => Object.keys(methodsOfPath))
        .filter((name) => name !== 'parameters')
        .map((method) => method.toUpperCase());
      const allowed = new Set(listed.includes('GET') ? [...listed, 'HEAD'] : listed);
      if (!path.startsWith('/v1/admin')) allowed.add('OPTIONS');
      for (const method of methods.filter((name) => !allowed.has(name))) {
        const answer = await anyone.send(method, path);
        assert.equal(answer.status, 405, `${method} ${path}`);
        if (method !== 'HEAD') assertError(answer, 405, 'METHOD_NOT_ALLOWED');
        assert.deepEqual(answer.headers.allow!.split(', ').sort(), [...allowed].sort(), `${method} ${path}`);
      }
    }
  });

  describe('413', () => {
    const padded = (length: number) => {
      const text = JSON.stringify(newEvent());
      return text + ' '.repeat(length - text.length);
    };

    it('takes a body of exactly 1 MiB', async () => {
      assert.equal((await create({ raw: padded(ONE_MIB) })).status, 200);
    });

    it('responds PAYLOAD_TOO_LARGE to one byte more', async () => {
      assertError(await create({ raw: padded(ONE_MIB + 1) }), 413, 'PAYLOAD_TOO_LARGE');
    });

    it('responds PAYLOAD_TOO_LARGE to one byte more, sent without a length', async () => {
      const body = Buffer.from(padded(ONE_MIB + 1));
      const chunks = [body.subarray(0, 500_000), body.subarray(500_000)];
      assertError(await create({ raw: chunks }), 413, 'PAYLOAD_TOO_LARGE');
    });

    it('takes a body of exactly 16 KiB if it holds no event, and responds PAYLOAD_TOO_LARGE to more', async () => {
      const text = JSON.stringify({ email: `large@${RUN}.example.com`, agent_name: 'large' });
      const register = (length: number) =>
        anyone.send('POST', '/v1/auth/register', { raw: text.padEnd(length, ' ') });
      assert.equal((await register(16_384)).status, 200);
      const inChunks = (text: string) => [Buffer.from(text.slice(0, 8_000)), Buffer.from(text.slice(8_000))];
      for (const [length, status] of [
        [16_384, 200],
        [16_385, 413],
      ] as const) {
        const raw = inChunks(text.padEnd(length, ' '));
        assert.equal((await anyone.send('POST', '/v1/auth/register', { raw })).status, status);
      }
      const refused = await register(16_385);
      assertError(refused, 413, 'PAYLOAD_TOO_LARGE');
      assert.match(refused.body.error.message, /16 KiB/);
    });

    it('takes a body of exactly 2000 values, and responds PAYLOAD_TOO_LARGE to more', async () => {
      const event = newEvent();
      const withValues = (values: number) => {
        const others = Object.keys(event).length + 2;
        return { ...event, extra: Array(values - others).fill(',') };
      };
      assert.equal((await create({ body: withValues(2_000) })).status, 200);
      const refused = await create({ body: withValues(2_001) });
      assertError(refused, 413, 'PAYLOAD_TOO_LARGE');
      assert.match(refused.body.error.message, /2000/);
    });

    it('responds PAYLOAD_TOO_LARGE to an announced length, without waiting for the body', async () => {
      const head = 'POST /v1/auth/register HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
      assertError(await sendRaw(`${head}Content-Length: 99999999999\r\n\r\n`), 413, 'PAYLOAD_TOO_LARGE');
    });

    it('responds PAYLOAD_TOO_LARGE on every operation with a body', async () => {
      const raw = ' '.repeat(ONE_MIB + 1);
      const answers = [
        await anyone.send('POST', '/v1/auth/register', { raw }),
        await agent.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, { raw }),
        await administrator.send('PATCH', `/v1/admin/agents/${UNKNOWN_UUID}`, { raw }),
      ];
      for (const answer of answers) assertError(answer, 413, 'PAYLOAD_TOO_LARGE');
    });
  });

  describe('414', () => {
    it('responds URI_TOO_LONG to a URL of 12000 characters', async () => {
      for (const path of [`/v1/events/nearby?x=${'x'.repeat(12_000)}`, `/v1/events/${'x'.repeat(12_000)}`]) {
        assertError(await agent.send('GET', path), 414, 'URI_TOO_LONG');
      }
    });

    it('takes a URL of exactly 8 KiB, and responds URI_TOO_LONG to one byte more', async () => {
      const send = (bytes: number) =>
        sendRaw(`GET ${'/health?'.padEnd(bytes, 'x')} HTTP/1.1\r\nHost: a\r\n\r\n`);
      assert.equal((await send(8_192)).status, 200);
      assertError(await send(8_193), 414, 'URI_TOO_LONG');
    });
  });

  describe('415', () => {
    const refused = [
      'text/plain',
      'text/html',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/jsonp',
      'application/octet-stream',
      'application/json-seq',
      'text/json',
      'json',
      '*/*',
    ];
    for (const type of refused) {
      it(`responds UNSUPPORTED_MEDIA_TYPE to ${type}`, async () => {
        const options = { body: fullEvent(), headers: { 'content-type': type } };
        const answers = [
          await create(options),
          await agent.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, options),
          await agent.send('DELETE', `/v1/events/${UNKNOWN_ULID}`, options),
          await anyone.send('POST', '/v1/auth/register', options),
          await administrator.send('PATCH', `/v1/admin/agents/${UNKNOWN_UUID}`, options),
        ];
        for (const answer of answers) assertError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
      });
    }

    it('responds UNSUPPORTED_MEDIA_TYPE to a body without a type', async () => {
      for (const type of [undefined, '']) {
        const options = { body: fullEvent(), headers: { 'content-type': type } };
        assertError(await create(options), 415, 'UNSUPPORTED_MEDIA_TYPE');
      }
    });

    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;charset=UTF-8',
      'application/json ;charset=utf-8',
      'application/vnd.agent+json',
    ]) {
      it(`takes ${type}`, async () => {
        const answer = await create({ body: newEvent(), headers: { 'content-type': type } });
        assert.equal(answer.status, 200, answer.text);
      });
    }

    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity']) {
      it(`responds UNSUPPORTED_MEDIA_TYPE to a body encoded as ${encoding}`, async () => {
        const raw = gzipSync(JSON.stringify(newEvent()));
        const refused = await create({ raw, headers: { 'content-encoding': encoding } });
        assertError(refused, 415, 'UNSUPPORTED_MEDIA_TYPE');
      });
    }

    it('takes a body that says it is not encoded', async () => {
      const headers = { 'content-encoding': 'identity' };
      assert.equal((await create({ body: newEvent(), headers })).status, 200);
    });
  });

  describe('422 for bodies that are not JSON', () => {
    const broken: [name: string, raw: string | Uint8Array][] = [
      ['an open brace', '{'],
      ['a word', 'title'],
      ['single quotes', "{'title':'a'}"],
      ['a trailing comma', '{"title":"a",}'],
      ['text after the end', '{} {}'],
      ['a comment', '{/* a */}'],
      ['NaN', '{"lat":NaN}'],
      ['a leading zero', '{"lat":01}'],
      ['a raw line end in a string', '{"title":"a\nb"}'],
      ['a form', 'title=a&lat=1'],
      ['nothing but spaces', '   '],
      ['a byte that is not UTF-8', Buffer.from('7b2278223a22ff227d', 'hex')],
      ['overlong UTF-8', Buffer.from('7b2278223a22c0af227d', 'hex')],
      ['a surrogate in UTF-8', Buffer.from('7b2278223a22eda080227d', 'hex')],
      ['half a character of UTF-8', Buffer.from('7b2278223a22c3227d', 'hex')],
      ['UTF-16', Buffer.from(JSON.stringify(newEvent()), 'utf16le')],
    ];
    for (const [name, raw] of broken) {
      it(`refuses ${name}`, async () => {
        const answers = [
          await create({ raw }),
          await agent.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, { raw }),
          await anyone.send('POST', '/v1/auth/register', { raw }),
          await administrator.send('PATCH', `/v1/admin/agents/${UNKNOWN_UUID}`, { raw }),
        ];
        for (const answer of answers) assertInvalid(answer, ['body: json_invalid']);
      });
    }
  });

  describe('X-Request-Id', () => {
    it('is different for every request, whatever ID the client sends', async () => {
      const options = { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => anyone.send('GET', '/health', options)),
      );
      for (const { headers } of answers) assert.match(headers['x-request-id']!, /^[0-9A-Z]{8}-[0-9a-z]+$/);
      assert.equal(new Set(answers.map(({ headers }) => headers['x-request-id'])).size, 20);
    });
  });
});
