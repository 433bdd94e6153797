// Store contract: grants, their codes and their tokens.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ACCESS_TOKEN_MS,
  CODE_MS,
  GRANT_IDLE_MS,
  MAX_GRANTS,
  MAX_TOKENS,
  type NewTokens,
  ROTATED_MS,
} from '../../src/domain/grants.ts';
import type { Store } from '../../src/domain/store.ts';
import { addGrant, exchangeOf, holderOf, newGrantOf, newHash, newTokens } from './grant-rows.ts';
import { addAgent, auditOf, HOUR_MS, NOW_MS, newKey, newUuid } from './rows.ts';

export function grantContract(store: () => Store): void {
  const access = (tokens: NewTokens, nowMs = NOW_MS) => store().findAccessToken(tokens.access_hash, nowMs);
  const refresh = (tokens: NewTokens, nowMs = NOW_MS) => store().findRefreshToken(tokens.refresh_hash, nowMs);
  const works = async (tokens: NewTokens, nowMs = NOW_MS) =>
    [await access(tokens, nowMs), await refresh(tokens, nowMs)].map((holder) => holder !== undefined);
  const idsOf = async (agentId: string, nowMs = NOW_MS) =>
    (await store().listGrants(agentId, nowMs)).map(({ grant_id }) => grant_id);
  const rotate = async (tokens: NewTokens, nowMs = NOW_MS) => {
    const next = newTokens(nowMs);
    assert.equal(await store().refreshGrant(tokens.refresh_hash, next, nowMs), true);
    return next;
  };

  it('gives tokens for a code, once; they belong to the active agent, within the scopes', async () => {
    const { agent, key } = await addAgent(store());
    const grant = newGrantOf(agent, key, { scopes: ['read'], client_host: null });
    assert.equal(await store().addGrant(grant), true);
    assert.deepEqual(await idsOf(agent.agent_id), [], 'without tokens, it is no grant yet');
    const tokens = newTokens();
    const holder = holderOf(grant, agent);
    assert.deepEqual(await store().exchangeCode(exchangeOf(grant), tokens, NOW_MS + CODE_MS - 1), holder);
    assert.deepEqual(await access(tokens), holder);
    assert.deepEqual(await refresh(tokens), holder);
    assert.equal(await store().findAccessToken(tokens.refresh_hash, NOW_MS), undefined);
    assert.equal(await store().findRefreshToken(tokens.access_hash, NOW_MS), undefined);
    assert.equal(await store().findAccessToken(newHash(), NOW_MS), undefined);
    assert.equal(await store().findRefreshToken(newHash(), NOW_MS), undefined);
    const { grant_id, client_name } = grant;
    assert.deepEqual(await store().listGrants(agent.agent_id, NOW_MS), [
      {
        ...{ grant_id, client_name, client_host: null, scopes: ['read'], created_ms: NOW_MS },
        last_used_ms: NOW_MS + CODE_MS - 1,
      },
    ]);
  });

  it('refuses a code if anything differs, which changes nothing, or when it has expired', async () => {
    const { agent, key } = await addAgent(store());
    const grant = newGrantOf(agent, key);
    await store().addGrant(grant);
    const exchange = exchangeOf(grant);
    for (const other of [
      { code_hash: newHash() },
      { client_id: 'other' },
      { redirect_uri: 'https://client.example/other' },
      { code_challenge: newHash() },
    ])
      assert.equal(await store().exchangeCode({ ...exchange, ...other }, newTokens(), NOW_MS), undefined);
    assert.equal(await store().exchangeCode(exchange, newTokens(), NOW_MS + CODE_MS), undefined);
    const tokens = newTokens();
    assert.deepEqual(await store().exchangeCode(exchange, tokens, NOW_MS), holderOf(grant, agent));
    const wrong = { ...exchange, code_challenge: newHash() };
    assert.equal(await store().exchangeCode(wrong, newTokens(), NOW_MS), undefined);
    assert.deepEqual(await works(tokens), [true, true], 'a wrong verifier does not end a grant');
  });

  it('ends the grant if its code is exchanged again, also much later', async () => {
    const { agent, key } = await addAgent(store());
    const other = await addGrant(store(), agent, key);
    const { grant, tokens } = await addGrant(store(), agent, key);
    const late = NOW_MS + HOUR_MS / 2;
    assert.equal(await store().exchangeCode(exchangeOf(grant), newTokens(), late), undefined);
    assert.deepEqual(await works(tokens, late), [false, false]);
    assert.deepEqual(await idsOf(agent.agent_id), [other.grant.grant_id]);
  });

  it('lets one of several exchanges at the same moment win, and then ends the grant', async () => {
    const { agent, key } = await addAgent(store());
    const grant = newGrantOf(agent, key);
    await store().addGrant(grant);
    const all = Array.from({ length: 5 }, () => newTokens());
    const outcomes = await Promise.all(
      all.map((tokens) => store().exchangeCode(exchangeOf(grant), tokens, NOW_MS)),
    );
    assert.equal(outcomes.filter((holder) => holder !== undefined).length, 1);
    for (const tokens of all) assert.deepEqual(await works(tokens), [false, false]);
    assert.deepEqual(await idsOf(agent.agent_id), []);
  });

  it('needs a valid key of the active agent', async () => {
    const { agent, key } = await addAgent(store());
    const other = await addAgent(store());
    const inactive = await addAgent(store(), { is_active: false });
    const next = newKey();
    await store().rotateKey(agent.agent_id, key.hash, next, NOW_MS, NOW_MS + HOUR_MS);
    for (const [what, refused] of [
      ['an unknown key', newGrantOf(agent, newKey())],
      ['the key of another agent', newGrantOf(agent, other.key)],
      ['a key that has expired', newGrantOf(agent, key, { created_ms: NOW_MS + HOUR_MS })],
      ['an inactive agent', newGrantOf(inactive.agent, inactive.key)],
      ['an unknown agent', newGrantOf({ agent_id: newUuid() }, key)],
    ] as const) {
      assert.equal(await store().addGrant(refused), false, what);
      assert.equal(await store().exchangeCode(exchangeOf(refused), newTokens(), NOW_MS), undefined, what);
    }
    assert.equal(await store().addGrant(newGrantOf(agent, key, { created_ms: NOW_MS + HOUR_MS - 1 })), true);
    assert.equal(await store().addGrant(newGrantOf(agent, next)), true);
  });

  it('counts an agent with a grant as used', async () => {
    const { agent, key } = await addAgent(store(), { created_ms: NOW_MS - 1_000 });
    await store().addGrant(newGrantOf(agent, key));
    assert.equal((await store().findAgentDetails(agent.agent_id, NOW_MS))?.agent.last_used_ms, NOW_MS);
    for await (const _ of store().removeUnusedAgents(NOW_MS, auditOf('delete_agent', '')));
    assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
  });

  it('accepts an access token until it expires, to the millisecond', async () => {
    const { agent, key } = await addAgent(store());
    const { tokens } = await addGrant(store(), agent, key);
    assert.notEqual(await access(tokens, NOW_MS + ACCESS_TOKEN_MS - 1), undefined);
    assert.equal(await access(tokens, NOW_MS + ACCESS_TOKEN_MS), undefined);
    assert.deepEqual(await access(tokens), await refresh(tokens));
  });

  it('gives new tokens for a refresh token; the earlier access token goes on', async () => {
    const { agent, key } = await addAgent(store());
    const { grant, tokens } = await addGrant(store(), agent, key);
    const next = newTokens(NOW_MS, { scopes: ['read'] });
    assert.equal(await store().refreshGrant(tokens.refresh_hash, next, NOW_MS), true);
    assert.deepEqual(await access(next), { ...holderOf(grant, agent), scopes: ['read'] });
    assert.deepEqual(await refresh(next), holderOf(grant, agent));
    assert.deepEqual(await works(tokens), [true, true]);
    assert.equal(await store().refreshGrant(newHash(), newTokens(), NOW_MS), false);
    assert.equal(await store().refreshGrant(next.access_hash, newTokens(), NOW_MS), false);
  });

  it('accepts a rotated refresh token for a day from its first use on; the grant outlives it', async () => {
    const { agent, key } = await addAgent(store());
    const { tokens } = await addGrant(store(), agent, key);
    const usedMs = NOW_MS + 5 * ROTATED_MS;
    await rotate(tokens, usedMs);
    await rotate(tokens, usedMs + ROTATED_MS / 2);
    const next = await rotate(tokens, usedMs + ROTATED_MS - 1);
    const late = usedMs + ROTATED_MS;
    assert.equal(await refresh(tokens, late), undefined);
    assert.equal(await store().refreshGrant(tokens.refresh_hash, newTokens(), late), false);
    assert.deepEqual(await works(next, late), [true, true]);
  });

  it('gives tokens to all of 12 refreshes with the same token at the same moment', async () => {
    const { agent, key } = await addAgent(store());
    const { tokens } = await addGrant(store(), agent, key);
    const all = Array.from({ length: 12 }, () => newTokens());
    const outcomes = await Promise.all(
      all.map((next) => store().refreshGrant(tokens.refresh_hash, next, NOW_MS)),
    );
    assert.deepEqual(outcomes, Array(12).fill(true));
    for (const next of all) assert.deepEqual(await works(next), [true, true]);
  });

  it('keeps the newest access, refresh and rotated tokens, also of the same millisecond', async () => {
    const { agent, key } = await addAgent(store());
    for (const step of [1, 0]) {
      const { tokens } = await addGrant(store(), agent, key);
      const sources = [tokens];
      // Refresh tokens that are not rotated: always from the same source.
      for (let at = 1; at < MAX_TOKENS.refresh + 3; at++)
        sources.push(await rotate(tokens, NOW_MS + at * step));
      const late = NOW_MS + 1_000;
      const latest = sources.at(-1)!;
      assert.deepEqual(await works(latest, late), [true, true]);
      const left = await Promise.all(sources.slice(1).map((source) => refresh(source, late)));
      assert.equal(left.filter(Boolean).length, MAX_TOKENS.refresh);
      if (step === 1) assert.deepEqual(left.slice(0, 2), [undefined, undefined]);
      let last = latest;
      const chain = [last];
      for (let at = 0; at < MAX_TOKENS.access + 3; at++) {
        last = await rotate(last, late + at * step);
        chain.push(last);
        assert.deepEqual(await works(last, late), [true, true]);
      }
      const all = [...sources, ...chain];
      const inUse = await Promise.all([...new Set(all)].map((source) => access(source, late)));
      assert.equal(inUse.filter(Boolean).length, MAX_TOKENS.access);
      if (step === 0) continue;
      const rotated = await Promise.all(chain.slice(0, -1).map((source) => refresh(source, late)));
      assert.deepEqual(
        rotated.map((holder) => holder !== undefined),
        rotated.map((_, at) => at >= rotated.length - MAX_TOKENS.rotated),
      );
    }
  });

  it('removes what exceeds the maximum number of grants: what was used longest ago, unused codes first', async () => {
    const { agent, key } = await addAgent(store());
    const { agent_id } = agent;
    const first = await addGrant(store(), agent, key);
    const grants = [];
    for (let at = 1; at < MAX_GRANTS; at++) {
      const created_ms = NOW_MS + at;
      grants.push(await addGrant(store(), agent, key, { created_ms }));
    }
    const late = NOW_MS + CODE_MS + MAX_GRANTS;
    await rotate(first.tokens, late);
    assert.equal((await idsOf(agent_id)).length, MAX_GRANTS);
    const newest = await addGrant(store(), agent, key, { created_ms: late });
    const kept = [newest, ...grants.slice(1).toReversed(), first];
    assert.deepEqual(
      await idsOf(agent_id, late),
      kept.map(({ grant }) => grant.grant_id),
    );
    assert.deepEqual(await works(grants[0]!.tokens, late), [false, false]);

    const waiting = newGrantOf(agent, key, { created_ms: late });
    await store().addGrant(waiting); // pushes another one out
    assert.equal((await idsOf(agent_id, late)).length, MAX_GRANTS - 1);
    const expiredMs = late + CODE_MS;
    await addGrant(store(), agent, key, { created_ms: expiredMs });
    assert.equal((await idsOf(agent_id, expiredMs)).length, MAX_GRANTS);
    assert.equal(await store().exchangeCode(exchangeOf(waiting), newTokens(), late), undefined);
  });

  it('lists the newest grants first, with their last uses', async () => {
    const { agent, key } = await addAgent(store());
    const older = await addGrant(store(), agent, key);
    const newer = await addGrant(store(), agent, key, { created_ms: NOW_MS + 1 });
    store().noteGrantUse(older.grant.grant_id, NOW_MS + HOUR_MS);
    store().noteGrantUse(newUuid(), NOW_MS);
    const found = await store().listGrants(agent.agent_id, NOW_MS);
    assert.deepEqual(
      found.map(({ grant_id, last_used_ms }) => [grant_id, last_used_ms]),
      [
        [newer.grant.grant_id, NOW_MS + 1],
        [older.grant.grant_id, NOW_MS + HOUR_MS],
      ],
    );
    assert.deepEqual(await store().listGrants(newUuid(), NOW_MS), []);
  });

  it('does not accept an idle grant, and removes it', async () => {
    const { agent, key } = await addAgent(store());
    const idle = await addGrant(store(), agent, key);
    const used = await addGrant(store(), agent, key);
    store().noteGrantUse(used.grant.grant_id, NOW_MS + 1);
    assert.equal((await idsOf(agent.agent_id, NOW_MS + GRANT_IDLE_MS - 1)).length, 2);
    assert.notEqual(await refresh(idle.tokens, NOW_MS + GRANT_IDLE_MS - 1), undefined);
    const idleMs = NOW_MS + GRANT_IDLE_MS;
    assert.equal(await refresh(idle.tokens, idleMs), undefined);
    assert.equal(await store().refreshGrant(idle.tokens.refresh_hash, newTokens(), idleMs), false);
    assert.ok(!(await idsOf(agent.agent_id, idleMs)).includes(idle.grant.grant_id));
    for (let count = 1; count > 0; ) count = await store().removeIdleGrants(NOW_MS);
    assert.deepEqual(await idsOf(agent.agent_id), [used.grant.grant_id]);
    assert.deepEqual(await works(idle.tokens), [false, false]);
    assert.deepEqual(await works(used.tokens), [true, true]);
  });

  it('removes idle grants in slices', async () => {
    const { agent, key } = await addAgent(store());
    await Promise.all(
      Array.from({ length: 70 }, () => store().addGrant(newGrantOf(agent, key, { created_ms: 1 }))),
    );
    const counts = [];
    do counts.push(await store().removeIdleGrants(1));
    while (counts.at(-1) !== 0);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      70,
    );
    assert.ok(counts.length > 2);
    assert.ok(counts.every((count) => count <= 50));
  });
}
