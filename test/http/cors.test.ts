// CORS: open to every origin by default, or to named origins, or to none; never on administrators' paths.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type Client, newEvent } from '../support/client.ts';
import { exchange, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ORIGIN = 'https://calendar.example';
const EXPOSED = [
  ...['etag', 'event-warnings', 'idempotent-replayed', 'link', 'preference-applied', 'ratelimit'],
  ...['ratelimit-policy', 'retry-after', 'x-request-id', 'x-unknown-fields'],
  'x-unknown-parameters',
];

const words = (list: string | null) => (list ?? '').toLowerCase().split(/, */).sort();
const corsHeaders = (answer: Answer) =>
  [...answer.headers.keys()].filter((name) => name.startsWith('access-control-')).sort();

/** Every path of the OpenAPI document, with an ID filled in, and its methods. */
async function describedPaths(client: Client): Promise<{ path: string; methods: string[] }[]> {
  const { paths } = (await client.get('/openapi.json')).body as { paths: Record<string, object> };
  return Object.entries(paths).map(([template, operations]) => ({
    path: template.replaceAll(/\{\w+\}/g, '01JZ9GX4T0QW3N1V8R5Y7K2MHD'),
    methods: Object.keys(operations)
      .filter((name) => name !== 'parameters')
      .map((method) => method.toUpperCase()),
  }));
}

function preflight(client: Client, path: string, method: string, origin = ORIGIN): Promise<Answer> {
  return client.send('OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,x-api-key',
    },
  });
}

describe('CORS_ORIGINS', () => {
  it('unset: a page of any origin may read a 429', async (t) => {
    const service = await startTestService({ RATE_LIMIT_READWRITE: '1' }, { until: t });
    const page = (await service.newAgent()).with({ origin: ORIGIN });
    await page.nearby();
    const { status, headers } = await page.nearby();
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [429, '*']);
    assert.deepEqual(words(headers.get('access-control-expose-headers')), EXPOSED);
  });

  describe('a list', () => {
    let service: TestService;
    before(async () => {
      service = await startTestService({ CORS_ORIGINS: `${ORIGIN}, http://localhost:3000` });
    });
    after(() => service.close());

    it('lets these origins read, and varies by Origin', async () => {
      for (const origin of [ORIGIN, 'http://localhost:3000']) {
        for (const path of ['/health', '/nothing', '/v1/events/nearby', '/v1/events/%zz']) {
          const answer = await service.client.send('GET', path, { headers: { origin } });
          assert.equal(answer.headers.get('access-control-allow-origin'), origin, path);
          assert.equal(answer.headers.get('vary'), 'Origin');
          assert.deepEqual(words(answer.headers.get('access-control-expose-headers')), EXPOSED);
        }
        const asked = await preflight(service.client, '/v1/events', 'POST', origin);
        assert.equal(asked.status, 204);
        assert.equal(asked.headers.get('access-control-allow-origin'), origin);
        assert.equal(asked.headers.get('vary'), 'Origin');
        assert.deepEqual(words(asked.headers.get('access-control-allow-methods')), ['options', 'post']);
      }
    });

    it('lets no other origin read, and still varies by Origin', async () => {
      for (const origin of [
        'https://other.example',
        'https://calendar.example.other.example',
        'https://sub.calendar.example',
        'http://calendar.example',
        'https://calendar.example:8443',
        'http://localhost:30000',
        'null',
        '*',
      ]) {
        const read = await service.client.send('GET', '/health', { headers: { origin } });
        const asked = await preflight(service.client, '/v1/events', 'POST', origin);
        for (const answer of [read, asked]) {
          assert.deepEqual(corsHeaders(answer), [], origin);
          assert.equal(answer.headers.get('vary'), 'Origin');
        }
      }
    });
  });

  it('none: lets no origin read', async (t) => {
    const service = await startTestService({ CORS_ORIGINS: 'none' }, { until: t });
    const agent = await service.newAgent();
    for (const origin of [ORIGIN, 'none', 'null', service.url]) {
      const created = await agent.send('POST', '/v1/events', { body: newEvent(), headers: { origin } });
      assert.equal(created.status, 200, 'only browsers keep to it');
      assert.deepEqual(corsHeaders(created), []);
      assert.deepEqual(corsHeaders(await preflight(agent, '/v1/events', 'POST', origin)), []);
    }
  });

  for (const CORS_ORIGINS of ['*', ORIGIN]) {
    it(`${CORS_ORIGINS}: never opens administration`, async (t) => {
      const service = await startTestService({ CORS_ORIGINS }, { until: t });
      const administrator = (await service.newAdministrator()).with({ origin: ORIGIN });
      const paths = (await describedPaths(service.client)).filter(({ path }) => path.startsWith('/v1/admin'));
      assert.ok(paths.length >= 5);
      for (const { path, methods } of paths) {
        for (const method of [...methods, 'PUT']) {
          assert.deepEqual(corsHeaders(await administrator.send(method, path)), [], `${method} ${path}`);
        }
        const asked = await preflight(administrator, path, 'GET');
        assert.equal(asked.status, 405);
        assert.deepEqual(corsHeaders(asked), []);
      }
      for (const target of [
        ...[
          '/v1/admin',
          '/v1/admin/',
          '/v1/admin?x',
          '/v1/admin#x',
          '/v1/admin/nothing',
          '/admin',
          '/admin/',
          '/admin/x',
        ],
        ...[
          '/v1/%61dmin/me',
          '/v1/adm%69n/me?a=b',
          '/%76%31/admin/me',
          '/%61dmin',
          '/v1/admin/%zz',
          '/v1/%61dmin/%zz',
        ],
        ...['http://localhost/v1/admin/me', 'HTTP://localhost/v1/admin/me', 'http://localhost/admin'],
      ]) {
        for (const method of ['GET', 'OPTIONS', 'PUT']) {
          const answer = await exchange(service.url, request(method, target, { Origin: ORIGIN }), method);
          assert.deepEqual(corsHeaders(answer), [], `${method} ${target}`);
        }
      }
    });
  }
});
