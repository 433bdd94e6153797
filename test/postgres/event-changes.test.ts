// The log of changes: every way to change events leaves its entry, with the transaction that a snapshot knows.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import { Database } from '../../src/postgres/client/database.ts';
import { LogTrimming } from '../../src/postgres/memory/trim.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { withSql } from '../cli/moving.ts';
import { addAgent, addEvent, auditOf, newEventRow } from '../store/rows.ts';
import { getAdministratorUrl, newDatabase } from '../support/postgres.ts';

let url: string;
let store: PostgresStore;
let sql: postgres.Sql;
let agent: { readonly agent_id: string };
before(async () => {
  url = await newDatabase();
  store = await PostgresStore.open({ ...readConfig({ DATABASE_URL: url }).database!, search: 'database' });
  sql = postgres(url, { max: 2, onnotice: () => {} });
  ({ agent } = await addAgent(store));
});
after(async () => {
  await sql.end();
  await store.close();
});
beforeEach(() => sql`DELETE FROM event_changes`);

async function logged(): Promise<string[]> {
  return (await sql`SELECT event_id FROM event_changes ORDER BY xid`).map(({ event_id }) => event_id);
}

/** SQL that inserts the row. */
function insertOf(row: EventRow): string {
  return `INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
    VALUES ('${row.event_id}', '${row.agent_id}', 1, '${row.title}', ${row.start_ms}, 1, 2, 'all', 'talk', 'UTC', 'scheduled', 0, '${encodeEvent(row)}')`;
}

describe('the log of changes', () => {
  it('has every create, change and delete of a node', async () => {
    const row = await addEvent(store, agent);
    await store.replaceEvent({ ...row, version: 2, title: `${row.title} again` });
    await store.deleteEvent(row.event_id, agent.agent_id);
    assert.deepEqual(await logged(), [row.event_id, row.event_id, row.event_id]);
  });

  it('has nothing of a create that changed nothing', async () => {
    const row = await addEvent(store, agent);
    await store.createEvent({ ...row, event_id: newEventRow(agent).event_id }, 0);
    assert.deepEqual(await logged(), [row.event_id]);
  });

  it('has every event of a delete by an administrator', async () => {
    const { agent: other } = await addAgent(store);
    const rows = [await addEvent(store, other), await addEvent(store, other)];
    await sql`DELETE FROM event_changes`;
    await store.deleteAll(other.agent_id, auditOf('delete_agent', other.agent_id), true);
    assert.deepEqual((await logged()).sort(), rows.map(({ event_id }) => event_id).sort());
  });

  it('has both IDs of an event whose ID changes, and an empty one if all are truncated', async () => {
    const { agent: other } = await addAgent(store);
    const row = newEventRow(other);
    const next = newEventRow(other).event_id;
    await sql.unsafe(insertOf(row));
    await sql`UPDATE events SET event_id = ${next} WHERE event_id = ${row.event_id}`;
    assert.deepEqual((await logged()).sort(), [row.event_id, row.event_id, next].sort());
    await sql`DELETE FROM event_changes`;
    await sql`TRUNCATE events`;
    assert.deepEqual(await logged(), ['']);
  });

  it('names the transaction of a change in a savepoint, and has none that was rolled back', async () => {
    const [kept, undone] = [newEventRow(agent), newEventRow(agent)];
    const xid = await sql.begin(async (transaction) => {
      await transaction.savepoint((savepoint) => savepoint.unsafe(insertOf(kept)));
      await transaction
        .savepoint(async (savepoint) => {
          await savepoint.unsafe(insertOf(undone));
          throw new Error('undo');
        })
        .catch(() => {});
      const [row] = await transaction`SELECT pg_current_xact_id()::text AS xid`;
      return row!.xid;
    });
    const found = await sql`SELECT event_id, xid::text FROM event_changes`;
    assert.deepEqual([...found], [{ event_id: kept.event_id, xid }]);
  });

  it('has changes that replication applies, and changes by a role that may only write events', async () => {
    const [replicated, foreign] = [newEventRow(agent), newEventRow(agent)];
    const inside = new URL(await getAdministratorUrl());
    inside.pathname = new URL(url).pathname;
    const guest = new URL(await newDatabase()).username;
    await withSql(inside.href, async (superuser) => {
      await superuser.unsafe(
        `BEGIN; SET LOCAL session_replication_role = replica; ${insertOf(replicated)}; COMMIT`,
      );
      await superuser.unsafe(`GRANT SELECT, INSERT, UPDATE ON events, agents TO ${guest}`);
    });
    const asGuest = new URL(url);
    asGuest.username = guest;
    await withSql(asGuest.href, (other) => other.unsafe(insertOf(foreign)));
    assert.deepEqual(await logged(), [replicated.event_id, foreign.event_id]);
  });
});

describe('trimming', () => {
  let database: Database;
  before(async () => {
    database = await Database.open(readConfig({ DATABASE_URL: url }).database!);
    await sql`INSERT INTO event_changes_incarnation DEFAULT VALUES ON CONFLICT DO NOTHING`;
  });
  after(() => database.close());

  /** Takes a sample, and deletes all but these. */
  async function trim(loggedChanges: number): Promise<number> {
    const trimming = new LogTrimming(database, { loggedMs: 0, loggedChanges, intervalMs: 1_000_000 });
    return trimming.step().finally(() => trimming.close());
  }

  /** Until it has deleted this many: a transaction that is open in any database of the server keeps the log from being trimmed. */
  async function trimUntil(loggedChanges: number, count: number): Promise<void> {
    let deleted = 0;
    while (deleted < count) {
      deleted += await trim(loggedChanges);
      await sleep(10);
    }
    assert.equal(deleted, count);
  }

  async function horizon(): Promise<bigint> {
    const [row] = await sql`SELECT xid::text FROM event_changes_horizon`;
    return BigInt(row?.xid ?? 0);
  }

  it('keeps the newest entries, and says from where on the log is complete', async () => {
    for (let count = 0; count < 5; count++) await addEvent(store, agent);
    const xids = (await sql`SELECT xid::text FROM event_changes ORDER BY event_changes.xid`).map(({ xid }) =>
      BigInt(xid),
    );
    await trimUntil(2, 2);
    assert.equal(await horizon(), xids[2]);
    assert.equal(await trim(2), 0);
    assert.equal(await trim(1_000), 0);
    assert.equal((await logged()).length, 3);
  });

  it('never passes a transaction that is open', async () => {
    const open = postgres(url, { max: 1, onnotice: () => {} });
    await open.begin(async (transaction) => {
      const [row] = await transaction`SELECT pg_current_xact_id()::text AS xid`;
      for (let count = 0; count < 3; count++) await addEvent(store, agent);
      assert.equal(await trim(0), 0);
      assert.ok((await horizon()) <= BigInt(row!.xid));
    });
    await open.end();
    while ((await trim(0)) < 2) await sleep(10);
  });

  it('does not delete entries that are younger than it should keep them', async () => {
    for (let count = 0; count < 3; count++) await addEvent(store, agent);
    const trimming = new LogTrimming(database, { loggedMs: 60_000, loggedChanges: 0, intervalMs: 1_000_000 });
    for (let step = 0; step < 3; step++) assert.equal(await trimming.step(), 0);
    trimming.close();
  });
});
