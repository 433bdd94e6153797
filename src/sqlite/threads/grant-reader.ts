// Reads grants, refresh tokens and clients. Runs on a reader thread. Access tokens are in the memory of the main thread.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type ClientRow, decodeScopes, GRANT_IDLE_MS, type GrantRecord } from '../../domain/grants.ts';

export interface GrantReaderCalls {
  findClient(clientId: string): ClientRow | undefined;
  /** The grant of a refresh token that works. */
  findRefreshToken(tokenHash: string, nowMs: number): StoredGrant | undefined;
  listGrants(agentId: string, nowMs: number): GrantRecord[];
}

/** Part of a grant, as read from SQLite. */
export interface StoredGrant {
  readonly grant_id: string;
  readonly agent_id: string;
  readonly client_id: string;
  readonly scopes: string;
}

/** An access token with its grant. The scopes are its own. */
export interface AccessTokenRow extends StoredGrant {
  readonly token_hash: string;
  readonly expires_ms: number;
}

/** The grant of the refresh token ?1, if it works at the time ?2; ?3 is when grants that are idle now were last used. */
export const WORKING_REFRESH_TOKEN = `SELECT grant_id, agent_id, client_id, grants.scopes
  FROM grant_tokens JOIN grants USING (grant_id) JOIN agents USING (agent_id)
  WHERE token_hash = ?1 AND (kind = 'refresh' OR kind = 'rotated' AND expires_ms > ?2)
    AND grants.last_used_ms > ?3 AND is_active = 1`;

/** Columns of AccessTokenRow. Conditions can be added. */
export const ACCESS_TOKENS = `SELECT token_hash, grant_id, agent_id, client_id,
    coalesce(grant_tokens.scopes, grants.scopes) AS scopes, expires_ms
  FROM grant_tokens JOIN grants USING (grant_id) WHERE kind = 'access'`;

const LIST = `SELECT grant_id, client_name, client_host, scopes, created_ms, last_used_ms FROM grants
  WHERE agent_id = ? AND exchanged_ms IS NOT NULL AND last_used_ms > ? ORDER BY created_ms DESC, grant_id DESC`;

export class GrantReader implements GrantReaderCalls {
  readonly #client: StatementSync;
  readonly #refreshToken: StatementSync;
  readonly #list: StatementSync;

  constructor(database: DatabaseSync) {
    this.#client = database.prepare(
      'SELECT client_id, registered_ms, client_name, redirect_uris FROM oauth_clients WHERE client_id = ?',
    );
    this.#refreshToken = database.prepare(WORKING_REFRESH_TOKEN);
    this.#list = database.prepare(LIST);
  }

  findClient(clientId: string): ClientRow | undefined {
    const found = this.#client.get(clientId) as (ClientRow & { redirect_uris: string }) | undefined;
    return found && { ...found, redirect_uris: JSON.parse(found.redirect_uris) };
  }

  findRefreshToken(tokenHash: string, nowMs: number): StoredGrant | undefined {
    return this.#refreshToken.get(tokenHash, nowMs, nowMs - GRANT_IDLE_MS) as StoredGrant | undefined;
  }

  listGrants(agentId: string, nowMs: number): GrantRecord[] {
    const rows = this.#list.all(agentId, nowMs - GRANT_IDLE_MS) as unknown as (GrantRecord & {
      scopes: string;
    })[];
    return rows.map((row) => ({ ...row, scopes: decodeScopes(row.scopes) }));
  }
}
