// Store contract: how grants end, with keys and agents and by themselves; and what an undo brings back.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { KeyFingerprint } from '../../src/domain/api-key.ts';
import type { NewTokens } from '../../src/domain/grants.ts';
import type { Store } from '../../src/domain/store.ts';
import { deletionOf, lastEntry, restoreAll } from './contract-undo.ts';
import { addGrant, exchangeOf, newGrantOf, newTokens } from './grant-rows.ts';
import { addAgent, auditOf, HOUR_MS, NOW_MS, newKey, newUuid } from './rows.ts';

export function grantEndContract(store: () => Store): void {
  const holdersOf = async (tokens: NewTokens, nowMs = NOW_MS) => [
    await store().findAccessToken(tokens.access_hash, nowMs),
    await store().findRefreshToken(tokens.refresh_hash, nowMs),
  ];
  const works = async (tokens: NewTokens) =>
    (await holdersOf(tokens)).map((holder) => holder !== undefined).join();
  const rotate = async (
    { agent_id }: AgentRow,
    { hash }: KeyFingerprint,
    endGrants?: boolean,
    expiresMs = NOW_MS + HOUR_MS,
  ) => {
    const next = newKey();
    assert.equal(await store().rotateKey(agent_id, hash, next, NOW_MS, expiresMs, endGrants), true);
    return next;
  };
  /** An agent with a grant that was refreshed, so that it has all kinds of tokens. */
  const start = async () => {
    const { agent, key } = await addAgent(store());
    const { grant, tokens } = await addGrant(store(), agent, key);
    const later = newTokens(NOW_MS, { scopes: ['read'] });
    assert.equal(await store().refreshGrant(tokens.refresh_hash, later, NOW_MS), true);
    return { agent, key, grant, tokens, later };
  };
  type Started = Awaited<ReturnType<typeof start>>;
  const assertEnded = async ({ agent, grant, tokens, later }: Started) => {
    for (const ended of [tokens, later]) assert.equal(await works(ended), 'false,false');
    assert.equal(await store().refreshGrant(later.refresh_hash, newTokens(), NOW_MS), false);
    assert.ok(
      !(await store().listGrants(agent.agent_id, NOW_MS)).some(({ grant_id }) => grant_id === grant.grant_id),
    );
  };
  const assertWorks = async ({ tokens, later }: Started) => {
    for (const working of [tokens, later]) assert.equal(await works(working), 'true,true');
  };

  it('ends a grant at once, but not that of another agent', async () => {
    const [one, other] = [await start(), await start()];
    assert.equal(await store().endGrants(other.agent.agent_id, one.grant.grant_id), false);
    await assertWorks(one);
    assert.equal(await store().endGrants(one.agent.agent_id, one.grant.grant_id), true);
    await assertEnded(one);
    assert.equal(await store().endGrants(one.agent.agent_id, one.grant.grant_id), false);
    await assertWorks(other);
  });

  it('ends all grants of an agent, also those that wait for their exchange', async () => {
    const [one, other] = [await start(), await start()];
    const second = await addGrant(store(), one.agent, one.key);
    const waiting = newGrantOf(one.agent, one.key);
    await store().addGrant(waiting);
    assert.equal(await store().endGrants(one.agent.agent_id), true);
    await assertEnded(one);
    assert.equal(await works(second.tokens), 'false,false');
    assert.equal(await store().exchangeCode(exchangeOf(waiting), newTokens(), NOW_MS), undefined);
    assert.equal(await store().endGrants(one.agent.agent_id), false);
    await assertWorks(other);
  });

  it('writes an entry for the audit log if it ended a grant', async () => {
    const { agent, grant } = await start();
    const audit = auditOf('end_grant', agent.agent_id, '{"grant_id":"1"}');
    assert.equal(await store().endGrants(agent.agent_id, grant.grant_id, audit), true);
    const { target_name, count, ...entry } = await lastEntry(store());
    assert.deepEqual([target_name, count], [agent.agent_name, 1]);
    for (const [name, value] of Object.entries(audit)) assert.equal(entry[name as keyof typeof entry], value);
    assert.equal(await store().endGrants(agent.agent_id, grant.grant_id, audit), false);
    assert.equal(await store().endGrants(newUuid(), grant.grant_id, audit), false);
    assert.equal((await lastEntry(store())).audit_id, entry.audit_id);
  });

  it('ends an access token alone, and with a refresh token its grant, for the client that has it', async () => {
    const one = await start();
    const { tokens, later, grant } = one;
    for (const token of [tokens.access_hash, tokens.refresh_hash]) await store().endToken(token, 'another');
    await store().endToken(newTokens().access_hash, grant.client_id);
    await assertWorks(one);
    await store().endToken(tokens.access_hash, grant.client_id);
    assert.deepEqual([await works(tokens), await works(later)], ['false,true', 'true,true']);
    await store().endToken(tokens.refresh_hash, grant.client_id); // rotated
    await assertEnded(one);
  });

  it('keeps grants when the key is rotated; then they end with the old and with the new key', async () => {
    for (const which of ['old', 'new']) {
      const one = await start();
      const next = await rotate(one.agent, one.key);
      const other = await addGrant(store(), one.agent, next);
      await assertWorks(one);
      await store().revokeKey(which === 'old' ? one.key.hash : next.hash);
      await assertEnded(one);
      assert.equal(await works(other.tokens), which === 'old' ? 'true,true' : 'false,false');
    }
  });

  it('keeps grants when the rotation ends the calling key at once; they end with the last key', async () => {
    const one = await start();
    const second = await rotate(one.agent, one.key, false, NOW_MS);
    const third = await rotate(one.agent, second);
    await assertWorks(one);
    await store().revokeKey(second.hash);
    await assertWorks(one);
    await store().revokeKey(third.hash);
    await assertEnded(one);
  });

  it('ends grants with a rotation that is to end them', async () => {
    const [one, other] = [await start(), await start()];
    await rotate(one.agent, one.key, true);
    await assertEnded(one);
    await assertWorks(other);
  });

  it('ends no grant if a rotation is refused', async () => {
    const one = await start();
    const outcome = await store().rotateKey(
      one.agent.agent_id,
      newKey().hash,
      newKey(),
      NOW_MS,
      NOW_MS,
      true,
    );
    assert.equal(outcome, false);
    await assertWorks(one);
  });

  it('ends grants with a key that an administrator revokes, and all with a new key', async () => {
    const one = await start();
    const prefix = 'lev_mine';
    const next = { ...newKey(), prefix };
    await store().rotateKey(one.agent.agent_id, one.key.hash, next, NOW_MS, NOW_MS + HOUR_MS);
    const old = await addGrant(store(), one.agent, one.key);
    const { agent_id } = one.agent;
    assert.equal(await store().revokeAgentKey(agent_id, prefix, auditOf('revoke_key', agent_id)), true);
    await assertEnded(one);
    assert.equal(await works(old.tokens), 'true,true');
    await store().replaceAgentKeys(agent_id, newKey(), auditOf('new_key', agent_id));
    assert.equal(await works(old.tokens), 'false,false');
  });

  it('refuses the tokens of an inactive agent, and accepts them when it is active again', async () => {
    const one = await start();
    const { agent_id } = one.agent;
    const waiting = newGrantOf(one.agent, one.key);
    await store().addGrant(waiting);
    const setActive = (is_active: boolean) =>
      store().updateAgent(agent_id, { is_active }, auditOf('update_agent', agent_id));
    await setActive(false);
    assert.equal(await works(one.tokens), 'false,false');
    assert.equal(await store().refreshGrant(one.later.refresh_hash, newTokens(), NOW_MS), false);
    assert.equal(await store().exchangeCode(exchangeOf(waiting), newTokens(), NOW_MS), undefined);
    await setActive(true);
    await assertWorks(one);
    await store().updateAgent(agent_id, { tier: 'read' }, auditOf('update_agent', agent_id));
    for (const holder of await holdersOf(one.tokens)) assert.equal(holder?.agent.tier, 'read');
  });

  const deleteAgent = async ({ agent }: Started) => {
    await store().deleteAll(agent.agent_id, deletionOf('delete_agent', agent.agent_id), true);
    return (await lastEntry(store())).audit_id;
  };

  it('ends grants with their agent; an undo brings them back with their tokens and last uses', async () => {
    const [one, other] = [await start(), await start()];
    store().noteGrantUse(one.grant.grant_id, NOW_MS + 7);
    const before = await store().listGrants(one.agent.agent_id, NOW_MS);
    const auditId = await deleteAgent(one);
    await assertEnded(one);
    await assertWorks(other);
    await restoreAll(store(), auditId);
    await assertWorks(one);
    assert.deepEqual(await store().listGrants(one.agent.agent_id, NOW_MS), before);
    assert.deepEqual(await store().findAccessToken(one.later.access_hash, NOW_MS), {
      ...{ grant_id: one.grant.grant_id, agent: one.agent, client_id: one.grant.client_id, scopes: ['read'] },
    });
    assert.equal(await store().exchangeCode(exchangeOf(one.grant), newTokens(), NOW_MS), undefined);
    await assertEnded(one);
    const again = await deleteAgent(one);
    await restoreAll(store(), again);
    assert.deepEqual(await store().listGrants(one.agent.agent_id, NOW_MS), []);
  });

  it('does not bring back what was ended while the agent was deleted', async () => {
    const ends: readonly [left: string, (one: Started) => Promise<unknown>][] = [
      ['false,false', ({ key }) => store().revokeKey(key.hash)],
      ['false,false', ({ later, grant }) => store().endToken(later.refresh_hash, grant.client_id)],
      ['false,true', ({ tokens, grant }) => store().endToken(tokens.access_hash, grant.client_id)],
      ['true,true', ({ tokens }) => store().endToken(tokens.refresh_hash, 'another')],
    ];
    for (const [left, end] of ends) {
      const one = await start();
      const auditId = await deleteAgent(one);
      await end(one);
      await restoreAll(store(), auditId);
      assert.equal(await works(one.tokens), left);
    }
  });

  it('keeps nothing of grants whose agent is deleted for good, or whose undo has expired', async () => {
    const [one, other] = [await start(), await start()];
    const { agent_id } = one.agent;
    await store().deleteAll(agent_id, deletionOf('delete_agent', agent_id, 'for_good'), true);
    await assertEnded(one);
    const auditId = await deleteAgent(other);
    for await (const _ of store().removeDeleted(NOW_MS));
    await assert.rejects(restoreAll(store(), auditId), /expired/);
    await assertEnded(other);
  });
}
