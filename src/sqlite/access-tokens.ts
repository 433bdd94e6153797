// Access tokens in memory, because every request with one needs them. The store checks whether the agent is active.
import type { AccessTokenRow } from './threads/grant-reader.ts';

/** Tokens of one grant. */
interface Grant {
  readonly agentId: string;
  readonly tokens: Set<string>;
}

export class AccessTokens {
  /** A Map keeps insertion order, and all tokens last equally long, so the first entries expire first. */
  readonly #tokens = new Map<string, AccessTokenRow>();
  readonly #grants = new Map<string, Grant>();

  /** Adds the token, and removes those that have expired by `nowMs`. */
  put(token: AccessTokenRow, nowMs: number): void {
    for (const [tokenHash, { expires_ms }] of this.#tokens) {
      if (expires_ms > nowMs) break;
      this.remove(tokenHash);
    }
    const { token_hash, grant_id, agent_id } = token;
    this.#tokens.set(token_hash, token);
    const grant = this.#grants.get(grant_id);
    if (grant) grant.tokens.add(token_hash);
    else this.#grants.set(grant_id, { agentId: agent_id, tokens: new Set([token_hash]) });
  }

  /** Undefined if the token is unknown or has expired. */
  find(tokenHash: string, nowMs: number): AccessTokenRow | undefined {
    const token = this.#tokens.get(tokenHash);
    return token && token.expires_ms > nowMs ? token : undefined;
  }

  remove(tokenHash: string): void {
    const token = this.#tokens.get(tokenHash);
    if (!token) return;
    this.#tokens.delete(tokenHash);
    const { tokens } = this.#grants.get(token.grant_id)!;
    tokens.delete(tokenHash);
    if (tokens.size === 0) this.#grants.delete(token.grant_id);
  }

  removeGrants(grantIds: readonly string[]): void {
    for (const grantId of grantIds) {
      for (const tokenHash of this.#grants.get(grantId)?.tokens ?? []) this.#tokens.delete(tokenHash);
      this.#grants.delete(grantId);
    }
  }

  /** Looks at all grants: agents are rarely deleted. */
  removeOf(agentId: string): void {
    const grants = [...this.#grants].filter(([, grant]) => grant.agentId === agentId);
    this.removeGrants(grants.map(([grantId]) => grantId));
  }
}
