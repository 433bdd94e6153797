// The engine for many nodes: all data is in PostgreSQL. A node keeps only recently used keys, unwritten last uses and quota
// lots. Business rules are left to the use cases, database failures and retries to database.ts.
import type { AgentRecord, AgentRow, AgentUpdate } from '../domain/agent.ts';
import type { KeyFingerprint, KeyRecord } from '../domain/api-key.ts';
import type { AuditEntry, AuditRecord } from '../domain/audit.ts';
import type { EventRow } from '../domain/event.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/list.ts';
import type { NearbyQuery } from '../domain/nearby.ts';
import {
  ACTIVE_WITHIN_MS,
  type CreateOutcome,
  type EventRecord,
  type ListedEvent,
  type ListPage,
  type NearbyPage,
  type Quota,
  type ReplaceOutcome,
  type Stats,
  type Store,
} from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import {
  deleteAgent,
  deleteAgentEvents,
  deleteAnyEvent,
  deleteSelectedEvents,
  updateAgent,
} from './admin.ts';
import type { Database, DatabaseOptions } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import * as events from './events.ts';
import { KeyCache } from './key-cache.ts';
import { findHolder, findKey, rotateKey } from './keys.ts';
import { LastUses } from './last-uses.ts';
import { AGENT_COLUMNS } from './list-statements.ts';
import { readAgentPage, readAuditPage, readEventPage, readStats } from './lists.ts';
import { openDatabase } from './open.ts';
import { QuotaLeases } from './quota-leases.ts';
import { removeEnded, removeUnusedAgents } from './removals.ts';
import { search } from './search.ts';

export class PostgresStore implements Store {
  readonly engine = 'postgres';
  readonly #database: Database;
  readonly #keys = new KeyCache();
  readonly #quotas: QuotaLeases;
  readonly #uses: LastUses;

  constructor(database: Database) {
    this.#database = database;
    this.#quotas = new QuotaLeases(database);
    this.#uses = new LastUses(database);
  }

  /** Throws StartError if the database cannot be reached or used. */
  static async open(options: DatabaseOptions): Promise<PostgresStore> {
    return new PostgresStore(await openDatabase(options));
  }

  check(): Promise<void> {
    return this.#database.check();
  }

  close(): Promise<void> {
    return this.#database.close((statements) => this.#uses.close(statements));
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

  findKey(keyHash: string): Promise<KeyRecord | undefined> {
    return findKey(this.#database, keyHash);
  }

  async rotateKey(...args: Parameters<Store['rotateKey']>): Promise<boolean> {
    const [agentId] = args;
    try {
      return await this.#database.transaction('repeatable', (sql) => rotateKey(sql, ...args));
    } finally {
      this.#keys.forgetOf(agentId);
    }
  }

  async revokeKey(keyHash: string): Promise<void> {
    try {
      await this.#database.run('repeatable', (sql) => sql`DELETE FROM keys WHERE key_hash = ${keyHash}`);
    } finally {
      this.#keys.forgetKey(keyHash);
    }
  }

  noteUse(agentId: string, nowMs: number): void {
    this.#uses.note(agentId, nowMs);
  }

  spend(bucket: string, limit: number, cost: number, nowMs: number): Promise<Quota> {
    return this.#quotas.spend(bucket, limit, cost, nowMs);
  }

  createEvent(row: EventRow, maxPerAgent: number, maxBytes = 0): Promise<CreateOutcome> {
    return events.createEvent(this.#database, row, maxPerAgent, maxBytes);
  }

  findEvent(eventId: string): Promise<EventRecord | undefined> {
    return events.findEvent(this.#database, eventId);
  }

  findEventRow(eventId: string): Promise<EventRow | undefined> {
    return events.findEventRow(this.#database, eventId);
  }

  replaceEvent(next: EventRow, maxBytes = 0): Promise<ReplaceOutcome> {
    return this.#database.operation((statements) => events.replaceEvent(statements, next, maxBytes));
  }

  deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean> {
    return events.deleteEvent(this.#database, eventId, agentId, version);
  }

  nearby(query: NearbyQuery, nowMs: number): Promise<NearbyPage> {
    return search(this.#database, query, nowMs);
  }

  async listAgents(): Promise<AgentRecord[]> {
    const rows = await this.#database.run(
      'repeatable',
      (sql) =>
        sql<AgentRecord[]>`SELECT ${sql.unsafe(AGENT_COLUMNS)} FROM agents ORDER BY created_ms, agent_id`,
    );
    return rows.map((row) => this.#uses.apply(row));
  }

  async findAgent(agentId: string): Promise<AgentRecord | undefined> {
    const [row] = await this.#database.run(
      'repeatable',
      (sql) =>
        sql<AgentRecord[]>`SELECT ${sql.unsafe(AGENT_COLUMNS)} FROM agents WHERE agent_id = ${agentId}`,
    );
    return row && this.#uses.apply(row);
  }

  listAgentEvents(agentId: string): AsyncIterable<readonly Wire[]> {
    return events.listAgentEvents(this.#database, agentId);
  }

  agentPage(query: AgentListQuery): Promise<ListPage<AgentRecord>> {
    return this.#database.operation(async (statements) => {
      if (query.sort.key === 'last_used_at') await this.#uses.write(statements);
      const page = await readAgentPage(statements, query);
      return { ...page, items: page.items.map((agent) => this.#uses.apply(agent)) };
    });
  }

  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): Promise<ListPage<ListedEvent>> {
    return readEventPage(this.#database, agentId, query, nowMs);
  }

  auditPage(query: AuditQuery): Promise<ListPage<AuditRecord, number>> {
    return readAuditPage(this.#database, query);
  }

  stats(nowMs: number): Promise<Stats> {
    return this.#database.operation(async (statements) => {
      await this.#uses.write(statements);
      return readStats(statements, nowMs, nowMs - ACTIVE_WITHIN_MS);
    });
  }

  async updateAgent(
    agentId: string,
    update: AgentUpdate,
    audit: AuditEntry,
  ): Promise<AgentRecord | undefined> {
    const agent = await this.#change((sql) => updateAgent(sql, agentId, update, audit));
    return agent && this.#uses.apply(agent);
  }

  async deleteAgent(agentId: string, audit: AuditEntry): Promise<boolean> {
    const isGone = await this.#change((sql) => deleteAgent(sql, agentId, audit));
    this.#uses.forget(agentId);
    return isGone;
  }

  deleteAgentEvents(agentId: string, audit: AuditEntry): Promise<boolean> {
    return this.#change((sql) => deleteAgentEvents(sql, agentId, audit));
  }

  deleteSelectedEvents(
    agentId: string,
    eventIds: readonly string[],
    audit: AuditEntry,
  ): Promise<number | undefined> {
    return this.#change((sql) => deleteSelectedEvents(sql, agentId, eventIds, audit));
  }

  deleteEventAsAdmin(eventId: string, audit: AuditEntry): Promise<boolean> {
    return this.#change((sql) => deleteAnyEvent(sql, eventId, audit));
  }

  removeEnded(endedByMs: number): AsyncIterable<number> {
    return removeEnded(this.#database, endedByMs);
  }

  async *removeUnusedAgents(registeredByMs: number): AsyncGenerator<number> {
    await this.#uses.write();
    for await (const count of removeUnusedAgents(this.#database, registeredByMs)) {
      this.#keys.forget();
      yield count;
      await this.#uses.write();
    }
  }

  endSession(sessionId: string, expiresMs: number, nowMs: number): Promise<void> {
    return this.#database.transaction('repeatable', async (sql) => {
      await sql`DELETE FROM ended_sessions WHERE expires_ms <= ${nowMs}`;
      if (expiresMs <= nowMs) return;
      await sql`
        INSERT INTO ended_sessions (session_id, expires_ms) VALUES (${sessionId}, ${expiresMs})
        ON CONFLICT (session_id) DO UPDATE SET expires_ms = greatest(ended_sessions.expires_ms, excluded.expires_ms)`;
    });
  }

  async isSessionEnded(sessionId: string): Promise<boolean> {
    const found = await this.#database.run(
      'repeatable',
      (sql) => sql`SELECT 1 FROM ended_sessions WHERE session_id = ${sessionId}`,
    );
    return found.length > 0;
  }

  getSetting(name: string, initial: () => Promise<string>): Promise<string> {
    return this.#database.operation(async (statements) => {
      const value = await initial();
      // On a conflict the update changes nothing; it only makes RETURNING yield the stored value.
      const [stored] = await statements.run(
        'repeatable',
        (sql) => sql<[{ readonly value: string }]>`
          INSERT INTO settings (name, value) VALUES (${name}, ${value})
          ON CONFLICT (name) DO UPDATE SET value = settings.value RETURNING value`,
      );
      return stored.value;
    });
  }

  /** Runs a change by an administrator in a transaction, and clears the key cache. */
  async #change<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await this.#database.transaction('once', work);
    } finally {
      this.#keys.forget();
    }
  }
}
