// Grants: a person allows an MCP client to act for an agent, within scopes. Shapes on the wire, stored rows, and the port to the engines. The
// protocol is in oauth/.
import type { Static } from 'typebox';
import type { AuditEntry } from './administration/audit.ts';
import type { AgentRow } from './agent.ts';
import { DAY_MS, HOUR_MS } from './clock-and-random.ts';
import { formatInstant } from './datetime.ts';
import Type, { nameShapes } from './schema.ts';
import { nullableString, oneOf } from './shape.ts';

/** What a client may do. `publish` includes `read`. */
export const SCOPES = ['read', 'publish'] as const;
export type Scope = (typeof SCOPES)[number];

/** A grant that was not used for this long no longer works. */
export const GRANT_IDLE_MS = 180 * DAY_MS;
export const ACCESS_TOKEN_MS = HOUR_MS;
export const CODE_MS = 60_000;

/** A rotated refresh token works this long like its successors: a lost response, or processes that refresh in parallel, end nothing. */
export const ROTATED_MS = DAY_MS;

/** Maximum number of each kind of token in a grant; the oldest of the kind goes first. */
export const MAX_TOKENS = { access: 40, refresh: 20, rotated: 20 } as const;

/** Maximum number of grants of an agent; the one that was used longest ago goes first. */
export const MAX_GRANTS = 100;

/** Registered clients that no grant has used are removed after this time. */
export const UNUSED_CLIENT_MS = DAY_MS;
/** Maximum number of registered clients; the oldest unused one goes first, then the oldest. */
export const MAX_CLIENTS = 10_000;

export const GrantSummary = Type.Object({
  grant_id: Type.String({ format: 'uuid', examples: ['01a1e0e4-0920-789b-b1b7-7a66455e0008'] }),
  client: Type.Object({
    name: Type.String({ description: 'As the client calls itself.', examples: ['Claude'] }),
    host: nullableString({
      description: 'Host to which the sign-in returned; null: a program on a computer, or an app.',
      examples: ['claude.ai'],
    }),
  }),
  scopes: Type.Array(oneOf(SCOPES), {
    description: 'publish includes read.',
    examples: [['read', 'publish']],
  }),
  created_at: Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] }),
  last_used_at: Type.String({
    format: 'date-time',
    description: 'Time of the last request, accurate to 10 seconds.',
    examples: ['2026-11-15T10:02:11.000Z'],
  }),
});

export const GrantsResponse = Type.Object({
  grants: Type.Array(GrantSummary, { description: 'The newest first.' }),
});

nameShapes({ GrantSummary, GrantsResponse });

/** Scopes as the engines store them. */
export function encodeScopes(scopes: readonly Scope[]): string {
  return scopes.join(' ');
}

export function decodeScopes(stored: string): readonly Scope[] {
  return stored.split(' ') as Scope[];
}

export interface GrantRecord {
  readonly grant_id: string;
  readonly client_name: string;
  readonly client_host: string | null;
  readonly scopes: readonly Scope[];
  readonly created_ms: number;
  readonly last_used_ms: number;
}

export function describeGrant(grant: GrantRecord): Static<typeof GrantSummary> {
  return {
    grant_id: grant.grant_id,
    client: { name: grant.client_name, host: grant.client_host },
    scopes: [...grant.scopes],
    created_at: formatInstant(grant.created_ms),
    last_used_at: formatInstant(grant.last_used_ms),
  };
}

/** A grant that a person has given, and whose code the client has not exchanged yet. */
export interface NewGrant extends Omit<GrantRecord, 'last_used_ms'> {
  readonly agent_id: string;
  /** The key that the person used. */
  readonly key_hash: string;
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly code_hash: string;
  /** S256 challenge of PKCE. */
  readonly code_challenge: string;
  readonly code_expires_ms: number;
}

/** Hashes of a new pair of tokens. The scopes are those of the access token: at most those of the grant. */
export interface NewTokens {
  readonly access_hash: string;
  readonly access_expires_ms: number;
  readonly scopes: readonly Scope[] | undefined;
  readonly refresh_hash: string;
}

export interface CodeExchange {
  readonly code_hash: string;
  readonly client_id: string;
  /** Undefined from clients that follow OAuth 2.1: PKCE has taken its place. */
  readonly redirect_uri: string | undefined;
  readonly code_challenge: string;
}

/** Who holds an access token, or a refresh token that still works. */
export interface TokenHolder {
  readonly grant_id: string;
  readonly agent: AgentRow;
  readonly client_id: string;
  /** Of an access token: its own; of a refresh token: those of the grant. */
  readonly scopes: readonly Scope[];
}

/** A client that registered itself. */
export interface ClientRow {
  readonly client_id: string;
  readonly registered_ms: number;
  readonly client_name: string;
  readonly redirect_uris: readonly string[];
}

/** Part of the port to the engines; what store.ts says of its promises holds here, too. Hashes are SHA-256 in base64url. */
export interface GrantStore {
  /** Adds the client. Removes unused ones that registered `UNUSED_CLIENT_MS` ago, and what exceeds `MAX_CLIENTS`. */
  addClient(client: ClientRow): Promise<void>;
  findClient(clientId: string): Promise<ClientRow | undefined>;

  /**
   * Adds a grant that waits for its code to be exchanged, and marks its client, if it is a registered one, and its agent as used. Removes
   * the agent's grants whose codes have expired unused, then what exceeds `MAX_GRANTS`. False unless the key is a valid key of the active
   * agent.
   */
  addGrant(grant: NewGrant): Promise<boolean>;
  /**
   * Takes the code: the grant now has these tokens. Undefined if anything of the exchange differs from the grant, its code has expired or
   * was taken, or its agent is not active. A code that was taken before also ends the grant, if nothing else differs. Counts as a use.
   */
  exchangeCode(exchange: CodeExchange, tokens: NewTokens, nowMs: number): Promise<TokenHolder | undefined>;
  /** Undefined if the token does not exist, was rotated `ROTATED_MS` ago, its grant is idle, or its agent is not active. */
  findRefreshToken(tokenHash: string, nowMs: number): Promise<TokenHolder | undefined>;
  /** Adds these tokens to the grant of the refresh token, which counts as rotated from its first use on. Counts as a use. False if it works no more. */
  refreshGrant(tokenHash: string, tokens: NewTokens, nowMs: number): Promise<boolean>;
  /** The active agent and the scopes of an access token that has not expired. Of another node's grant also for another second. */
  findAccessToken(tokenHash: string, nowMs: number): Promise<TokenHolder | undefined>;
  /** Records that the grant was used. The time is written later, accurate to 10 seconds. */
  noteGrantUse(grantId: string, nowMs: number): void;
  /** Ends this access token, or the grant of this refresh token, if the client has it. */
  endToken(tokenHash: string, clientId: string): Promise<void>;

  /** The grants that work, the newest first. */
  listGrants(agentId: string, nowMs: number): Promise<readonly GrantRecord[]>;
  /**
   * Ends the grant, or all grants of the agent, at once; other nodes may accept its access tokens for another second. With an entry for the
   * audit log, which names the agent. False if the agent has none such; then no entry is written.
   */
  endGrants(agentId: string, grantId?: string, audit?: AuditEntry): Promise<boolean>;
  /** Removes a slice of the grants that were last used by this time. Returns its size: 0 if there are none, or another node removes. */
  removeIdleGrants(usedByMs: number): Promise<number>;
}
