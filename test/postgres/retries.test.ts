// Work whose connection is lost, that deadlocks or that takes too long: it is retried only if a retry changes nothing. A
// second client holds locks to fix the moments at which connections are cut.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionSql } from 'postgres';
import { readConfig } from '../../src/config.ts';
import { Database } from '../../src/postgres/client/database.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, auditOf, findAgent, NOW_MS, newAgentRow, newEventRow, newKey } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Side } from './side.ts';

const POOL_SIZE = 3;
/** The others are kept for reads. */
const WRITING = 2;
const UNAVAILABLE = { code: 'UNAVAILABLE' };

describe('work on a database', { timeout: 60_000 }, () => {
  let url: string;
  let store: PostgresStore;
  let side: Side;
  const open = (env: Record<string, string> = {}) =>
    PostgresStore.open(readConfig({ DATABASE_URL: url, DATABASE_POOL_SIZE: '3', ...env }).database!);
  before(async () => {
    url = await newDatabase();
    store = await open();
    side = new Side(url);
  });
  after(async () => {
    await store.close();
    await side.close();
  });

  async function openDatabase(t: TestContext): Promise<Database> {
    const database = await Database.open(readConfig({ DATABASE_URL: url }).database!);
    t.after(() => database.close());
    return database;
  }

  /** Cuts the connection of the work while it waits for the lock, then releases the lock. */
  async function cutWhileBlocked<T>(
    lock: Parameters<Side['hold']>[0],
    work: () => Promise<T>,
  ): Promise<PromiseSettledResult<T>> {
    const { release } = await side.hold(lock);
    const settled = Promise.allSettled([work()]);
    await side.terminate(await side.untilBlocked());
    await release();
    return (await settled)[0];
  }

  async function findJson(eventId: string): Promise<Record<string, unknown> | undefined> {
    const [row] = await side.sql`SELECT json, version FROM events WHERE event_id = ${eventId}`;
    return row && { ...JSON.parse(row.json), version: row.version };
  }

  async function newStoredEvent() {
    const { agent } = await addAgent(store);
    const row = newEventRow(agent);
    await store.createEvent(row, 0);
    return { agent, row };
  }

  describe('whose connection is cut', () => {
    const lockEvents = (sql: TransactionSql) => sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`;

    it('retries a read', async () => {
      const { row } = await newStoredEvent();
      const found = await cutWhileBlocked(lockEvents, () => store.findEvent(row.event_id));
      assert.equal(found.status, 'fulfilled');
      assert.equal(found.value?.version, 1);
    });

    it('retries a create, which leaves one event', async () => {
      const { agent } = await addAgent(store);
      const row = newEventRow(agent);
      const created = await cutWhileBlocked(lockEvents, () => store.createEvent(row, 0));
      assert.equal(created.status, 'fulfilled');
      assert.equal(created.value.kind, 'created');
      const rows = await side.sql`SELECT event_id FROM events WHERE agent_id = ${agent.agent_id}`;
      assert.deepEqual([...rows], [{ event_id: row.event_id }]);
      assert.equal((await findAgent(store, agent.agent_id))?.event_count, 1);
    });

    it('finds its own event if the create had succeeded and only its response was lost', async () => {
      const { agent, row } = await newStoredEvent();
      const again = await store.createEvent(row, 1);
      assert.equal(again.kind, 'created');
      assert.equal((await findAgent(store, agent.agent_id))?.event_count, 1);
    });

    it('does not retry an update', async () => {
      const { row } = await newStoredEvent();
      const next = { ...row, title: 'changed', version: 2 };
      const lock = (sql: TransactionSql) =>
        sql`SELECT 1 FROM events WHERE event_id = ${row.event_id} FOR UPDATE`;
      const changed = await cutWhileBlocked(lock, () => store.replaceEvent(next));
      assert.equal(changed.status, 'rejected');
      assert.equal(changed.reason.code, 'UNAVAILABLE');
      assert.equal((await findJson(row.event_id))?.version, 1);
      assert.equal((await store.replaceEvent(next)).kind, 'replaced');
    });

    it('does not retry a delete', async () => {
      const { agent, row } = await newStoredEvent();
      const lock = (sql: TransactionSql) =>
        sql`SELECT 1 FROM events WHERE event_id = ${row.event_id} FOR UPDATE`;
      const deleted = await cutWhileBlocked(lock, () => store.deleteEvent(row.event_id, agent.agent_id));
      assert.equal(deleted.status, 'rejected');
      assert.equal(deleted.reason.code, 'UNAVAILABLE');
      assert.notEqual(await findJson(row.event_id), undefined);
      assert.equal(await store.deleteEvent(row.event_id, agent.agent_id), true);
      assert.equal((await findAgent(store, agent.agent_id))?.event_count, 0);
    });

    it('does not retry a registration', async () => {
      const registered = await cutWhileBlocked(
        (sql) => sql`LOCK TABLE keys IN ACCESS EXCLUSIVE MODE`,
        () => store.addAgent(newAgentRow({ agent_name: 'cut' }), newKey()),
      );
      assert.equal(registered.status, 'rejected');
      assert.equal(registered.reason.code, 'UNAVAILABLE');
      assert.deepEqual([...(await side.sql`SELECT 1 FROM agents WHERE agent_name = 'cut'`)], []);
    });

    const lockKeys = (sql: TransactionSql) => sql`LOCK TABLE keys IN ACCESS EXCLUSIVE MODE`;

    it('retries the rotation and the revocation of a key', async () => {
      const { agent, key } = await addAgent(store);
      const next = newKey();
      const rotated = await cutWhileBlocked(lockKeys, () =>
        store.rotateKey(agent.agent_id, key.hash, next, NOW_MS, NOW_MS),
      );
      assert.deepEqual(rotated, { status: 'fulfilled', value: true });
      const stored = () => side.sql`SELECT key_hash FROM keys WHERE agent_id = ${agent.agent_id}`;
      assert.deepEqual([...(await stored())], [{ key_hash: next.hash }]);
      const revoked = await cutWhileBlocked(lockKeys, () => store.revokeKey(next.hash));
      assert.equal(revoked.status, 'fulfilled');
      assert.deepEqual([...(await stored())], []);
    });

    it('finds its own key if the rotation had succeeded and only its response was lost', async () => {
      const { agent, key } = await addAgent(store);
      const next = newKey();
      const rotate = () => store.rotateKey(agent.agent_id, key.hash, next, NOW_MS, NOW_MS);
      assert.deepEqual([await rotate(), await rotate()], [true, true]);
      assert.deepEqual(await store.findAgentByKey(next.hash, NOW_MS), agent);
      assert.equal(await store.findAgentByKey(key.hash, NOW_MS), undefined);
    });

    it('rolls back a whole transaction, and the process survives', async () => {
      const { agent, row } = await newStoredEvent();
      const lock = (sql: TransactionSql) => sql`LOCK TABLE audit IN ACCESS EXCLUSIVE MODE`;
      const deleted = await cutWhileBlocked(lock, () =>
        store.deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true),
      );
      assert.equal(deleted.status, 'rejected');
      assert.equal(deleted.reason.code, 'UNAVAILABLE');
      assert.notEqual(await findJson(row.event_id), undefined);
      assert.equal((await findAgent(store, agent.agent_id))?.event_count, 1);
      assert.equal(
        await store.deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true),
        true,
      );
      assert.equal(await findJson(row.event_id), undefined);
    });

    it('fails once: later work on a new connection succeeds', async () => {
      const { row } = await newStoredEvent();
      const { release } = await side.hold(lockEvents);
      const settled = Promise.allSettled(
        Array.from({ length: WRITING }, () => store.deleteEvent(row.event_id, row.agent_id)),
      );
      await side.terminate(await side.untilBlocked(WRITING));
      await release();
      for (const { status } of await settled) assert.equal(status, 'rejected');
      const rows = await Promise.all(Array.from({ length: 30 }, () => newStoredEvent()));
      const gone = await Promise.all(rows.map(({ row }) => store.deleteEvent(row.event_id, row.agent_id)));
      assert.ok(gone.every(Boolean));
    });
  });

  it('never continues a transaction whose connection was lost between two statements', async (t) => {
    const database = await openDatabase(t);
    let tries = 0;
    await database.transaction('repeatable', async (sql) => {
      tries++;
      await sql`INSERT INTO settings VALUES (${`try ${tries}`}, '')`;
      if (tries === 1) {
        const [row] = await sql`SELECT pg_backend_pid() AS pid`;
        await side.terminate([row!.pid]);
        while ((await side.connections()).includes(row!.pid)) await sleep(10);
        await sleep(100); // the client has noticed it too
      }
      await sql`INSERT INTO settings VALUES (${`try ${tries}, second half`}, '')`;
    });
    // On a reopened connection, the second half of the first try would be stored alone.
    const names = await side.sql`SELECT name FROM settings WHERE name LIKE 'try %' ORDER BY name`;
    assert.deepEqual(
      names.map(({ name }) => name),
      ['try 2', 'try 2, second half'],
    );
  });

  it('retries a transaction that a deadlock rolled back, and both succeed', async (t) => {
    const database = await openDatabase(t);
    await side.sql`INSERT INTO settings VALUES ('left', '0'), ('right', '0')`;
    const both = Promise.withResolvers<void>();
    let begun = 0;
    const change = (first: string, second: string) => {
      let tries = 0;
      return database.transaction('once', async (sql) => {
        tries++;
        await sql`UPDATE settings SET value = value::integer + 1 WHERE name = ${first}`;
        if (++begun === 2) both.resolve();
        await both.promise;
        await sql`UPDATE settings SET value = value::integer + 1 WHERE name = ${second}`;
        return tries;
      });
    };
    const tries = await Promise.all([change('left', 'right'), change('right', 'left')]);
    // At least one lost. How often is up to the server: a retry may take the lock before the winner wakes up.
    assert.ok(Math.max(...tries) >= 2, `tries: ${tries}`);
    const rows = await side.sql`SELECT value FROM settings WHERE name IN ('left', 'right')`;
    assert.deepEqual(
      rows.map(({ value }) => value),
      ['2', '2'],
    );
  });

  it('deletes an agent while its events are deleted one by one', async () => {
    const { agent } = await addAgent(store);
    const rows = Array.from({ length: 20 }, () => newEventRow(agent));
    await Promise.all(rows.map((row) => store.createEvent(row, 0)));
    const audit = auditOf('delete_agent', agent.agent_id);
    const deletes = rows.map((row) => store.deleteEvent(row.event_id, agent.agent_id));
    const [isGone] = await Promise.all([store.deleteAll(agent.agent_id, audit, true), ...deletes]);
    assert.equal(isGone, true);
    assert.deepEqual([...(await side.sql`SELECT 1 FROM events WHERE agent_id = ${agent.agent_id}`)], []);
  });

  it('deletes an agent while its keys are rotated and revoked and its events created', async () => {
    for (let round = 0; round < 5; round++) {
      const { agent, key } = await addAgent(store);
      const rotate = () => store.rotateKey(agent.agent_id, key.hash, newKey(), NOW_MS, NOW_MS + 1);
      const create = () => store.createEvent(newEventRow(agent), 0);
      const audit = auditOf('delete_agent', agent.agent_id);
      const [isGone] = await Promise.all([
        ...[store.deleteAll(agent.agent_id, audit, true), rotate(), create(), rotate()],
        ...[store.revokeKey(key.hash), create(), rotate()],
      ]);
      assert.equal(isGone, true);
      assert.deepEqual([...(await side.sql`SELECT 1 FROM keys WHERE agent_id = ${agent.agent_id}`)], []);
      assert.equal(await findAgent(store, agent.agent_id), undefined);
    }
  });

  it('cancels a statement at the statement timeout', async (t) => {
    const hasty = await open({ DATABASE_STATEMENT_TIMEOUT_MS: '200' });
    t.after(() => hasty.close());
    const { release } = await side.hold((sql) => sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`);
    const begun = performance.now();
    await assert.rejects(hasty.findEvent('01J00000000000000000000000'), UNAVAILABLE);
    const tookMs = performance.now() - begun;
    assert.ok(tookMs >= 200 && tookMs < 1_000, `it took ${tookMs} ms`);
    await release();
    assert.equal(await hasty.findEvent('01J00000000000000000000000'), undefined);
  });

  it('waits for a connection no longer than the pool timeout, while health checks still work', async (t) => {
    const hasty = await open({ DATABASE_POOL_SIZE: '1', DATABASE_POOL_TIMEOUT_MS: '100' });
    t.after(() => hasty.close());
    const { release } = await side.hold((sql) => sql`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`);
    const first = hasty.findEvent('01J00000000000000000000000');
    await side.untilBlocked();
    await assert.rejects(hasty.findEvent('01J00000000000000000000000'), UNAVAILABLE);
    await hasty.check();
    await release();
    assert.equal(await first, undefined);
  });

  it('opens no more connections than the pool size, plus one that checks the server and one that follows changes', async () => {
    await Promise.all(Array.from({ length: 50 }, () => store.listAgents()));
    assert.ok((await side.connections()).length <= POOL_SIZE + 2);
  });
});
