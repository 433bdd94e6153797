// The administrators' reads and deletes. Who is an administrator with an identity provider is in test/oidc/.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, administrator, anyone, Client, newAgent, reader } from './client.ts';
import {
  assertError,
  assertInvalid,
  fullEvent,
  iso,
  newEvent,
  randomPlace,
  UNKNOWN_ULID,
  UNKNOWN_UUID,
} from './samples.ts';
import { ADMIN_TOKEN, READ_KEY } from './settings.ts';

const OPERATIONS: [method: string, path: string][] = [
  ['GET', '/v1/admin/me'],
  ['GET', '/v1/admin/stats'],
  ['GET', '/v1/admin/activity'],
  ['GET', '/v1/admin/audit'],
  ['GET', '/v1/admin/agents'],
  ['PATCH', `/v1/admin/agents/${UNKNOWN_UUID}`],
  ['DELETE', `/v1/admin/agents/${UNKNOWN_UUID}`],
  ['GET', `/v1/admin/agents/${UNKNOWN_UUID}/events`],
  ['DELETE', `/v1/admin/agents/${UNKNOWN_UUID}/events`],
  ['POST', `/v1/admin/agents/${UNKNOWN_UUID}/events/delete`],
  ['DELETE', `/v1/admin/events/${UNKNOWN_ULID}`],
];
/** Request bodies, by method. */
const BODIES: Record<string, object> = { PATCH: { tier: 'read' }, POST: { event_ids: [UNKNOWN_ULID] } };

const SUMMARY_FIELDS = [
  'id',
  'email',
  'agent_name',
  'tier',
  'is_active',
  'created_at',
  'last_used_at',
  'event_count',
];

describe('the bearer token of /v1/admin', () => {
  const [header, payload, signature] = ADMIN_TOKEN.split('.') as [string, string, string];
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  const damaged = signature.slice(0, 9) + (signature[9] === 'A' ? 'B' : 'A') + signature.slice(10);
  const cases: [name: string, code: string, headers: Record<string, string>][] = [
    ['no Authorization header', 'MISSING_TOKEN', {}],
    ['an empty Authorization header', 'MISSING_TOKEN', { authorization: '' }],
    ['Bearer without a token', 'MISSING_TOKEN', { authorization: 'Bearer ' }],
    ['another scheme', 'MISSING_TOKEN', { authorization: `Basic ${ADMIN_TOKEN}` }],
    ['a token without its scheme', 'MISSING_TOKEN', { authorization: ADMIN_TOKEN }],
    ['an API key', 'MISSING_TOKEN', { 'x-api-key': READ_KEY }],
    ['an API key as a token', 'INVALID_TOKEN', { authorization: `Bearer ${READ_KEY}` }],
    ['a word as a token', 'INVALID_TOKEN', { authorization: 'Bearer nonsense' }],
    ['a damaged signature', 'INVALID_TOKEN', { authorization: `Bearer ${header}.${payload}.${damaged}` }],
    ['no signature', 'INVALID_TOKEN', { authorization: `Bearer ${header}.${payload}.` }],
    [
      'other claims under the signature',
      'INVALID_TOKEN',
      { authorization: `Bearer ${header}.${encode({ ...claims, exp: claims.exp + 3600 })}.${signature}` },
    ],
    [
      'the algorithm none',
      'INVALID_TOKEN',
      { authorization: `Bearer ${encode({ alg: 'none', typ: 'JWT' })}.${payload}.` },
    ],
    [
      'a symmetric algorithm',
      'INVALID_TOKEN',
      { authorization: `Bearer ${encode({ alg: 'HS256', typ: 'JWT' })}.${payload}.${signature}` },
    ],
  ];
  for (const [name, code, headers] of cases) {
    it(`is refused with ${code}: ${name}`, async () => {
      for (const [method, path] of OPERATIONS) {
        const answer = await anyone.send(method, path, { headers });
        assertError(answer, 401, code);
        const reason = code === 'INVALID_TOKEN' ? ', error="invalid_token"' : '';
        assert.equal(answer.headers['www-authenticate'], `Bearer realm="local-events"${reason}`);
      }
    });
  }

  it('is accepted with its scheme in any case', async () => {
    const client = new Client({ authorization: `bearer ${ADMIN_TOKEN}` });
    assert.equal((await client.get('/v1/admin/me')).status, 200);
  });
});

describe('GET /v1/admin/me', () => {
  it('returns e-mail, name and picture of the token, and nothing else', async () => {
    const claims = JSON.parse(Buffer.from(ADMIN_TOKEN.split('.')[1]!, 'base64url').toString('utf8'));
    const { status, body } = await administrator.get('/v1/admin/me');
    assert.equal(status, 200);
    assert.deepEqual(body, {
      email: claims.email,
      name: claims.name ?? claims.email,
      picture: claims.picture ?? '',
    });
  });
});

describe('GET /v1/admin/agents', () => {
  it('lists every agent with its summary, in the order of creation', async () => {
    const agents = [await newAgent(), await newAgent(), await newAgent()];
    const { status, body } = await administrator.get('/v1/admin/agents');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), ['agents', 'total']);
    assert.equal(body.total, body.agents.length);
    const emails = body.agents.map((agent: { email: string }) => agent.email);
    const places = agents.map((agent) => emails.indexOf(agent.email));
    assert.ok(
      places.every((place, at) => place > (places[at - 1] ?? -1)),
      String(places),
    );
    const times = body.agents.map((agent: { created_at: string }) => agent.created_at);
    assert.deepEqual(times, [...times].sort());
    for (const agent of body.agents) {
      assert.deepEqual(Object.keys({ last_used_at: null, ...agent }).sort(), [...SUMMARY_FIELDS].sort());
    }
  });

  it('shows a new agent as active, of the tier readwrite, never used, without events', async () => {
    const agent = await newAgent();
    const { id, created_at, last_used_at = null, ...summary } = await agent.findSummary();
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 300_000);
    assert.equal(last_used_at, null);
    assert.deepEqual(summary, {
      email: agent.email,
      agent_name: 'acceptance',
      tier: 'readwrite',
      is_active: true,
      event_count: 0,
    });
  });

  it('shows when an agent was last used, to within 10 seconds', async () => {
    const agent = await newAgent();
    const { created_at } = await agent.create(newEvent());
    const used = (await agent.findSummary()).last_used_at;
    assert.ok(Math.abs(Date.parse(used) - Date.parse(created_at)) <= 10_000, used);
  });

  it('counts events as they are created and deleted, ended ones too', async () => {
    const agent = await newAgent();
    const count = async () => (await agent.findSummary()).event_count;
    const event = await agent.create(newEvent());
    await agent.create(newEvent({ start_at: '1999-12-31T23:00:00Z' }));
    assert.equal(await count(), 2);
    await agent.update(event.event_id, { title: 'changed' });
    assert.equal(await count(), 2);
    await agent.delete(`/v1/events/${event.event_id}`);
    assert.equal(await count(), 1);
  });
});

describe('GET /v1/admin/agents/{agent_id}/events', () => {
  it('returns the agent and its events by start, ended ones included', async () => {
    const agent = await newAgent();
    const starts = ['2031-05-03T00:00:00Z', '1999-01-01T00:00:00Z', '2031-05-01T00:00:00Z'];
    const events = [];
    for (const start_at of starts) events.push(await agent.create(fullEvent({ start_at, end_at: null })));
    await (await newAgent()).create(newEvent());
    const summary = await agent.findSummary();
    const { status, body } = await administrator.get(`/v1/admin/agents/${summary.id}/events`);
    assert.equal(status, 200);
    assert.deepEqual(body, { agent: summary, events: [events[1], events[2], events[0]] });
    assert.equal(summary.id, events[0].agent_id);
  });

  it('lists more events than fit in a page of a search', async () => {
    const agent = await newAgent();
    const startMs = Date.UTC(2031, 0);
    await Promise.all(
      Array.from({ length: 120 }, (_, hour) =>
        agent.create(newEvent({ start_at: iso(startMs + ((hour * 7) % 120) * 3_600_000) })),
      ),
    );
    const { events } = (await administrator.get(`/v1/admin/agents/${await agent.id()}/events`)).body;
    const starts = events.map((event: { start_at: string }) => event.start_at);
    assert.equal(starts.length, 120);
    assert.deepEqual(starts, [...starts].sort());
  });

  it('returns an empty list for an agent without events', async () => {
    const agent = await newAgent();
    const { body } = await administrator.get(`/v1/admin/agents/${await agent.id()}/events`);
    assert.deepEqual(body.events, []);
  });
});

describe('the deletes of administrators', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  it('remove any event', async () => {
    const place = randomPlace();
    const { event_id } = await agent.create(newEvent(place));
    const answer = await administrator.delete(`/v1/admin/events/${event_id}`);
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    assertError(await reader.get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
    assert.equal((await reader.nearby({ ...place, radius: 0.1 })).total, 0);
    assert.equal((await agent.findSummary()).event_count, 0);
    assertError(await administrator.delete(`/v1/admin/events/${event_id}`), 404, 'NOT_FOUND');
  });

  it('remove all events of one agent and keep the agent', async () => {
    const place = randomPlace();
    const other = await newAgent();
    const kept = await other.create(newEvent(place));
    await Promise.all([
      agent.create(newEvent(place)),
      agent.create(newEvent({ ...place, start_at: '1999-01-01T00:00:00Z' })),
    ]);
    const path = `/v1/admin/agents/${await agent.id()}/events`;
    const answer = await administrator.delete(path);
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    assert.deepEqual((await administrator.get(path)).body.events, []);
    assert.deepEqual((await reader.nearby({ ...place, radius: 0.1 })).events, [kept]);
    assert.equal((await agent.findSummary()).event_count, 0);
    await agent.create(newEvent());
    assert.equal((await administrator.delete(path)).status, 204);
    assert.equal((await administrator.delete(path)).status, 204);
  });

  it('remove an agent, its key and its events', async () => {
    const place = randomPlace();
    const gone = await newAgent();
    const id = await gone.id();
    const { event_id } = await gone.create(newEvent(place));
    const answer = await administrator.delete(`/v1/admin/agents/${id}`);
    assert.equal(answer.status, 204);
    assert.equal(answer.text, '');
    assertError(await gone.get(`/v1/events/${event_id}`), 401, 'INVALID_API_KEY');
    assertError(await reader.get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
    assert.equal((await reader.nearby({ ...place, radius: 0.1 })).total, 0);
    assert.equal(await gone.findSummary(), undefined);
    assertError(await administrator.get(`/v1/admin/agents/${id}/events`), 404, 'NOT_FOUND');
    assertError(await administrator.delete(`/v1/admin/agents/${id}`), 404, 'NOT_FOUND');
  });
});

describe('IDs in the paths of /v1/admin', () => {
  const agentPaths = OPERATIONS.filter(([, path]) => path.includes(UNKNOWN_UUID));

  for (const [method, path] of agentPaths) {
    const shown = `${method} ${path.replace(UNKNOWN_UUID, '{agent_id}')}`;
    it(`are 404 on ${shown} if no agent has them`, async () => {
      const body = BODIES[method];
      assertError(await administrator.send(method, path, { body }), 404, 'NOT_FOUND');
    });

    it(`are 422 on ${shown} if they are not a UUID`, async () => {
      const body = BODIES[method];
      const malformed = ['nonsense', '7', UNKNOWN_ULID, UNKNOWN_UUID.slice(1), `${UNKNOWN_UUID}0`];
      for (const id of [...malformed, UNKNOWN_UUID.replaceAll('-', ''), `${UNKNOWN_UUID.slice(1)}g`, '%00']) {
        const answer = await administrator.send(method, path.replace(UNKNOWN_UUID, id), { body });
        assertInvalid(
          answer,
          ['path.agent_id: uuid_parsing'].map((issue) => (id === '%00' ? 'path.agent_id' : issue)),
        );
      }
    });
  }

  it('are 404 for events that do not exist, whatever their format', async () => {
    for (const id of [UNKNOWN_ULID, 'nonsense', '7', UNKNOWN_UUID]) {
      assertError(await administrator.delete(`/v1/admin/events/${id}`), 404, 'NOT_FOUND');
    }
  });

  it('may be a UUID in either case', async () => {
    const agent = await newAgent();
    const event = await agent.create(newEvent());
    const id = (await agent.id()).toUpperCase();
    const path = `/v1/admin/agents/${id}`;
    assert.deepEqual((await administrator.get(`${path}/events`)).body.events, [event]);
    assert.equal((await administrator.patch(path, {})).body.id, id.toLowerCase());
    assert.equal((await administrator.delete(`${path}/events`)).status, 204);
    assert.equal((await agent.findSummary()).event_count, 0);
    assert.equal((await administrator.delete(path)).status, 204);
    assert.equal(await agent.findSummary(), undefined);
  });
});
