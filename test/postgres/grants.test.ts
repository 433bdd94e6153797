// Grants on two nodes over one database: what one of them ends is refused by the other within a second, also while codes and tokens are
// taken at the same time on both, and although a node had just used it. Work whose response was lost finds what it had done.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionSql } from 'postgres';
import { readConfig } from '../../src/config.ts';
import type { NewTokens } from '../../src/domain/grants.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { deletionOf, lastEntry, restoreAll } from '../store/contract-undo.ts';
import { addGrant, exchangeOf, holderOf, newClient, newGrantOf, newTokens } from '../store/grant-rows.ts';
import { addAgent, auditOf, HOUR_MS, NOW_MS, newKey } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Side } from './side.ts';

const ENDED_MS = 1_000;

describe('grants on two nodes', { timeout: 60_000 }, () => {
  let here: PostgresStore;
  let there: PostgresStore;
  let side: Side;
  before(async () => {
    const url = await newDatabase();
    const open = () =>
      PostgresStore.open({ ...readConfig({ DATABASE_URL: url }).database!, search: 'database' });
    [here, there] = [await open(), await open()];
    side = new Side(url);
  });
  after(() => Promise.all([here.close(), there.close(), side.close()]));

  const start = async () => {
    const { agent, key } = await addAgent(here);
    const { agent_id } = agent;
    return { agent, agent_id, key, ...(await addGrant(here, agent, key)) };
  };
  type Started = Awaited<ReturnType<typeof start>>;

  const works = async (store: PostgresStore, { access_hash }: NewTokens) =>
    (await store.findAccessToken(access_hash, NOW_MS)) !== undefined;

  const ends: Record<string, (started: Started) => Promise<unknown>> = {
    'ended it': ({ agent_id, grant }) => here.endGrants(agent_id, grant.grant_id),
    'ended all': ({ agent_id }) => here.endGrants(agent_id),
    'was told by its client': ({ tokens, grant }) => here.endToken(tokens.refresh_hash, grant.client_id),
    'was told to end only this token': ({ tokens, grant }) =>
      here.endToken(tokens.access_hash, grant.client_id),
    'got its code again': ({ grant }) => here.exchangeCode(exchangeOf(grant), newTokens(), NOW_MS),
    'revoked its key': ({ key }) => here.revokeKey(key.hash),
    'rotated its key': ({ agent_id, key }) =>
      here.rotateKey(agent_id, key.hash, newKey(), NOW_MS, NOW_MS + HOUR_MS, true),
    'gave its agent a new key': ({ agent_id }) =>
      here.replaceAgentKeys(agent_id, newKey(), auditOf('new_key', agent_id)),
    'deactivated its agent': ({ agent_id }) =>
      here.updateAgent(agent_id, { is_active: false }, auditOf('update_agent', agent_id)),
    'deleted its agent': ({ agent_id }) =>
      here.deleteAll(agent_id, deletionOf('delete_agent', agent_id), true),
  };
  for (const [what, end] of Object.entries(ends)) {
    it(`is refused by the other within a second after one ${what}`, async (t) => {
      const started = await start();
      const { tokens } = started;
      let isOver = false;
      let lastMs = 0;
      const using = (async () => {
        while (!isOver) {
          const beganMs = performance.now();
          if (await works(there, tokens)) lastMs = beganMs;
          await sleep(2);
        }
      })();
      assert.deepEqual([await works(here, tokens), await works(there, tokens)], [true, true]);
      await sleep(50);
      await end(started);
      const endedMs = performance.now();
      assert.equal(await works(here, tokens), false);
      await sleep(ENDED_MS);
      isOver = true;
      await using;
      assert.equal(await works(there, tokens), false);
      assert.ok(lastMs - endedMs < ENDED_MS, `accepted ${lastMs - endedMs} ms later`);
      t.diagnostic(`accepted for ${Math.max(0, Math.round(lastMs - endedMs))} ms`);
    });
  }

  it('gives tokens to one of the nodes that exchange a code at the same moment, and ends the grant', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, key } = await addAgent(here);
      const grant = newGrantOf(agent, key);
      await here.addGrant(grant);
      const all = [newTokens(), newTokens(), newTokens()];
      const outcomes = await Promise.all(
        all.map((tokens, at) => (at === 0 ? there : here).exchangeCode(exchangeOf(grant), tokens, NOW_MS)),
      );
      assert.equal(outcomes.filter(Boolean).length, 1);
      assert.deepEqual(await here.listGrants(agent.agent_id, NOW_MS), []);
    }
  });

  it('gives tokens to all refreshes on both nodes with the same token', async () => {
    const { tokens } = await start();
    const all = Array.from({ length: 12 }, () => newTokens());
    const outcomes = await Promise.all(
      all.map((next, at) => (at % 2 ? here : there).refreshGrant(tokens.refresh_hash, next, NOW_MS)),
    );
    assert.deepEqual(new Set(outcomes), new Set([true]));
    for (const next of all)
      assert.deepEqual([await works(here, next), await works(there, next)], [true, true]);
  });

  it('leaves no grant alive that is given on one node while the other ends its key or its agent', async () => {
    for (let round = 0; round < 20; round++) {
      const { agent, key } = await addAgent(here);
      const { agent_id } = agent;
      const end = [
        () => there.revokeKey(key.hash),
        () => there.replaceAgentKeys(agent_id, newKey(), auditOf('new_key', agent_id)),
        () => there.revokeAgentKey(agent_id, key.prefix, auditOf('revoke_key', agent_id)),
        () => there.deleteAll(agent_id, deletionOf('delete_agent', agent_id), true),
      ][round % 4]!;
      const give = async () => {
        const grant = newGrantOf(agent, key);
        const tokens = newTokens();
        if (await here.addGrant(grant)) await here.exchangeCode(exchangeOf(grant), tokens, NOW_MS);
        return tokens;
      };
      const [, ...given] = await Promise.all([end(), give(), give(), give()]);
      for (const tokens of given) assert.equal(await works(here, tokens), false);
      assert.deepEqual([...(await side.sql`SELECT 1 FROM grants WHERE agent_id = ${agent_id}`)], []);
    }
  });

  it('loses no tokens of refreshes while the agent is deleted and restored', async () => {
    const started = await start();
    const { agent_id } = started;
    let newest = started.tokens;
    let isOver = false;
    const refreshing = (async () => {
      while (!isOver) {
        const next = newTokens();
        if (await there.refreshGrant(newest.refresh_hash, next, NOW_MS)) newest = next;
      }
    })();
    for (let round = 0; round < 5; round++) {
      await here.deleteAll(agent_id, deletionOf('delete_agent', agent_id), true);
      await restoreAll(here, (await lastEntry(here)).audit_id);
      await sleep(20);
    }
    isOver = true;
    await refreshing;
    assert.notEqual(newest, started.tokens);
    assert.notEqual(await here.findRefreshToken(newest.refresh_hash, NOW_MS), undefined);
    assert.equal(await works(here, newest), true);
  });

  it('finds its own tokens if only the response to an exchange or a refresh was lost', async () => {
    const { agent, key, grant, tokens } = await start();
    const again = () => here.exchangeCode(exchangeOf(grant), tokens, NOW_MS);
    assert.deepEqual([await again(), await again()], Array(2).fill(holderOf(grant, agent)));
    const next = newTokens();
    const refresh = () => here.refreshGrant(tokens.refresh_hash, next, NOW_MS);
    assert.deepEqual([await refresh(), await refresh()], [true, true]);
    const other = newGrantOf(agent, key);
    assert.deepEqual([await here.addGrant(other), await here.addGrant(other)], [true, true]);
    const client = newClient();
    await here.addClient(client);
    await here.addClient(client);
    assert.equal((await side.sql`SELECT 1 FROM grants WHERE agent_id = ${agent.agent_id}`).length, 2);
  });

  it('retries what is cut, except an end with an audit entry', async () => {
    const { agent, agent_id, key, grant, tokens } = await start();
    const lock = (sql: TransactionSql) => sql`LOCK TABLE grants, grant_tokens IN ACCESS EXCLUSIVE MODE`;
    const cut = async <T>(work: () => Promise<T>) => {
      const { release } = await side.hold(lock);
      const settled = Promise.allSettled([work()]);
      await side.terminate(await side.untilBlocked());
      await release();
      return (await settled)[0];
    };
    const done = { status: 'fulfilled', value: true };
    const other = newGrantOf(agent, key);
    assert.deepEqual(await cut(() => here.addGrant(other)), done);
    const exchanged = await cut(() => here.exchangeCode(exchangeOf(other), newTokens(), NOW_MS));
    assert.deepEqual(exchanged, { ...done, value: holderOf(other, agent) });
    const next = newTokens();
    assert.deepEqual(await cut(() => here.refreshGrant(tokens.refresh_hash, next, NOW_MS)), done);
    const ended = await cut(() => here.endGrants(agent_id, grant.grant_id, auditOf('end_grant', agent_id)));
    assert.equal(ended.status, 'rejected');
    assert.equal(await works(here, next), true);
    const rotated = await cut(() =>
      here.rotateKey(agent_id, key.hash, newKey(), NOW_MS, NOW_MS + HOUR_MS, true),
    );
    assert.deepEqual(rotated, done);
    assert.equal(await works(here, next), false);
  });
});
