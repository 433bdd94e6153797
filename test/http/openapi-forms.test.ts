// What /openapi.json says about response formats, conditional requests and headers; every header sent is described.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type Answer, type Client, newEvent } from '../support/client.ts';
import { useTestService } from '../support/service.ts';

const TYPES = ['application/json', 'application/geo+json', 'text/calendar', 'application/ld+json'];

describe('the OpenAPI document on formats and conditions', () => {
  const service = useTestService({ RATE_LIMIT_READWRITE: '1000' });
  let agent: Client;
  let document: Answer['body'];
  before(async () => {
    agent = await service.newAgent();
    document = (await service.client.get('/openapi.json')).body;
  });

  const operation = (method: string, path: string) => document.paths[path][method];
  const resolve = (response: { $ref?: string }): Answer['body'] =>
    response.$ref === undefined
      ? response
      : response.$ref
          .split('/')
          .slice(1)
          .reduce((at, step) => at[step], document);

  it('lists every media type of a search and of an event, and only JSON elsewhere', () => {
    for (const [path, operations] of Object.entries(document.paths as Record<string, object>)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        if (method === 'parameters' || !responses[200]) continue;
        const hasForms = method === 'get' && path.startsWith('/v1/events/');
        assert.deepEqual(Object.keys(responses[200].content), hasForms ? TYPES : TYPES.slice(0, 1), path);
      }
    }
  });

  it('has an example of each format that its schema accepts', () => {
    const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
    formats.default(ajv);
    ajv.addVocabulary(Object.keys(document));
    ajv.addSchema(document, 'openapi');
    for (const path of ['/v1/events/nearby', '/v1/events/{event_id}']) {
      for (const type of TYPES) {
        const at = `paths/${path.replaceAll('/', '~1')}/get/responses/200/content/${type.replace('/', '~1')}`;
        const reference = `openapi#/${at.replaceAll('{', '%7B').replaceAll('}', '%7D')}/schema`;
        const { example } = operation('get', path).responses[200].content[type];
        assert.ok(example, `${path} ${type}`);
        const validate = ajv.getSchema(reference)!;
        assert.ok(validate(example), `${path} ${type}: ${ajv.errorsText(validate.errors)}`);
      }
    }
  });

  it('names the parameters that choose a format, and those of the interface', () => {
    const names = (parameters: { name: string }[]) => parameters.map(({ name }) => name);
    assert.deepEqual(names(document.paths['/v1/events/nearby'].parameters), [
      'format',
      'include',
      'q',
      'active_after',
      'active_before',
      'when',
      'sort',
      'status',
      'place',
      'Prefer',
    ]);
    assert.equal(names(operation('get', '/v1/events/nearby').parameters).length, 9);
    assert.deepEqual(names(operation('get', '/v1/events/{event_id}').parameters), [
      'event_id',
      'format',
      'include',
      'If-None-Match',
    ]);
  });

  it('describes Prefer on every path of a key or an administrator', () => {
    for (const [path, { parameters = [] }] of Object.entries<Answer['body']>(document.paths)) {
      const [found] = parameters.filter(({ name }: { name: string }) => name === 'Prefer');
      const described = found && [found.in, found.required, found.example];
      const expected = path.startsWith('/v1/') ? ['header', false, 'handling=strict'] : undefined;
      assert.deepEqual(described, expected, path);
    }
  });

  it('names the conditional headers and their responses', () => {
    for (const method of ['patch', 'delete']) {
      const { parameters, responses } = operation(method, '/v1/events/{event_id}');
      const condition = parameters.find(({ name }: { name: string }) => name === 'If-Match');
      assert.deepEqual([condition.in, condition.required], ['header', false]);
      assert.ok('PRECONDITION_FAILED' in resolve(responses[412]).content['application/json'].examples);
    }
    const { responses } = operation('get', '/v1/events/{event_id}');
    assert.equal(responses[304].content, undefined);
    assert.ok('ETag' in responses[304].headers && 'Vary' in responses[304].headers);
  });

  /** Headers of HTTP itself, of the connection and of every response of the service. */
  const UNDESCRIBED = new Set([
    ...['date', 'connection', 'keep-alive', 'content-type', 'content-length'],
    ...['cache-control', 'x-content-type-options'],
  ]);

  it('describes every header that a response has', async () => {
    const administrator = await service.newAdministrator();
    const { event_id, agent_id } = await agent.create();
    await agent.create();
    const event = `/v1/events/${event_id}`;
    const template = '/v1/events/{event_id}';
    const nearby = '/v1/events/nearby';
    const known = agent.with({ 'if-none-match': '*' });
    const stale = agent.with({ 'if-match': '"9"' });
    const registration = { email: 'a@example.com', agent_name: 'a' };
    const answers: [method: string, path: string, answer: Answer][] = [
      ['get', nearby, await agent.get(`${nearby}?lat=0&lng=0&limit=1&x=1`)],
      ['get', nearby, await agent.get(`${nearby}?x=1`)],
      ['get', template, await agent.get(`${event}?x=1`)],
      ['get', template, await known.get(`${event}?x=1`)],
      ['get', template, await agent.get('/v1/events/nothing?x=1')],
      ['post', '/v1/events', await agent.post('/v1/events?x=1', newEvent())],
      ['post', '/v1/events', await agent.post('/v1/events?x=1', {})],
      ['patch', template, await stale.patch(`${event}?x=1`, {})],
      ['patch', template, await agent.patch(`${event}?x=1`, {})],
      ['delete', template, await stale.delete(`${event}?x=1`)],
      ['delete', template, await agent.delete(`${event}?x=1`)],
      ['post', '/v1/auth/register', await agent.post('/v1/auth/register?x=1', registration)],
      ['get', '/v1/admin/agents', await administrator.get('/v1/admin/agents?x=1')],
      [
        'delete',
        '/v1/admin/agents/{agent_id}/events',
        await administrator.delete(`/v1/admin/agents/${agent_id}/events?x=1`),
      ],
      ['get', '/health', await agent.get('/health?x=1')],
    ];
    for (const [method, path, answer] of answers) {
      const response = resolve(operation(method, path).responses[answer.status]);
      const described = new Set(Object.keys(response.headers).map((name) => name.toLowerCase()));
      const sent = [...answer.headers.keys()].filter((name) => !UNDESCRIBED.has(name));
      const missing = sent.filter((name) => !described.has(name));
      // Errors of requests with a key have the quota headers too.
      const quota = answer.status >= 400 ? ['ratelimit', 'ratelimit-policy'] : [];
      assert.deepEqual(
        missing.filter((name) => !quota.includes(name)),
        [],
        `${method} ${path} ${answer.status}`,
      );
      const hasNames = path.startsWith('/v1');
      assert.equal(answer.headers.get('x-unknown-parameters'), hasNames ? 'x' : null, `${method} ${path}`);
    }
  });
});
