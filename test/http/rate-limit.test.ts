// The quota of an agent: fixed windows of an hour, shown in headers, enforced with a 429. The clock moves only when a test
// moves it. Registrations are in registration-limit.test.ts.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { fingerprint, newApiKey } from '../../src/domain/api-key.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { systemRandom } from '../../src/system.ts';
import { type Answer, assertError, type Client, newEvent } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const LIMITS = { RATE_LIMIT_READ: '5', RATE_LIMIT_READWRITE: '3', RATE_LIMIT_ADMIN: '7' };
const UNKNOWN_EVENT = '/v1/events/01JZ9GX4T0QW3N1V8R5Y7K2MHD';

describe('rate limits', () => {
  let service: TestService;
  let agent: Client;
  before(() => mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00.250Z') }));
  after(() => mock.timers.reset());
  beforeEach(async () => {
    service = await startTestService(LIMITS);
    agent = await service.newAgent();
  });
  afterEach(() => service.close());

  async function setTier(tier: string): Promise<void> {
    const administrator = await service.newAdministrator();
    const { agents } = (await administrator.get('/v1/admin/agents')).body;
    const answer = await administrator.patch(`/v1/admin/agents/${agents.at(-1).id}`, { tier });
    assert.equal(answer.status, 200, answer.text);
  }

  async function spend(times: number, by = agent): Promise<void> {
    for (let time = 0; time < times; time++) assert.equal((await by.nearby()).status, 200);
  }

  /** Asserts the exact headers. */
  function assertQuota(answer: Answer, limit: number, remaining: number, seconds: number): void {
    assert.equal(answer.headers.get('ratelimit-policy'), `"default";q=${limit};w=3600`, answer.text);
    assert.equal(answer.headers.get('ratelimit'), `"default";r=${remaining};t=${seconds}`, answer.text);
  }

  function assertNoQuota(answer: Answer): void {
    assert.equal(answer.headers.get('ratelimit-policy'), null, answer.text);
    assert.equal(answer.headers.get('ratelimit'), null, answer.text);
    assert.equal(answer.headers.get('retry-after'), null, answer.text);
  }

  describe('headers', () => {
    it('count down requests and seconds, rounded up', async () => {
      assertQuota(await agent.nearby(), 3, 2, 3600);
      service.clock.advance(1_000);
      assertQuota(await agent.nearby(), 3, 1, 3599);
      service.clock.advance(1);
      assertQuota(await agent.nearby(), 3, 0, 3599);
    });

    it('are on every keyed response, whatever its status', async () => {
      await setTier('admin');
      const oversized = { raw: ' '.repeat(1_048_577) };
      const other = { raw: 'x', headers: { 'content-type': 'text/plain' } };
      const answers = [
        [200, await agent.nearby()],
        [422, await agent.get('/v1/events/nearby')],
        [404, await agent.get(UNKNOWN_EVENT)],
        [404, await agent.send('HEAD', UNKNOWN_EVENT)],
        [413, await agent.send('POST', '/v1/events', oversized)],
        [415, await agent.send('POST', '/v1/events', other)],
        [422, await agent.post('/v1/events', {})],
      ] as const;
      for (const [at, [status, answer]] of answers.entries()) {
        assert.equal(answer.status, status);
        assertQuota(answer, 7, 6 - at, 3600);
      }
      service.clock.advance(HOUR_MS);
      const { event_id } = await agent.create();
      assertQuota(await agent.delete(`/v1/events/${event_id}`), 7, 5, 3600);
      await setTier('read');
      const refused = await agent.post('/v1/events', newEvent());
      assertError(refused, 403, 'INSUFFICIENT_TIER');
      assertQuota(refused, 5, 2, 3600);
    });

    it('are on no response without a valid key', async () => {
      const administrator = await service.newAdministrator();
      const stranger = service.client.with({ 'x-api-key': newApiKey(systemRandom) });
      for (const [status, answer] of [
        [401, await service.client.nearby()],
        [401, await stranger.nearby()],
        [404, await agent.get('/nothing')],
        [405, await agent.send('PUT', '/v1/events')],
        [200, await agent.get('/health')],
        [200, await agent.get('/openapi.json')],
        [200, await administrator.get('/v1/admin/agents')],
        [401, await agent.get('/v1/admin/agents')],
      ] as const) {
        assert.equal(answer.status, status);
        assertNoQuota(answer);
      }
      assertQuota(await agent.nearby(), 3, 2, 3600);
    });

    it('are absent if the limit is 0, which means no limit', async (t) => {
      const unlimited = await startTestService({ ...LIMITS, RATE_LIMIT_READWRITE: '0' }, { until: t });
      const registered = await unlimited.client.post('/v1/auth/register', {
        email: 'agent@example.com',
        agent_name: 'unlimited',
      });
      assert.equal(registered.body.rate_limit, 0);
      const caller = unlimited.client.with({ 'x-api-key': registered.body.api_key });
      for (let time = 0; time < 10; time++) {
        const answer = await caller.nearby();
        assert.equal(answer.status, 200);
        assertNoQuota(answer);
      }
    });
  });

  describe('429', () => {
    it('comes with the first request over the limit, with Retry-After, until the window ends', async () => {
      await spend(3);
      service.clock.advance(600_500);
      const refused = await agent.nearby();
      assertError(refused, 429, 'RATE_LIMITED');
      assert.equal(refused.headers.get('retry-after'), '3000');
      assertQuota(refused, 3, 0, 3000);
      assert.deepEqual(Object.keys(refused.body), ['error']);

      service.clock.advance(HOUR_MS - 600_500 - 1);
      const last = await agent.nearby();
      assertError(last, 429, 'RATE_LIMITED');
      assert.equal(last.headers.get('retry-after'), '1');

      service.clock.advance(1);
      assertQuota(await agent.nearby(), 3, 2, 3600);
    });

    it('does not prolong the window', async () => {
      await spend(3);
      for (let time = 0; time < 5; time++) {
        service.clock.advance(60_000);
        assertError(await agent.nearby(), 429, 'RATE_LIMITED');
      }
      service.clock.advance(HOUR_MS - 300_000);
      await spend(3);
    });

    it('lets exactly the limit through when all arrive at once', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => agent.nearby()));
      assert.equal(answers.filter(({ status }) => status === 200).length, 3);
      assert.equal(answers.filter(({ status }) => status === 429).length, 17);
    });
  });

  it('starts a window with its first request, not with the registration or the clock', async () => {
    service.clock.advance(HOUR_MS / 2);
    assertQuota(await agent.nearby(), 3, 2, 3600);
    service.clock.advance(HOUR_MS - 1_000);
    assertQuota(await agent.nearby(), 3, 1, 1);
    service.clock.advance(1_000 + HOUR_MS / 4);
    assertQuota(await agent.nearby(), 3, 2, 3600);
    service.clock.advance(HOUR_MS / 2);
    assertQuota(await agent.nearby(), 3, 1, 1800);
  });

  it('counts the keys of one agent together', async () => {
    const email = 'two-keys@example.com';
    const registered = await service.client.post('/v1/auth/register', { email, agent_name: 'two keys' });
    await service.close();
    const secondKey = newApiKey(systemRandom);
    const { hash, prefix } = fingerprint(secondKey);
    const database = new DatabaseSync(databasePath(service.folder), { timeout: 5_000 });
    database
      .prepare(
        'INSERT INTO keys (key_hash, agent_id, prefix, created_ms) SELECT ?, agent_id, ?, 0 FROM agents WHERE email = ?',
      )
      .run(hash, prefix, email);
    database.close();
    service = await startTestService({ ...LIMITS, DATA_DIR: service.folder });
    const first = service.client.with({ 'x-api-key': registered.body.api_key });
    const other = service.client.with({ 'x-api-key': secondKey });
    await spend(2, first);
    assertQuota(await other.nearby(), 3, 0, 3600);
    assertError(await first.nearby(), 429, 'RATE_LIMITED');
    assertError(await other.nearby(), 429, 'RATE_LIMITED');
  });

  it('applies a change of tier at once, to the current window', async () => {
    await spend(3);
    assertError(await agent.nearby(), 429, 'RATE_LIMITED');
    await setTier('admin');
    assertQuota(await agent.nearby(), 7, 3, 3600);
    await setTier('read');
    assertQuota(await agent.nearby(), 5, 0, 3600);
    const refused = await agent.nearby();
    assertError(refused, 429, 'RATE_LIMITED');
    await setTier('admin');
    await spend(2);
    assertError(await agent.nearby(), 429, 'RATE_LIMITED');
  });

  it('is checked after the key, and before tier, size and media type', async () => {
    const wrong = { raw: ' '.repeat(1_048_577), headers: { 'content-type': 'text/plain' } };
    await setTier('read');
    assertError(await agent.send('PATCH', UNKNOWN_EVENT, wrong), 403, 'INSUFFICIENT_TIER');
    await spend(4);
    assertError(await agent.send('PATCH', UNKNOWN_EVENT, wrong), 429, 'RATE_LIMITED');
    assertError(await service.client.send('PATCH', UNKNOWN_EVENT, wrong), 401, 'MISSING_API_KEY');
  });
});
