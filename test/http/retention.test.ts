// KEEP_ENDED_DAYS and KEEP_UNUSED_AGENTS_DAYS: what a service removes by itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2031-05-01T12:00:00Z');
const at = (days: number) => new Date(NOW_MS + days * DAY_MS).toISOString();

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`retention on ${engine}`, () => {
    it('keeps everything by default, and removes what is too old once it is set', async (t) => {
      const env = await ENGINES[engine]();
      const first = await startTestService(env, { clock: () => NOW_MS });
      const agent = await first.newAgent();
      const idle = await first.newAgent();
      const ended = await agent.create({ start_at: at(-31) });
      const recent = await agent.create({ start_at: at(-29) });
      const running = await agent.create({ start_at: at(-40), end_at: at(5) });
      await first.close();

      const quiet = await startTestService(env, { clock: () => NOW_MS + 8 * DAY_MS });
      assert.equal((await quiet.client.with(idle.headers).get('/v1/agents/me')).status, 200);
      const unused = await quiet.newAgent();
      assert.equal((await quiet.client.with(agent.headers).get(`/v1/events/${ended.event_id}`)).status, 200);
      await quiet.close();

      // Otherwise nothing is removed by a clock that has jumped.
      const confirmed = { CLOCK_CONFIRMED: at(16).slice(0, 10) };
      const keep = { KEEP_ENDED_DAYS: '39', KEEP_UNUSED_AGENTS_DAYS: '7', ...confirmed };
      const service = await startTestService(
        { ...env, ...keep },
        { until: t, clock: () => NOW_MS + 16 * DAY_MS },
      );
      const lines = () => service.log.map(({ msg }) => String(msg)).filter((msg) => /^Removed /.test(msg));
      for (let tries = 0; tries < 500 && lines().length < 2; tries++) await sleep(20);
      assert.deepEqual(lines(), [
        'Removed 2 events that ended at least 39 days ago (KEEP_ENDED_DAYS).',
        'Removed 1 agents that registered at least 7 days ago and were never used (KEEP_UNUSED_AGENTS_DAYS).',
      ]);
      const reader = service.client.with(agent.headers);
      assertError(await reader.get(`/v1/events/${ended.event_id}`), 404, 'NOT_FOUND');
      assertError(await reader.get(`/v1/events/${recent.event_id}`), 404, 'NOT_FOUND');
      assert.equal((await reader.get(`/v1/events/${running.event_id}`)).status, 200);
      assert.equal((await reader.get('/v1/agents/me')).body.agent.event_count, 1);
      assert.equal((await service.client.with(idle.headers).get('/v1/agents/me')).status, 200);
      assertError(await service.client.with(unused.headers).get('/v1/agents/me'), 401, 'INVALID_API_KEY');
    });
  });
}

describe('a clock that is ahead', () => {
  it('is trusted after 24 hours of running time, over several starts', async (t) => {
    const env = { ...(await ENGINES.sqlite()), KEEP_ENDED_DAYS: '30' };
    const first = await startTestService(env, { clock: () => NOW_MS });
    const agent = await first.newAgent();
    const { event_id } = await agent.create({ start_at: at(10) });
    await first.close();
    let uptimeMs = 0;
    const start = () => startTestService(env, { clock: () => NOW_MS + 200 * DAY_MS, uptime: () => uptimeMs });
    const logged = async ({ log }: TestService, text: RegExp) => {
      for (let tries = 0; tries < 500; tries++, await sleep(20)) {
        const found = log.find(({ msg }) => text.test(String(msg)));
        if (found) return String(found.msg);
      }
      assert.fail(`no line ${text}`);
    };
    for (const waited of ['0.0', '9.0', '18.0']) {
      const service = await start();
      const line = await logged(service, /^Old data is not removed/);
      assert.ok(line.includes(`(${waited} so far, summed over restarts)`), line);
      uptimeMs += 9 * 3_600_000;
      await service.close();
    }
    const last = await start();
    t.after(() => last.close());
    await logged(last, /^Removed 1 events/);
    assertError(await last.client.with(agent.headers).get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
  });
});
