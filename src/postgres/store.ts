// The engine for many nodes: all data is in PostgreSQL. A node keeps only recently used keys, unwritten last uses and quota
// lots. Business rules are left to the use cases, database failures and retries to database.ts.
import type { AgentRecord, AgentRow, AgentUpdate } from '../domain/agent.ts';
import type { KeyFingerprint, KeyRecord } from '../domain/api-key.ts';
import type { AuditEntry, AuditRecord } from '../domain/audit.ts';
import type { Position } from '../domain/cursor.ts';
import {
  decodeEvent,
  type EventRow,
  encodeEvent,
  STORED_EVENT_COLUMNS,
  type StoredEvent,
} from '../domain/event.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/list.ts';
import type { NearbyQuery } from '../domain/nearby.ts';
import {
  ACTIVE_WITHIN_MS,
  type CreateOutcome,
  type EventDetails,
  type EventRecord,
  type ListedEvent,
  type ListPage,
  type NearbyPage,
  type Quota,
  type ReplaceOutcome,
  type Stats,
  type Store,
} from '../domain/store.ts';
import { toWire, type Wire } from '../domain/wire.ts';
import {
  deleteAgent,
  deleteAgentEvents,
  deleteAnyEvent,
  deleteSelectedEvents,
  updateAgent,
} from './admin.ts';
import type { Database, DatabaseOptions, Statements } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { codeOf } from './client/errors.ts';
import { KeyCache } from './key-cache.ts';
import { findHolder, findKey, rotateKey } from './keys.ts';
import { LastUses } from './last-uses.ts';
import { AGENT_COLUMNS } from './list-statements.ts';
import { readAgentPage, readAuditPage, readEventPage, readStats } from './lists.ts';
import { openDatabase } from './open.ts';
import { QuotaLeases } from './quota-leases.ts';
import { CREATE_EVENT, createValues, REPLACE_EVENT, replaceValues, wireOf } from './records.ts';
import { searchStatement } from './search.ts';

const EVENTS_PER_PAGE = 500;

/** Error codes of PostgreSQL; EVENT_LIMIT is our own, raised by create_event. */
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const EVENT_LIMIT = 'LE001';

/** A row of create_event; the other columns are null for a new event. */
interface Created {
  readonly kind: 'created' | 'existing';
  readonly found_id: string;
  readonly found_version: number;
  readonly found_json: string;
}

interface Setting {
  readonly value: string;
}

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

  spend(bucket: string, limit: number, cost: 0 | 1, nowMs: number): Promise<Quota> {
    return this.#quotas.spend(bucket, limit, cost, nowMs);
  }

  async createEvent(row: EventRow, maxPerAgent: number): Promise<CreateOutcome> {
    const json = encodeEvent(row);
    try {
      // If an earlier attempt already created the event, it is found as existing with the same ID.
      const [found] = await this.#database.run('repeatable', (sql) =>
        sql.unsafe<[Created]>(CREATE_EVENT, createValues(row, json, maxPerAgent), { prepare: true }),
      );
      if (found.kind === 'created' || found.found_id === row.event_id)
        return { kind: 'created', record: { version: 1, json: toWire(json) } };
      return {
        kind: 'existing',
        record: { version: found.found_version, json: toWire(found.found_json) },
      };
    } catch (error) {
      if (codeOf(error) === EVENT_LIMIT) return { kind: 'limit' };
      if (codeOf(error) === FOREIGN_KEY_VIOLATION) return { kind: 'no-agent' };
      throw error;
    }
  }

  async findEvent(eventId: string): Promise<EventRecord | undefined> {
    const [row] = await this.#database.run('repeatable', (sql) =>
      sql`SELECT version, json FROM events WHERE event_id = ${eventId}`.raw(),
    );
    return row && { version: Number(row[0]), json: wireOf(row[1]) };
  }

  async findEventRow(eventId: string): Promise<EventRow | undefined> {
    const [row] = await this.#database.run(
      'repeatable',
      (sql) =>
        sql<
          StoredEvent[]
        >`SELECT ${sql.unsafe(STORED_EVENT_COLUMNS.join(', '))} FROM events WHERE event_id = ${eventId}`,
    );
    return row && decodeEvent(row);
  }

  replaceEvent(next: EventRow): Promise<ReplaceOutcome> {
    return this.#database.operation(async (statements) => {
      const json = encodeEvent(next);
      for (;;) {
        try {
          const { count } = await statements.run('once', (sql) =>
            sql.unsafe(REPLACE_EVENT, replaceValues(next, json), { prepare: true }),
          );
          if (count === 0) return { kind: 'conflict' };
          return { kind: 'replaced', record: { version: next.version, json: toWire(json) } };
        } catch (error) {
          if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
        }
        const id = await findDuplicate(statements, next);
        if (id !== undefined) return { kind: 'duplicate', id }; // otherwise it is gone by now
      }
    });
  }

  async deleteEvent(eventId: string, agentId: string, version?: number): Promise<boolean> {
    const { count } = await this.#database.run(
      'once',
      (sql) => sql`
        WITH gone AS (
          DELETE FROM events WHERE event_id = ${eventId} AND agent_id = ${agentId}
            AND version = coalesce(${version ?? null}::integer, version) RETURNING agent_id)
        UPDATE agents SET event_count = event_count - 1 FROM gone WHERE agents.agent_id = gone.agent_id`,
    );
    return count > 0;
  }

  async nearby(query: NearbyQuery, nowMs: number): Promise<NearbyPage> {
    const { text, values } = searchStatement(query, nowMs);
    const rows = await this.#database.run('repeatable', (sql) =>
      sql.unsafe(text, [...values], { prepare: true }).raw(),
    );
    const found = rows as unknown as readonly FoundRow[];
    const page = found.slice(0, query.limit).filter(([, , id]) => id !== null);
    const last = found.length > query.limit ? page.at(-1) : undefined;
    return {
      events: page.map(([, , , json]) => wireOf(json)),
      details: query.details ? page.map(detailsOf) : [],
      total: Number(found[0]![0].toString('latin1')),
      next: last && positionOf(last),
    };
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

  async *listAgentEvents(agentId: string): AsyncGenerator<readonly Wire[]> {
    let [startMs, id] = [Number.MIN_SAFE_INTEGER, ''];
    for (;;) {
      // The index has no event_id: ordering by it directly would sort all remaining events for every page. So read the
      // page by start, including ties, and sort only that.
      const rows = await this.#database.run('repeatable', (sql) =>
        sql`
          SELECT start_ms, event_id, json FROM (
            SELECT start_ms, event_id, json FROM events
            WHERE agent_id = ${agentId} AND (start_ms, event_id) > (${startMs}, ${id})
            ORDER BY start_ms FETCH FIRST ${EVENTS_PER_PAGE} ROWS WITH TIES
          ) AS first
          ORDER BY start_ms, event_id LIMIT ${EVENTS_PER_PAGE}`.raw(),
      );
      const last = rows.at(-1);
      if (last) yield rows.map((row) => wireOf(row[2]));
      if (!last || rows.length < EVENTS_PER_PAGE) return;
      [startMs, id] = [Number(last[0]), String(last[1])];
    }
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
      const [found] = await statements.run(
        'repeatable',
        (sql) => sql<Setting[]>`SELECT value FROM settings WHERE name = ${name}`,
      );
      if (found) return found.value;
      const value = await initial();
      // The update changes nothing: it returns the value of whoever was first.
      const [stored] = await statements.run(
        'repeatable',
        (sql) => sql<[Setting]>`
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

/** A row of a search; `id` is null in a row that has only the total. */
type FoundRow = readonly [
  total: Buffer,
  start: Buffer,
  id: Buffer | null,
  json: Buffer,
  lat?: Buffer,
  lng?: Buffer,
];

function positionOf([, start, id]: FoundRow): Position {
  return { startMs: Number(start.toString('latin1')), id: id!.toString('latin1') };
}

function detailsOf(row: FoundRow): EventDetails {
  const [lat, lng] = [row[4]!, row[5]!].map((bytes) => Number(bytes.toString('latin1')));
  return { ...positionOf(row), lat: lat!, lng: lng! };
}

/** ID of another event of the agent with the same title, start and place. */
async function findDuplicate(statements: Statements, event: EventRow): Promise<string | undefined> {
  const { agent_id, start_ms, lat, lng, title, event_id } = event;
  const [duplicate] = await statements.run(
    'repeatable',
    (sql) => sql<{ event_id: string }[]>`
      SELECT event_id FROM events WHERE agent_id = ${agent_id} AND start_ms = ${start_ms} AND lat = ${lat}
        AND lng = ${lng} AND title = ${title} AND event_id <> ${event_id}`,
  );
  return duplicate?.event_id;
}
