// Who may call /v1/events: the X-API-Key header, tiers and quotas. Ownership is tested with PATCH and DELETE.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, anyone, Client, newAgent, reader } from './client.ts';
import { assertError, newEvent, randomPlace, UNKNOWN_ULID } from './samples.ts';
import { ADMIN_TOKEN, READ_KEY } from './settings.ts';

/** Every operation that needs a key, with a request that is otherwise valid. */
const OPERATIONS: [method: string, path: string, body: object | undefined, tier: 'read' | 'readwrite'][] = [
  ['GET', '/v1/events/nearby?lat=0&lng=0', undefined, 'read'],
  ['GET', `/v1/events/${UNKNOWN_ULID}`, undefined, 'read'],
  ['POST', '/v1/events', newEvent(), 'readwrite'],
  ['PATCH', `/v1/events/${UNKNOWN_ULID}`, {}, 'readwrite'],
  ['DELETE', `/v1/events/${UNKNOWN_ULID}`, undefined, 'readwrite'],
];

describe('X-API-Key', () => {
  let agent: Agent;
  let deactivated: Agent;
  let deleted: Agent;
  before(async () => {
    [agent, deactivated, deleted] = [await newAgent(), await newAgent(), await newAgent()];
    await administrator.patch(`/v1/admin/agents/${await deactivated.id()}`, { is_active: false });
    await administrator.delete(`/v1/admin/agents/${await deleted.id()}`);
  });

  const mistyped = (key: string, at: number) =>
    key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1);

  for (const [method, path, body] of OPERATIONS) {
    describe(`401 on ${method} ${path.split('?')[0]}`, () => {
      const send = (headers: Record<string, string>) => anyone.send(method, path, { body, headers });
      const cases: [name: string, code: string, headers: () => Record<string, string>][] = [
        ['no key', 'MISSING_API_KEY', () => ({})],
        ['an empty key', 'MISSING_API_KEY', () => ({ 'x-api-key': '' })],
        ['the key as a bearer token', 'MISSING_API_KEY', () => ({ authorization: `Bearer ${agent.key}` })],
        [
          'a token of an administrator',
          'MISSING_API_KEY',
          () => ({ authorization: `Bearer ${ADMIN_TOKEN}` }),
        ],
        ['a text that is not a key', 'INVALID_API_KEY', () => ({ 'x-api-key': 'nonsense' })],
        ['a mistyped key', 'INVALID_API_KEY', () => ({ 'x-api-key': mistyped(agent.key, 20) })],
        ['the key of a deactivated agent', 'INVALID_API_KEY', () => ({ 'x-api-key': deactivated.key })],
        ['the key of a deleted agent', 'INVALID_API_KEY', () => ({ 'x-api-key': deleted.key })],
      ];
      for (const [name, code, headers] of cases) {
        it(`responds ${code} to ${name}`, async () => {
          const answer = await send(headers());
          assertError(answer, 401, code);
          assert.match(answer.headers['www-authenticate']!, /^ApiKey /);
        });
      }
    });
  }

  it('has another message for a mistyped key than for an inactive one', async () => {
    const messageOf = async (key: string) => {
      const answer = await new Client({ 'x-api-key': key }).get(`/v1/events/${UNKNOWN_ULID}`);
      assertError(answer, 401, 'INVALID_API_KEY');
      return answer.body.error.message;
    };
    const inactive = [await messageOf(deactivated.key), await messageOf(deleted.key)];
    const typos = [0, 4, 5, 19, 34, 35, 36, 38, 41].map((at) => mistyped(deactivated.key, at));
    const swapped = deactivated.key.replace(/([0-9A-Z])([a-z])/, '$2$1');
    for (const typo of [...typos, swapped, deactivated.key.slice(0, -1), `${deactivated.key}a`]) {
      if (typo !== deactivated.key) assert.ok(!inactive.includes(await messageOf(typo)), typo);
    }
  });

  it('responds MISSING_API_KEY only to an absent or empty key', async () => {
    const answer = await new Client({ 'x-api-key': READ_KEY.slice(0, 8) }).get('/v1/events/nearby');
    assertError(answer, 401, 'INVALID_API_KEY');
  });
});

describe('tiers', () => {
  for (const [method, path, body, tier] of OPERATIONS) {
    const operation = `${method} ${path.split('?')[0]}`;
    if (tier === 'read') {
      it(`allow a read key on ${operation}`, async () => {
        const { status, text } = await reader.send(method, path, { body });
        assert.equal(status, path.includes(UNKNOWN_ULID) ? 404 : 200, text);
      });
    } else {
      it(`refuse a read key with 403 on ${operation}`, async () => {
        assertError(await reader.send(method, path, { body }), 403, 'INSUFFICIENT_TIER');
      });
    }
  }

  it('let a read key change nothing', async () => {
    const place = randomPlace();
    const writer = await newAgent();
    const event = await writer.create(newEvent(place));
    const refused = [
      await reader.post('/v1/events', newEvent(place)),
      await reader.patch(`/v1/events/${event.event_id}`, { title: 'changed' }),
      await reader.delete(`/v1/events/${event.event_id}`),
    ];
    for (const answer of refused) assertError(answer, 403, 'INSUFFICIENT_TIER');
    assert.deepEqual((await reader.nearby({ ...place, radius: 0.1 })).events, [event]);
  });

  it('let the tier admin write', async () => {
    const agent = await newAgent();
    await administrator.patch(`/v1/admin/agents/${await agent.id()}`, { tier: 'admin' });
    const { event_id } = await agent.create(newEvent());
    await agent.update(event_id, { title: 'changed' });
    assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
  });
});

describe('quotas', () => {
  const remaining = (answer: Answer) =>
    Number(/^"default";r=(\d+);t=\d+$/.exec(answer.headers.ratelimit!)?.[1]);

  it('count every request of an agent, whatever its status', async () => {
    const agent = await newAgent();
    const { event_id } = (await agent.post('/v1/events', newEvent())).body;
    const answers = [
      await agent.get('/v1/events/nearby', { lat: 0, lng: 0 }),
      await agent.send('HEAD', '/v1/events/nearby?lat=0&lng=0'),
      await agent.get('/v1/events/nearby'),
      await agent.get(`/v1/events/${UNKNOWN_ULID}`),
      await agent.post('/v1/events', {}),
      await agent.send('POST', '/v1/events', { raw: 'a', headers: { 'content-type': 'text/plain' } }),
      await agent.send('POST', '/v1/events', { raw: ' '.repeat(1_048_577) }),
      await agent.patch(`/v1/events/${event_id}`, {}),
      await agent.delete(`/v1/events/${event_id}`),
    ];
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 200, 422, 404, 422, 415, 413, 200, 204],
    );
    for (const { headers } of answers) assert.equal(headers['ratelimit-policy'], '"default";q=10000;w=3600');
    assert.deepEqual(
      answers.map(remaining),
      answers.map((_, at) => 9_998 - at),
    );
  });

  it('count a write that the tier forbids', async () => {
    const agent = await newAgent();
    await administrator.patch(`/v1/admin/agents/${await agent.id()}`, { tier: 'read' });
    const answer = await agent.post('/v1/events', newEvent());
    assertError(answer, 403, 'INSUFFICIENT_TIER');
    assert.equal(remaining(answer), 9_999);
  });

  it('count each agent separately', async () => {
    const [first, second] = [await newAgent(), await newAgent()];
    for (const expected of [9_999, 9_998]) {
      assert.equal(remaining(await first.get('/v1/events/nearby')), expected);
      assert.equal(remaining(await second.get('/v1/events/nearby')), expected);
    }
  });

  it('have a window of one hour that starts with the first request', async () => {
    const agent = await newAgent();
    const resets: number[] = [];
    for (let request = 0; request < 3; request++) {
      const { headers } = await agent.get('/v1/events/nearby');
      resets.push(Number(/;t=(\d+)$/.exec(headers.ratelimit!)?.[1]));
    }
    assert.equal(resets[0], 3600);
    assert.ok(
      resets.every((reset, at) => reset > 3590 && reset <= (resets[at - 1] ?? 3600)),
      String(resets),
    );
  });

  for (const [tier, limit] of Object.entries({ read: 10_000, readwrite: 10_000, admin: 100_000 })) {
    it(`allow the tier ${tier} ${limit} requests an hour`, async () => {
      const agent = await newAgent();
      await administrator.patch(`/v1/admin/agents/${await agent.id()}`, { tier });
      const { headers } = await agent.get('/v1/events/nearby');
      assert.equal(headers['ratelimit-policy'], `"default";q=${limit};w=3600`);
      assert.match(headers.ratelimit!, new RegExp(`^"default";r=${limit - 1};t=3600$`));
    });
  }
});
