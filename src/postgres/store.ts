// The engine for many nodes: all data is in PostgreSQL. In memory, a node has all events, to search them; keys that were used lately;
// reserved parts of quotas; and last uses and request counts that are not written yet. client/database.ts handles failures and retries.
import type { Created } from '../domain/administration/activity.ts';
import type { AgentDetails } from '../domain/administration/agent-details.ts';
import type { AuditEntry, AuditRecord } from '../domain/administration/audit.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/administration/list.ts';
import { isRequestCount } from '../domain/administration/recent-requests.ts';
import type { UndoOutcome, UndoStep } from '../domain/administration/undo.ts';
import type { AgentRecord, AgentRow } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import type { EventRow } from '../domain/events/event.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import type { NewGrant, TokenHolder } from '../domain/grants.ts';
import {
  ACTIVE_WITHIN_MS,
  type CreateOutcome,
  type FoundRecord,
  type ListedEvent,
  type ListPage,
  type NearbyPage,
  type Quota,
  type ReplaceOutcome,
  type Searcher,
  type Stats,
  type Store,
} from '../domain/store.ts';
import { LastUses } from '../memory/last-uses.ts';
import * as admin from './admin.ts';
import { RequestCounts, writerOf } from './agent-requests.ts';
import { CancellableReads } from './cancel.ts';
import type { Database, DatabaseOptions, Statements } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { DatabaseSize } from './database-size.ts';
import { EventCreation } from './event-creation.ts';
import * as events from './events.ts';
import * as grants from './grants.ts';
import { HolderCache } from './holder-cache.ts';
import { findAgentDetails, findHolder, revokeKey, rotateKey } from './keys.ts';
import { AGENT_COLUMNS } from './list-statements.ts';
import {
  addAgentNames,
  readAgentPage,
  readAllEventPage,
  readAuditPage,
  readCreated,
  readEventPage,
  readStats,
} from './lists.ts';
import { NodeEvents, type NodeEventsOptions } from './memory/node-events.ts';
import { LogTrimming } from './memory/trim.ts';
import { openDatabase } from './open.ts';
import { QuotaLeases } from './quota-leases.ts';
import { removeEnded, removeUnusedAgents } from './removals.ts';
import * as settings from './settings.ts';
import { SqlSearches } from './sql-searches.ts';
import { removeDeleted, undoDelete } from './undo.ts';
import { WordFilling } from './words.ts';

export interface PostgresOptions extends DatabaseOptions, Partial<NodeEventsOptions> {
  /** Whether searches are answered from memory or by SQL. */
  readonly search?: 'memory' | 'database';
}

export class PostgresStore implements Store {
  readonly engine = 'postgres';
  readonly #database: Database;
  /** Undefined if all searches use SQL. */
  readonly #events: NodeEvents | undefined;
  readonly #reads = new CancellableReads();
  readonly #searches: SqlSearches;
  readonly #trimming: LogTrimming | undefined;
  readonly #words: WordFilling | undefined;
  readonly #size: DatabaseSize | undefined;
  readonly #creation: EventCreation;
  readonly #keys: HolderCache<AgentRow>;
  readonly #tokens: HolderCache<TokenHolder>;
  readonly #quotas: QuotaLeases;
  readonly #uses: LastUses<Statements>;
  readonly #keyUses: LastUses<Statements>;
  readonly #grantUses: LastUses<Statements>;
  readonly #requests: RequestCounts;

  /** Without options, for bulk work: nothing runs in the background. */
  constructor(database: Database, options?: PostgresOptions) {
    this.#database = database;
    this.#creation = new EventCreation(database);
    this.#keys = new HolderCache('keys', options?.metrics);
    this.#tokens = new HolderCache('access_tokens', options?.metrics);
    this.#quotas = new QuotaLeases(database);
    this.#uses = new LastUses(writerOf(database, 'agents'));
    this.#keyUses = new LastUses(writerOf(database, 'keys'));
    this.#grantUses = new LastUses(writerOf(database, 'grants'));
    this.#requests = new RequestCounts(database);
    this.#searches = new SqlSearches(database.limits, this.#reads);
    if (!options) return;
    const { search = 'memory' } = options;
    this.#trimming = new LogTrimming(database);
    this.#words = new WordFilling(database);
    if (options.metrics) this.#size = new DatabaseSize(database, options.metrics);
    if (search === 'memory') this.#events = new NodeEvents(database, options);
  }

  /** Throws StartError if the database cannot be reached or used. */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    return new PostgresStore(await openDatabase(options), options);
  }

  /** Number of events in memory; undefined while searches use SQL. */
  get eventsInMemory(): number | undefined {
    return this.#events?.size;
  }

  get isLoading(): boolean {
    return this.#events?.isLoading === true;
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  async close(): Promise<void> {
    this.#trimming?.close();
    this.#words?.close();
    this.#size?.close();
    // Refuses new operations at once.
    const closed = this.#database.close(async (statements) => {
      await this.#uses.close(statements);
      await this.#keyUses.close(statements);
      await this.#grantUses.close(statements);
      await this.#requests.close(statements);
    });
    await Promise.all([closed, this.#events?.close()]);
  }

  async addAgent(agent: AgentRow, key: KeyFingerprint): Promise<void> {
    const { agent_id, email, agent_name, tier, is_active, created_ms } = agent;
    await this.#database.run(
      'once',
      (sql) => sql`
        WITH agent AS (
          INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms)
          VALUES (${agent_id}, ${email}, ${agent_name}, ${tier}, ${is_active}, ${created_ms})
        )
        INSERT INTO keys (key_hash, agent_id, prefix, created_ms)
        VALUES (${key.hash}, ${agent_id}, ${key.prefix}, ${created_ms})`,
    );
  }

  findAgentByKey(keyHash: string, nowMs: number): Promise<AgentRow | undefined> {
    return this.#keys.get(keyHash, nowMs, () => findHolder(this.#database, keyHash));
  }

  async rotateKey(...args: Parameters<Store['rotateKey']>): Promise<boolean> {
    const [agentId] = args;
    try {
      return await this.#database.transaction('repeatable', (sql) => rotateKey(sql, ...args));
    } finally {
      this.#keys.forgetOf(agentId);
      this.#tokens.forgetOf(agentId);
    }
  }

  async revokeKey(keyHash: string): Promise<void> {
    try {
      const agentId = await this.#database.transaction('repeatable', (sql) => revokeKey(sql, keyHash));
      if (agentId !== undefined) this.#tokens.forgetOf(agentId);
    } finally {
      this.#keys.forgetOne(keyHash);
    }
  }

  noteUse(agentId: string, nowMs: number, keyHash?: string): void {
    this.#uses.note(agentId, nowMs);
    this.#requests.note(agentId, nowMs);
    if (keyHash !== undefined) this.#keyUses.note(keyHash, nowMs);
  }

  noteRefusal(agentId: string, nowMs: number): void {
    this.#requests.noteRefusal(agentId, nowMs);
  }

  spend(bucket: string, limit: number, cost: number, nowMs: number): Promise<Quota> {
    return this.#quotas.spend(bucket, limit, cost, nowMs);
  }

  readQuota(bucket: string, limit: number, nowMs: number): Promise<Quota> {
    return this.#quotas.read(bucket, limit, nowMs);
  }

  createEvent(row: EventRow, maxPerAgent: number, maxBytes = 0): Promise<CreateOutcome> {
    return this.#creation.create(row, maxPerAgent, maxBytes);
  }

  findEvent(eventId: string): Promise<FoundRecord | undefined> {
    return events.findEvent(this.#database, eventId);
  }

  replaceEvent(next: EventRow, maxBytes = 0): Promise<ReplaceOutcome> {
    return this.#database.operation((statements) => events.replaceEvent(statements, next, maxBytes));
  }

  deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean> {
    return events.deleteEvent(this.#database, eventId, agentId, version);
  }

  nearby(query: NearbyQuery, nowMs: number, searcher?: Searcher): Promise<NearbyPage> {
    return this.#database.operation(async (statements) => {
      let hasSlot = false;
      /** Reserves room for a search by SQL, if there is some. */
      const mayUseSql = () => {
        hasSlot = this.#searches.reserve(query);
        return hasSlot;
      };
      const inMemory = await this.#events?.search(query, nowMs, mayUseSql, searcher);
      if (inMemory) return inMemory;
      for (; ; hasSlot = false) {
        const page = await this.#searches.run(statements, query, nowMs, searcher, hasSlot);
        if (page) return page;
        // The table lacks words that the search needs.
        await this.#words?.complete();
      }
    });
  }

  async listAgents(): Promise<AgentRecord[]> {
    const rows = await this.#database.run(
      'repeatable',
      (sql) =>
        sql<AgentRecord[]>`SELECT ${sql.unsafe(AGENT_COLUMNS)} FROM agents ORDER BY created_ms, agent_id`,
    );
    return rows.map((row) => this.#uses.apply(row));
  }

  findAgentDetails(agentId: string, nowMs: number): Promise<AgentDetails | undefined> {
    return findAgentDetails(this.#database, agentId, nowMs, this.#uses, this.#keyUses);
  }

  agentPage(query: AgentListQuery, nowMs: number): Promise<ListPage<AgentRecord>> {
    return this.#database.operation(async (statements) => {
      if (query.sort.key === 'last_used_at') await this.#uses.write(statements);
      if (query.requests || isRequestCount(query.sort.key)) await this.#requests.write(statements);
      const page = await readAgentPage(statements, query, nowMs);
      return { ...page, items: page.items.map((agent) => this.#uses.apply(agent)) };
    });
  }

  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>> {
    return readEventPage(this.#database, agentId, query, nowMs);
  }

  eventPage: Store['eventPage'] = (query, nowMs, signal) =>
    this.#database.operation(async (statements) => {
      const inMemory = await this.#events?.list(query, nowMs, signal);
      if (inMemory) return { ...inMemory, items: await addAgentNames(statements, inMemory.items) };
      for (;;) {
        const page = await readAllEventPage(statements, this.#reads, query, nowMs, signal);
        if (page) return page;
        await this.#words?.complete();
      }
    });

  auditPage(query: AuditQuery): Promise<ListPage<AuditRecord, number>> {
    return readAuditPage(this.#database, query);
  }

  stats(nowMs: number): Promise<Stats> {
    return this.#database.operation(async (statements) => {
      await this.#uses.write(statements);
      const inMemory = await this.#events?.count(nowMs);
      return readStats(statements, nowMs, nowMs - ACTIVE_WITHIN_MS, inMemory);
    });
  }

  countCreated(fromMs: readonly number[]): Promise<readonly Created[]> {
    return readCreated(this.#database, fromMs);
  }

  async updateAgent(...args: Parameters<Store['updateAgent']>): Promise<AgentRecord | undefined> {
    const agent = await this.#change((sql) => admin.updateAgent(sql, ...args));
    return agent && this.#uses.apply(agent);
  }

  deleteEvents: Store['deleteEvents'] = (...args) => this.#change((sql) => admin.deleteEvents(sql, ...args));

  async deleteAll(agentId: string, audit: AuditEntry, withAgent: boolean): Promise<boolean> {
    // So that an undo brings back the agent's last use, too.
    if (withAgent && audit.undo === 'kept') await Promise.all([this.#uses.write(), this.#grantUses.write()]);
    const isDone = await this.#change((sql) => admin.deleteAll(sql, agentId, audit, withAgent));
    if (withAgent) this.#uses.forget(agentId);
    return isDone;
  }

  revokeAgentKey: Store['revokeAgentKey'] = (...args) =>
    this.#change((sql) => admin.revokeAgentKey(sql, ...args));

  replaceAgentKeys: Store['replaceAgentKeys'] = (...args) =>
    this.#change((sql) => admin.replaceAgentKeys(sql, ...args));

  undoDelete(step: UndoStep, audit: AuditEntry): Promise<UndoOutcome> {
    return this.#change((sql) => undoDelete(sql, step, audit));
  }

  removeDeleted(deletedByMs: number): AsyncIterable<number> {
    return removeDeleted(this.#database, deletedByMs);
  }

  removeEnded: Store['removeEnded'] = (...args) => removeEnded(this.#database, ...args);

  async *removeUnusedAgents(registeredByMs: number, audit: AuditEntry): AsyncGenerator<number> {
    await this.#uses.write();
    for await (const count of removeUnusedAgents(this.#database, registeredByMs, audit)) {
      this.#forgetHolders();
      yield count;
      await this.#uses.write();
    }
  }

  addClient: Store['addClient'] = (client) => grants.addClient(this.#database, client);
  findClient: Store['findClient'] = (clientId) => grants.findClient(this.#database, clientId);

  async addGrant(grant: NewGrant): Promise<boolean> {
    try {
      return await this.#database.transaction('repeatable', (sql) => grants.addGrant(sql, grant));
    } finally {
      this.#tokens.forgetOf(grant.agent_id);
    }
  }

  exchangeCode: Store['exchangeCode'] = async (...args) => {
    const work = (sql: Sql) => grants.exchangeCode(sql, ...args);
    const { holder, ended } = await this.#database.transaction('repeatable', work);
    if (ended !== undefined) this.#tokens.forgetOf(ended);
    return holder;
  };

  findRefreshToken: Store['findRefreshToken'] = (...args) => grants.findRefreshToken(this.#database, ...args);

  refreshGrant: Store['refreshGrant'] = async (...args) => {
    const work = (sql: Sql) => grants.refreshGrant(sql, ...args);
    const agentId = await this.#database.transaction('repeatable', work);
    if (agentId !== undefined) this.#tokens.forgetOf(agentId);
    return agentId !== undefined;
  };

  findAccessToken: Store['findAccessToken'] = (tokenHash, nowMs) =>
    this.#tokens.get(tokenHash, nowMs, () => grants.findAccessToken(this.#database, tokenHash));

  noteGrantUse: Store['noteGrantUse'] = (grantId, nowMs) => this.#grantUses.note(grantId, nowMs);

  async endToken(tokenHash: string, clientId: string): Promise<void> {
    try {
      const work = (sql: Sql) => grants.endToken(sql, tokenHash, clientId);
      const agentId = await this.#database.run('repeatable write', work);
      if (agentId !== undefined) this.#tokens.forgetOf(agentId);
    } finally {
      this.#tokens.forgetOne(tokenHash);
    }
  }

  listGrants: Store['listGrants'] = async (agentId, nowMs) => {
    const found = await grants.listGrants(this.#database, agentId, nowMs);
    return found.map((grant) => ({
      ...grant,
      last_used_ms: this.#grantUses.latest(grant.grant_id, grant.last_used_ms)!,
    }));
  };

  async endGrants(agentId: string, grantId?: string, audit?: AuditEntry): Promise<boolean> {
    try {
      return await this.#database.transaction('once', (sql) =>
        grants.endGrants(sql, agentId, grantId, audit),
      );
    } finally {
      this.#tokens.forgetOf(agentId);
    }
  }

  async removeIdleGrants(usedByMs: number): Promise<number> {
    await this.#grantUses.write();
    return grants.removeIdleGrants(this.#database, usedByMs);
  }

  getSetting: Store['getSetting'] = (...args) => settings.getSetting(this.#database, ...args);
  findSetting = (name: string) => settings.findSetting(this.#database, name);
  setSetting: Store['setSetting'] = (...args) => settings.setSetting(this.#database, ...args);
  referenceTime = () => settings.referenceTime(this.#database);

  /** Runs a change by an administrator in a transaction, and clears the caches of holders. */
  async #change<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await this.#database.transaction('once', work);
    } finally {
      this.#forgetHolders();
    }
  }

  #forgetHolders(): void {
    this.#keys.forget();
    this.#tokens.forget();
  }
}
