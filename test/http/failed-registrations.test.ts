// The limit of failed registrations: per network and hour, apart from the quota of registrations. Networks themselves are in
// registration-limit.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, assertError, assertInvalid } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { startTestService, useTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const REGISTER = '/v1/auth/register';
const HOUR_MS = 3_600_000;
const NOW_MS = Date.parse('2031-01-01T00:00:00Z');
const VALID = { email: 'agent@example.com', agent_name: 'a name' };

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const newData = ENGINES[engine];
  describe(`registrations that fail, on ${engine}`, () => {
    const limits = {
      REGISTRATIONS_PER_HOUR: '4',
      FAILED_REGISTRATIONS_PER_HOUR: '3',
      TRUST_PROXY: 'loopback',
    };
    const service = useTestService(async () => ({ ...(await newData()), ...limits }), {
      clock: () => NOW_MS,
    });

    let networks = 0;
    /** A client in a network of its own. */
    const newNetwork = () => {
      const client = service.client.with({ 'x-forwarded-for': `203.0.113.${++networks}` });
      const send = (raw: string, headers = {}) => client.send('POST', REGISTER, { raw, headers });
      return {
        client,
        send,
        register: (body: unknown = VALID): Promise<Answer> => client.post(REGISTER, body),
      };
    };

    it('are refused before the body is read once there were too many, until an hour after the first', async () => {
      const { send, register } = newNetwork();
      assertInvalid(await register({}));
      service.clock.advance(1_800_000);
      assertInvalid(await send('{'));
      assertError(await send(' '.repeat(16_385)), 413, 'PAYLOAD_TOO_LARGE');
      for (const refused of [
        await register({}),
        await register(),
        await send('x', { 'content-type': 'x/y' }),
      ]) {
        assertError(refused, 429, 'RATE_LIMITED');
        assert.equal(
          refused.body.error.message,
          '3 registrations from your network failed within an hour, the maximum. Fix the requests. Retry in 1800 s.',
        );
        assert.equal(refused.headers.get('retry-after'), '1800');
        assert.equal(refused.headers.get('ratelimit'), '"default";r=0;t=1800');
        assert.equal(refused.headers.get('ratelimit-policy'), '"default";q=3;w=3600');
      }
      service.clock.advance(1_800_000 - 1);
      assertError(await register(), 429, 'RATE_LIMITED');
      service.clock.advance(1);
      assert.equal((await register()).status, 200);
    });

    it('do not use up the quota of registrations, nor the other way round', async () => {
      const { register } = newNetwork();
      for (const _ of [1, 2]) {
        assertInvalid(await register({}));
        for (const _ of [1, 2]) assert.equal((await register()).status, 200);
      }
      const refused = await register();
      assertError(refused, 429, 'RATE_LIMITED');
      assert.match(refused.body.error.message, /^The quota of 4 per hour is used up\./);
      assertError(await register({}), 429, 'RATE_LIMITED');
      service.clock.advance(HOUR_MS);
      for (const _ of [1, 2, 3]) assertInvalid(await register({}));
      assertError(await register(), 429, 'RATE_LIMITED');
    });

    it('count for their network only', async () => {
      const [one, other] = [newNetwork(), newNetwork()];
      for (const _ of [1, 2, 3]) assertInvalid(await one.register({}));
      assertError(await one.register(), 429, 'RATE_LIMITED');
      assert.equal((await other.register()).status, 200);
    });

    const failures: [what: string, status: number, raw: string, headers?: Record<string, string>][] = [
      ['an invalid body', 422, '{"email":"x"}'],
      ['no body', 422, ''],
      ['broken JSON', 422, '{'],
      ['too many bytes', 413, ' '.repeat(20_000)],
      ['too many values', 413, JSON.stringify(Array(3_000).fill(1))],
      ['another media type', 415, 'x', { 'content-type': 'text/plain' }],
      ['a compressed body', 415, 'x', { 'content-encoding': 'gzip' }],
    ];
    for (const [what, status, raw, headers] of failures) {
      it(`count if they have ${what}`, async () => {
        const { send, register } = newNetwork();
        for (const _ of [1, 2, 3]) assert.equal((await send(raw, headers)).status, status);
        assertError(await register(), 429, 'RATE_LIMITED');
      });
    }

    it('count if the client leaves before the body is complete', { timeout: 30_000 }, async (test) => {
      const env = { ...(await newData()), FAILED_REGISTRATIONS_PER_HOUR: '3' };
      const { url, client, close } = await startTestService(env);
      test.after(close);
      for (const _ of [1, 2, 3]) {
        assert.equal((await client.post(REGISTER, VALID)).status, 200);
        const connection = await RawConnection.open(url);
        const headers = { 'Content-Type': 'application/json', 'Content-Length': '100' };
        connection.write(request('POST', REGISTER, headers));
        connection.write('{');
        connection.socket.end();
        assertError((await connection.next('POST'))!, 400, 'BAD_REQUEST');
      }
      while ((await client.post(REGISTER, VALID)).status !== 429) await sleep(10);
    });

    it('are not requests with another method, nor registrations beyond the quota', async () => {
      const { client, register } = newNetwork();
      for (const _ of [1, 2, 3, 4]) assert.equal((await client.get(REGISTER)).status, 405);
      for (const _ of [1, 2, 3, 4]) assert.equal((await register()).status, 200);
      for (const _ of [1, 2, 3, 4, 5]) assertError(await register({}), 429, 'RATE_LIMITED');
      service.clock.advance(HOUR_MS);
      for (const _ of [1, 2, 3]) assertInvalid(await register({}));
      assertError(await register({}), 429, 'RATE_LIMITED');
    });

    it('are not limited if the limit is 0', async (test) => {
      const unlimited = await startTestService(
        { ...(await newData()), FAILED_REGISTRATIONS_PER_HOUR: '0' },
        { until: test },
      );
      for (let time = 0; time < 10; time++) assertInvalid(await unlimited.client.post(REGISTER, {}));
      assert.equal((await unlimited.client.post(REGISTER, VALID)).status, 200);
    });
  });
}
