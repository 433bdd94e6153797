// A service whose clock is 200 days ahead removes nothing, says so, and serves. Right clocks are not held up by it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { launchMeasured, type MeasuredService } from '../support/metrics.ts';
import { startTestService } from '../support/service.ts';

const DAY_MS = 86_400_000;
const AHEAD_DAYS = 200;
const KEEP = { KEEP_ENDED_DAYS: '30', KEEP_UNUSED_AGENTS_DAYS: '30' };
const STOPPED = 'local_events_retention_stopped';

const at = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const ahead = `const now = Date.now; Date.now = () => now() + ${AHEAD_DAYS * DAY_MS};`;
const AHEAD = ['--import', `data:text/javascript,${encodeURIComponent(ahead)}`];

for (const engine of Object.keys(ENGINES) as Engine[]) {
  describe(`a clock that is ${AHEAD_DAYS} days ahead, on ${engine}`, () => {
    it('removes nothing until its date is confirmed, and leaves right clocks alone', async (t) => {
      const env = await ENGINES[engine]();
      const { key, unused, ids, deleted } = await fill(env);
      const read = async ({ client }: MeasuredService) => {
        const agent = client.with({ 'x-api-key': key });
        const statuses = await Promise.all(
          ids.map(async (id) => (await agent.get(`/v1/events/${id}`)).status),
        );
        return statuses.join(' ');
      };
      const logged = async (service: MeasuredService, text: RegExp) => {
        for (let tries = 0; !text.test(service.output().stdout); tries++) {
          assert.ok(tries < 300, service.output().stdout);
          await sleep(50);
        }
      };

      const wrong = await launchMeasured(t, { ...env, ...KEEP }, AHEAD);
      await wrong.until(STOPPED, (value) => value === 1);
      const today = at(AHEAD_DAYS).slice(0, 10);
      await logged(
        wrong,
        new RegExp(`"level":40.*It says ${today}, 200 days after.*CLOCK_CONFIRMED=${today} today`),
      );
      assert.doesNotMatch(wrong.output().stdout, /Removed/);
      assert.equal((await wrong.client.get('/ready')).status, 200);
      assert.equal((await wrong.client.get('/health')).status, 200);
      assert.equal(await read(wrong), '200 200 200');
      // What it writes does not make its clock look right.
      await wrong.client.with({ 'x-api-key': key }).create({ start_at: at(AHEAD_DAYS + 300) });
      if (engine === 'sqlite') await stop(wrong);
      const again = await launchMeasured(t, { ...env, ...KEEP, CLOCK_CONFIRMED: at(0).slice(0, 10) }, AHEAD);
      await again.until(STOPPED, (value) => value === 1);
      if (engine === 'sqlite') await stop(again);

      const right = await launchMeasured(t, { ...env, ...KEEP });
      await logged(right, /Removed 1 events that ended/);
      assert.equal(await right.value(STOPPED), 0);
      assert.equal(await read(right), '404 200 200');
      await stop(right);
      for (const service of [wrong, again]) await stop(service);
      assert.equal(await restorable(env, deleted), true);

      const confirmed = await launchMeasured(t, { ...env, ...KEEP, CLOCK_CONFIRMED: today }, AHEAD);
      await logged(confirmed, /Removed 2 events that ended/);
      await logged(confirmed, /Removed 1 agents that registered/);
      assert.equal(await confirmed.value(STOPPED), 0);
      assert.equal(await read(confirmed), '404 404 404');
      await stop(confirmed);
      assert.equal(await restorable(env, deleted), false);

      // It was confirmed by mistake: what it removed comes back, as after a delete by an administrator.
      const restored = await restoreRemoved(env);
      assert.deepEqual(restored, ['delete_agent 0', 'delete_events 2']);
      const last = await launchMeasured(t, env);
      assert.equal(await read(last), '404 200 200');
      assert.equal((await last.client.with({ 'x-api-key': unused }).get('/v1/agents/me')).status, 200);
    });
  });
}

/** An event that ended long ago, two to come, one that an administrator deleted, and an agent that was never used. */
async function fill(env: Record<string, string>) {
  const service = await startTestService(env);
  const agent = await service.newAgent();
  const ids: string[] = [];
  for (const days of [-40, 10, 100]) ids.push((await agent.create({ start_at: at(days) })).event_id);
  const unused = (await service.newAgent()).headers['x-api-key']!;
  const admin = await service.newAdministrator();
  const { event_id } = await agent.create({ start_at: at(20) });
  assert.equal((await admin.delete(`/v1/admin/events/${event_id}`)).status, 204);
  const { id } = (await admin.get('/v1/admin/audit')).body.entries[0];
  await service.close();
  return { key: agent.headers['x-api-key']!, unused, ids, deleted: id as string };
}

async function restorable(env: Record<string, string>, auditId: string): Promise<boolean> {
  const service = await startTestService(env);
  try {
    const admin: Client = await service.newAdministrator();
    const { entries } = (await admin.get('/v1/admin/audit', { include: 'details', limit: 100 })).body;
    return entries.find(({ id }: { id: string }) => id === auditId).restorable_until !== null;
  } finally {
    await service.close();
  }
}

/** Restores what the service removed by itself. Returns the entries, newest first, with the number of events. */
async function restoreRemoved(env: Record<string, string>): Promise<string[]> {
  const service = await startTestService(env);
  try {
    const admin: Client = await service.newAdministrator();
    const { entries } = (await admin.get('/v1/admin/audit', { limit: 100 })).body;
    const removed = entries.filter(
      ({ actor_subject }: { actor_subject: string }) => actor_subject === 'retention',
    );
    const restored: string[] = [];
    for (const { id, action, at: removedAt } of removed) {
      if (Date.parse(removedAt) < Date.now()) continue; // what the right clock removed
      const answer = await admin.post(`/v1/admin/audit/${id}/restore`);
      assert.equal(answer.status, 200, answer.text);
      restored.push(`${action} ${answer.body.restored}`);
    }
    return restored;
  } finally {
    await service.close();
  }
}

async function stop({ child }: MeasuredService): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGINT');
  await new Promise((resolve) => child.once('exit', resolve));
}
