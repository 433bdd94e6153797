// The quota of registrations: per client IP address, for IPv6 per /64, and which address counts behind proxies.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { type Answer, assertError, assertInvalid } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const VALID = { email: 'agent@example.com', agent_name: 'a name' };

describe('POST /v1/auth/register, limited', () => {
  before(() => mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00Z') }));
  after(() => mock.timers.reset());
  const services: TestService[] = [];
  afterEach(() => Promise.all(services.splice(0).map((service) => service.close())));

  /** Starts a service that allows two registrations per address; returns a function that registers with given headers. */
  async function start(env: Record<string, string> = {}) {
    const service = await startTestService({ REGISTRATIONS_PER_HOUR: '2', ...env });
    services.push(service);
    const register = (headers: Record<string, string> = {}, body: unknown = VALID): Promise<Answer> =>
      service.client.send('POST', '/v1/auth/register', { body, headers });
    /** Registers with each X-Forwarded-For in turn; returns the statuses. */
    const from = async (...forwarded: string[]): Promise<number[]> => {
      const statuses: number[] = [];
      for (const value of forwarded) statuses.push((await register({ 'x-forwarded-for': value })).status);
      return statuses;
    };
    return { service, register, from };
  }

  it('refuses registrations over the limit until an hour after the first', async () => {
    const { service, register } = await start();
    assert.equal((await register()).status, 200);
    service.clock.advance(1_800_000);
    assert.equal((await register()).status, 200);
    const refused = await register();
    assertError(refused, 429, 'RATE_LIMITED');
    assert.equal(refused.headers.get('retry-after'), '1800');
    assert.equal(refused.headers.get('ratelimit-policy'), '"default";q=2;w=3600');
    assert.equal(refused.headers.get('ratelimit'), '"default";r=0;t=1800');
    service.clock.advance(1_800_000 - 1);
    assertError(await register(), 429, 'RATE_LIMITED');
    service.clock.advance(1);
    assert.equal((await register()).status, 200);
    const administrator = await service.newAdministrator();
    assert.equal((await administrator.get('/v1/admin/agents')).body.total, 3);
  });

  it('lets exactly the limit through when all arrive at once', async () => {
    const { register } = await start();
    const answers = await Promise.all(Array.from({ length: 10 }, () => register()));
    assert.equal(answers.filter(({ status }) => status === 200).length, 2);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assertError(answer, 429, 'RATE_LIMITED');
      assert.equal(answer.headers.get('retry-after'), '3600');
    }
  });

  it('does not count registrations that fail validation', async () => {
    const { service, register } = await start();
    for (let time = 0; time < 5; time++) {
      assertInvalid(await register({}, { email: 'no address', agent_name: '' }));
      assertInvalid(await service.client.send('POST', '/v1/auth/register', { raw: '{' }));
      const other = { raw: 'x', headers: { 'content-type': 'text/plain' } };
      assert.equal((await service.client.send('POST', '/v1/auth/register', other)).status, 415);
    }
    assert.equal((await register()).status, 200);
    assert.equal((await register()).status, 200);
    assertError(await register(), 429, 'RATE_LIMITED');
  });

  it('checks the quota before the body', async () => {
    const { register } = await start();
    await register();
    await register();
    assertError(await register({}, {}), 429, 'RATE_LIMITED');
    assertError(await register({ 'content-type': 'text/plain' }), 429, 'RATE_LIMITED');
  });

  it('does not limit and sends no header if the limit is 0', async () => {
    const { register } = await start({ REGISTRATIONS_PER_HOUR: '0' });
    for (let time = 0; time < 5; time++) {
      const answer = await register();
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('ratelimit'), null);
      assert.equal(answer.headers.get('ratelimit-policy'), null);
    }
  });

  it('does not count the requests of agents', async () => {
    const { service, register } = await start();
    const agent = await service.newAgent();
    for (let time = 0; time < 5; time++) assert.equal((await agent.nearby()).status, 200);
    assert.equal((await register()).status, 200);
  });

  it('ignores forwarded headers unless a proxy is trusted', async () => {
    for (const env of [{}, { TRUST_PROXY: '10.0.0.0/8' }] as Record<string, string>[]) {
      const { register, from } = await start(env);
      assert.deepEqual(await from('203.0.113.1', '203.0.113.2', '203.0.113.3'), [200, 200, 429]);
      for (const name of ['forwarded', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-client-ip']) {
        assert.equal((await register({ [name]: 'for=203.0.113.4' })).status, 429, name);
      }
    }
  });

  it('counts the address that a trusted proxy names', async () => {
    const { service, register, from } = await start({ TRUST_PROXY: '127.0.0.1' });
    const [one, two] = ['203.0.113.1', '203.0.113.2'];
    assert.deepEqual(await from(one, one, one, two, two, two), [200, 200, 429, 200, 200, 429]);
    assert.equal((await register()).status, 200, 'without the header it is the proxy itself');
    service.clock.advance(HOUR_MS);
    assert.deepEqual(await from(one), [200]);
  });

  it('counts the rightmost address that is not a trusted proxy, whatever a client adds to its left', async () => {
    const { from } = await start({ TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' });
    assert.deepEqual(
      await from(
        '203.0.113.1, 10.1.2.3',
        '198.51.100.1, 203.0.113.1, 10.9.9.9, 10.1.2.3',
        '198.51.100.2, 10.0.0.1, 203.0.113.1,10.1.2.3',
        'unknown, 203.0.113.1',
      ),
      [200, 200, 429, 429],
    );
    assert.deepEqual(await from('198.51.100.1, 10.1.2.3', '198.51.100.2, 10.1.2.3'), [200, 200]);
  });

  it('counts an IPv6 client as its /64 and a mapped IPv4 address as that address', async () => {
    const { from } = await start({ TRUST_PROXY: 'loopback' });
    assert.deepEqual(
      await from('2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:0DB8:0001:0002::3', '2001:db8:1:3::1'),
      [200, 200, 429, 200],
    );
    assert.deepEqual(await from('203.0.113.1', '::ffff:203.0.113.1', '203.0.113.1'), [200, 200, 429]);
  });

  it('counts a client as its network, however the proxy writes its address: in brackets, with a port, or both', async () => {
    const { from } = await start({ TRUST_PROXY: 'loopback, fd00::/8' });
    assert.deepEqual(
      await from('[2001:db8::1]:50001', '[2001:db8::1]:50002', '[2001:db8::2]', '2001:db8::3'),
      [200, 200, 429, 429],
    );
    assert.deepEqual(await from('203.0.113.1:1', '203.0.113.1:2', '203.0.113.1:3'), [200, 200, 429]);
    // The same for a trusted proxy: its clients count, not the proxy itself.
    const through = (client: string, port: number) => `${client}, [fd00::1]:${port}`;
    assert.deepEqual(
      await from(through('198.51.100.1', 1), through('198.51.100.2', 2), through('198.51.100.3', 3)),
      [200, 200, 200],
    );
  });
});
