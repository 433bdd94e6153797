// What the log says about the store of a service: each migration, when the words are ready, and which primary is used, on both engines.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readMigrations } from '../../src/migrations.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { startTestService, type TestService } from '../support/service.ts';

type Line = TestService['log'][number];

async function until(service: TestService, msg: string, count = 1): Promise<Line[]> {
  for (const endMs = Date.now() + 30_000; ; await sleep(20)) {
    const found = service.log.filter((line) => String(line.msg).startsWith(msg));
    if (found.length >= count) return found;
    assert.ok(Date.now() < endMs, `${msg}: ${JSON.stringify(service.log)}`);
  }
}

const WORDS = 'Searches by words are answered from memory';

for (const engine of ['sqlite', 'postgres'] as Engine[]) {
  it(`has a line for each migration with its time, and one when the words are ready, on ${engine}`, async () => {
    const env = await ENGINES[engine]();
    const first = await startTestService(env);
    const lines = first.log.filter(({ msg }) => msg === 'The schema was migrated.');
    const names = readMigrations(new URL(`../../src/${engine}/migrations/`, import.meta.url)).map(
      ({ name }) => name,
    );
    assert.deepEqual(
      lines.map(({ migration }) => migration),
      names,
    );
    for (const { level, ms } of lines) assert.ok(level === 30 && Number.isInteger(ms) && Number(ms) >= 0);
    const [ready] = await until(first, WORDS);
    assert.ok(Number.isInteger(ready!.ms));
    await first.close();
    const second = await startTestService(env);
    await until(second, WORDS);
    assert.deepEqual(
      second.log.filter(({ msg }) => msg === 'The schema was migrated.'),
      [],
    );
    await second.close();
  });
}

describe('the primary', { timeout: 120_000 }, () => {
  it('is named at the start, when it is lost and when one is found, without stacks', async (t) => {
    const cluster = await startCluster();
    t.after(() => cluster.remove());
    const service = await startTestService({ DATABASE_URL: cluster.url() }, { until: t });
    const address = `127.0.0.1:${cluster.port}/postgres`;
    const found = await until(service, 'This primary is used now.');
    assert.deepEqual(
      found.map(({ level, primary }) => [level, primary]),
      [[30, address]],
    );
    await cluster.stop();
    const [lost] = await until(service, 'The primary does not respond');
    assert.deepEqual([lost!.level, lost!.primary], [40, address]);
    await cluster.start();
    assert.equal((await until(service, 'This primary is used now.', 2))[1]!.primary, address);
  });
});

it('says without a stack why the events cannot be loaded if PostgreSQL ends the connection', async (t) => {
  const { DATABASE_URL = '' } = await ENGINES.postgres();
  await (await startTestService({ DATABASE_URL })).close();
  const sql = postgres(DATABASE_URL, { max: 1 });
  // A connection of its own: within a transaction, pg_stat_activity never changes.
  const others = postgres(DATABASE_URL, { max: 1 });
  t.after(() => Promise.all([sql.end(), others.end()]));
  await sql.unsafe('BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
  const service = await startTestService({ DATABASE_URL }, { until: t });
  const FAILED = 'The events could not be loaded into memory.';
  for (const endMs = Date.now() + 30_000; ; await sleep(20)) {
    if (service.log.some(({ msg }) => String(msg).startsWith(FAILED)) || Date.now() > endMs) break;
    await others`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  }
  const [line] = await until(service, FAILED);
  assert.deepEqual([line!.level, line!.err], [40, undefined]);
  assert.match(String(line!.reason), /terminating connection|CONNECTION_CLOSED/);
  await sql.unsafe('COMMIT');
  await until(service, WORDS);
});
