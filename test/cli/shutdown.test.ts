// How a real process stops: requests under way are finished, idle connections do not delay it, stalled ones are cut, and
// every acknowledged write is there after a restart.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { Client, newEvent } from '../support/client.ts';
import { type Ended, launchService, untilPrinted, waitedForCoreMs } from '../support/process.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const BREAK_THREADS = fileURLToPath(new URL('../faults/break-threads.mjs', import.meta.url));

type Running = Awaited<ReturnType<typeof launchService>>;

/** Time limits: for requests under way before they are cut, and for the whole process. */
const CUT_MS = 4_000;
const EXIT_MS = 5_000;

async function start(t: TestContext, folder: string): Promise<Running> {
  const service = await launchService({ DATA_DIR: folder });
  t.after(() => service.child.kill('SIGKILL'));
  return service;
}

async function register(service: Running): Promise<string> {
  const body = { email: 'agent@example.com', agent_name: 'an agent' };
  return (await new Client(service.url).post('/v1/auth/register', body)).body.api_key;
}

/** Sends the signal and returns once the process has noticed it. */
async function signal(service: Running, name: NodeJS.Signals): Promise<void> {
  service.child.kill(name);
  await untilPrinted(service, ({ stdout }) => stdout.includes('"stopping"'));
}

/** How long the process has waited for a core since the call, as far as known while it runs. */
function watchWaiting(t: TestContext, pid: number): () => number {
  const beforeMs = waitedForCoreMs(pid);
  let waitedMs = 0;
  const timer = setInterval(() => {
    waitedMs = waitedForCoreMs(pid) - beforeMs || waitedMs; // NaN when it has ended
  }, 50);
  t.after(() => clearInterval(timer));
  return () => waitedMs;
}

/** Asserts a clean end and returns how long it took by the process's own clock. */
function assertClean({ code, signal, stdout, stderr }: Ended): number {
  assert.equal(code, 0, stdout + stderr);
  assert.equal(signal, null);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: number; time: number; msg: string });
  assert.deepEqual(
    lines.filter(({ level }) => level > 30),
    [],
  );
  assert.equal(lines.at(-1)?.msg, 'stopped');
  return lines.at(-1)!.time - lines.find(({ msg }) => msg === 'stopping')!.time;
}

/** Asserts that the file is whole and that a new service has exactly these events. */
async function assertStored(
  t: TestContext,
  folder: string,
  key: string,
  titles: readonly string[],
): Promise<void> {
  const database = new DatabaseSync(databasePath(folder));
  assert.equal(database.prepare('PRAGMA integrity_check').get()!.integrity_check, 'ok');
  const stored = database.prepare('SELECT title FROM events').all();
  database.close();
  assert.deepEqual(stored.map(({ title }) => title).sort(), [...titles].sort());
  const again = await startTestService({ DATA_DIR: folder }, { until: t });
  const { total } = (await again.client.with({ 'x-api-key': key }).nearby()).body;
  assert.equal(total, titles.length);
}

describe('a process that is asked to stop', () => {
  it('ends although the reader of its log has closed the pipe', async (t) => {
    const service = await start(t, temporaryFolder());
    service.child.stdout!.destroy();
    service.child.kill('SIGTERM');
    assert.equal((await service.ended).code, 0);
  });

  // A process that waited for the reader would never end.
  it('ends although the reader of its log has stalled', { timeout: 60_000 }, async (t) => {
    const service = await start(t, temporaryFolder());
    service.child.stdout!.pause();
    const client = new Client(service.url);
    // More than a pipe and the reader's own buffer hold.
    for (let sent = 0; sent < 2_500; sent += 50)
      await Promise.all(Array.from({ length: 50 }, () => client.get('/health')));
    service.child.kill('SIGTERM');
    await once(service.child, 'exit');
    assert.equal(service.child.exitCode, 0);
  });
});

describe('a process that gets another signal', () => {
  it('stops at SIGHUP, as at SIGTERM, with lines that say so', async (t) => {
    const service = await start(t, temporaryFolder());
    service.child.kill('SIGHUP');
    const ended = await service.ended;
    assertClean(ended);
    assert.match(ended.stdout, /"signal":"SIGHUP","msg":"stopping"/);
  });

  it('goes on at SIGUSR1, and opens no debugger', async (t) => {
    const service = await start(t, temporaryFolder());
    for (let sent = 0; sent < 3; sent++) {
      service.child.kill('SIGUSR1');
      await untilPrinted(service, ({ stdout }) => stdout.split('"signal":"SIGUSR1"').length > sent + 1);
    }
    assert.equal((await new Client(service.url).get('/health')).status, 200);
    service.child.kill('SIGTERM');
    const ended = await service.ended;
    assertClean(ended);
    assert.doesNotMatch(ended.stderr, /debugger/i);
  });
});

/** A create whose headers have arrived, but not its body. */
async function beginCreate(service: Running, key: string, title: string) {
  const body = JSON.stringify(newEvent({ title }));
  const connection = await RawConnection.open(service.url);
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json', Expect: '100-continue' };
  connection.write(request('POST', '/v1/events', { ...headers, 'Content-Length': String(body.length) }));
  const answer = connection.next('POST');
  await connection.continued;
  return { connection, answer, finish: () => connection.write(body) };
}

describe('a process stopped by', { concurrency: 2, timeout: 300_000 }, () => {
  for (const name of size(['SIGTERM'] as const, ['SIGTERM', 'SIGINT'] as const)) {
    describe(name, { concurrency: 1 }, () => {
      it('finishes requests under way, closes idle connections at once, accepts no new ones and exits with 0', async (t) => {
        const folder = temporaryFolder();
        const service = await start(t, folder);
        const key = await register(service);
        const titles = Array.from({ length: 20 }, (_, at) => `title ${at}`);
        const begun = await Promise.all(titles.map((title) => beginCreate(service, key, title)));
        const idle = await Promise.all([1, 2, 3].map(() => RawConnection.open(service.url)));
        for (const connection of idle) {
          connection.write(request('GET', '/health', { Connection: 'keep-alive' }));
          assert.equal((await connection.next())?.status, 200);
        }
        const silent = await RawConnection.open(service.url);

        await signal(service, name);
        await Promise.all(idle.map(({ closed }) => closed));
        await assert.rejects(RawConnection.open(service.url), { code: 'ECONNREFUSED' });
        for (const { finish } of begun) finish();
        for (const { connection, answer } of begun) {
          assert.equal((await answer)?.status, 200);
          await connection.closed;
        }
        const tookMs = assertClean(await service.ended);
        assert.ok(tookMs < CUT_MS, `it took ${tookMs} ms, as if it had waited for a connection`);
        await silent.closed;
        await assertStored(t, folder, key, titles);
      });

      it('cuts clients that stall, within 5 seconds, and finishes the others', async (t) => {
        const folder = temporaryFolder();
        const service = await start(t, folder);
        const key = await register(service);
        const client = new Client(service.url, { 'x-api-key': key });
        const long = Array.from({ length: 100 }, (_, at) => `long ${at}`);
        await Promise.all(long.map((title) => client.create({ title, description: 'x'.repeat(10_000) })));
        // One never sends its body, one sends it drop by drop, one never reads the 60 MB that it asked for.
        const stalled = await beginCreate(service, key, 'never sent');
        const dripping = await beginCreate(service, key, 'never finished');
        const drip = setInterval(() => dripping.connection.write(' '), 100);
        t.after(() => clearInterval(drip));
        const deaf = await RawConnection.open(service.url);
        deaf.socket.pause();
        const deafKey = { 'X-API-Key': await register(service) };
        deaf.write(request('GET', '/v1/events/nearby?lat=0&lng=0&limit=100', deafKey).repeat(60));
        const good = await beginCreate(service, key, 'good');

        await signal(service, name);
        const waitedMs = watchWaiting(t, service.child.pid!);
        good.finish();
        assert.equal((await good.answer)?.status, 200);
        const tookMs = assertClean(await service.ended);
        const maxMs = EXIT_MS + waitedMs();
        assert.ok(tookMs >= CUT_MS - 100 && tookMs < maxMs, `it took ${tookMs} of ${maxMs} ms`);
        for (const { connection, answer } of [stalled, dripping]) {
          assert.equal(await answer, undefined);
          await connection.closed;
        }
        deaf.destroy();
        await assertStored(t, folder, key, [...long, 'good']);
      });

      it('keeps every create that it acknowledged, and no response is a failure', async (t) => {
        const folder = temporaryFolder();
        const service = await start(t, folder);
        const key = await register(service);
        const acknowledged: string[] = [];
        const reached = Promise.withResolvers<void>();
        const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
        const create = async (loop: number) => {
          const connection = await RawConnection.open(service.url);
          for (let at = 0; ; at++) {
            const title = `${loop}.${at}`;
            connection.write(request('POST', '/v1/events', headers, JSON.stringify(newEvent({ title }))));
            const answer = await connection.next('POST');
            if (!answer) return; // the connection was closed while idle
            assert.equal(answer.status, 200, answer.text);
            acknowledged.push(title);
            if (acknowledged.length === 500) reached.resolve();
            if (answer.headers.get('connection') === 'close') return;
          }
        };
        const loops = Promise.all(Array.from({ length: 16 }, (_, loop) => create(loop)));
        await reached.promise;
        service.child.kill(name);
        await loops;
        assertClean(await service.ended);
        assert.ok(acknowledged.length >= 500);
        await assertStored(t, folder, key, acknowledged);
      });
    });
  }

  it('responds to a search that waits for the words of events, before it ends', {
    timeout: 60_000,
  }, async (t) => {
    const folder = temporaryFolder();
    const before = await startTestService({ DATA_DIR: folder });
    const agent = await before.newAgent();
    // Their words take 30 seconds.
    await Promise.all(Array.from({ length: 300 }, (_, at) => agent.create({ title: `Jazz ${at}` })));
    await before.close();
    const wait = join(temporaryFolder(), 'wait');
    writeFileSync(wait, '');
    const service = await launchService({ DATA_DIR: folder, WORDS_FILE: wait }, ['--import', BREAK_THREADS]);
    t.after(() => service.child.kill('SIGKILL'));
    const connection = await RawConnection.open(service.url);
    const key = agent.headers['x-api-key']!;
    connection.write(request('GET', '/v1/events/nearby?lat=0&lng=0&q=jazz', { 'X-API-Key': key }));
    const answer = connection.next();
    // Two requests on other connections after it: when they have responses, it has arrived.
    const client = new Client(service.url);
    for (let sent = 0; sent < 2; sent++) await client.get('/live');
    await signal(service, 'SIGTERM');
    const response = await answer;
    rmSync(wait);
    assert.equal(response?.status, 503);
    const { code, stdout } = await service.ended;
    assert.equal(code, 0, stdout);
    assert.match(stdout, /"route":"\/v1\/events\/nearby","status":503,.*"code":"UNAVAILABLE"/);
  });
});
