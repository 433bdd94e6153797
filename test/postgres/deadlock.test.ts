// Creates, changes and deletes of one agent's events, and what begins and ends its grants, do not deadlock.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addGrant, exchangeOf, newGrantOf, newTokens } from '../store/grant-rows.ts';
import { addAgent, auditOf, deleteOne, NOW_MS, newEventRow, newKey } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';
import { Side } from './side.ts';

const AGENTS = size(8, 60);
const ROUNDS = size(50, 500);

/** Fails if the work had a deadlock, even if it was retried. */
async function assertNoDeadlock(
  t: TestContext,
  work: (store: PostgresStore) => Promise<void>,
): Promise<void> {
  const url = await newDatabase();
  const side = new Side(url);
  t.after(() => side.close());
  const store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  await work(store).finally(() => store.close());
  // its connections report their statistics when they end
  const [found] = await side.sql`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
  assert.deepEqual({ ...found }, { deadlocks: '0' });
}

it('has no deadlock between creates and changes that want the same title, start and place', (t) =>
  assertNoDeadlock(t, async (store) => {
    const { agent } = await addAgent(store);
    const rows = Array.from({ length: 4 }, () => newEventRow(agent));
    for (const row of rows) await store.createEvent(row, 0);
    for (let version = 2; version < ROUNDS + 2; version++) {
      const title = `wanted ${version}`;
      const titleOf = (at: number) => (at === version % 4 ? title : `${title} by ${at}`);
      const outcomes = await Promise.all([
        ...rows.map((row, at) => store.replaceEvent({ ...row, version, title: titleOf(at) })),
        ...[1, 2, 3].map(() => store.createEvent(newEventRow(agent, { title }), 0)),
      ]);
      // The version of the next round is that of all.
      const [loser] = rows.filter((_, at) => outcomes[at]!.kind !== 'replaced');
      if (loser) await store.replaceEvent({ ...loser, version, title: `${title}, too late` });
    }
  }));

it('has no deadlock between an agent that creates, changes and deletes and an administrator who deletes', (t) =>
  assertNoDeadlock(t, async (store) => {
    for (let agents = 0; agents < AGENTS; agents++) {
      const { agent } = await addAgent(store);
      const { agent_id } = agent;
      let isOver = false;
      const write = async () => {
        while (!isOver) {
          const row = newEventRow(agent);
          if ((await store.createEvent(row, 0)).kind === 'no-agent') return;
          await Promise.all([
            store.replaceEvent({ ...row, version: 2, description: 'longer' }),
            store.deleteEvent(row.event_id, agent_id),
            deleteOne(store, row.event_id, auditOf('delete_event', row.event_id)),
          ]);
        }
      };
      const writing = Promise.all(Array.from({ length: 8 }, write));
      try {
        for (let times = 0; times < 5; times++) {
          await store.deleteAll(agent_id, auditOf('delete_agent_events', agent_id), false);
        }
        assert.equal(await store.deleteAll(agent_id, auditOf('delete_agent', agent_id), true), true);
      } finally {
        isOver = true;
        await writing;
      }
    }
  }));

it('has no deadlock between clients that take codes and tokens, an agent that ends them, and an administrator', (t) =>
  assertNoDeadlock(t, async (store) => {
    for (let round = 0; round < ROUNDS / 5; round++) {
      const { agent, key } = await addAgent(store);
      const { agent_id } = agent;
      const old = await addGrant(store, agent, key);
      const other = await addGrant(store, agent, key);
      const end = [
        () => store.deleteAll(agent_id, auditOf('delete_agent', agent_id), true),
        () => store.deleteAll(agent_id, { ...auditOf('delete_agent', agent_id), undo: 'kept' }, true),
        () => store.replaceAgentKeys(agent_id, newKey(), auditOf('new_key', agent_id)),
        () => store.revokeAgentKey(agent_id, key.prefix, auditOf('revoke_key', agent_id)),
        () => store.revokeKey(key.hash),
        () => store.rotateKey(agent_id, key.hash, newKey(), NOW_MS, NOW_MS, true),
        () => store.endGrants(agent_id),
        () => store.removeIdleGrants(NOW_MS),
      ];
      const give = async () => {
        const grant = newGrantOf(agent, key);
        if (await store.addGrant(grant)) await store.exchangeCode(exchangeOf(grant), newTokens(), NOW_MS);
      };
      const refresh = () => store.refreshGrant(old.tokens.refresh_hash, newTokens(), NOW_MS);
      await Promise.all([
        ...[give(), give(), refresh(), end[round % end.length]!(), refresh()],
        ...[end[(round * 3 + 1) % end.length]!(), give(), refresh()],
        store.endToken(other.tokens.refresh_hash, other.grant.client_id),
      ]);
    }
  }));
