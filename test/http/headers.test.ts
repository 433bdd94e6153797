// The headers of every response: request ID, content type, caching; and HEAD equals GET without the body.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileUrl } from '../../src/http/browser/page-files.ts';
import { type Answer, type Client, newEvent } from '../support/client.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('response headers', () => {
  let service: TestService;
  let agent: Client;
  let administrator: Client;
  let event: { event_id: string; agent_id: string };
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
    administrator = await service.newAdministrator();
    event = await agent.create({ description: 'ümlaut 😀' });
  });
  after(() => service.close());

  /** Every GET that succeeds, with a client that may send it. */
  const reads = (): [Client, string][] => [
    [agent, '/v1/events/nearby?lat=0&lng=0'],
    [agent, `/v1/events/${event.event_id}`],
    [administrator, '/v1/admin/me'],
    [administrator, '/v1/admin/agents'],
    [administrator, `/v1/admin/agents/${event.agent_id}/events`],
    [service.client, '/health'],
    [service.client, '/openapi.json'],
  ];
  /** GETs that fail, in every way. */
  const failures = (): [Client, string][] => [
    [service.client, '/v1/events/nearby?lat=0&lng=0'],
    [agent, '/v1/events/nearby'],
    [agent, '/v1/events/nothing'],
    [agent, '/v1/events/%zz'],
    [agent, '/v1/admin/me'],
    [agent, '/nothing'],
    [agent, '/v1/events'],
    [administrator, '/v1/admin/agents/nothing/events'],
  ];

  function assertCommon(answer: Answer, caching = 'no-store'): void {
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', answer.text);
    assert.equal(answer.headers.get('cache-control'), caching, answer.text);
    assert.match(answer.headers.get('x-request-id')!, /^[0-9A-Z]{8}-[0-9a-z]+$/);
    for (const name of ['server', 'x-powered-by', 'set-cookie']) assert.equal(answer.headers.get(name), null);
  }

  it('say JSON in UTF-8, nosniff, no-store, the request ID and the length', async () => {
    for (const [client, path] of [...reads(), ...failures()]) {
      // fetch would ask for gzip and decode it, so the length would be that of other bytes.
      const answer = await client.with({ 'accept-encoding': 'identity' }).get(path);
      assertCommon(answer, path === '/openapi.json' ? 'no-cache' : undefined);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', path);
      assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(answer.text)), path);
      assert.ok(answer.body, path);
    }
  });

  it('are the same for writes', async () => {
    const created = await agent.post('/v1/events', newEvent());
    const path = `/v1/events/${created.body.event_id}`;
    const registered = await service.client.post('/v1/auth/register', {
      email: 'a@example.com',
      agent_name: 'a',
    });
    for (const answer of [created, registered, await agent.patch(path, { title: 'new' })]) {
      assert.equal(answer.status, 200);
      assertCommon(answer);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    }
    const deleted = await agent.delete(path);
    assert.equal(deleted.status, 204);
    assertCommon(deleted);
    assert.equal(deleted.text, '');
    assert.equal(deleted.headers.get('content-type'), null);
    assert.equal(deleted.headers.get('content-length'), null);
  });

  it('are the same for HEAD as for GET, without the body', async () => {
    const pages: [Client, string][] = ['/docs', fileUrl('docs.js'), '/'].map((path) => [
      service.client,
      path,
    ]);
    // Headers of the connection, not of the response. A HEAD of /v1/events is refused with a 405 for HEAD.
    const differing = ['date', 'x-request-id', 'connection', 'keep-alive'];
    const lasting = ({ headers }: Answer) => [...headers].filter(([name]) => !differing.includes(name));
    const failing = failures().filter(([, path]) => path !== '/v1/events');
    for (const [client, path] of [...reads(), ...failing, ...pages]) {
      const [get, head] = [await client.get(path), await client.send('HEAD', path)];
      assert.equal(head.text, '');
      assert.equal(head.status, get.status, path);
      assert.deepEqual(lasting(head), lasting(get), path);
    }
  });

  it('are not followed by a body after HEAD', async () => {
    const connection = await RawConnection.open(service.url);
    for (const path of ['/health', '/nothing', '/v1/events/nearby?lat=0&lng=0', '/openapi.json', '/docs']) {
      connection.write(request('HEAD', path) + request('GET', '/health'));
      await connection.next('HEAD');
      assert.equal((await connection.next())?.body.status, 'ok', path);
    }
    connection.destroy();
  });

  it('give every request its own ID, whatever ID the client sends', async () => {
    const named = service.client.with({ 'x-request-id': 'mine', 'request-id': 'mine' });
    const answers = await Promise.all(Array.from({ length: 300 }, () => named.get('/health')));
    const names = new Set(answers.map(({ headers }) => headers.get('x-request-id')));
    assert.equal(names.size, 300);
    assert.ok(!names.has('mine'));
  });

  it('have a WWW-Authenticate challenge in every 401, and nowhere else', async () => {
    const key = 'ApiKey realm="local-events", header="X-API-Key"';
    for (const [answer, challenge] of [
      [await service.client.nearby(), key],
      [await service.client.with({ 'x-api-key': 'x' }).nearby(), key],
      [await service.client.get('/v1/admin/me'), 'Bearer realm="local-events"'],
      [
        await service.client.with({ authorization: 'Bearer x' }).get('/v1/admin/me'),
        'Bearer realm="local-events", error="invalid_token"',
      ],
      [await agent.nearby(), null],
      [await agent.get('/nothing'), null],
    ] as const) {
      assert.equal(answer.headers.get('www-authenticate'), challenge);
    }
  });
});
