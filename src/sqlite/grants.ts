// Grants of the embedded engine: writes on the writer thread, reads on a reader thread, and access tokens in memory.
import type { AgentRow } from '../domain/agent.ts';
import { decodeScopes, type GrantStore, type Scope, type TokenHolder } from '../domain/grants.ts';
import { ROWS_PER_SLICE } from '../domain/store.ts';
import { LastUses } from '../memory/last-uses.ts';
import { AccessTokens } from './access-tokens.ts';
import type { AccessTokenRow, StoredGrant } from './threads/grant-reader.ts';
import type { TokensAdded } from './threads/grant-writes.ts';
import type { ReaderCalls } from './threads/reader-worker.ts';
import type { WriterClient } from './threads/writer-client.ts';

/** Removing a grant removes up to 80 tokens, too. */
const GRANTS_PER_SLICE = ROWS_PER_SLICE / 10;

interface GrantOptions {
  findAgent(agentId: string): AgentRow | undefined;
  read<Name extends keyof ReaderCalls>(
    name: Name,
    ...args: Parameters<ReaderCalls[Name]>
  ): Promise<ReturnType<ReaderCalls[Name]>>;
  readonly write: WriterClient['run'];
  /** Runs a call that needs disk space. */
  readonly grow: WriterClient['run'];
  /** Runs a call even while the store is being closed. */
  readonly finish: WriterClient['run'];
}

export class SqliteGrants implements GrantStore {
  readonly #options: GrantOptions;
  readonly #tokens = new AccessTokens();
  readonly #uses = new LastUses((used) => this.#options.finish('touchGrants', [used], () => undefined));

  constructor(options: GrantOptions) {
    this.#options = options;
  }

  addClient: GrantStore['addClient'] = (client) => this.#options.grow('addClient', [client], () => {});

  findClient: GrantStore['findClient'] = (clientId) => this.#options.read('findClient', clientId);

  addGrant: GrantStore['addGrant'] = (grant) =>
    this.#options.grow('addGrant', [grant], (removed) => {
      this.ended(removed ?? []);
      return removed !== undefined;
    });

  exchangeCode: GrantStore['exchangeCode'] = (exchange, tokens, nowMs) =>
    this.#options.write('exchangeCode', [exchange, tokens, nowMs], (outcome) => {
      if (typeof outcome === 'string') this.ended([outcome]);
      if (typeof outcome !== 'object') return undefined;
      this.#add(outcome, tokens.access_hash, tokens.access_expires_ms, nowMs);
      return this.#holderOf(outcome.grant, decodeScopes(outcome.grant.scopes));
    });

  async findRefreshToken(tokenHash: string, nowMs: number): Promise<TokenHolder | undefined> {
    const found = await this.#options.read('findRefreshToken', tokenHash, nowMs);
    return found && this.#holderOf(found, decodeScopes(found.scopes));
  }

  refreshGrant: GrantStore['refreshGrant'] = (tokenHash, tokens, nowMs) =>
    this.#options.write('refreshGrant', [tokenHash, tokens, nowMs], (added) => {
      if (added) this.#add(added, tokens.access_hash, tokens.access_expires_ms, nowMs);
      return added !== undefined;
    });

  async findAccessToken(tokenHash: string, nowMs: number): Promise<TokenHolder | undefined> {
    const token = this.#tokens.find(tokenHash, nowMs);
    return token && this.#holderOf(token.grant, token.scopes);
  }

  noteGrantUse(grantId: string, nowMs: number): void {
    this.#uses.note(grantId, nowMs);
  }

  endToken: GrantStore['endToken'] = (tokenHash, clientId) =>
    this.#options.write('endToken', [tokenHash, clientId], (ended) => {
      if (ended.token) this.#tokens.remove(tokenHash);
      this.ended(ended.grants);
    });

  listGrants: GrantStore['listGrants'] = async (agentId, nowMs) => {
    const grants = await this.#options.read('listGrants', agentId, nowMs);
    return grants.map((grant) => ({
      ...grant,
      last_used_ms: this.#uses.latest(grant.grant_id, grant.last_used_ms)!,
    }));
  };

  endGrants: GrantStore['endGrants'] = (agentId, grantId, audit) =>
    this.#options.write('endGrants', [agentId, grantId, audit], (ended) => {
      this.ended(ended);
      return ended.length > 0;
    });

  async removeIdleGrants(usedByMs: number): Promise<number> {
    await this.#uses.write();
    return this.#options.write('removeIdleGrants', [usedByMs, GRANTS_PER_SLICE], (removed) => {
      this.ended(removed);
      return removed.length;
    });
  }

  /** To call when grants have ended on the writer thread. */
  ended(grantIds: readonly string[]): void {
    this.#tokens.removeGrants(grantIds);
  }

  agentDeleted(agentId: string): void {
    this.#tokens.removeOf(agentId);
  }

  /** Adds an access token that was read from the file. */
  load(token: AccessTokenRow): void {
    this.#tokens.put(token, Number.NEGATIVE_INFINITY);
  }

  /** Writes last uses. */
  writeUses(): Promise<void> {
    return this.#uses.write();
  }

  close(): Promise<void> {
    return this.#uses.close();
  }

  #add({ grant, dropped }: TokensAdded, token_hash: string, expires_ms: number, nowMs: number): void {
    for (const tokenHash of dropped) this.#tokens.remove(tokenHash);
    this.#tokens.put({ ...grant, token_hash, expires_ms }, nowMs);
  }

  /** Undefined if the agent is not active. */
  #holderOf(
    { grant_id, agent_id, client_id }: Omit<StoredGrant, 'scopes'>,
    scopes: readonly Scope[],
  ): TokenHolder | undefined {
    const agent = this.#options.findAgent(agent_id);
    return agent?.is_active ? { grant_id, agent, client_id, scopes } : undefined;
  }
}
