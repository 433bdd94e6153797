// Access tokens in memory, because every request with one needs them. The store checks whether the agent is active.
import { decodeScopes, type Scope } from '../domain/grants.ts';
import type { AccessTokenRow } from './threads/grant-reader.ts';

/** What the tokens of a grant share. */
interface Grant {
  readonly grant_id: string;
  readonly agent_id: string;
  readonly client_id: string;
  /** Hashes of its tokens. */
  readonly tokens: string[];
}

interface AccessToken {
  readonly grant: Grant;
  readonly scopes: readonly Scope[];
  readonly expiresMs: number;
}

export class AccessTokens {
  /** A Map keeps insertion order, and all tokens last equally long, so the first entries expire first. */
  readonly #tokens = new Map<string, AccessToken>();
  readonly #grants = new Map<string, Grant>();
  /** By their text, because there are few. */
  readonly #scopes = new Map<string, readonly Scope[]>();

  /** Adds the token, and removes those that have expired by `nowMs`. */
  put({ token_hash, grant_id, agent_id, client_id, ...row }: AccessTokenRow, nowMs: number): void {
    for (const [tokenHash, { expiresMs }] of this.#tokens) {
      if (expiresMs > nowMs) break;
      this.remove(tokenHash);
    }
    let grant = this.#grants.get(grant_id);
    if (!grant) {
      grant = { grant_id, agent_id, client_id, tokens: [] };
      this.#grants.set(grant_id, grant);
    }
    let scopes = this.#scopes.get(row.scopes);
    if (!scopes) {
      scopes = decodeScopes(row.scopes);
      this.#scopes.set(row.scopes, scopes);
    }
    grant.tokens.push(token_hash);
    this.#tokens.set(token_hash, { grant, scopes, expiresMs: row.expires_ms });
  }

  /** Undefined if the token is unknown or has expired. */
  find(tokenHash: string, nowMs: number): AccessToken | undefined {
    const token = this.#tokens.get(tokenHash);
    return token && token.expiresMs > nowMs ? token : undefined;
  }

  remove(tokenHash: string): void {
    const token = this.#tokens.get(tokenHash);
    if (!token) return;
    this.#tokens.delete(tokenHash);
    const { grant_id, tokens } = token.grant;
    tokens.splice(tokens.indexOf(tokenHash), 1);
    if (tokens.length === 0) this.#grants.delete(grant_id);
  }

  removeGrants(grantIds: readonly string[]): void {
    for (const grantId of grantIds) {
      for (const tokenHash of this.#grants.get(grantId)?.tokens ?? []) this.#tokens.delete(tokenHash);
      this.#grants.delete(grantId);
    }
  }

  /** Looks at all grants: agents are rarely deleted. */
  removeOf(agentId: string): void {
    const grants = [...this.#grants.values()].filter(({ agent_id }) => agent_id === agentId);
    this.removeGrants(grants.map(({ grant_id }) => grant_id));
  }
}
