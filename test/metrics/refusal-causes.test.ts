// Each remaining cause of a refusal is counted when a client meets that limit. The usual ones are in refusal-metrics.test.ts, those
// of a database in service-metrics.test.ts.
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { makeManyEvents } from '../sqlite/data.ts';
import { assertError, Client, newEvent } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { all, launchMeasured, type MeasuredService, refusals, sendUnfinished } from '../support/metrics.ts';
import { freePort } from '../support/process.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/service.ts';

const BREAK_THREADS = fileURLToPath(new URL('../faults/break-threads.mjs', import.meta.url));
const TIMEOUT = { timeout: 120_000 };
const CALENDAR = '/v1/agents/me/events?limit=100';

const start = (t: TestContext, env: Record<string, string> = {}, nodeOptions: readonly string[] = []) =>
  launchMeasured(t, { DATA_DIR: temporaryFolder(), ...env }, nodeOptions);

async function open(t: TestContext, { client }: MeasuredService, address = '127.0.0.1') {
  const connection = await RawConnection.open(client.url, address);
  t.after(() => connection.destroy());
  return connection;
}

/** Less than three quarters of a MiB: an agent that may send 1 MiB at a time may begin a second one. */
const LONG_BODY = ' '.repeat(700_000);

/** Sends all but the end of a long body. */
async function sendMostOf(
  t: TestContext,
  service: MeasuredService,
  agent: Client,
  address?: string,
): Promise<void> {
  const connection = await open(t, service, address);
  const length = `${LONG_BODY.length + 1}`;
  const headers = { 'Content-Type': 'application/json', 'Content-Length': length, ...agent.headers };
  connection.write(request('POST', '/v1/events', headers) + LONG_BODY);
}

describe('refusals are counted by cause', { concurrency: 3 }, () => {
  it('requests: as many as the service may have in progress', TIMEOUT, async (t) => {
    const service = await start(t, { MAX_REQUESTS: '5' });
    const agent = await service.client.register();
    for (let count = 0; count < 5; count++) await sendUnfinished(t, agent);
    await service.until('http_server_active_requests', (now) => now >= 5);
    assertError(await agent.nearby(), 503, 'OVERLOADED');
    assert.equal(await service.value(refusals('requests')), 1);
  });

  it('connections: as many as the service may have open, all of them busy', TIMEOUT, async (t) => {
    const service = await start(t, { MAX_CONNECTIONS: '10' });
    const agent = await service.client.register();
    // More than fit, at once: to one that comes later, the service gives the place of one that has sent nothing yet.
    while ((await service.value(refusals('connections'))) === 0) {
      for (const connection of await all(20, () => sendUnfinished(t, agent))) void connection.next('POST');
    }
  });

  it('bodies, of one client and of all', TIMEOUT, async (t) => {
    const service = await start(t, { MAX_BODIES_MB_PER_CLIENT: '1', MAX_BODIES_MB: '2' });
    const agents = await all(4, () => service.client.register());
    while ((await service.value(refusals('bodies_per_client'))) === 0) {
      await sendMostOf(t, service, agents[0]!);
    }
    while ((await service.value(refusals('bodies'))) === 0) {
      for (const [at, agent] of agents.entries()) await sendMostOf(t, service, agent, `127.0.0.${at + 2}`);
    }
  });

  it('unread responses, of one client and of all', TIMEOUT, async (t) => {
    const service = await start(t, { MAX_UNREAD_MB_PER_CLIENT: '1', MAX_UNREAD_MB: '2' });
    const agents = await all(4, () => service.client.register());
    for (const agent of agents) await addLongEvents(agent);
    for (const cause of ['unread_per_client', 'unread']) {
      while ((await service.value(refusals(cause))) === 0) {
        for (const agent of cause === 'unread' ? agents : agents.slice(0, 1)) {
          const connection = await open(t, service);
          connection.socket.pause();
          connection.write(request('GET', CALENDAR, agent.headers).repeat(4));
        }
        await sleep(50);
      }
    }
  });

  it('waiting work, of one client and of all', TIMEOUT, async (t) => {
    const service = await start(t);
    const agents = await all(8, () => service.client.register());
    for (const agent of agents) await addLongEvents(agent);
    const headers = { Accept: 'text/calendar' };
    for (const [cause, asking] of [
      ['queue_per_client', agents.slice(0, 1)],
      ['queue', agents],
    ] as const) {
      for (let refused = 0; refused === 0; ) {
        const connections = await all(asking.length * 3, () => open(t, service));
        connections.forEach((connection, at) => {
          const agent = asking[at % asking.length]!;
          connection.write(request('GET', CALENDAR, { ...headers, ...agent.headers }).repeat(120));
        });
        for (const until = performance.now() + 3_000; refused === 0 && performance.now() < until; ) {
          await sleep(50);
          refused = await service.value(refusals(cause));
        }
        for (const connection of connections) connection.destroy();
      }
    }
  });

  it('turns that do not come in time', TIMEOUT, async (t) => {
    const service = await start(t);
    while ((await service.value(refusals('turn'))) === 0) {
      const connections = await all(40, () => open(t, service));
      const answers = () => all(connections.length, (at) => connections[at]!.next());
      connections.forEach((connection, at) => {
        connection.write(request('GET', '/nothing', { 'X-API-Key': `${at}` }).repeat(100));
      });
      // The process stands still when it has read all of them and answered one of each client.
      await answers();
      service.child.kill('SIGSTOP');
      await sleep(3_500);
      service.child.kill('SIGCONT');
      await answers();
      for (const connection of connections) connection.destroy();
    }
  });

  it('too little free disk', TIMEOUT, async (t) => {
    const service = await start(t);
    const agent = await service.client.register();
    assert.equal((await agent.post('/v1/events', newEvent())).status, 200);
    const full = await start(t, { MIN_FREE_DISK_MB: '100000000' });
    assert.equal(
      (await full.client.post('/v1/auth/register', { email: 'a@b.c', agent_name: 'x' })).status,
      503,
    );
    assert.equal(await full.value(refusals('disk_space')), 1);
  });

  it('a service that still loads its events', TIMEOUT, async (t) => {
    const port = await freePort();
    const early = new Client(`http://127.0.0.1:${port}`);
    const refused = (async () => {
      for (;;) {
        const answer = await early.get('/v1/agents/me').catch(() => undefined);
        if (answer) return answer;
        await sleep(5);
      }
    })();
    const service = await start(t, { DATA_DIR: makeManyEvents(), PORT: `${port}` });
    assertError(await refused, 503, 'UNAVAILABLE');
    assert.equal(await service.value(refusals('starting')), 1);
  });

  it('writes that miss their deadline', TIMEOUT, async (t) => {
    const stall = join(temporaryFolder(), 'stall');
    const service = await start(t, { STALL_FILE: stall }, ['--import', BREAK_THREADS]);
    const agent = await service.client.register();
    writeFileSync(stall, '');
    assertError(await agent.post('/v1/events', newEvent()), 503, 'UNAVAILABLE');
    assert.equal(await service.value(refusals('write_deadline')), 1);
    rmSync(stall);
  });

  it('work that waits too long for the database', TIMEOUT, async (t) => {
    const env = await ENGINES.postgres();
    const service = await launchMeasured(t, { ...env, DATABASE_POOL_SIZE: '2' });
    const agent = await service.client.register();
    const { event_id } = await agent.create();
    const sql = postgres(env.DATABASE_URL!, { max: 1, onnotice: () => {} });
    t.after(() => sql.end());
    let stuck: Promise<unknown> | undefined;
    await sql.begin(async (locking) => {
      await locking`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`;
      stuck = all(60, () => agent.patch(`/v1/events/${event_id}`, { title: 'Other' }));
      await service.until(refusals('queue_wait'), (count) => count > 0);
    });
    await stuck;
  });
});

async function addLongEvents(agent: Client): Promise<void> {
  await all(30, (at) =>
    agent.post('/v1/events', newEvent({ title: `Long ${at}`, description: '😀'.repeat(9_999) })),
  );
}
