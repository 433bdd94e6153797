// Store contract: random sequences of what begins and ends grants, compared with a simple model after each step.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { KeyFingerprint } from '../../src/domain/api-key.ts';
import { ACCESS_TOKEN_MS, GRANT_IDLE_MS, type NewTokens, ROTATED_MS } from '../../src/domain/grants.ts';
import type { Store } from '../../src/domain/store.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { deletionOf, lastEntry, restoreAll } from './contract-undo.ts';
import { addGrant, exchangeOf, newTokens } from './grant-rows.ts';
import { addAgent, auditOf, HOUR_MS, NOW_MS, newKey } from './rows.ts';

const SEQUENCES = size(12, 100);
const STEPS = 60;

interface Agent {
  readonly row: AgentRow;
  /** The newest last. */
  keys: KeyFingerprint[];
  isActive: boolean;
  /** The entry of its delete. */
  deletedBy: number | undefined;
}

interface Token {
  readonly tokens: NewTokens;
  hasAccess: boolean;
  rotatedMs: number | undefined;
}

interface Grant {
  readonly of: Agent;
  readonly id: string;
  readonly clientId: string;
  readonly exchange: ReturnType<typeof exchangeOf>;
  readonly keyHash: string;
  currentKeyHash: string;
  usedMs: number;
  readonly issued: Token[];
}

class Model {
  readonly #store: Store;
  readonly #chance: Chance;
  readonly #agents: Agent[] = [];
  #grants: Grant[] = [];
  #ended: Grant[] = [];
  nowMs = NOW_MS;

  constructor(store: Store, chance: Chance) {
    this.#store = store;
    this.#chance = chance;
  }

  async addAgent(): Promise<void> {
    const { agent, key } = await addAgent(this.#store);
    this.#agents.push({ row: agent, keys: [key], isActive: true, deletedBy: undefined });
  }

  async step(): Promise<void> {
    const agent = this.#chance.pick(this.#agents);
    if (agent.deletedBy !== undefined) {
      await restoreAll(this.#store, agent.deletedBy);
      agent.deletedBy = undefined;
      return;
    }
    await this.#chance.pick([
      () => this.#give(agent),
      () => this.#give(agent),
      () => this.#refresh(),
      () => this.#refresh(),
      () => this.#refresh(),
      () => this.#endToken(),
      () => this.#replay(),
      () => this.#endGrant(),
      () => this.#rotate(agent),
      () => this.#rotate(agent),
      () => this.#revoke(agent),
      () => this.#revoke(agent),
      () => this.#newKey(agent),
      () => this.#setActive(agent),
      () => this.#delete(agent),
      () => this.#wait(),
    ])();
  }

  /** Asserts that everything that was ever given works, or does not. */
  async check(): Promise<void> {
    const { nowMs } = this;
    for (const grant of [...this.#grants, ...this.#ended]) {
      const isUsable = this.#grants.includes(grant) && this.#isUsable(grant.of);
      const isIdle = grant.usedMs + GRANT_IDLE_MS <= nowMs;
      for (const { tokens, hasAccess, rotatedMs } of grant.issued) {
        const found = await this.#store.findAccessToken(tokens.access_hash, nowMs);
        assert.equal(found !== undefined, isUsable && hasAccess && tokens.access_expires_ms > nowMs);
        const isKept = rotatedMs === undefined || rotatedMs + ROTATED_MS > nowMs;
        const holder = await this.#store.findRefreshToken(tokens.refresh_hash, nowMs);
        assert.equal(holder !== undefined, isUsable && !isIdle && isKept);
        for (const { grant_id } of [found, holder].filter((each) => each !== undefined))
          assert.equal(grant_id, grant.id);
      }
    }
    for (const agent of this.#agents) {
      const listed = await this.#store.listGrants(agent.row.agent_id, nowMs);
      const wanted = this.#grants.filter(
        ({ of, usedMs }) => of === agent && agent.deletedBy === undefined && usedMs + GRANT_IDLE_MS > nowMs,
      );
      assert.deepEqual(listed.map(({ grant_id }) => grant_id).sort(), wanted.map(({ id }) => id).sort());
    }
  }

  #isUsable({ isActive, deletedBy }: Agent): boolean {
    return isActive && deletedBy === undefined;
  }

  #end(hasEnded: (grant: Grant) => boolean): void {
    this.#ended.push(...this.#grants.filter(hasEnded));
    this.#grants = this.#grants.filter((grant) => !hasEnded(grant));
  }

  async #give(agent: Agent): Promise<void> {
    const key = agent.keys.at(-1);
    if (!key || !agent.isActive) return;
    const { grant, tokens } = await addGrant(this.#store, agent.row, key, { created_ms: this.nowMs });
    this.#grants.push({
      ...{ of: agent, id: grant.grant_id, clientId: grant.client_id, exchange: exchangeOf(grant) },
      ...{ keyHash: key.hash, currentKeyHash: key.hash, usedMs: this.nowMs },
      issued: [{ tokens, hasAccess: true, rotatedMs: undefined }],
    });
  }

  /** A token of any grant, also of one that has ended. */
  #pickToken(): { grant: Grant; token: Token } | undefined {
    const all = [...this.#grants, ...this.#grants, ...this.#ended];
    if (all.length === 0) return undefined;
    const grant = this.#chance.pick(all);
    return { grant, token: this.#chance.pick(grant.issued) };
  }

  async #refresh(): Promise<void> {
    const { grant, token } = this.#pickToken() ?? {};
    if (!grant || !token || grant.issued.length > 15) return;
    const next = newTokens(this.nowMs);
    const { refresh_hash } = token.tokens;
    const works = (await this.#store.findRefreshToken(refresh_hash, this.nowMs)) !== undefined;
    assert.equal(await this.#store.refreshGrant(refresh_hash, next, this.nowMs), works);
    if (!works) return;
    token.rotatedMs ??= this.nowMs;
    grant.usedMs = this.nowMs;
    grant.issued.push({ tokens: next, hasAccess: true, rotatedMs: undefined });
  }

  async #endToken(): Promise<void> {
    const { grant, token } = this.#pickToken() ?? {};
    if (!grant || !token) return;
    if (this.#chance.chance(0.5)) {
      await this.#store.endToken(token.tokens.access_hash, grant.clientId);
      token.hasAccess = false;
      return;
    }
    const works = (await this.#store.findRefreshToken(token.tokens.refresh_hash, this.nowMs)) !== undefined;
    if (!works && grant.of.deletedBy === undefined) return; // whether its row is still there does not matter
    if (token.rotatedMs !== undefined) return;
    await this.#store.endToken(token.tokens.refresh_hash, grant.clientId);
    this.#end((other) => other === grant);
  }

  async #replay(): Promise<void> {
    const { grant } = this.#pickToken() ?? {};
    if (!grant || grant.of.deletedBy !== undefined) return;
    assert.equal(await this.#store.exchangeCode(grant.exchange, newTokens(), this.nowMs), undefined);
    this.#end((other) => other === grant);
  }

  async #endGrant(): Promise<void> {
    const { grant } = this.#pickToken() ?? {};
    if (!grant || grant.of.deletedBy !== undefined) return;
    const { agent_id } = grant.of.row;
    const isThere = this.#grants.includes(grant);
    assert.equal(await this.#store.endGrants(agent_id, grant.id), isThere);
    this.#end((other) => other === grant);
  }

  async #rotate(agent: Agent): Promise<void> {
    const calling = agent.keys.at(-1);
    if (!calling || !agent.isActive) return;
    const next = newKey();
    const endGrants = this.#chance.chance(0.2);
    const untilMs = this.nowMs + this.#chance.pick([0, 365 * 24 * HOUR_MS]);
    const { agent_id } = agent.row;
    assert.ok(await this.#store.rotateKey(agent_id, calling.hash, next, this.nowMs, untilMs, endGrants));
    agent.keys = untilMs > this.nowMs ? [calling, next] : [next];
    if (endGrants) this.#end(({ of }) => of === agent);
    for (const grant of this.#grants) if (grant.of === agent) grant.currentKeyHash = next.hash;
  }

  async #revoke(agent: Agent): Promise<void> {
    if (agent.keys.length < 2) return;
    const key = this.#chance.pick(agent.keys);
    await this.#store.revokeKey(key.hash);
    agent.keys = agent.keys.filter((other) => other !== key);
    this.#end(
      ({ of, keyHash, currentKeyHash }) => of === agent && [keyHash, currentKeyHash].includes(key.hash),
    );
  }

  async #newKey(agent: Agent): Promise<void> {
    if (this.#chance.chance(0.7)) return;
    const next = newKey();
    const { agent_id } = agent.row;
    await this.#store.replaceAgentKeys(agent_id, next, auditOf('new_key', agent_id));
    agent.keys = [next];
    this.#end(({ of }) => of === agent);
  }

  async #setActive(agent: Agent): Promise<void> {
    const { agent_id } = agent.row;
    agent.isActive = !agent.isActive;
    const update = { is_active: agent.isActive };
    await this.#store.updateAgent(agent_id, update, auditOf('update_agent', agent_id));
  }

  async #delete(agent: Agent): Promise<void> {
    const { agent_id } = agent.row;
    await this.#store.deleteAll(agent_id, deletionOf('delete_agent', agent_id), true);
    agent.deletedBy = (await lastEntry(this.#store)).audit_id;
  }

  async #wait(): Promise<void> {
    this.nowMs += this.#chance.pick([ACCESS_TOKEN_MS / 2, ROTATED_MS / 2, ROTATED_MS, GRANT_IDLE_MS / 2]);
    for (let count = 1; count > 0; ) count = await this.#store.removeIdleGrants(this.nowMs - GRANT_IDLE_MS);
    const idleMs = this.nowMs - GRANT_IDLE_MS;
    this.#end(({ of, usedMs }) => usedMs <= idleMs && of.deletedBy === undefined);
  }
}

export function grantModelContract(store: () => Store): void {
  it('agrees with a model in random sequences', async () => {
    for (let seed = 1; seed <= SEQUENCES; seed++) {
      const model = new Model(store(), new Chance(seed));
      for (let agents = 0; agents < 3; agents++) await model.addAgent();
      for (let step = 0; step < STEPS; step++) {
        await model.step();
        await model.check();
      }
    }
  });
}
