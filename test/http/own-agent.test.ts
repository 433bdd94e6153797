// What an agent sees of itself and of its own events, over HTTP, in a long run on both engines. The clock moves only when a test moves it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, assertError, assertInvalid, type Client, type Query } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const NOW_MS = Date.parse('2031-05-01T12:00:00.250Z');
const HOUR_MS = 3_600_000;
const LIMITS = { RATE_LIMIT_READWRITE: '1000', RATE_LIMIT_READ: '3', RATE_LIMIT_ADMIN: '0' };

const iso = (ms: number) => new Date(ms).toISOString();

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`on ${engine}`, () => {
    let service: TestService;
    before(async () => {
      service = await startTestService({ ...(await newData()), ...LIMITS }, { clock: () => NOW_MS });
    });
    after(() => service.close());

    async function setTier(id: string, tier: string): Promise<void> {
      const administrator = await service.newAdministrator();
      assert.equal((await administrator.patch(`/v1/admin/agents/${id}`, { tier })).status, 200);
    }

    describe('GET /v1/agents/me', () => {
      const me = async (agent: Client) => {
        const { status, body, text } = await agent.get('/v1/agents/me');
        assert.equal(status, 200, text);
        return body;
      };

      it('returns the agent, the key without its secret part, and the quota', async () => {
        const registration = { email: 'me@example.com', agent_name: ' 🎪 me ' };
        const { api_key, key_prefix } = (await service.client.post('/v1/auth/register', registration)).body;
        const agent = service.client.with({ 'x-api-key': api_key });
        service.clock.advance(1_234);
        const answer = await agent.get('/v1/agents/me');
        const nowMs = service.clock.nowMs();
        const created_at = iso(nowMs - 1_234);
        const { id, ...seen } = answer.body.agent;
        assert.match(id, /^[0-9a-f-]{36}$/);
        assert.deepEqual(
          { ...answer.body, agent: seen },
          {
            agent: {
              ...registration,
              tier: 'readwrite',
              is_active: true,
              created_at,
              last_used_at: iso(nowMs),
              event_count: 0,
            },
            key: { prefix: key_prefix, created_at, expires_at: null },
            quota: { limit: 1_000, remaining: 999, resets_at: iso(nowMs + HOUR_MS) },
            words: engine === 'sqlite' ? { memory_bytes: 0, share: 0 } : null,
          },
        );
        assert.ok(!answer.text.includes(api_key.slice(8)));
        const administrator = await service.newAdministrator();
        const { agents } = (await administrator.get('/v1/admin/agents')).body;
        assert.deepEqual(agents.at(-1), answer.body.agent);
      });

      it('counts as one request, and agrees with its own quota headers', async () => {
        const agent = await service.newAgent();
        for (const remaining of [999, 998, 997]) {
          const { body, headers } = await agent.get('/v1/agents/me');
          assert.equal(body.quota.remaining, remaining);
          assert.match(headers.get('ratelimit')!, new RegExp(`;r=${remaining};`));
          service.clock.advance(10);
        }
        assert.equal((await agent.send('HEAD', '/v1/agents/me')).status, 200);
        assert.equal((await me(agent)).quota.remaining, 995);
      });

      it('has no quota if there is no limit', async () => {
        const agent = await service.newAgent();
        await setTier((await me(agent)).agent.id, 'admin');
        const { agent: seen, quota } = await me(agent);
        assert.deepEqual([seen.tier, quota], ['admin', null]);
      });

      it('accepts the last request of a quota, and no more', async () => {
        const agent = await service.newAgent();
        await setTier((await me(agent)).agent.id, 'read');
        await me(agent);
        assert.equal((await me(agent)).quota.remaining, 0);
        assertError(await agent.get('/v1/agents/me'), 429, 'RATE_LIMITED');
      });

      it('shows for each of two keys when it was created and when it expires', async () => {
        const old = await service.newAgent();
        const made = (await me(old)).key;
        service.clock.advance(5_000);
        const { api_key, key_prefix, created_at } = (
          await old.post('/v1/auth/rotate', { overlap_seconds: 90 })
        ).body;
        const agent = service.client.with({ 'x-api-key': api_key });
        const expires_at = iso(service.clock.nowMs() + 90_000);
        assert.deepEqual((await me(old)).key, { ...made, expires_at });
        assert.deepEqual((await me(agent)).key, { prefix: key_prefix, created_at, expires_at: null });
        assert.equal((await me(agent)).agent.id, (await me(old)).agent.id);
      });

      it('counts events, ended ones too', async () => {
        const agent = await service.newAgent();
        await agent.create();
        const { event_id } = await agent.create({ start_at: '2020-01-01T00:00:00Z' });
        assert.equal((await me(agent)).agent.event_count, 2);
        await agent.delete(`/v1/events/${event_id}`);
        assert.equal((await me(agent)).agent.event_count, 1);
      });

      it('needs a key, and allows only GET and HEAD', async () => {
        assertError(await service.client.get('/v1/agents/me'), 401, 'MISSING_API_KEY');
        const refused = await (await service.newAgent()).send('DELETE', '/v1/agents/me');
        assertError(refused, 405, 'METHOD_NOT_ALLOWED');
        assert.equal(refused.headers.get('allow'), 'GET, HEAD, OPTIONS');
      });
    });

    describe('GET /v1/agents/me/events', () => {
      const PATH = '/v1/agents/me/events';
      let agent: Client;
      let other: Client;
      let ended: Answer['body'][];
      let upcoming: Answer['body'][];
      before(async () => {
        [agent, other] = [await service.newAgent(), await service.newAgent()];
        const create = (at: number, hours: number) =>
          agent.create({ title: `own ${at}`, start_at: iso(service.clock.nowMs() + hours * HOUR_MS) });
        const byOrder = (a: { start_at: string; event_id: string }, b: typeof a) =>
          a.start_at + a.event_id < b.start_at + b.event_id ? -1 : 1;
        // Not in order, some with the same start. Without an end_at they end three hours after their start.
        upcoming = [];
        for (const [at, hours] of [5, -2, 48, 5, 5, 1, 1_000].entries())
          upcoming.push(await create(at, hours));
        ended = [];
        for (const [at, hours] of [-3, -1_000, -4].entries()) ended.push(await create(10 + at, hours));
        upcoming.sort(byOrder);
        ended.sort(byOrder);
        await other.create({ title: 'not mine' });
      });

      const list = async (query: Query = {}, by = agent) => {
        const { status, body, text } = await by.get(PATH, query);
        assert.equal(status, 200, text);
        return body;
      };

      it('lists events that have not ended, by start and event_id, with count, total and next_cursor', async () => {
        const expected = { events: upcoming, count: 7, total: 7, next_cursor: null };
        for (const query of [{}, { include_ended: 'false' }, { limit: 7 }]) {
          const body = await list(query);
          assert.deepEqual(body, expected);
          assert.deepEqual(Object.keys(body), ['events', 'count', 'total', 'next_cursor']);
        }
      });

      it('lists ended events too with include_ended', async () => {
        const expected = { events: [...ended, ...upcoming], count: 10, total: 10, next_cursor: null };
        assert.deepEqual(await list({ include_ended: 'true' }), expected);
      });

      it('lists each event exactly as a GET of it returns it', async () => {
        const [first] = (await list({ limit: 1 })).events;
        assert.deepEqual((await agent.get(`/v1/events/${first.event_id}`)).body, first);
      });

      for (const limit of [1, 2, 3, 6]) {
        it(`shows each once, ${limit} at a time, with the total on every page`, async () => {
          const seen: unknown[] = [];
          for (let query: Query = { limit, include_ended: 'true' }; ; ) {
            const page = await list(query);
            assert.deepEqual([page.total, page.count], [10, page.events.length]);
            seen.push(...page.events);
            if (page.next_cursor === null) break;
            assert.equal(page.count, limit);
            query = { ...query, cursor: page.next_cursor };
          }
          assert.deepEqual(seen, [...ended, ...upcoming]);
        });
      }

      it('lets limit and include_ended change from page to page', async () => {
        const { next_cursor } = await list({ limit: 2 });
        const page = await list({ cursor: next_cursor, include_ended: 'true' });
        assert.deepEqual([page.events, page.total], [upcoming.slice(2), 10]);
      });

      it('drops an event the instant it ends', async () => {
        const writer = await service.newAgent();
        const end_at = iso(service.clock.nowMs() + 1_000);
        const event = await writer.create({ start_at: iso(service.clock.nowMs()), end_at });
        service.clock.advance(999);
        assert.deepEqual((await list({}, writer)).events, [event]);
        service.clock.advance(1);
        assert.deepEqual((await list({}, writer)).events, []);
        assert.deepEqual((await list({ include_ended: 'true' }, writer)).events, [event]);
      });

      it('shows a write in the next request', async () => {
        const writer = await service.newAgent();
        const event = await writer.create();
        assert.deepEqual((await list({}, writer)).events, [event]);
        const changed = (await writer.patch(`/v1/events/${event.event_id}`, { title: 'é' })).body;
        assert.deepEqual((await list({}, writer)).events, [changed]);
        await writer.delete(`/v1/events/${event.event_id}`);
        assert.deepEqual(await list({}, writer), { events: [], count: 0, total: 0, next_cursor: null });
      });

      it('allows every tier, and HEAD', async () => {
        const reader = await service.newAgent();
        const event = await reader.create();
        await setTier(event.agent_id, 'read');
        assert.deepEqual((await list({}, reader)).events, [event]);
        assert.equal((await reader.send('HEAD', PATH)).status, 200);
        assertError(await service.client.get(PATH), 401, 'MISSING_API_KEY');
      });

      describe('422', () => {
        const queries: [query: string, issues: string[]][] = [
          ['limit=0', ['query.limit: greater_than_equal']],
          ['limit=101', ['query.limit: less_than_equal']],
          ['limit=1e1', ['query.limit: int_parsing']],
          ['limit=1&limit=1', ['query.limit: value_error']],
          ['include_ended=', ['query.include_ended: bool_parsing']],
          ['include_ended=1', ['query.include_ended: bool_parsing']],
          ['include_ended=True', ['query.include_ended: bool_parsing']],
          ['include_ended=true%20', ['query.include_ended: bool_parsing']],
          ['include_ended', ['query.include_ended: bool_parsing']],
          ['include_ended=true&include_ended=true', ['query.include_ended: value_error']],
          ['cursor=', ['query.cursor: value_error']],
          ['cursor=nonsense', ['query.cursor: value_error']],
          [
            'limit=x&include_ended=yes&cursor=y',
            ['query.cursor: value_error', 'query.include_ended: bool_parsing', 'query.limit: int_parsing'],
          ],
        ];
        for (const [query, issues] of queries) {
          it(`refuses ${query}`, async () => {
            assert.deepEqual(assertInvalid(await agent.get(`${PATH}?${query}`)).sort(), issues);
          });
        }

        it('refuses the cursors of other lists, and other lists refuse its cursors', async () => {
          const { id } = (await agent.get('/v1/agents/me')).body.agent;
          const administrator = await service.newAdministrator();
          const path = `/v1/admin/agents/${id}/events`;
          const ofAdministrators = (await administrator.get(path, { limit: 1 })).body.next_cursor;
          const ofSearch = (await agent.nearby({ limit: 1 })).body.next_cursor;
          for (const cursor of [ofAdministrators, ofSearch]) {
            assert.equal(typeof cursor, 'string');
            assert.deepEqual(assertInvalid(await agent.get(PATH, { cursor })), ['query.cursor: value_error']);
          }
          const cursor = (await list({ limit: 1 })).next_cursor;
          for (const answer of [await administrator.get(path, { cursor }), await agent.nearby({ cursor })])
            assert.deepEqual(assertInvalid(answer), ['query.cursor: value_error']);
        });
      });
    });
  });
}
