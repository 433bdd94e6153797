// Statements that change API keys. Run on the writer thread, each call in its own savepoint.
import type { DatabaseSync } from 'node:sqlite';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import type { GrantEnds } from './grant-ends.ts';

/** Changes to an agent's other keys when a new one was created. */
export interface Rotated {
  /** Hashes of the deleted keys, including the calling one if it ended at once. */
  readonly ended: readonly string[];
  /** Expiry of the calling key, if it was not deleted. */
  readonly callingExpiresMs: number;
  readonly endedGrants: readonly string[];
}

export interface KeyWrites {
  /** Undefined unless the agent is active and the calling key is a valid key of the agent. */
  rotateKey(
    agentId: string,
    callingKeyHash: string,
    newKey: KeyFingerprint,
    nowMs: number,
    callingExpiresMs: number,
    endGrants?: boolean,
  ): Rotated | undefined;
  /** Returns the IDs of grants that have ended, too. */
  revokeKey(keyHash: string): string[];
}

export function prepareKeyWrites(database: DatabaseSync, grantEnds: GrantEnds): KeyWrites {
  const findCalling = database.prepare(
    `SELECT min(coalesce(expires_ms, ?1), ?1) AS endsMs FROM keys JOIN agents USING (agent_id)
     WHERE key_hash = ?2 AND agent_id = ?3 AND is_active = 1 AND (expires_ms IS NULL OR expires_ms > ?4)`,
  );
  const setEnd = database.prepare('UPDATE keys SET expires_ms = ? WHERE key_hash = ?');
  const removeOthers = database.prepare(
    'DELETE FROM keys WHERE agent_id = ? AND key_hash <> ? RETURNING key_hash',
  );
  const removeKey = database.prepare('DELETE FROM keys WHERE key_hash = ? RETURNING agent_id');
  const forgetKey = database.prepare('DELETE FROM deleted_keys WHERE key_hash = ? RETURNING audit_id');
  const insertKey = database.prepare(
    'INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)',
  );

  return {
    rotateKey(agentId, callingKeyHash, newKey, nowMs, callingExpiresMs, endGrants = false) {
      const calling = findCalling.get(callingExpiresMs, callingKeyHash, agentId, nowMs);
      if (!calling) return undefined;
      const endsMs = calling.endsMs as number;
      const ended = removeOthers.all(agentId, callingKeyHash).map(({ key_hash }) => key_hash as string);
      if (endsMs > nowMs) setEnd.run(endsMs, callingKeyHash);
      else {
        removeKey.get(callingKeyHash);
        ended.push(callingKeyHash);
      }
      insertKey.run(newKey.hash, agentId, newKey.prefix, nowMs);
      const endedGrants = endGrants ? grantEnds.endAll(agentId) : [];
      if (!endGrants) grantEnds.passOn(agentId, newKey.hash);
      return { ended, callingExpiresMs: endsMs, endedGrants };
    },

    revokeKey(keyHash) {
      // Of an agent that has just been deleted, and may be restored.
      const kept = forgetKey.get(keyHash);
      if (kept) grantEnds.forgetOfKey(kept.audit_id as number, keyHash);
      const removed = removeKey.get(keyHash);
      return removed ? grantEnds.endOfKey(removed.agent_id as string, keyHash) : [];
    },
  };
}
