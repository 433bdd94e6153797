// Three nodes over one database and 20 clients on any of them: the history of their writes and searches is linearizable, also
// beside open transactions, savepoints that are rolled back, and thousands of changes at once.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import type { AppError } from '../../src/domain/errors.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import type { NearbyPage } from '../../src/domain/store.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, newUuid } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';
import { Clients, type TestNode } from './clients.ts';
import { findViolations } from './history.ts';
import { StoreNode, versionsOf } from './store-node.ts';

const CLIENTS = 20;
const SEED = 7;
const SECONDS = size(2, 60);
const BULK = size(5_000, 95_000);
const OPEN_MS = size(500, 5_000);

let url: string;
let sql: postgres.Sql;
let stores: PostgresStore[];
let agent: { readonly agent_id: string };
let runs = 0;
before(async () => {
  url = await newDatabase();
  const { database } = readConfig({ DATABASE_URL: url, DATABASE_POOL_TIMEOUT_MS: '60000' });
  const open = () => PostgresStore.open({ ...database!, cacheBytes: 100_000 });
  stores = await Promise.all([open(), open(), open()]);
  for (const store of stores) while (store.eventsInMemory === undefined) await sleep(5);
  ({ agent } = await addAgent(stores[0]!));
  sql = postgres(url, { max: 4, onnotice: () => {} });
});
after(async () => {
  await sql.end();
  await Promise.all(stores.map((store) => store.close()));
});

/** The nodes, at a place of their own. They share this process with the checker, which can keep them from reaching the database. */
async function newNodes(): Promise<StoreNode[]> {
  runs++;
  const nodes = stores.map((store, number) => new StoreNode(`node ${number}`, store, agent, runs));
  for (const node of nodes) await firstPage(node);
  return nodes;
}

async function firstPage(node: StoreNode): Promise<NearbyPage> {
  for (;;) {
    const page = await node.find().catch(ifUnavailable);
    if (page) return page;
    await sleep(20);
  }
}

function ifUnavailable(error: AppError): undefined {
  if (error.code !== 'UNAVAILABLE') throw error;
}

/** Lets clients work until `disturb` ends; returns what is wrong with their history. */
async function run(
  test: TestContext,
  used: readonly TestNode<EventRow>[],
  disturb: () => Promise<unknown>,
): Promise<string[]> {
  const clients = new Clients(CLIENTS, () => used, SEED);
  await disturb().finally(() => clients.stop());
  const { writes, searches, failed } = clients;
  test.diagnostic(`${writes.length} writes and ${searches.length} searches, ${failed.length} failed`);
  assert.ok(searches.length >= 10 && writes.length >= 10);
  // On a busy machine, a primary may seem lost for a moment. What fails then is part of the history.
  assert.deepEqual(
    failed.filter((error) => (error as AppError).code !== 'UNAVAILABLE'),
    [],
  );
  return findViolations(writes, searches);
}

/** Rows elsewhere, of an agent of their own. */
async function insertMany(count: number): Promise<string> {
  const agentId = newUuid();
  await sql`INSERT INTO agents VALUES (${agentId}, 'a@example.com', 'many', 'readwrite', true, 1, NULL, ${count})`;
  await sql`
    INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
    SELECT '01K' || upper(substr(md5(random()::text), 1, 23)), ${agentId}, 1, number::text, number, 1, 2, 'all', 'talk', 'UTC', 'scheduled', 0, '{}'
    FROM generate_series(1, ${count}::integer) AS number`;
  return agentId;
}

describe(`${CLIENTS} clients of three nodes see a linearizable history`, () => {
  it(`for ${SECONDS} seconds`, async (test) => {
    assert.deepEqual(await run(test, await newNodes(), () => sleep(SECONDS * 1_000)), []);
  });

  it('beside a writing transaction that stays open, and savepoints that are rolled back', async (test) => {
    const agentId = await insertMany(10);
    const disturb = () =>
      sql.begin(async (transaction) => {
        for (const endMs = performance.now() + OPEN_MS; performance.now() < endMs; ) {
          await transaction`UPDATE events SET version = version + 1 WHERE agent_id = ${agentId}`;
          const undone = transaction.savepoint(async (savepoint) => {
            await savepoint`DELETE FROM events WHERE agent_id = ${agentId}`;
            throw new Error('undo');
          });
          await undone.catch(() => {});
          await sleep(20);
        }
      });
    assert.deepEqual(await run(test, await newNodes(), disturb), []);
  });

  it(`beside ${BULK} events that are created and deleted at once`, async (test) => {
    const disturb = async () => {
      const agentId = await insertMany(BULK);
      await sleep(200);
      await sql`DELETE FROM events WHERE agent_id = ${agentId}`;
      await sleep(SECONDS * 500);
    };
    assert.deepEqual(await run(test, await newNodes(), disturb), []);
    // On a busy machine, a node may have lost the primary for a moment, and load again.
    const untilMs = performance.now() + 60_000;
    while (stores.some((store) => store.eventsInMemory === undefined)) {
      assert.ok(performance.now() < untilMs);
      await sleep(100);
    }
  });

  it('but not if one node responds with what it knew 50 ms ago', async (test) => {
    const [stale, ...others] = (await newNodes()) as [StoreNode, ...StoreNode[]];
    let known = await firstPage(stale);
    const timer = setInterval(async () => {
      known = await stale.find().catch(() => known);
    }, 50);
    const bad: TestNode<EventRow> = {
      name: 'a stale node',
      create: (object) => stale.create(object),
      change: (stored, version) => stale.change(stored, version),
      remove: (stored) => stale.remove(stored),
      search: async () => {
        await sleep(1);
        return versionsOf(known);
      },
    };
    const found = await run(test, [bad, ...others], () => sleep(size(1_000, 2_000)));
    clearInterval(timer);
    assert.notDeepEqual(found, []);
  });
});
