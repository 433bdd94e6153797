// A disk whose reads are slow: the thread that serves requests never waits for it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, newEvent } from '../support/client.ts';
import { launchService } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

const SLOW_STATEMENTS = fileURLToPath(new URL('slow-statements.mjs', import.meta.url));

it('no request reads or writes the database on the main thread', { timeout: 60_000 }, async (t) => {
  const running = await launchService({ DATA_DIR: temporaryFolder() }, ['--import', SLOW_STATEMENTS]);
  t.after(() => running.child.kill('SIGKILL'));
  const started = running.output().stderr.length;
  assert.match(running.output().stderr, /a statement on the main thread/, 'at the start it may');
  const client = new Client(running.url);
  const agent = await client.register();
  const { event_id } = await agent.create();
  const path = `/v1/events/${event_id}`;
  const titles = ['a', 'b', 'c', 'd'];
  const answers = await Promise.all([
    ...titles.map((title) => agent.patch(path, { title })),
    agent.get(path),
    agent.nearby(),
    agent.nearby({ q: 'jazz' }),
    agent.get('/v1/agents/me'),
    agent.get('/v1/agents/me/events?limit=10'),
    agent.post('/v1/events', newEvent()),
    client.with({ 'x-api-key': 'lev_nobody' }).get('/v1/agents/me'),
    client.get('/health'),
    client.get('/ready'),
  ]);
  for (const { status } of answers) assert.ok([200, 401, 503].includes(status), String(status));
  assert.equal((await agent.post('/v1/auth/rotate', {})).status, 200);
  assert.equal(running.output().stderr.slice(started), '');
});
