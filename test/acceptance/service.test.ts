// What the service offers besides the API itself: health, the OpenAPI document, the docs, HEAD, and calls from browsers.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, anyone, newAgent, RUN, reader, register } from './client.ts';
import { AUDIENCES, assertError, EVENT_TYPES, newEvent, SETTABLE, UNKNOWN_ULID } from './samples.ts';

describe('GET /health', () => {
  it('returns status, version and engine without a key', async () => {
    const { status, body } = await anyone.get('/health');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['engine', 'status', 'version']);
    assert.equal(body.status, 'ok');
    assert.match(body.version, /^\d+\.\d+\.\d+/);
    assert.ok(['sqlite', 'postgres'].includes(body.engine), body.engine);
  });

  it('ignores credentials', async () => {
    const headers = { 'x-api-key': 'nonsense', authorization: 'Bearer nonsense' };
    assert.equal((await anyone.send('GET', '/health', { headers })).status, 200);
  });
});

describe('GET /openapi.json', () => {
  const CONTRACT = [
    'DELETE /v1/admin/agents/{agent_id}',
    'DELETE /v1/admin/agents/{agent_id}/events',
    'DELETE /v1/admin/events/{event_id}',
    'DELETE /v1/events/{event_id}',
    'GET /health',
    'GET /v1/admin/agents',
    'GET /v1/admin/agents/{agent_id}/events',
    'GET /v1/admin/me',
    'GET /v1/events/nearby',
    'GET /v1/events/{event_id}',
    'PATCH /v1/admin/agents/{agent_id}',
    'PATCH /v1/events/{event_id}',
    'POST /v1/auth/register',
    'POST /v1/events',
  ];
  let answer: Answer;
  let operations: Map<string, Answer['body']>;
  before(async () => {
    answer = await anyone.get('/openapi.json');
    operations = new Map(
      Object.entries(answer.body.paths).flatMap(([path, methods]) =>
        Object.entries(methods as object).map(([method, operation]) => [
          `${method.toUpperCase()} ${path}`,
          operation,
        ]),
      ),
    );
  });

  it('returns an OpenAPI document of version 1.0.0 without a key', () => {
    assert.equal(answer.status, 200);
    assert.match(answer.headers['content-type']!, /^application\/json/);
    assert.match(answer.body.openapi, /^3\.1\./);
    assert.equal(answer.body.info.version, '1.0.0');
    assert.match(answer.body.servers[0].url, /^https?:\/\//);
  });

  it('describes every operation of the interface', () => {
    for (const operation of CONTRACT) assert.ok(operations.has(operation), operation);
  });

  it('has every path except /health under /v1', () => {
    for (const path of Object.keys(answer.body.paths)) assert.match(path, /^\/(v1\/|health$)/);
  });

  it('states which operations need a key, which a token and which nothing', () => {
    const { securitySchemes } = answer.body.components;
    const schemes = (operation: string) =>
      operations.get(operation).security.flatMap((names: object) => {
        const [name] = Object.keys(names);
        const { type, in: place, name: header, scheme } = securitySchemes[name!];
        return [type, place, header, scheme].filter(Boolean).join(' ');
      });
    for (const operation of CONTRACT) {
      const expected = operation.includes('/v1/events')
        ? ['apiKey header X-API-Key']
        : operation.includes('/v1/admin')
          ? ['http bearer', 'apiKey cookie __Host-local_events_session']
          : [];
      assert.deepEqual(schemes(operation), expected, operation);
    }
  });

  it('describes the actual fields, limits and enumerations', () => {
    const { EventCreate, EventUpdate, RegisterRequest, Event } = answer.body.components.schemas;
    assert.deepEqual(Object.keys(EventCreate.properties), [...SETTABLE, 'status']);
    assert.deepEqual(Object.keys(EventUpdate.properties), [...SETTABLE, 'status']);
    assert.deepEqual(EventUpdate.required ?? [], []);
    assert.deepEqual(EventCreate.properties.event_type.enum, EVENT_TYPES);
    assert.deepEqual(EventCreate.properties.audience.enum, AUDIENCES);
    assert.equal(EventCreate.properties.audience.default, 'all');
    for (const field of ['start_at', 'end_at']) {
      for (const { properties } of [EventCreate, EventUpdate]) {
        assert.equal(properties[field].format, undefined, 'date-time would forbid local times');
        for (const time of ['2031-05-01T18:00:00', '2031-05-01T18:00:00.5+02:00', '2031-05-01T18:00:00Z'])
          assert.match(time, new RegExp(properties[field].pattern));
        assert.doesNotMatch('2031-05-01', new RegExp(properties[field].pattern));
        assert.match(properties[field].examples[0], /T\d\d:\d\d:\d\d$/, 'the example is local time');
      }
      assert.equal(Event.properties[field].format, 'date-time');
    }
    const lengths: Record<string, [number | undefined, number]> = {
      title: [1, 200],
      description: [undefined, 10_000],
      location_name: [1, 200],
      address: [undefined, 500],
      url: [undefined, 2000],
      cost: [undefined, 200],
    };
    for (const [field, [minimum, maximum]] of Object.entries(lengths)) {
      for (const { properties } of [EventCreate, EventUpdate]) {
        assert.equal(properties[field].minLength, minimum, field);
        assert.equal(properties[field].maxLength, maximum, field);
      }
    }
    for (const [field, limit] of Object.entries({ lat: 90, lng: 180 })) {
      assert.equal(EventCreate.properties[field].minimum, -limit);
      assert.equal(EventCreate.properties[field].maximum, limit);
    }
    assert.equal(RegisterRequest.properties.agent_name.maxLength, 200);
    const optional = ['description', 'end_at', 'address', 'url', 'cost', 'status'];
    assert.deepEqual(
      Object.keys(Event.properties).filter((field) => !Event.required.includes(field)),
      optional,
    );
  });

  it('describes the actual parameters of the search', () => {
    const { parameters } = operations.get('GET /v1/events/nearby');
    const shown = parameters.map(
      ({ name, required, schema }: { name: string; required: boolean; schema: Answer['body'] }) => [
        name,
        required,
        schema.type,
        schema.minimum ?? schema.items?.enum?.length ?? schema.format,
        schema.maximum,
        schema.default,
      ],
    );
    assert.deepEqual(shown, [
      // Not required, because a search may have the name of a place instead.
      ['lat', false, 'number', -90, 90, undefined],
      ['lng', false, 'number', -180, 180, undefined],
      ['radius', false, 'number', 0.1, 100, undefined],
      ['event_type', false, 'array', 15, undefined, undefined],
      ['audience', false, 'array', 3, undefined, undefined],
      ['starts_after', false, 'string', 'date-time', undefined, undefined],
      ['starts_before', false, 'string', 'date-time', undefined, undefined],
      ['limit', false, 'integer', 1, 100, 30],
      ['cursor', false, 'string', undefined, undefined, undefined],
    ]);
  });
});

describe('GET /docs', () => {
  it('is a page that loads everything from the service itself', async () => {
    const page = await anyone.get('/docs');
    assert.equal(page.status, 200);
    assert.match(page.headers['content-type']!, /^text\/html/);
    const parts = [...page.text.matchAll(/<(?:link|script|img)\b[^>]*? (?:src|href)="([^"]+)"/g)].map(
      (match) => match[1]!,
    );
    assert.ok(parts.length > 0);
    for (const part of parts) {
      assert.match(part, /^\/(?!\/)/, part);
      assert.equal((await anyone.get(part)).status, 200, part);
    }
  });
});

describe('HEAD', () => {
  let agent: Agent;
  let eventId: string;
  before(async () => {
    agent = await newAgent();
    eventId = (await agent.create(newEvent())).event_id;
  });

  /** All headers but those of the connection and of this request. */
  const lasting = ({ headers }: Answer) => {
    const { date, connection, 'keep-alive': _, 'x-request-id': __, ratelimit, ...others } = headers;
    return others;
  };
  const same = (head: Answer, get: Answer) => {
    assert.equal(head.status, get.status);
    assert.equal(head.text, '');
    assert.deepEqual(lasting(head), lasting(get), head.path);
  };

  it('responds as GET does, without the body', async () => {
    const compare = async (client: typeof anyone, path: string) =>
      same(await client.send('HEAD', path), await client.get(path));
    await compare(agent, `/v1/events/${eventId}`);
    await compare(agent, `/v1/events/${UNKNOWN_ULID}`);
    await compare(reader, '/v1/events/nearby?lat=0&lng=0&radius=0.1');
    await compare(reader, '/v1/events/nearby');
    await compare(anyone, '/v1/events/nearby');
    await compare(administrator, '/v1/admin/me');
    await compare(administrator, '/v1/admin/agents/nonsense/events');
    await compare(anyone, '/v1/admin/agents');
    await compare(anyone, '/v1/nothing');
    await compare(anyone, '/health');
    await compare(anyone, '/openapi.json');
    await compare(anyone, '/docs');
    await compare(agent, '/v1/events/%zz');
    await compare(agent, '/v1/admin/me');
    // In between, the last use of an agent may have been written: the list is longer then.
    const withoutLength = (answer: Answer) => ({ ...lasting(answer), 'content-length': undefined });
    const [head, get] = [
      await administrator.send('HEAD', '/v1/admin/agents'),
      await administrator.get('/v1/admin/agents'),
    ];
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.deepEqual(withoutLength(head), withoutLength(get));
  });
});

describe('calls from browsers', () => {
  const origin = 'https://somewhere.example';
  const list = (value: string | undefined) => (value ?? '').split(', ').map((item) => item.toLowerCase());

  it('are allowed from any origin, whatever the response', async () => {
    const agent = await newAgent();
    const { event_id } = await agent.create(newEvent());
    const send = (client: typeof anyone, method: string, path: string) =>
      client.send(method, path, { headers: { origin } });
    const answers = [
      await send(agent, 'GET', `/v1/events/${event_id}`),
      await send(agent, 'DELETE', `/v1/events/${event_id}`),
      await send(agent, 'GET', `/v1/events/${event_id}`),
      await send(agent, 'GET', '/v1/events/nearby'),
      await send(anyone, 'GET', '/v1/events/nearby'),
      await send(anyone, 'POST', '/v1/auth/register'),
      await send(anyone, 'GET', '/v1/nothing'),
      await send(anyone, 'DELETE', '/v1/events'),
      await send(anyone, 'GET', '/health'),
      await send(anyone, 'GET', '/openapi.json'),
      await send(agent, 'GET', '/v1/events/%zz'),
      await send(agent, 'GET', `/${'x'.repeat(9_000)}`),
      await agent.send('POST', '/v1/events', { raw: ' '.repeat(1_048_577), headers: { origin } }),
      await agent.send('POST', '/v1/events', { raw: 'x', headers: { origin, 'content-type': 'text/plain' } }),
      await register({ email: `page@${RUN}.example.com`, agent_name: 'page' }, { origin }),
    ];
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 204, 404, 422, 401, 422, 404, 405, 200, 200, 404, 414, 413, 415, 200],
    );
    const exposed = [
      ...['etag', 'event-warnings', 'idempotent-replayed', 'link', 'preference-applied', 'ratelimit'],
      ...['ratelimit-policy', 'retry-after', 'x-request-id', 'x-unknown-fields'],
      'x-unknown-parameters',
    ];
    for (const { headers, path } of answers) {
      assert.equal(headers['access-control-allow-origin'], '*', path);
      assert.equal(headers['access-control-allow-credentials'], undefined);
      assert.deepEqual(list(headers['access-control-expose-headers']).sort(), exposed, path);
    }
  });

  it('get no CORS header without an Origin', async () => {
    const { headers } = await anyone.get('/health');
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('access-control-')),
      [],
    );
  });

  it('pass the preflight of every described method outside administration, and of no unknown path', async () => {
    const { paths } = (await anyone.get('/openapi.json')).body as { paths: Record<string, object> };
    const preflight = (path: string, method: string) => {
      const headers = {
        origin,
        'access-control-request-method': method.toUpperCase(),
        'access-control-request-headers': 'content-type,x-api-key',
      };
      return anyone.send('OPTIONS', path, { headers });
    };
    const open = Object.entries(paths).filter(([path]) => !path.startsWith('/v1/admin'));
    assert.ok(open.length >= 5);
    for (const [template, operations] of open) {
      const path = template.replaceAll(/\{\w+\}/g, UNKNOWN_ULID);
      for (const method of Object.keys(operations).filter((name) => name !== 'parameters')) {
        const { status, headers } = await preflight(path, method);
        assert.deepEqual([status, headers['access-control-allow-origin']], [204, '*'], path);
        assert.ok(list(headers['access-control-allow-methods']).includes(method), path);
        assert.equal(headers['access-control-max-age'], '86400');
        assert.equal(headers.ratelimit, undefined);
        const common = ['content-type', 'if-match', 'if-none-match', 'prefer', 'x-api-key'];
        const ofModels = ['authorization', 'content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version'];
        const allowed = list(headers['access-control-allow-headers']);
        if (path !== '/mcp') assert.deepEqual(allowed.sort(), common);
        else for (const name of [...ofModels, 'x-api-key']) assert.ok(allowed.includes(name), name);
        if (path === '/mcp') assert.equal(headers.allow, 'POST, OPTIONS');
      }
    }
    assertError(await preflight('/nothing', 'get'), 404, 'NOT_FOUND');
  });

  it('are never allowed under /v1/admin', async () => {
    const headers = { origin, 'access-control-request-method': 'GET' };
    const answers = [
      await administrator.send('GET', '/v1/admin/me', { headers }),
      await anyone.send('GET', '/v1/admin/me', { headers }),
      await administrator.send('GET', '/v1/admin/agents/nonsense/events', { headers }),
      await administrator.send('GET', '/v1/admin/nothing', { headers }),
      await anyone.send('OPTIONS', '/v1/admin/me', { headers }),
      await anyone.send('OPTIONS', '/v1/admin/agents', { headers }),
    ];
    for (const answer of answers) {
      const given = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
      assert.deepEqual(given, [], `${answer.method} ${answer.path}`);
    }
    assertError(answers.at(-1)!, 405, 'METHOD_NOT_ALLOWED');
  });
});
