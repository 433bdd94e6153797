// Agents rotate and revoke their own keys, over HTTP, in a long run on both engines. The clock moves only when a test moves it. Keys
// across several nodes are in test/nodes/.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isApiKey } from '../../src/domain/api-key.ts';
import { type Answer, assertError, assertInvalid, type Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const NOW_MS = Date.parse('2031-05-01T12:00:00.250Z');
const LIMITS = { RATE_LIMIT_READ: '50', RATE_LIMIT_READWRITE: '60', RATE_LIMIT_ADMIN: '0' };

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`on ${engine}`, () => {
    let service: TestService;
    before(async () => {
      service = await startTestService({ ...(await newData()), ...LIMITS }, { clock: () => NOW_MS });
    });
    after(() => service.close());

    const holding = (key: string) => service.client.with({ 'x-api-key': key });
    const statusOf = async (agent: Client) => (await agent.nearby()).status;
    const remaining = (answer: Answer) => Number(/r=(\d+)/.exec(answer.headers.get('ratelimit')!)?.[1]);

    /** Rotates the key and asserts success; returns a client with the new key. */
    async function rotate(agent: Client, body?: object): Promise<Client> {
      const answer = await agent.post('/v1/auth/rotate', body);
      assert.equal(answer.status, 200, answer.text);
      return holding(answer.body.api_key);
    }

    async function setTier(agent: Client, tier: string): Promise<void> {
      const { id } = (await agent.get('/v1/agents/me')).body.agent;
      const administrator = await service.newAdministrator();
      assert.equal((await administrator.patch(`/v1/admin/agents/${id}`, { tier })).status, 200);
    }

    describe('POST /v1/auth/rotate', () => {
      describe('200', () => {
        it('responds as a registration does, with a new key that works at once', async () => {
          const agent = await service.newAgent();
          const { status, body, headers } = await agent.post('/v1/auth/rotate', { overlap_seconds: 60 });
          assert.equal(status, 200);
          const { api_key, ...rest } = body;
          assert.ok(isApiKey(api_key) && api_key !== agent.headers['x-api-key']);
          assert.deepEqual(rest, {
            key_prefix: api_key.slice(0, 8),
            tier: 'readwrite',
            rate_limit: 60,
            created_at: new Date(service.clock.nowMs()).toISOString(),
          });
          assert.equal(headers.get('ratelimit-policy'), '"default";q=60;w=3600');
          assert.equal(await statusOf(holding(api_key)), 200);
        });

        const overlaps: [what: string, body: object | undefined, seconds: number][] = [
          ['a second', { overlap_seconds: 1 }, 1],
          ['a day', { overlap_seconds: 86_400 }, 86_400],
          ['an hour without a body', undefined, 3_600],
          ['an hour with an empty object', {}, 3_600],
        ];
        for (const [what, body, seconds] of overlaps) {
          it(`keeps the old key valid for ${what}, to the millisecond`, async () => {
            const old = await service.newAgent();
            const agent = await rotate(old, body);
            service.clock.advance(seconds * 1_000 - 1);
            assert.deepEqual([await statusOf(old), await statusOf(agent)], [200, 200]);
            service.clock.advance(1);
            assertError(await old.nearby(), 401, 'INVALID_API_KEY');
            assert.equal(await statusOf(agent), 200);
          });
        }

        it('ends the old key at once with an overlap of 0', async () => {
          const old = await service.newAgent();
          const agent = await rotate(old, { overlap_seconds: 0 });
          assertError(await old.nearby(), 401, 'INVALID_API_KEY');
          assertError(await old.post('/v1/auth/rotate'), 401, 'INVALID_API_KEY');
          assertError(await old.post('/v1/auth/revoke'), 401, 'INVALID_API_KEY');
          assert.equal(await statusOf(agent), 200);
        });

        it('takes a JSON content type without a body', async () => {
          const agent = await service.newAgent();
          const headers = { 'content-type': 'application/json' };
          assert.equal((await agent.send('POST', '/v1/auth/rotate', { headers })).status, 200);
          assert.equal((await agent.send('POST', '/v1/auth/rotate', { headers, raw: '' })).status, 200);
        });

        it('can be repeated with the old key if the response was lost, which ends the lost key', async () => {
          const old = await service.newAgent();
          const lost = await rotate(old);
          const found = await rotate(old);
          assertError(await lost.nearby(), 401, 'INVALID_API_KEY');
          assert.deepEqual([await statusOf(old), await statusOf(found)], [200, 200]);
        });

        it('does not prolong the old key when it rotates again', async () => {
          const old = await service.newAgent();
          await rotate(old, { overlap_seconds: 10 });
          await rotate(old, { overlap_seconds: 86_400 });
          service.clock.advance(10_000);
          assertError(await old.nearby(), 401, 'INVALID_API_KEY');
        });

        it('keeps the events, the ID and the quota of the agent', async () => {
          const old = await service.newAgent();
          const event = await old.create();
          const agent = await rotate(old);
          const changed = await agent.patch(`/v1/events/${event.event_id}`, { cost: 'free' });
          assert.deepEqual([changed.status, changed.body.agent_id], [200, event.agent_id]);
          assert.equal(remaining(changed), 57);
          assert.equal(remaining(await old.nearby()), 56, 'both keys draw on one quota');
          assert.equal(remaining(await agent.nearby()), 55);
        });

        it('is allowed for every tier', async () => {
          const old = await service.newAgent();
          await setTier(old, 'read');
          const { status, body } = await old.post('/v1/auth/rotate');
          assert.deepEqual([status, body.tier, body.rate_limit], [200, 'read', 50]);
          await setTier(old, 'admin');
          assert.equal((await old.post('/v1/auth/rotate')).body.rate_limit, 0);
        });
      });

      describe('401', () => {
        it('refuses a missing and an invalid key', async () => {
          assertError(await service.client.post('/v1/auth/rotate', {}), 401, 'MISSING_API_KEY');
          assertError(await holding('nonsense').post('/v1/auth/rotate', {}), 401, 'INVALID_API_KEY');
        });
      });

      describe('413, 415', () => {
        it('refuses other media types and bodies that are too large, and keeps the keys', async () => {
          const agent = await service.newAgent();
          const headers = { 'content-type': 'text/plain' };
          const send = (raw: string, as = {}) => agent.send('POST', '/v1/auth/rotate', { raw, headers: as });
          assertError(await send('{}', headers), 415, 'UNSUPPORTED_MEDIA_TYPE');
          assertError(await send(' '.repeat(16_385)), 413, 'PAYLOAD_TOO_LARGE');
          assert.equal((await agent.get('/v1/agents/me')).body.key.expires_at, null);
        });
      });

      describe('422', () => {
        const bodies: [raw: string, issue: string][] = [
          ['{"overlap_seconds": -1}', 'body.overlap_seconds: greater_than_equal'],
          ['{"overlap_seconds": 86401}', 'body.overlap_seconds: less_than_equal'],
          ['{"overlap_seconds": 1e999}', 'body.overlap_seconds: less_than_equal'],
          ['{"overlap_seconds": 1.5}', 'body.overlap_seconds: int_from_float'],
          ['{"overlap_seconds": "60"}', 'body.overlap_seconds: int_type'],
          ['{"overlap_seconds": null}', 'body.overlap_seconds: int_type'],
          ['{"overlap_seconds": true}', 'body.overlap_seconds: int_type'],
          ['{"overlap_seconds": [60]}', 'body.overlap_seconds: int_type'],
          ['{"overlap": 0}', 'body.overlap: extra_forbidden'],
          ['null', 'body: dict_type'],
          ['[]', 'body: dict_type'],
          ['60', 'body: dict_type'],
          ['"60"', 'body: dict_type'],
          ['{"overlap_seconds": 60', 'body: json_invalid'],
          [' ', 'body: json_invalid'],
        ];
        for (const [raw, issue] of bodies) {
          it(`refuses ${raw}, and keeps the keys`, async () => {
            const agent = await service.newAgent();
            const answer = await agent.send('POST', '/v1/auth/rotate', { raw });
            assert.deepEqual(assertInvalid(answer), [issue]);
            assert.equal((await agent.get('/v1/agents/me')).body.key.expires_at, null);
          });
        }
      });

      describe('429', () => {
        it('never stops a revocation, so that a leaked key can always be ended', async () => {
          const old = await service.newAgent();
          for (let spent = 0; spent < 60; spent++) await old.nearby();
          assertError(await old.nearby(), 429, 'RATE_LIMITED');
          const answer = await old.post('/v1/auth/revoke');
          assert.equal(answer.status, 204);
          assert.match(answer.headers.get('ratelimit') ?? '', /^"default";r=0;/);
          assertError(await old.nearby(), 401, 'INVALID_API_KEY');
        });

        it('comes before any change', async () => {
          const old = await service.newAgent();
          for (let spent = 0; spent < 60; spent++) await old.nearby();
          assertError(await old.post('/v1/auth/rotate', { overlap_seconds: 0 }), 429, 'RATE_LIMITED');
          service.clock.advance(3_600_000);
          assert.equal(await statusOf(old), 200);
        });
      });

      it('leaves two keys, the old one and one new, after 20 concurrent rotations', async () => {
        const old = await service.newAgent();
        const answers = await Promise.all(Array.from({ length: 20 }, () => old.post('/v1/auth/rotate')));
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
        const agents = answers.map(({ body }) => holding(body.api_key));
        const statuses = await Promise.all([old, ...agents].map(statusOf));
        assert.equal(statuses[0], 200);
        assert.equal(statuses.filter((status) => status === 200).length, 2);
      });

      it('lets one of 20 concurrent rotations succeed if the overlap is 0', async () => {
        const old = await service.newAgent();
        const body = { overlap_seconds: 0 };
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => old.post('/v1/auth/rotate', body)),
        );
        const [given, ...more] = answers.filter(({ status }) => status === 200);
        assert.deepEqual(more, []);
        for (const answer of answers) if (answer !== given) assertError(answer, 401, 'INVALID_API_KEY');
        assert.equal(await statusOf(holding(given!.body.api_key)), 200);
        assertError(await old.nearby(), 401, 'INVALID_API_KEY');
      });
    });

    it('refuses unknown parameters that could leave the wrong key valid, and keeps the keys', async () => {
      const agent = await service.newAgent();
      const guesses: [url: string, body: object | undefined, issue: string][] = [
        ['/v1/auth/rotate?overlap_seconds=0', undefined, 'query: extra_forbidden'],
        ['/v1/auth/revoke?key=x', undefined, 'query: extra_forbidden'],
        ['/v1/auth/revoke', { key_prefix: 'lev_4Zr8' }, 'body.key_prefix: extra_forbidden'],
      ];
      for (const [url, body, issue] of guesses) {
        assert.deepEqual(assertInvalid(await agent.post(url, body)), [issue]);
        assert.equal((await agent.get('/v1/agents/me')).body.key.expires_at, null);
      }
    });

    describe('POST /v1/auth/revoke', () => {
      it('ends the calling key at once, with 204 and no body', async () => {
        const agent = await service.newAgent();
        const { status, text, headers } = await agent.post('/v1/auth/revoke');
        assert.deepEqual([status, text], [204, '']);
        assert.equal(headers.get('ratelimit'), '"default";r=59;t=3600');
        for (const answer of [await agent.nearby(), await agent.post('/v1/auth/revoke')])
          assertError(answer, 401, 'INVALID_API_KEY');
      });

      it('leaves the other key alone, old or new', async () => {
        const old = await service.newAgent();
        const agent = await rotate(old);
        assert.equal((await agent.post('/v1/auth/revoke')).status, 204);
        assertError(await agent.nearby(), 401, 'INVALID_API_KEY');
        const next = await rotate(old);
        assert.equal((await old.post('/v1/auth/revoke')).status, 204);
        assertError(await old.nearby(), 401, 'INVALID_API_KEY');
        assert.equal(await statusOf(next), 200);
      });

      it('keeps the events of an agent without a key, and administrators can still manage it', async () => {
        const agent = await service.newAgent();
        const { event_id, agent_id } = await agent.create();
        assert.equal((await agent.post('/v1/auth/revoke')).status, 204);
        const reader = await service.newAgent();
        assert.equal((await reader.get(`/v1/events/${event_id}`)).status, 200);
        const administrator = await service.newAdministrator();
        const path = `/v1/admin/agents/${agent_id}`;
        const seen = (await administrator.get(`${path}/events`)).body.agent;
        assert.deepEqual([seen.is_active, seen.event_count], [true, 1]);
        assert.equal((await administrator.delete(path)).status, 204);
        assertError(await reader.get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
      });

      it('takes an empty object, and refuses a body that is not JSON', async () => {
        const agent = await service.newAgent();
        const headers = { 'content-type': 'text/plain' };
        const refused = await agent.send('POST', '/v1/auth/revoke', { raw: 'x', headers });
        assertError(refused, 415, 'UNSUPPORTED_MEDIA_TYPE');
        assert.equal((await agent.post('/v1/auth/revoke', {})).status, 204);
      });

      it('is allowed for every tier, and needs a key', async () => {
        const agent = await service.newAgent();
        await setTier(agent, 'read');
        assert.equal((await agent.post('/v1/auth/revoke')).status, 204);
        assertError(await service.client.post('/v1/auth/revoke'), 401, 'MISSING_API_KEY');
      });
    });
  });
}
