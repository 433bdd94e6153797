// How grants end with keys and agents, and come back with an undo. Runs on the writer thread, within calls about keys and agents.
import type { DatabaseSync } from 'node:sqlite';
import { GRANT_COLUMN_LIST, GRANT_TOKEN_COLUMN_LIST } from '../../domain/transfer.ts';
import { ACCESS_TOKENS, type AccessTokenRow } from './grant-reader.ts';

export interface GrantEnds {
  /** Ends the agent's grants that were made with the key, or belong to it since a rotation. Returns their IDs. */
  endOfKey(agentId: string, keyHash: string): string[];
  endAll(agentId: string): string[];
  /** The agent's grants belong to this key from now on, too. */
  passOn(agentId: string, keyHash: string): void;
  /** Copies the agent's grants to where they are kept for the entry. */
  keep(agentId: string, auditId: number): void;
  /** Brings back what is kept for the entry. Returns the access tokens. */
  restore(auditId: number): AccessTokenRow[];
  /** Removes what is kept for the entry. */
  forget(auditId: number): void;
  /** A key has ended that is kept for the entry: removes its grants. */
  forgetOfKey(auditId: number, keyHash: string): void;
  /** The same for a token that the client ends. */
  forgetToken(tokenHash: string, clientId: string): void;
}

export function prepareGrantEnds(database: DatabaseSync): GrantEnds {
  const prepare = (sql: string) => database.prepare(sql);
  const endOfKey = prepare(
    'DELETE FROM grants WHERE agent_id = ?1 AND (key_hash = ?2 OR current_key_hash = ?2) RETURNING grant_id',
  );
  const endAll = prepare('DELETE FROM grants WHERE agent_id = ? RETURNING grant_id');
  const passOn = prepare('UPDATE grants SET current_key_hash = ?2 WHERE agent_id = ?1');
  const keepTokens = prepare(
    `INSERT INTO deleted_grant_tokens (audit_id, ${GRANT_TOKEN_COLUMN_LIST})
     SELECT ?, ${GRANT_TOKEN_COLUMN_LIST} FROM grant_tokens
     WHERE grant_id IN (SELECT grant_id FROM grants WHERE agent_id = ?)`,
  );
  const keepGrants = prepare(
    `INSERT INTO deleted_grants (audit_id, ${GRANT_COLUMN_LIST}) SELECT ?, ${GRANT_COLUMN_LIST} FROM grants WHERE agent_id = ?`,
  );
  const restoreGrants = prepare(
    `INSERT INTO grants (${GRANT_COLUMN_LIST}) SELECT ${GRANT_COLUMN_LIST} FROM deleted_grants WHERE audit_id = ?`,
  );
  const restoreTokens = prepare(
    `INSERT INTO grant_tokens (${GRANT_TOKEN_COLUMN_LIST})
     SELECT ${GRANT_TOKEN_COLUMN_LIST} FROM deleted_grant_tokens WHERE audit_id = ?`,
  );
  const readTokens = prepare(
    `${ACCESS_TOKENS} AND grant_id IN (SELECT grant_id FROM deleted_grants WHERE audit_id = ?)`,
  );
  const forgetTokens = prepare('DELETE FROM deleted_grant_tokens WHERE audit_id = ?');
  const forgetGrants = prepare('DELETE FROM deleted_grants WHERE audit_id = ?');
  const forgetGrant = prepare('DELETE FROM deleted_grants WHERE grant_id = ?');
  const forgetTokensOf = prepare('DELETE FROM deleted_grant_tokens WHERE grant_id = ?');
  const forgetToken = prepare('DELETE FROM deleted_grant_tokens WHERE token_hash = ?');
  const findKeptOfKey = prepare(
    'SELECT grant_id FROM deleted_grants WHERE audit_id = ?1 AND (key_hash = ?2 OR current_key_hash = ?2)',
  );
  const findKept = prepare(
    `SELECT grant_id, kind FROM deleted_grant_tokens JOIN deleted_grants USING (grant_id)
     WHERE token_hash = ? AND client_id = ?`,
  );

  const forgetOne = (grantId: string) => {
    forgetGrant.run(grantId);
    forgetTokensOf.run(grantId);
  };
  const forget = (auditId: number) => {
    forgetGrants.run(auditId);
    forgetTokens.run(auditId);
  };

  return {
    endOfKey: (agentId, keyHash) => idsOf(endOfKey.all(agentId, keyHash)),
    endAll: (agentId) => idsOf(endAll.all(agentId)),

    passOn(agentId, keyHash) {
      passOn.run(agentId, keyHash);
    },

    keep(agentId, auditId) {
      keepTokens.run(auditId, agentId);
      keepGrants.run(auditId, agentId);
    },

    restore(auditId) {
      restoreGrants.run(auditId);
      restoreTokens.run(auditId);
      const tokens = readTokens.all(auditId) as unknown as AccessTokenRow[];
      forget(auditId);
      return tokens;
    },

    forget,

    forgetOfKey(auditId, keyHash) {
      for (const grantId of idsOf(findKeptOfKey.all(auditId, keyHash))) forgetOne(grantId);
    },

    forgetToken(tokenHash, clientId) {
      const kept = findKept.get(tokenHash, clientId) as { grant_id: string; kind: string } | undefined;
      if (kept?.kind === 'access') forgetToken.run(tokenHash);
      else if (kept) forgetOne(kept.grant_id);
    },
  };
}

export function idsOf(rows: readonly Record<string, unknown>[]): string[] {
  return rows.map(({ grant_id }) => grant_id as string);
}
