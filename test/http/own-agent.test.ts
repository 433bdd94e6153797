// What an agent sees of itself and of its own events, where a test needs a clock that it moves, or small quotas. The rest is in
// test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, type Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const NOW_MS = Date.parse('2031-05-01T12:00:00.250Z');
const HOUR_MS = 3_600_000;
const LIMITS = { RATE_LIMIT_READWRITE: '1000', RATE_LIMIT_READ: '3', RATE_LIMIT_ADMIN: '0' };

const iso = (ms: number) => new Date(ms).toISOString();

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`on ${engine}`, () => {
    const service = useTestService(async () => ({ ...(await newData()), ...LIMITS }), {
      clock: () => NOW_MS,
    });

    describe('GET /v1/agents/me', () => {
      const me = async (agent: Client) => {
        const { status, body, text } = await agent.get('/v1/agents/me');
        assert.equal(status, 200, text);
        return body;
      };

      async function newAgentOf(tier: string): Promise<Client> {
        const agent = await service.newAgent();
        const { id } = (await me(agent)).agent;
        const administrator = await service.newAdministrator();
        assert.equal((await administrator.patch(`/v1/admin/agents/${id}`, { tier })).status, 200);
        return agent;
      }

      it('has every time to the millisecond, and the same agent as administrators see', async () => {
        const registration = { email: 'me@example.com', agent_name: ' 🎪 me ' };
        const { api_key, key_prefix } = (await service.client.post('/v1/auth/register', registration)).body;
        const agent = service.client.with({ 'x-api-key': api_key });
        service.clock.advance(1_234);
        const body = await me(agent);
        const nowMs = service.clock.nowMs();
        const created_at = iso(nowMs - 1_234);
        const { id, ...seen } = body.agent;
        assert.match(id, /^[0-9a-f-]{36}$/);
        assert.deepEqual(
          { ...body, agent: seen },
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
        const { agents } = (await (await service.newAdministrator()).get('/v1/admin/agents')).body;
        assert.deepEqual(agents.at(-1), body.agent);
      });

      it('has no quota if there is no limit', async () => {
        const { agent, quota } = await me(await newAgentOf('admin'));
        assert.deepEqual([agent.tier, quota], ['admin', null]);
      });

      it('accepts the last request of a quota, and no more', async () => {
        const agent = await newAgentOf('read');
        await me(agent);
        assert.equal((await me(agent)).quota.remaining, 0);
        assertError(await agent.get('/v1/agents/me'), 429, 'RATE_LIMITED');
      });
    });

    it('GET /v1/agents/me/events drops an event the instant it ends', async () => {
      const agent = await service.newAgent();
      const list = async (query = {}) => (await agent.get('/v1/agents/me/events', query)).body.events;
      const end_at = iso(service.clock.nowMs() + 1_000);
      const event = await agent.create({ start_at: iso(service.clock.nowMs()), end_at });
      service.clock.advance(999);
      assert.deepEqual(await list(), [event]);
      service.clock.advance(1);
      assert.deepEqual(await list(), []);
      assert.deepEqual(await list({ include_ended: 'true' }), [event]);
    });
  });
}
