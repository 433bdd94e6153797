// Statements that change grants, their tokens and clients. Run on the writer thread, each call in its own savepoint. Calls that end
// grants return their IDs, so that the main thread forgets their access tokens.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditEntry } from '../../domain/administration/audit.ts';
import {
  type ClientRow,
  type CodeExchange,
  encodeScopes,
  GRANT_IDLE_MS,
  MAX_CLIENTS,
  MAX_GRANTS,
  MAX_TOKENS,
  type NewGrant,
  type NewTokens,
  ROTATED_MS,
  UNUSED_CLIENT_MS,
} from '../../domain/grants.ts';
import { ROWS_PER_SLICE } from '../../domain/store.ts';
import { GRANT_COLUMN_LIST } from '../../domain/transfer.ts';
import type { SharedStatements } from './admin-writes.ts';
import { idsOf } from './grant-ends.ts';
import { type StoredGrant, WORKING_REFRESH_TOKEN } from './grant-reader.ts';

/** What the main thread must know of a grant that has got tokens. */
export interface TokensAdded {
  readonly grant: StoredGrant;
  /** Hashes of tokens that no longer exist. */
  readonly dropped: readonly string[];
}

export interface GrantWrites {
  addClient(client: ClientRow): void;
  /** Returns the IDs of grants that were removed for this one; undefined unless the key is a valid key of the active agent. */
  addGrant(grant: NewGrant): string[] | undefined;
  /** Returns the ID of the grant if it has ended. Undefined if nothing has changed. */
  exchangeCode(exchange: CodeExchange, tokens: NewTokens, nowMs: number): TokensAdded | string | undefined;
  /** Undefined if the token works no more. */
  refreshGrant(tokenHash: string, tokens: NewTokens, nowMs: number): TokensAdded | undefined;
  endToken(
    tokenHash: string,
    clientId: string,
  ): { readonly token: boolean; readonly grants: readonly string[] };
  endGrants(agentId: string, grantId: string | undefined, audit: AuditEntry | undefined): string[];
  removeIdleGrants(usedByMs: number, limit: number): string[];
  /** By ID. */
  touchGrants(used: ReadonlyMap<string, number>): void;
}

/** The code of a grant that has not got tokens in time. */
const IS_EXPIRED_CODE = 'exchanged_ms IS NULL AND code_expires_ms <= ?2';

/** Tokens of a grant that have expired, and the oldest of each kind above its maximum. The last parameters are the newest tokens. */
const SURPLUS_TOKENS = `SELECT token_hash FROM (
    SELECT token_hash, kind, expires_ms, row_number() OVER (
      PARTITION BY kind ORDER BY token_hash IN (?3, ?4) DESC, coalesce(expires_ms, created_ms) DESC, token_hash
    ) AS place FROM grant_tokens WHERE grant_id = ?1
  ) WHERE expires_ms <= ?2
    OR place > CASE kind WHEN 'access' THEN ${MAX_TOKENS.access} WHEN 'refresh' THEN ${MAX_TOKENS.refresh} ELSE ${MAX_TOKENS.rotated} END`;

export function prepareGrantWrites(
  database: DatabaseSync,
  { nameOf, record, grantEnds }: Pick<SharedStatements, 'nameOf' | 'record' | 'grantEnds'>,
): GrantWrites {
  const prepare = (sql: string) => database.prepare(sql);
  const insertClient = prepare(
    'INSERT INTO oauth_clients (client_id, registered_ms, is_used, client_name, redirect_uris) VALUES (?, ?, 0, ?, ?)',
  );
  const removeUnused = prepare(
    `DELETE FROM oauth_clients WHERE client_id IN (
       SELECT client_id FROM oauth_clients WHERE is_used = 0 AND registered_ms <= ? LIMIT ${ROWS_PER_SLICE})`,
  );
  const removeSurplus = prepare(
    `DELETE FROM oauth_clients WHERE client_id IN (
       SELECT client_id FROM oauth_clients WHERE client_id <> ? ORDER BY is_used, registered_ms
       LIMIT max(0, (SELECT count(*) FROM oauth_clients) - ${MAX_CLIENTS}))`,
  );
  const useAgent = prepare(
    `UPDATE agents SET last_used_ms = max(coalesce(last_used_ms, 0), ?1)
     WHERE agent_id = ?2 AND is_active = 1 AND EXISTS (
       SELECT 1 FROM keys WHERE key_hash = ?3 AND keys.agent_id = ?2 AND (expires_ms IS NULL OR expires_ms > ?1))`,
  );
  const useClient = prepare('UPDATE oauth_clients SET is_used = 1 WHERE client_id = ? AND is_used = 0');
  const insertGrant = prepare(
    `INSERT INTO grants (${GRANT_COLUMN_LIST}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`,
  );
  const removeExpiredCodes = prepare(
    `DELETE FROM grants WHERE agent_id = ?1 AND ${IS_EXPIRED_CODE} RETURNING grant_id`,
  );
  const removeOldest = prepare(
    `DELETE FROM grants WHERE grant_id IN (
       SELECT grant_id FROM grants WHERE agent_id = ?1 AND grant_id <> ?2
       ORDER BY last_used_ms DESC, grant_id DESC LIMIT -1 OFFSET ${MAX_GRANTS - 1}) RETURNING grant_id`,
  );
  const findByCode = prepare(
    `SELECT grant_id, agent_id, client_id, scopes, code_expires_ms, exchanged_ms, is_active FROM grants JOIN agents USING (agent_id)
     WHERE code_hash = ? AND client_id = ? AND redirect_uri = coalesce(?, redirect_uri) AND code_challenge = ?`,
  );
  const findByToken = prepare(WORKING_REFRESH_TOKEN);
  const setExchanged = prepare('UPDATE grants SET exchanged_ms = ? WHERE grant_id = ?');
  const setRotated = prepare(
    "UPDATE grant_tokens SET kind = 'rotated', expires_ms = ? WHERE token_hash = ? AND kind = 'refresh'",
  );
  const insertToken = prepare(
    'INSERT INTO grant_tokens (token_hash, grant_id, kind, scopes, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const removeSurplusTokens = prepare(
    `DELETE FROM grant_tokens WHERE token_hash IN (${SURPLUS_TOKENS}) RETURNING token_hash`,
  );
  const touch = prepare('UPDATE grants SET last_used_ms = max(?, last_used_ms) WHERE grant_id = ?');
  const findIdle = prepare(
    'SELECT grant_id FROM grants WHERE last_used_ms <= ? ORDER BY last_used_ms LIMIT ?',
  );
  const removeGrant = prepare('DELETE FROM grants WHERE grant_id = ? RETURNING grant_id');
  const removeOwned = prepare('DELETE FROM grants WHERE agent_id = ? AND grant_id = ? RETURNING grant_id');
  const removeAccess = prepare(
    `DELETE FROM grant_tokens WHERE token_hash = ?1 AND kind = 'access'
     AND (SELECT client_id FROM grants WHERE grants.grant_id = grant_tokens.grant_id) = ?2`,
  );
  const removeOfToken = prepare(
    `DELETE FROM grants WHERE client_id = ?2
     AND grant_id = (SELECT grant_id FROM grant_tokens WHERE token_hash = ?1 AND kind <> 'access') RETURNING grant_id`,
  );

  const addTokens = (
    grant: StoredGrant,
    { access_hash, access_expires_ms, scopes, refresh_hash }: NewTokens,
    nowMs: number,
  ): TokensAdded => {
    const { grant_id, agent_id, client_id } = grant;
    const accessScopes = scopes ? encodeScopes(scopes) : null;
    insertToken.run(access_hash, grant_id, 'access', accessScopes, nowMs, access_expires_ms);
    insertToken.run(refresh_hash, grant_id, 'refresh', null, nowMs, null);
    touch.run(nowMs, grant_id);
    const dropped = removeSurplusTokens.all(grant_id, nowMs, access_hash, refresh_hash);
    return {
      grant: { grant_id, agent_id, client_id, scopes: accessScopes ?? grant.scopes },
      dropped: dropped.map(({ token_hash }) => token_hash as string),
    };
  };

  return {
    addClient({ client_id, registered_ms, client_name, redirect_uris }) {
      insertClient.run(client_id, registered_ms, client_name, JSON.stringify(redirect_uris));
      removeUnused.run(registered_ms - UNUSED_CLIENT_MS);
      removeSurplus.run(client_id);
    },

    addGrant(grant) {
      const { grant_id, agent_id, key_hash, client_id, created_ms } = grant;
      if (useAgent.run(created_ms, agent_id, key_hash).changes === 0) return undefined;
      useClient.run(client_id);
      insertGrant.run(
        ...[grant_id, agent_id, key_hash, key_hash, client_id, grant.client_name, grant.client_host],
        ...[encodeScopes(grant.scopes), created_ms, created_ms, grant.code_hash, grant.redirect_uri],
        ...[grant.code_challenge, grant.code_expires_ms],
      );
      const expired = removeExpiredCodes.all(agent_id, created_ms);
      return idsOf([...expired, ...removeOldest.all(agent_id, grant_id)]);
    },

    exchangeCode({ code_hash, client_id, redirect_uri, code_challenge }, tokens, nowMs) {
      const found = findByCode.get(code_hash, client_id, redirect_uri ?? null, code_challenge) as
        | (StoredGrant & { code_expires_ms: number; exchanged_ms: number | null; is_active: 0 | 1 })
        | undefined;
      if (!found) return undefined;
      const { grant_id, code_expires_ms, exchanged_ms, is_active } = found;
      if (exchanged_ms !== null) {
        removeGrant.run(grant_id);
        return grant_id;
      }
      if (code_expires_ms <= nowMs || is_active === 0) return undefined;
      setExchanged.run(nowMs, grant_id);
      return addTokens(found, tokens, nowMs);
    },

    refreshGrant(tokenHash, tokens, nowMs) {
      const found = findByToken.get(tokenHash, nowMs, nowMs - GRANT_IDLE_MS) as StoredGrant | undefined;
      if (!found) return undefined;
      setRotated.run(nowMs + ROTATED_MS, tokenHash);
      return addTokens(found, tokens, nowMs);
    },

    endToken(tokenHash, clientId) {
      grantEnds.forgetToken(tokenHash, clientId);
      const token = removeAccess.run(tokenHash, clientId).changes === 1;
      return { token, grants: idsOf(removeOfToken.all(tokenHash, clientId)) };
    },

    endGrants(agentId, grantId, audit) {
      const target_name = nameOf(agentId);
      if (target_name === undefined) return [];
      const ended =
        grantId === undefined ? grantEnds.endAll(agentId) : idsOf(removeOwned.all(agentId, grantId));
      if (audit && ended.length > 0) record(audit, { target_name, count: ended.length });
      return ended;
    },

    removeIdleGrants: (usedByMs, limit) =>
      idsOf(findIdle.all(usedByMs, limit)).filter((grantId) => removeGrant.get(grantId)),

    touchGrants(used) {
      for (const [grantId, atMs] of used) touch.run(atMs, grantId);
    },
  };
}
