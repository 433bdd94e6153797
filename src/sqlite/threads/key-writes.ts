// The statements that change keys, of the writer thread. Each call runs in a savepoint of its own.
import type { DatabaseSync } from 'node:sqlite';
import type { KeyFingerprint } from '../../domain/api-key.ts';

/** What became of an agent's keys beside the new one. */
export interface Rotated {
  /** The hashes of those that are gone, the calling one among them where it ended at once. */
  readonly ended: readonly string[];
  /** When the calling key ends, where it did not. */
  readonly callingExpiresMs: number;
}

export interface KeyWrites {
  /** Undefined unless the calling key is an active one of the active agent. */
  rotateKey(
    agentId: string,
    callingKeyHash: string,
    newKey: KeyFingerprint,
    nowMs: number,
    callingExpiresMs: number,
  ): Rotated | undefined;
  revokeKey(keyHash: string): void;
}

export function prepareKeyWrites(database: DatabaseSync): KeyWrites {
  const findCalling = database.prepare(
    `SELECT min(coalesce(expires_ms, ?1), ?1) AS endsMs FROM keys JOIN agents USING (agent_id)
     WHERE key_hash = ?2 AND agent_id = ?3 AND is_active = 1 AND (expires_ms IS NULL OR expires_ms > ?4)`,
  );
  const setEnd = database.prepare('UPDATE keys SET expires_ms = ? WHERE key_hash = ?');
  const removeOthers = database.prepare(
    'DELETE FROM keys WHERE agent_id = ? AND key_hash <> ? RETURNING key_hash',
  );
  const removeKey = database.prepare('DELETE FROM keys WHERE key_hash = ?');
  const insertKey = database.prepare(
    'INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)',
  );

  return {
    rotateKey(agentId, callingKeyHash, newKey, nowMs, callingExpiresMs) {
      const calling = findCalling.get(callingExpiresMs, callingKeyHash, agentId, nowMs);
      if (!calling) return undefined;
      const endsMs = calling.endsMs as number;
      const ended = removeOthers.all(agentId, callingKeyHash).map(({ key_hash }) => key_hash as string);
      if (endsMs > nowMs) setEnd.run(endsMs, callingKeyHash);
      else {
        removeKey.run(callingKeyHash);
        ended.push(callingKeyHash);
      }
      insertKey.run(newKey.hash, agentId, newKey.prefix, nowMs);
      return { ended, callingExpiresMs: endsMs };
    },

    revokeKey(keyHash) {
      removeKey.run(keyHash);
    },
  };
}
