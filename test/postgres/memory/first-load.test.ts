// When a node that has started is ready: at once if it is alone or cannot have the events in memory; beside others, when it has them
// and their words. It answers searches all the time.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../../src/config.ts';
import type { AgentRow } from '../../../src/domain/agent.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { addAgent, addEvent, assertEvents, NOW_MS, search } from '../../store/rows.ts';
import { assertError } from '../../support/client.ts';
import { getAdministratorUrl, newDatabase } from '../../support/postgres.ts';
import { RawConnection, request } from '../../support/raw-http.ts';
import { startTestService } from '../../support/service.ts';
import { Side } from '../side.ts';

/** The lock that a node takes to load. */
const LOAD_LOCK = '7305914228';
/** Far longer than between two looks at the other nodes. */
const SOME_LOOKS_MS = 600;

describe('a node that starts', () => {
  let url: string;
  let side: Side;
  let agent: AgentRow;
  let expected: Parameters<typeof assertEvents>[1];
  let opened: PostgresStore[] = [];

  const open = async (options: Partial<Parameters<typeof PostgresStore.open>[0]> = {}) => {
    const node = await PostgresStore.open({ ...readConfig({ DATABASE_URL: url }).database!, ...options });
    opened.push(node);
    return node;
  };
  const untilReady = async (node: PostgresStore) => {
    while (node.isLoading) await sleep(5);
  };
  /** A node with everything in memory, of which others know. */
  const openLoaded = async () => {
    const node = await open();
    await untilReady(node);
    const isKnown = async () => {
      const found = await side.sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'local-events in memory'`;
      return found.length > 0;
    };
    while (!(await isKnown())) await sleep(5);
    return node;
  };
  const holdLoads = async (t: TestContext) => {
    const held = await side.hold((sql) => sql`SELECT pg_advisory_xact_lock(${LOAD_LOCK})`);
    t.after(() => held.release());
    return held;
  };
  /** Blocks the reads of words. */
  const holdWords = async (t: TestContext) => {
    await side.sql.unsafe(`
      CREATE OR REPLACE FUNCTION pass() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        IF current_query() LIKE '%ORDER BY event_id LIMIT 500' THEN PERFORM pg_advisory_xact_lock_shared(1); END IF;
        RETURN true;
      END $$;
      DROP POLICY IF EXISTS gate ON events;
      CREATE POLICY gate ON events USING (pass());
      ALTER TABLE events FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY`);
    t.after(() => side.sql`ALTER TABLE events NO FORCE ROW LEVEL SECURITY`);
    const held = await side.hold((sql) => sql`SELECT pg_advisory_xact_lock(1)`);
    t.after(() => held.release());
    return held;
  };
  /** Runs this with the process IDs of the connections that the condition selects, as soon as there are some. */
  const disturb = async (how: 'pg_terminate_backend' | 'pg_cancel_backend', condition: string) => {
    const run = () =>
      side.sql.unsafe(
        `SELECT ${how}(pid) FROM pg_stat_activity WHERE datname = current_database() AND ${condition}`,
      );
    while ((await run()).length === 0) await sleep(5);
  };
  const assertLoading = async (node: PostgresStore) => {
    const untilMs = performance.now() + SOME_LOOKS_MS;
    while (performance.now() < untilMs) {
      assert.equal(node.isLoading, true);
      const { events } = await node.nearby(search(), NOW_MS);
      assertEvents(events, expected);
    }
  };

  before(async () => {
    url = await newDatabase();
    side = new Side(url);
    const writer = await PostgresStore.open({
      ...readConfig({ DATABASE_URL: url }).database!,
      search: 'database',
    });
    ({ agent } = await addAgent(writer));
    expected = [await addEvent(writer, agent)];
    await writer.close();
  });
  beforeEach(async () => {
    await Promise.all(opened.map((node) => node.close()));
    opened = [];
    while ((await side.connections()).length > 0) await sleep(5);
  });
  after(async () => {
    await Promise.all(opened.map((node) => node.close()));
    await side.close();
  });

  it('alone is ready before it has loaded, and searches by SQL', async (t) => {
    await holdLoads(t);
    const node = await open();
    await untilReady(node);
    assert.equal(node.eventsInMemory, undefined);
    const { events } = await node.nearby(search(), NOW_MS);
    assertEvents(events, expected);
  });

  it('beside a node with all events is ready when it has them and their words', async (t) => {
    await openLoaded();
    const words = await holdWords(t);
    const loads = await holdLoads(t);
    const node = await open();
    await assertLoading(node);
    assert.equal(node.eventsInMemory, undefined);
    await loads.release();
    while (node.eventsInMemory === undefined) await sleep(5);
    await assertLoading(node);
    await words.release();
    await untilReady(node);
  });

  it('beside a node with all events opens its connections before requests come', async (t) => {
    await openLoaded();
    await holdLoads(t);
    const count = async () => {
      const [row] = await side.sql`
        SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'local-events'`;
      return row!.count as number;
    };
    const before = await count();
    await open({ poolSize: 7 });
    while ((await count()) < before + 7) await sleep(5);
  });

  it('is ready when the other one is gone', async (t) => {
    const other = await openLoaded();
    await holdLoads(t);
    const node = await open();
    await assertLoading(node);
    await other.close();
    await untilReady(node);
    assert.equal(node.eventsInMemory, undefined);
  });

  it('together with another one waits until one of them has the events, but not for long', async (t) => {
    const loads = await holdLoads(t);
    const first = await open();
    await untilReady(first);
    const [second, third] = [await open(), await open({ togetherMs: 2 * SOME_LOOKS_MS })];
    await Promise.all([assertLoading(second), assertLoading(third)]);
    await untilReady(third);
    assert.equal(third.eventsInMemory, undefined);
    assert.equal(second.isLoading, true);
    await loads.release();
    await untilReady(second);
  });

  it('is ready although others have the events if it cannot have them, or fails to load for long', async (t) => {
    await openLoaded();
    await untilReady(await open({ indexMaxBytes: 100 }));
    assert.equal((await open({ search: 'database' })).isLoading, false);
    const administratorUrl = new URL(await getAdministratorUrl());
    administratorUrl.pathname = new URL(url).pathname;
    const administrator = postgres(administratorUrl.href, { max: 1 });
    t.after(async () => {
      await administrator`GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC`;
      await administrator.end();
    });
    await administrator`REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`;
    const failing = await open({ failingMs: SOME_LOOKS_MS });
    await assertLoading(failing);
    await untilReady(failing);
    assert.equal(failing.eventsInMemory, undefined);
  });

  it('is not ready because it failed once, while it loads or reads words for long', async (t) => {
    await openLoaded();
    const words = await holdWords(t);
    const loads = await holdLoads(t);
    const node = await open({ failingMs: SOME_LOOKS_MS });
    await disturb('pg_terminate_backend', `starts_with(application_name, 'local-events loading')`);
    for (let times = 0; times < 2; times++) await assertLoading(node);
    await loads.release();
    await disturb(
      'pg_cancel_backend',
      `query LIKE '%ORDER BY event_id LIMIT 500' AND wait_event = 'advisory'`,
    );
    for (let times = 0; times < 3; times++) await assertLoading(node);
    assert.equal(node.eventsInMemory, expected.length);
    await words.release();
    await untilReady(node);
  });

  it('says so at /ready, and leaves reads to other nodes if the load balancer can ask them', async (t) => {
    await openLoaded();
    const loads = await holdLoads(t);
    const service = await startTestService({ DATABASE_URL: url }, { until: t });
    const caller = await service.newAgent();
    const loading = await service.client.get('/ready');
    assertError(loading, 503, 'UNAVAILABLE');
    assert.equal(loading.headers.get('retry-after'), '1');
    const { error, ...rest } = loading.body;
    assert.match(error.message, /reading all events into memory/);
    assert.deepEqual(rest, { status: 'loading', part: 'memory' });
    for (const path of ['/health', '/live']) assert.equal((await service.client.get(path)).status, 200);

    const send = async (method: string, path: string, headers: Record<string, string>) => {
      const connection = await RawConnection.open(service.url);
      t.after(() => connection.destroy());
      connection.write(request(method, path, { ...caller.headers, ...headers }));
      return (await connection.next(method))?.status;
    };
    const elsewhere = { 'X-Next-Upstream': 'yes' };
    const nearby = '/v1/events/nearby?lat=0&lng=0';
    assert.equal(await send('GET', nearby, elsewhere), undefined);
    assert.equal(await send('GET', nearby, {}), 200);
    assert.equal(await send('DELETE', '/v1/events/01J00000000000000000000000', elsewhere), 404);
    await loads.release();
    while ((await service.client.get('/ready')).status !== 200) await sleep(20);
    assert.equal(await send('GET', nearby, elsewhere), 200);
  });
});
