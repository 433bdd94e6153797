// When a node searches by SQL: while it loads, by choice, and if the index would be too large. Only a few such searches run at a time.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../../src/config.ts';
import type { AppError } from '../../../src/domain/errors.ts';
import type { EventRow } from '../../../src/domain/events/event.ts';
import { readNearby } from '../../../src/domain/events/nearby.ts';
import type { SearchChange } from '../../../src/postgres/memory/node-events.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { addAgent, addEvent, assertEvents, NOW_MS, search } from '../../store/rows.ts';
import { newDatabase } from '../../support/postgres.ts';
import { startTestService } from '../../support/service.ts';

/** The lock that a node takes to load. */
const LOAD_LOCK = '7305914228';

let url: string;
let sql: postgres.Sql;
const rows: EventRow[] = [];
before(async () => {
  url = await newDatabase();
  sql = postgres(url, { max: 2, onnotice: () => {} });
  const store = await openStore({ search: 'database' });
  const { agent } = await addAgent(store);
  for (let count = 0; count < 3; count++) rows.push(await addEvent(store, agent));
  await store.close();
});
after(() => sql.end());

const openStore = (options: Partial<Parameters<typeof PostgresStore.open>[0]> = {}) =>
  PostgresStore.open({ ...readConfig({ DATABASE_URL: url }).database!, ...options });

async function assertFound(store: PostgresStore): Promise<void> {
  const { events, total } = await store.nearby(search(), NOW_MS);
  assertEvents(events, rows);
  assert.equal(total, rows.length);
}

async function untilLoaded(store: PostgresStore): Promise<void> {
  while (store.eventsInMemory === undefined) await sleep(5);
}

describe('a node searches by SQL', () => {
  it('while it loads; nodes load one after the other', async () => {
    const held = await sql.reserve();
    await held.unsafe(`SELECT pg_advisory_lock(${LOAD_LOCK})`);
    const stores = [await openStore(), await openStore()];
    for (const store of stores) await assertFound(store);
    await sleep(500);
    assert.deepEqual(
      stores.map((store) => store.eventsInMemory),
      [undefined, undefined],
    );
    await held.unsafe(`SELECT pg_advisory_unlock(${LOAD_LOCK})`);
    held.release();
    for (const store of stores) {
      await untilLoaded(store);
      await assertFound(store);
      await store.close();
    }
  });

  it('if it should', async () => {
    const store = await openStore({ search: 'database' });
    await assertFound(store);
    assert.equal(store.eventsInMemory, undefined);
    await store.close();
  });

  it('if the index would be too large, and when it becomes too large', async () => {
    const changes: SearchChange[] = [];
    const onChange = (change: SearchChange) => changes.push(change);
    const small = await openStore({ indexMaxBytes: 500, onChange });
    while (changes.length === 0) await sleep(5);
    await assertFound(small);
    assert.deepEqual(changes, [{ by: 'database', reason: 'too large', events: 3 }]);
    await small.close();
    const growing = await openStore({ indexMaxBytes: 1_000, onChange });
    await untilLoaded(growing);
    rows.push(await addEvent(growing, rows[0]!));
    await assertFound(growing);
    assert.equal(growing.eventsInMemory, undefined);
    await growing.close();
  });

  it('if it may not read the log, and says so', async () => {
    const changes: SearchChange[] = [];
    await sql`ALTER TABLE event_changes_horizon RENAME TO elsewhere`;
    const store = await openStore({ onChange: (change) => changes.push(change) });
    while (changes.length === 0) await sleep(5);
    await assertFound(store);
    assert.equal(changes[0]!.by === 'database' && changes[0]!.reason, 'failure');
    await sql`ALTER TABLE elsewhere RENAME TO event_changes_horizon`;
    await untilLoaded(store);
    await sql`ALTER TABLE event_changes_horizon RENAME TO elsewhere`;
    await assertFound(store);
    await sql`ALTER TABLE elsewhere RENAME TO event_changes_horizon`;
    await store.close();
  });
});

it('refuses searches by SQL that wait too long, and still serves everything else', async (t) => {
  const env = {
    DATABASE_URL: url,
    SEARCH: 'database',
    DATABASE_POOL_SIZE: '4',
    DATABASE_POOL_TIMEOUT_MS: '300',
  };
  const service = await startTestService(env, { until: t });
  const agent = await service.newAgent();
  // Searches wait for this lock.
  const held = await sql.reserve();
  await held`BEGIN`;
  await held`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`;
  let responses = 0;
  const searches = Array.from({ length: 6 }, () =>
    agent.get('/v1/events/nearby?lat=1&lng=2').finally(() => responses++),
  );
  const refused = await Promise.race(searches);
  assert.equal(refused.status, 503);
  assert.equal(refused.body.error.code, 'OVERLOADED');
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await agent.get('/v1/agents/me')).status, 200);
  while (responses < 4) await sleep(5);
  await held`COMMIT`;
  held.release();
  const statuses = (await Promise.all(searches)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 200, 503, 503, 503, 503]);
});

describe('searches by words with SQL', () => {
  const queryOf = (q: string) => search({ terms: readNearby({ lat: 0, lng: 0, q }, 'query').terms });
  let store: PostgresStore;
  let held: postgres.ReservedSql;
  before(async () => {
    store = await openStore({ search: 'database', poolSize: 4, poolTimeoutMs: 300 });
    held = await sql.reserve();
  });
  after(async () => {
    held.release();
    await store.close();
  });
  /** Searches wait for this lock. */
  const lock = () => held.unsafe('BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE');

  it('end in the database, too, when nobody waits for them any more', async () => {
    const leaving = new AbortController();
    await lock();
    const running = store.nearby(queryOf('event'), NOW_MS, {
      network: 'n',
      name: 'k',
      signal: leaving.signal,
    });
    const waiting = () =>
      sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await waiting()).length === 0) await sleep(5);
    leaving.abort(new Error('gone'));
    await assert.rejects(running, /gone/);
    assert.equal((await waiting()).length, 0);
    await held`ROLLBACK`;
    assert.equal((await store.nearby(queryOf('event'), NOW_MS)).total, rows.length);
  });

  it('leave slots to others if they are for prefixes', async () => {
    await lock();
    const searches = ['eve*', 'even*', 'event*'].map((q) =>
      store.nearby(queryOf(q), NOW_MS).then(
        ({ total }) => total,
        (error: AppError) => error.code,
      ),
    );
    const other = store.nearby(search(), NOW_MS);
    while (!(await Promise.race([Promise.allSettled(searches.slice(1)), sleep(50)]))) await sleep(5);
    await held`ROLLBACK`;
    assert.equal((await other).total, rows.length);
    assert.deepEqual(await Promise.all(searches), [rows.length, 'OVERLOADED', 'OVERLOADED']);
  });
});
