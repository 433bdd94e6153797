// The log: one line per request, and nothing secret or personal in any line, whatever clients send.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { readConfig } from '../../src/config.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { type Answer, Client, newEvent } from '../support/client.ts';
import { launchService, run } from '../support/process.ts';
import { exchange, RawConnection, request } from '../support/raw-http.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const EMAIL = 'someone-in-private@example.com';
const ADMIN_EMAIL = 'boss-in-private@example.com';
const LAT = 48.858370123;
const LNG = 2.294481123;
const SECRET_TITLE = 'a title that is nobody’s business';

async function register(client: Client): Promise<string> {
  const answer = await client.post('/v1/auth/register', { email: EMAIL, agent_name: 'private name' });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.api_key;
}

async function signIn({ folder }: TestService): Promise<string> {
  const signingKey = await getSigningKey(readConfig({ DATA_DIR: folder }));
  const claims = { email: ADMIN_EMAIL, name: undefined, hours: 1 };
  return `Bearer ${await mintToken(signingKey, claims, Date.now())}`;
}

/** Keys returned by rotations. */
const rotated: string[] = [];

/** Sends requests of every kind, with keys, tokens, e-mails and places both where they belong and where they do not. */
async function sendEverything(client: Client, key: string, authorization: string): Promise<void> {
  const agent = client.with({ 'x-api-key': key });
  const administrator = client.with({ authorization });
  const [, token = ''] = authorization.split(' ');
  const place = { lat: LAT, lng: LNG };
  const event = newEvent({ ...place, title: SECRET_TITLE, description: key });
  const created = (await agent.post('/v1/events', event)).body;
  await agent.nearby({ ...place, radius: 10 });
  await agent.nearby({ ...place, radius: 'x' });
  await agent.patch(`/v1/events/${created.event_id}`, { title: `${SECRET_TITLE}!`, lat: 'x' });
  for (const secret of [key, token]) await agent.post('/v1/auth/rotate', { overlap_seconds: secret });
  await agent.post('/v1/auth/rotate', { overlap_seconds: 600, [key]: key });
  const { api_key = '' } = (await agent.post('/v1/auth/rotate', { overlap_seconds: 600 })).body; // none if the store fails
  await client.with({ 'x-api-key': api_key }).get('/v1/agents/me');
  await agent.get(`/v1/agents/me/events?cursor=${key}&include_ended=${key}`);
  await client.with({ 'x-api-key': api_key }).post('/v1/auth/revoke');
  if (api_key) rotated.push(api_key);
  await administrator.get('/v1/admin/agents');
  await administrator.get(`/v1/admin/agents/${created.agent_id}/events`);
  await administrator.patch(`/v1/admin/agents/${created.agent_id}`, { tier: 'admin' });
  for (const secret of [key, token, EMAIL, String(LAT)]) {
    await agent.get(`/v1/events/${secret}`);
    await agent.get(`/${secret}`);
    await agent.get(`/${secret}/%zz`);
    await agent.get(`/v1/events/nearby?lat=${secret}&${secret}=%ff&api_key=${secret}`);
    await agent.send('PUT', `/v1/events/${secret}?key=${secret}`);
    await agent.send('GET', '/health', { headers: { 'user-agent': secret, referer: `http://x/?${secret}` } });
    await agent.send('POST', '/v1/events', { raw: `{"title": ${secret}` });
    await agent.post('/v1/events', { ...event, event_type: secret, start_at: secret, audience: secret });
    await client.post('/v1/auth/register', { email: `@${secret}`, agent_name: 7 });
    await client.send('POST', `/v1/auth/register?${secret}`, {
      raw: secret,
      headers: { 'content-type': 'a/b' },
    });
    await client.with({ 'x-api-key': `${secret}x` }).nearby();
    await client.with({ authorization: `Bearer ${secret}` }).get('/v1/admin/me');
    await administrator.delete(`/v1/admin/agents/${secret}`);
    await administrator.delete(`/v1/admin/events/${secret}`);
    await exchange(client.url, `${secret} / HTTP/1.1\r\n\r\n`);
    await exchange(client.url, request('GET', `/${secret}`, { A: secret.padEnd(20_000, 'x') }));
  }
}

/** Asserts that the log contains nothing secret or personal of what was sent. */
function assertDiscreet(log: string, key: string, authorization: string): void {
  for (const secret of [
    ...[key, key.slice(4, 20), key.slice(-12), authorization.slice(7), authorization.split('.').at(-1)!],
    ...rotated.flatMap((given) => [given, given.slice(4, 20), given.slice(-12)]),
    ...[EMAIL, ADMIN_EMAIL, 'private name', SECRET_TITLE, '48.858', '2.2944', 'radius', 'api_key'],
  ]) {
    assert.ok(!log.includes(secret), `the log has "${secret}"`);
  }
}

describe('the log', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ LOG_LEVEL: 'trace' });
  });
  after(() => service.close());

  const linesOf = (answer: Answer) =>
    service.log.filter((line) => line.requestId === answer.headers.get('x-request-id'));

  it('has one line per request: method, pattern of the route, status, milliseconds and request ID', async () => {
    const agent = await service.newAgent();
    const administrator = await service.newAdministrator();
    const { event_id, agent_id } = await agent.create();
    const sent: [string, string | undefined, number, Answer][] = [
      ['GET', '/v1/events/nearby', 200, await agent.nearby()],
      ['HEAD', '/v1/events/nearby', 200, await agent.send('HEAD', '/v1/events/nearby?lat=1&lng=1')],
      ['GET', '/v1/events/:event_id', 200, await agent.get(`/v1/events/${event_id}`)],
      ['GET', '/v1/events/:event_id', 404, await agent.get('/v1/events/nothing')],
      ['POST', '/v1/events', 422, await agent.post('/v1/events', {})],
      ['POST', '/v1/events', 401, await service.client.post('/v1/events', {})],
      ['DELETE', '/v1/events/:event_id', 204, await agent.delete(`/v1/events/${event_id}`)],
      [
        'GET',
        '/v1/admin/agents/:agent_id/events',
        200,
        await administrator.get(`/v1/admin/agents/${agent_id}/events`),
      ],
      ['GET', '/docs', 200, await agent.get('/docs')],
      ['GET', undefined, 404, await agent.get('/nothing')],
      ['GET', undefined, 404, await agent.get('/v1/events/%zz')],
      ['PUT', undefined, 405, await agent.send('PUT', '/v1/events')],
      ['OPTIONS', undefined, 204, await agent.send('OPTIONS', '/v1/events')],
    ];
    for (const [method, route, status, answer] of sent) {
      const lines = linesOf(answer);
      assert.equal(lines.length, 1, `${method} ${route} ${JSON.stringify(lines)}`);
      const { time, pid, hostname, ms, requestId, ...rest } = lines[0]!;
      const code = answer.body?.error?.code;
      const shown = {
        level: 30,
        method,
        ...(route && { route }),
        status,
        ...(code && { code }),
        msg: 'request',
      };
      assert.deepEqual(rest, shown);
      assert.ok(typeof ms === 'number' && ms >= 0 && ms < 10_000);
      assert.ok(Math.abs((time as number) - Date.now()) < 60_000);
    }
  });

  it('has probes at level debug, and not at level info', async (t) => {
    const quiet = await startTestService({ LOG_LEVEL: 'info' }, { until: t });
    for (const path of ['/health', '/live', '/ready', '/ready?x=1']) {
      assert.equal(linesOf(await service.client.get(path))[0]!.level, 20, path);
      await quiet.client.get(path);
      await quiet.client.send('HEAD', path);
    }
    await quiet.client.get('/docs');
    assert.deepEqual(
      quiet.log.filter(({ msg }) => msg === 'request').map(({ route }) => route),
      ['/docs'],
    );
  });

  it('has a line with 499 for a request whose client hung up', { timeout: 10_000 }, async () => {
    const before = service.log.length;
    const posts = () => service.log.slice(before).filter(({ method }) => method === 'POST');
    const connection = await RawConnection.open(service.url);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '99', Expect: '100-continue' };
    connection.write(request('POST', '/v1/auth/register', headers));
    void connection.next();
    await connection.continued;
    connection.destroy();
    while (posts().length === 0) await service.client.get('/health');
    const lines = posts();
    assert.deepEqual(
      lines.map(({ route, status }) => ({ route, status })),
      [{ route: '/v1/auth/register', status: 499 }],
    );
  });
});

describe('no line of the log', () => {
  it('contains a key, a token, a query, a place, an e-mail or text of an event, even at level trace', async (t) => {
    const service = await startTestService({ LOG_LEVEL: 'trace' }, { until: t });
    const key = await register(service.client);
    const authorization = await signIn(service);
    await sendEverything(service.client, key, authorization);
    assert.ok(service.log.length > 50);
    assertDiscreet(JSON.stringify(service.log), key, authorization);
  });

  it('contains any of them when the store fails', async (t) => {
    const writer = once(process, 'worker') as Promise<[Worker]>;
    const service = await startTestService({ LOG_LEVEL: 'trace' }, { until: t });
    const key = await register(service.client);
    const authorization = await signIn(service);
    const database = new DatabaseSync(databasePath(service.folder), { timeout: 5_000 });
    database.exec("CREATE TRIGGER rule BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'unforeseen'); END");
    database.close();
    await sendEverything(service.client, key, authorization);
    await (await writer)[0].terminate();
    await sendEverything(service.client, key, authorization);
    const errors = service.log.filter(({ level }) => level === 50);
    assert.ok(errors.some(({ msg }) => String(msg).startsWith('Something went wrong')));
    assert.ok(errors.some(({ msg }) => String(msg).startsWith('The store could not be written')));
    assertDiscreet(JSON.stringify(service.log), key, authorization);
  });

  it('contains any of them in the output of a real process', async (t) => {
    const folder = temporaryFolder();
    const service = await launchService({ DATA_DIR: folder, LOG_LEVEL: 'trace' });
    t.after(() => service.child.kill('SIGKILL'));
    const client = new Client(service.url);
    const key = await register(client);
    const { stdout } = await run(['admin-token', '--email', ADMIN_EMAIL], { DATA_DIR: folder });
    await sendEverything(client, key, `Bearer ${stdout.trim()}`);
    service.child.kill('SIGTERM');
    const printed = await service.ended;
    const lines = printed.stdout.trim().split('\n');
    for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), line);
    assert.ok(lines.length > 50);
    assertDiscreet(printed.stdout + printed.stderr, key, `Bearer ${stdout.trim()}`);
  });
});

describe('the lines of refusals', () => {
  const OFF = { LOG_LEVEL: 'info', RATE_LIMIT_READWRITE: '4', MAX_REQUESTS_PER_AGENT: '1' };

  /** Refused in every way: by key, quota, limit, validation, a tool call, and as what is no HTTP. */
  async function refuseAll(service: TestService, address: string) {
    const from = service.client.with({ 'x-forwarded-for': address });
    const key = (await from.post('/v1/auth/register', { email: EMAIL, agent_name: 'a' })).body.api_key;
    const agent = from.with({ 'x-api-key': key });
    await from.get('/v1/agents/me');
    const { id } = (await agent.get('/v1/agents/me')).body.agent;
    assert.ok(id);
    await agent.post('/v1/events', {});
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_event', arguments: {} },
    };
    await agent.with({ accept: 'application/json, text/event-stream' }).post('/mcp', call);
    await agent.nearby();
    await agent.nearby();
    await exchange(service.url, 'nonsense\r\n\r\n');
    const lines = service.log.filter(({ msg }) => msg === 'request').slice(1);
    return {
      id,
      lines: lines.map(({ route, status, code, cause }) => [route, status, code, cause]),
      all: lines,
    };
  }
  const expected = [
    ['/v1/agents/me', 401, 'MISSING_API_KEY', undefined],
    ['/v1/agents/me', 200, undefined, undefined],
    ['/v1/events', 422, 'VALIDATION_ERROR', undefined],
    ['/mcp', 200, 'VALIDATION_ERROR', undefined],
    ['/v1/events/nearby', 200, undefined, undefined],
    ['/v1/events/nearby', 429, 'RATE_LIMITED', 'quota requests'],
    [undefined, 400, 'BAD_REQUEST', undefined],
  ];

  it('have the code of the error and its cause, and nothing about the client', async (t) => {
    const service = await startTestService({ ...OFF, TRUST_PROXY: 'loopback' }, { until: t });
    const { lines, all } = await refuseAll(service, '203.0.113.7');
    assert.deepEqual(lines, expected);
    for (const line of all) assert.ok(!('agent' in line) && !('network' in line), JSON.stringify(line));
    assert.doesNotMatch(JSON.stringify(service.log), /203\.0\.113/);
  });

  it('have the agent and the network with LOG_AGENT=on, as other lines do', async (t) => {
    const service = await startTestService(
      { ...OFF, TRUST_PROXY: 'loopback', LOG_AGENT: 'on' },
      { until: t },
    );
    const { id, lines, all } = await refuseAll(service, '[2001:db8::1]:4711');
    assert.deepEqual(lines, expected);
    const network = '2001:db8:0:0::/64';
    assert.deepEqual(
      all.map(({ agent, network: found }) => [agent, found]),
      [
        [undefined, network],
        ...Array.from({ length: 5 }, () => [id, network]),
        [undefined, 'proxy'], // it was not parsed, so the proxy could not say for whom it was
      ],
    );
  });
});
