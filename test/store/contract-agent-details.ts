// Store contract: an agent as administrators see it, the end of one of its keys, and quotas that are only read.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyFingerprint } from '../../src/domain/api-key.ts';
import type { Store } from '../../src/domain/store.ts';
import { addAgent, addEvent, auditOf, findAgent, HOUR_MS, NOW_MS, newKey, newUuid } from './rows.ts';

export function agentDetailsContract(store: () => Store): void {
  const detailsOf = async (agentId: string, nowMs = NOW_MS) =>
    (await store().findAgentDetails(agentId, nowMs))!;
  const isTaken = async ({ hash }: KeyFingerprint) =>
    (await store().findAgentByKey(hash, NOW_MS)) !== undefined;
  const named = (prefix: string): KeyFingerprint => ({ ...newKey(), prefix });
  /** An agent with two keys: the older one expires. */
  const withTwoKeys = async (first = 'lev_aaaa', second = 'lev_bbbb') => {
    const { agent, key } = await addAgent(store());
    const start = named(first);
    assert.equal(await store().rotateKey(agent.agent_id, key.hash, start, NOW_MS, NOW_MS), true);
    const next = named(second);
    const expiresMs = NOW_MS + HOUR_MS;
    assert.equal(await store().rotateKey(agent.agent_id, start.hash, next, NOW_MS + 1, expiresMs), true);
    return { agent, id: agent.agent_id, older: start, newer: next, expiresMs };
  };

  describe('findAgentDetails', () => {
    it('has the agent as in the list, the bytes of its events, and its keys, the oldest first', async () => {
      const { id, older, newer, expiresMs } = await withTwoKeys();
      const agent = (await findAgent(store(), id))!;
      const { words: _, ...details } = await detailsOf(id);
      assert.deepEqual(details, {
        agent,
        eventBytes: 0,
        keys: [
          {
            key_hash: older.hash,
            prefix: 'lev_aaaa',
            created_ms: NOW_MS,
            expires_ms: expiresMs,
            last_used_ms: null,
          },
          {
            key_hash: newer.hash,
            prefix: 'lev_bbbb',
            created_ms: NOW_MS + 1,
            expires_ms: null,
            last_used_ms: null,
          },
        ],
      });
      const { event_id } = await addEvent(store(), agent, { title: 'naïve 😀' });
      const { json } = (await store().findEvent(event_id))!;
      const { agent: counted, eventBytes } = await detailsOf(id);
      assert.equal(counted.event_count, 1);
      assert.equal(eventBytes, json.length, 'a Wire has one character per byte');
    });

    it('leaves out keys that have expired, to the millisecond', async () => {
      const { id, expiresMs } = await withTwoKeys();
      const prefixes = async (nowMs: number) => (await detailsOf(id, nowMs)).keys.map(({ prefix }) => prefix);
      assert.deepEqual(await prefixes(expiresMs - 1), ['lev_aaaa', 'lev_bbbb']);
      assert.deepEqual(await prefixes(expiresMs), ['lev_bbbb']);
    });

    it('has the last use of each key at once', async () => {
      const { id, older, newer } = await withTwoKeys();
      const uses = async () => (await detailsOf(id)).keys.map(({ last_used_ms }) => last_used_ms);
      store().noteUse(id, NOW_MS + 5, older.hash);
      assert.deepEqual(await uses(), [NOW_MS + 5, null]);
      store().noteUse(id, NOW_MS + 7, newer.hash);
      store().noteUse(id, NOW_MS + 9, older.hash);
      assert.deepEqual(await uses(), [NOW_MS + 9, NOW_MS + 7]);
      assert.equal((await detailsOf(id)).agent.last_used_ms, NOW_MS + 9);
    });

    it('finds nothing by an unknown ID, or that of a deleted agent', async () => {
      const { id } = await withTwoKeys();
      assert.equal(await store().findAgentDetails(newUuid(), NOW_MS), undefined);
      await store().deleteAll(id, auditOf('delete_agent', id), true);
      assert.equal(await store().findAgentDetails(id, NOW_MS), undefined);
    });
  });

  describe('revokeAgentKey', () => {
    const revoke = (agentId: string, prefix: string) =>
      store().revokeAgentKey(agentId, prefix, auditOf('revoke_key', agentId, `{"key_prefix":"${prefix}"}`));
    const latest = async () => {
      const { audit_id: _, ...entry } = (await store().auditPage({ after: undefined, limit: 1 })).items[0]!;
      return entry;
    };

    it('ends this key at once and no other, with an audit entry', async () => {
      const { agent, id, older, newer } = await withTwoKeys();
      const other = await withTwoKeys();
      assert.deepEqual([await isTaken(older), await isTaken(newer)], [true, true]);
      assert.equal(await revoke(id, 'lev_aaaa'), true);
      assert.deepEqual([await isTaken(older), await isTaken(newer)], [false, true]);
      assert.deepEqual(await latest(), {
        ...auditOf('revoke_key', id, '{"key_prefix":"lev_aaaa"}'),
        target_name: agent.agent_name,
        count: 1,
        ...{ titles: null, undo: null, restored_ms: null },
      });
      assert.deepEqual([await isTaken(other.older), await isTaken(other.newer)], [true, true]);
      assert.deepEqual(
        (await detailsOf(id)).keys.map(({ prefix }) => prefix),
        ['lev_bbbb'],
      );
      assert.equal(await revoke(id, 'lev_bbbb'), true, 'the last one, too');
      assert.equal(await isTaken(newer), false);
      assert.equal((await findAgent(store(), id))?.is_active, true);
    });

    it('does nothing without a key that is valid and has this prefix', async () => {
      const { id, older, newer } = await withTwoKeys();
      await revoke(id, 'lev_aaaa');
      const { total } = await store().auditPage({ after: undefined, limit: 1 });
      for (const [agentId, prefix] of [
        [id, 'lev_aaaa'],
        [id, 'lev_cccc'],
        [id, 'LEV_BBBB'],
        [id, 'lev_'],
        [newUuid(), 'lev_bbbb'],
      ] as const)
        assert.equal(await revoke(agentId, prefix), false);
      const expired = await withTwoKeys();
      const late = { ...auditOf('revoke_key', expired.id), at_ms: expired.expiresMs };
      assert.equal(await store().revokeAgentKey(expired.id, 'lev_aaaa', late), false);
      assert.equal((await store().auditPage({ after: undefined, limit: 1 })).total, total);
      assert.deepEqual([await isTaken(older), await isTaken(newer)], [false, true]);
    });

    it('ends both keys if both have the prefix, with one audit entry', async () => {
      const { id, older, newer } = await withTwoKeys('lev_same', 'lev_same');
      const { total } = await store().auditPage({ after: undefined, limit: 1 });
      assert.equal(await revoke(id, 'lev_same'), true);
      assert.deepEqual([await isTaken(older), await isTaken(newer)], [false, false]);
      assert.equal((await store().auditPage({ after: undefined, limit: 1 })).total, total + 1);
    });

    it('succeeds once, however many administrators revoke the same key', async () => {
      const { id } = await withTwoKeys();
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => revoke(id, 'lev_aaaa')));
      assert.equal(outcomes.filter((isRevoked) => isRevoked).length, 1);
    });

    it('never leaves the revoked key to a rotation that runs at the same time', async () => {
      for (let round = 0; round < 5; round++) {
        const { id, newer } = await withTwoKeys();
        const next = named('lev_cccc');
        const [isRotated, isRevoked] = await Promise.all([
          store().rotateKey(id, newer.hash, next, NOW_MS + 2, NOW_MS + HOUR_MS),
          revoke(id, 'lev_bbbb'),
        ]);
        assert.equal(isRevoked, true);
        assert.equal(await isTaken(newer), false);
        assert.equal(await isTaken(next), isRotated);
      }
    });
  });

  describe('replaceAgentKeys', () => {
    const replace = (agentId: string, next: KeyFingerprint) =>
      store().replaceAgentKeys(agentId, next, auditOf('new_key', agentId, `{"key_prefix":"${next.prefix}"}`));

    it('adds the key and ends all others of the agent at once, with an audit entry', async () => {
      const { agent, id, older, newer } = await withTwoKeys();
      const other = await withTwoKeys();
      const next = named('lev_next');
      assert.deepEqual(
        [await isTaken(older), await isTaken(newer), await isTaken(next)],
        [true, true, false],
      );
      assert.equal(await replace(id, next), agent.tier);
      assert.deepEqual(
        [await isTaken(older), await isTaken(newer), await isTaken(next)],
        [false, false, true],
      );
      assert.deepEqual((await detailsOf(id)).keys, [
        { key_hash: next.hash, prefix: 'lev_next', created_ms: NOW_MS, expires_ms: null, last_used_ms: null },
      ]);
      const { audit_id: _, ...entry } = (await store().auditPage({ after: undefined, limit: 1 })).items[0]!;
      assert.deepEqual(entry, {
        ...auditOf('new_key', id, '{"key_prefix":"lev_next"}'),
        ...{ target_name: agent.agent_name, count: 1, titles: null, undo: null, restored_ms: null },
      });
      assert.deepEqual([await isTaken(other.older), await isTaken(other.newer)], [true, true]);
    });

    it('gives a key to an agent that has none, and to a deactivated one, which stays so', async () => {
      const { agent, key } = await addAgent(store(), { tier: 'read' });
      await store().revokeKey(key.hash);
      const next = newKey();
      assert.equal(await replace(agent.agent_id, next), 'read');
      assert.equal(await isTaken(next), true);
      const setActive = (is_active: boolean) =>
        store().updateAgent(agent.agent_id, { is_active }, auditOf('update_agent', agent.agent_id));
      await setActive(false);
      const last = newKey();
      assert.equal(await replace(agent.agent_id, last), 'read');
      assert.deepEqual([await isTaken(next), await isTaken(last)], [false, false]);
      await setActive(true);
      assert.deepEqual([await isTaken(next), await isTaken(last)], [false, true]);
    });

    it('does nothing for an agent that does not exist, or was deleted', async () => {
      const { id, older } = await withTwoKeys();
      await store().deleteAll(id, auditOf('delete_agent', id), true);
      const { total } = await store().auditPage({ after: undefined, limit: 1 });
      for (const agentId of [id, newUuid()]) {
        const next = newKey();
        assert.equal(await replace(agentId, next), undefined);
        assert.equal(await isTaken(next), false);
      }
      assert.equal(await isTaken(older), false);
      assert.equal((await store().auditPage({ after: undefined, limit: 1 })).total, total);
    });

    it('never takes the key of another agent', async () => {
      const [one, other] = [await withTwoKeys(), await withTwoKeys()];
      await assert.rejects(replace(one.id, other.newer));
      assert.deepEqual([await isTaken(one.newer), await isTaken(other.newer)], [true, true]);
    });

    it('leaves one key, however many are made at the same time, and none to a rotation', async () => {
      for (let round = 0; round < 5; round++) {
        const { id, newer } = await withTwoKeys();
        const next = [newKey(), newKey(), newKey()];
        const rotated = newKey();
        await Promise.all([
          ...next.slice(0, 2).map((key) => replace(id, key)),
          store().rotateKey(id, newer.hash, rotated, NOW_MS + 2, NOW_MS + HOUR_MS),
        ]);
        await replace(id, next[2]!);
        const taken = await Promise.all([newer, rotated, ...next].map(isTaken));
        assert.deepEqual(taken, [false, false, false, false, true]);
      }
    });
  });

  describe('readQuota', () => {
    it('is what spending has left, and takes nothing', async () => {
      const bucket = newUuid();
      const read = () => store().readQuota(bucket, 1_000, NOW_MS);
      const { allowed, remaining } = await read();
      assert.deepEqual([allowed, remaining], [true, 1_000]);
      for (let number = 1; number <= 12; number++) {
        const spent = await store().spend(bucket, 1_000, 1, NOW_MS + number);
        assert.deepEqual(await read(), spent);
      }
      assert.equal((await store().readQuota(bucket, 5, NOW_MS + 20)).remaining, 0, 'with a lower limit');
      const later = await store().readQuota(bucket, 1_000, NOW_MS + 2 * HOUR_MS);
      assert.equal(later.remaining, 1_000, 'in the next window');
    });

    it('says when nothing is left', async () => {
      const bucket = newUuid();
      for (let number = 0; number < 3; number++) await store().spend(bucket, 3, 1, NOW_MS);
      const { allowed, remaining } = await store().readQuota(bucket, 3, NOW_MS);
      assert.deepEqual([allowed, remaining], [false, 0]);
    });
  });
}
