// Threads of the embedded engine that die, or wait for a disk that does not respond.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertError, Client, newEvent } from '../support/client.ts';
import { launchService } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

const BREAK_THREADS = fileURLToPath(new URL('break-threads.mjs', import.meta.url));

async function start(t: TestContext, env: Record<string, string>) {
  const running = await launchService({ DATA_DIR: temporaryFolder(), ...env }, ['--import', BREAK_THREADS]);
  t.after(() => running.child.kill('SIGKILL'));
  return { ...running, client: new Client(running.url) };
}

describe('a thread that dies', { concurrency: true }, () => {
  for (const thread of ['writer', 'reader']) {
    it(`ends the process, so that a supervisor starts it again: ${thread}`, async (t) => {
      const { child, ended, client } = await start(t, { KILLED_THREAD: thread });
      assert.equal((await client.get('/health')).status, 200);
      child.kill('SIGUSR2');
      const { code, stdout } = await ended;
      assert.equal(code, 1);
      assert.match(stdout, /"level":60,.*has exited.*"msg":"The service cannot go on, and exits\."/);
    });
  }
});

it('tells clients what became of their writes while the disk does not respond, and keeps what it has begun', async (t) => {
  const stall = join(temporaryFolder(), 'stall');
  const { client } = await start(t, { STALL_FILE: stall });
  const agent = await client.register();
  const kept = await agent.create({ title: 'Before' });
  writeFileSync(stall, '');
  const begun = agent.patch(`/v1/events/${kept.event_id}`, { title: 'Begun' });
  await sleep(1_000);
  const waiting = agent.post('/v1/events', newEvent({ title: 'Waiting' }));
  await sleep(500);
  assert.equal((await agent.get(`/v1/events/${kept.event_id}`)).status, 200, 'reads go on');
  assert.equal((await client.get('/health')).status, 503);
  assert.equal((await client.get('/ready')).body.part, 'writer');
  assert.equal((await client.get('/live')).status, 200);
  const [patched, created] = await Promise.all([begun, waiting]);
  assertError(patched, 503, 'UNAVAILABLE');
  assert.match(patched.body.error.message, /may still happen: read before you retry\.$/);
  assertError(created, 503, 'UNAVAILABLE');
  assert.match(created.body.error.message, /Nothing was changed\. Retry\.$/);
  rmSync(stall);
  const until = performance.now() + 10_000;
  for (;;) {
    const { body } = await agent.get(`/v1/events/${kept.event_id}`);
    if (body.title === 'Begun') break;
    assert.ok(performance.now() < until, body.title);
    await sleep(50);
  }
  const { events } = (await agent.nearby()).body;
  const titles = events.map(({ title }: { title: string }) => title);
  assert.ok(!titles.includes('Waiting'), String(titles));
});
