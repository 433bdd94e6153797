// Store contract: keys that agents rotate and revoke themselves.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { KeyFingerprint } from '../../src/domain/api-key.ts';
import type { Store } from '../../src/domain/store.ts';
import { addAgent, auditOf, findKey, HOUR_MS, NOW_MS, newKey, newUuid } from './rows.ts';

export function keyContract(store: () => Store): void {
  const END_MS = NOW_MS + HOUR_MS;

  const isTaken = async (key: KeyFingerprint, nowMs = NOW_MS) =>
    (await store().findAgentByKey(key.hash, nowMs)) !== undefined;
  const areTaken = (keys: readonly KeyFingerprint[], nowMs = NOW_MS) =>
    Promise.all(keys.map((key) => isTaken(key, nowMs)));

  const keyOf = ({ agent_id }: AgentRow, { hash }: KeyFingerprint) => findKey(store(), agent_id, hash);

  const rotateTo = (
    { agent_id }: AgentRow,
    calling: KeyFingerprint,
    key: KeyFingerprint,
    callingExpiresMs = END_MS,
    nowMs = NOW_MS,
  ) => store().rotateKey(agent_id, calling.hash, key, nowMs, callingExpiresMs);

  /** Asserts that a rotation succeeds; returns the new key. */
  async function rotate(
    agent: AgentRow,
    calling: KeyFingerprint,
    callingExpiresMs = END_MS,
    nowMs = NOW_MS,
  ): Promise<KeyFingerprint> {
    const key = newKey();
    assert.equal(await rotateTo(agent, calling, key, callingExpiresMs, nowMs), true);
    return key;
  }

  it('finds prefix, creation and expiry of a key, and nothing for an unknown key', async () => {
    const { agent, key } = await addAgent(store());
    const expected = { prefix: key.prefix, created_ms: agent.created_ms, expires_ms: null };
    assert.deepEqual(await keyOf(agent, key), expected);
    assert.equal(await keyOf(agent, newKey()), undefined);
    const next = { ...newKey(), prefix: 'lev_next' };
    assert.equal(await rotateTo(agent, key, next, END_MS, NOW_MS + 7), true);
    assert.deepEqual(await keyOf(agent, key), { ...expected, expires_ms: END_MS });
    const ofNext = { prefix: 'lev_next', created_ms: NOW_MS + 7, expires_ms: null };
    assert.deepEqual(await keyOf(agent, next), ofNext);
  });

  it('accepts the new key at once, and the calling key until it expires, to the millisecond', async () => {
    const { agent, key } = await addAgent(store());
    const next = await rotate(agent, key);
    for (const nowMs of [NOW_MS, END_MS - 1]) {
      assert.deepEqual(await store().findAgentByKey(key.hash, nowMs), agent);
      assert.deepEqual(await store().findAgentByKey(next.hash, nowMs), agent);
    }
    for (const nowMs of [END_MS, END_MS + 1, END_MS + 1_000 * HOUR_MS]) {
      assert.deepEqual(await areTaken([key, next], nowMs), [false, true]);
    }
    assert.equal(await isTaken(key, END_MS - 1), true, 'a check at a later time does not end it');
  });

  it('ends the calling key at once if its expiry is not in the future', async () => {
    const { agent, key } = await addAgent(store());
    const second = await rotate(agent, key, NOW_MS);
    assert.deepEqual(await areTaken([key, second]), [false, true]);
    assert.deepEqual(await areTaken([key, second], NOW_MS - HOUR_MS), [false, true]);
    const third = await rotate(agent, second, NOW_MS - 1);
    assert.deepEqual(await areTaken([key, second, third]), [false, false, true]);
    assert.equal(await keyOf(agent, second), undefined);
  });

  it('never extends the life of a key', async () => {
    const { agent, key } = await addAgent(store());
    await rotate(agent, key, END_MS);
    await rotate(agent, key, END_MS + HOUR_MS);
    assert.equal((await keyOf(agent, key))?.expires_ms, END_MS);
    await rotate(agent, key, END_MS - 1);
    assert.equal((await keyOf(agent, key))?.expires_ms, END_MS - 1);
    assert.deepEqual([await isTaken(key, END_MS - 2), await isTaken(key, END_MS - 1)], [true, false]);
  });

  it('leaves at most two keys: every other key ends at once', async () => {
    const { agent, key } = await addAgent(store());
    const keys = [key];
    for (let round = 0; round < 5; round++) {
      keys.push(await rotate(agent, keys.at(-1)!));
      const expected = keys.map((_, at) => at >= keys.length - 2);
      assert.deepEqual(await areTaken(keys), expected);
      const stored = await Promise.all(keys.map((stored) => keyOf(agent, stored)));
      assert.deepEqual(
        stored.map((record) => record !== undefined),
        expected,
        'nothing is left of the keys that ended',
      );
    }
    const [older, newest] = [keys.at(-2)!, keys.at(-1)!];
    const again = await rotate(agent, older);
    assert.deepEqual(await areTaken([older, newest, again]), [true, false, true]);
  });

  it('deletes expired keys of the agent at the next rotation', async () => {
    const { agent, key } = await addAgent(store());
    const second = await rotate(agent, key);
    await rotate(agent, second, END_MS + 2 * HOUR_MS, END_MS + HOUR_MS);
    assert.equal(await keyOf(agent, key), undefined);
    assert.equal(await isTaken(key), false);
  });

  it('does not touch the keys of other agents', async () => {
    const [one, other] = [await addAgent(store()), await addAgent(store())];
    const ofOther = await rotate(other.agent, other.key);
    const ofOne = await rotate(one.agent, one.key, NOW_MS);
    await store().revokeKey(ofOne.hash);
    assert.deepEqual(await areTaken([other.key, ofOther]), [true, true]);
  });

  it('does nothing if the calling key is not an active key of the agent', async () => {
    const { agent, key } = await addAgent(store());
    const other = await addAgent(store());
    const second = await rotate(agent, key);
    const revoked = await rotate(agent, second);
    await store().revokeKey(revoked.hash);
    const inactive = await addAgent(store(), { is_active: false });
    const gone = await addAgent(store());
    await store().deleteAll(gone.agent.agent_id, auditOf('delete_agent', gone.agent.agent_id), true);
    const cases: [what: string, AgentRow, KeyFingerprint, nowMs: number][] = [
      ['an unknown one', agent, newKey(), NOW_MS],
      ['one that was replaced', agent, key, NOW_MS],
      ['one that was revoked', agent, revoked, NOW_MS],
      ['one of another agent', agent, other.key, NOW_MS],
      ['one that has expired', agent, second, END_MS],
      ['one of an inactive agent', inactive.agent, inactive.key, NOW_MS],
      ['one of a deleted agent', gone.agent, gone.key, NOW_MS],
      ['one of an agent that never existed', { ...agent, agent_id: newUuid() }, second, NOW_MS],
    ];
    for (const [what, caller, calling, nowMs] of cases) {
      const refused = newKey();
      assert.equal(await rotateTo(caller, calling, refused, nowMs + HOUR_MS, nowMs), false, what);
      assert.equal(await isTaken(refused, nowMs), false, what);
    }
    assert.deepEqual(await areTaken([second, other.key]), [true, true]);
    assert.equal((await keyOf(agent, second))?.expires_ms, END_MS);
    assert.equal((await keyOf(other.agent, other.key))?.expires_ms, null);
  });

  it('never gives the key of one agent to another', async () => {
    const [one, other] = [await addAgent(store()), await addAgent(store())];
    await assert.rejects(rotateTo(one.agent, one.key, other.key, NOW_MS));
    assert.deepEqual(await store().findAgentByKey(other.key.hash, NOW_MS), other.agent);
    assert.deepEqual(await store().findAgentByKey(one.key.hash, NOW_MS), one.agent);
    assert.equal((await keyOf(one.agent, one.key))?.expires_ms, null);
  });

  it('ends only the revoked key, at once', async () => {
    const { agent, key } = await addAgent(store());
    const second = await rotate(agent, key);
    assert.deepEqual(await areTaken([key, second]), [true, true]);
    await store().revokeKey(second.hash);
    assert.deepEqual(await areTaken([key, second]), [true, false]);
    assert.equal(await keyOf(agent, second), undefined);
    await store().revokeKey(second.hash);
    await store().revokeKey(newKey().hash);
    assert.deepEqual(await areTaken([key, second]), [true, false]);
  });

  it('refuses both keys of an inactive agent, and of a deleted one', async () => {
    const { agent, key } = await addAgent(store());
    const keys = [key, await rotate(agent, key)];
    const setActive = (is_active: boolean) =>
      store().updateAgent(agent.agent_id, { is_active }, auditOf('update_agent', agent.agent_id));
    assert.deepEqual(await areTaken(keys), [true, true]);
    await setActive(false);
    assert.deepEqual(await areTaken(keys), [false, false]);
    await setActive(true);
    assert.deepEqual(await areTaken(keys), [true, true]);
    await store().deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true);
    assert.deepEqual(await areTaken(keys), [false, false]);
    assert.equal(await keyOf(agent, key), undefined);
  });

  it('leaves two keys after 30 concurrent rotations with one key: that one and the last new one', async () => {
    const { agent, key } = await addAgent(store());
    const keys = Array.from({ length: 30 }, newKey);
    const outcomes = await Promise.all(keys.map((next) => rotateTo(agent, key, next)));
    assert.deepEqual(new Set(outcomes), new Set([true]));
    assert.equal(await isTaken(key), true);
    const taken = await areTaken(keys);
    assert.equal(taken.filter(Boolean).length, 1);
  });

  it('lets one of 30 concurrent rotations win if it ends the calling key', async () => {
    const { agent, key } = await addAgent(store());
    const keys = Array.from({ length: 30 }, newKey);
    const outcomes = await Promise.all(keys.map((next) => rotateTo(agent, key, next, NOW_MS)));
    assert.equal(outcomes.filter(Boolean).length, 1);
    assert.deepEqual(await areTaken(keys), outcomes, 'only the key of the winner works');
    assert.equal(await isTaken(key), false);
  });

  it('keeps a revoked key revoked, whatever rotates at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, key } = await addAgent(store());
      const keys = Array.from({ length: 4 }, newKey);
      const [first, second, third, fourth] = keys.map((next) => () => rotateTo(agent, key, next));
      await Promise.all([first!(), second!(), store().revokeKey(key.hash), third!(), fourth!()]);
      assert.equal(await isTaken(key), false);
      assert.equal(await keyOf(agent, key), undefined);
      assert.ok((await areTaken(keys)).filter(Boolean).length <= 1);
    }
  });
}
