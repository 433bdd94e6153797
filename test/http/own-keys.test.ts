// Keys that agents rotate and revoke, where a test needs a clock that it moves, or small quotas. The rest is in test/acceptance/, keys
// across several nodes are in test/nodes/, and concurrent rotations in test/store/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, type Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const NOW_MS = Date.parse('2031-05-01T12:00:00.250Z');
const LIMITS = { RATE_LIMIT_READ: '50', RATE_LIMIT_READWRITE: '60', RATE_LIMIT_ADMIN: '0' };

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`on ${engine}`, () => {
    const service = useTestService(async () => ({ ...(await newData()), ...LIMITS }), {
      clock: () => NOW_MS,
    });

    const statusOf = async (agent: Client) => (await agent.nearby()).status;

    /** Rotates the key and asserts success; returns a client with the new key. */
    async function rotate(agent: Client, body?: object): Promise<Client> {
      const answer = await agent.post('/v1/auth/rotate', body);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.created_at, new Date(service.clock.nowMs()).toISOString());
      return service.client.with({ 'x-api-key': answer.body.api_key });
    }

    describe('POST /v1/auth/rotate', () => {
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

      it('does not prolong the old key when it rotates again', async () => {
        const old = await service.newAgent();
        await rotate(old, { overlap_seconds: 10 });
        await rotate(old, { overlap_seconds: 86_400 });
        service.clock.advance(10_000);
        assertError(await old.nearby(), 401, 'INVALID_API_KEY');
      });

      it('changes nothing if the quota is used up', async () => {
        const old = await service.newAgent();
        for (let spent = 0; spent < 60; spent++) await old.nearby();
        assertError(await old.post('/v1/auth/rotate', { overlap_seconds: 0 }), 429, 'RATE_LIMITED');
        service.clock.advance(3_600_000);
        assert.equal(await statusOf(old), 200);
      });
    });

    describe('POST /v1/auth/revoke', () => {
      it('needs no quota, so that a leaked key can always be ended', async () => {
        const old = await service.newAgent();
        for (let spent = 0; spent < 60; spent++) await old.nearby();
        assertError(await old.nearby(), 429, 'RATE_LIMITED');
        const answer = await old.post('/v1/auth/revoke');
        assert.equal(answer.status, 204);
        assert.match(answer.headers.get('ratelimit') ?? '', /^"default";r=0;/);
        assertError(await old.nearby(), 401, 'INVALID_API_KEY');
      });
    });
  });
}
