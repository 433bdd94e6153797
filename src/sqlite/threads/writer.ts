// All statements that change the database. Runs on the writer thread. A batch of calls shares one transaction, and so one
// fsync. A call that violates a constraint is rolled back alone; any other database error fails the whole batch.
import type { DatabaseSync } from 'node:sqlite';
import type { AgentRow, AgentUpdate } from '../../domain/agent.ts';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import { type AuditEntry, detailOfDeleted, detailOfOwner } from '../../domain/audit.ts';
import { ASSUMED_DURATION_MS, type StoredEvent } from '../../domain/event.ts';
import type { CreateOutcome, ReplaceOutcome } from '../../domain/store.ts';
import {
  AGENT_COLUMNS,
  type AgentColumns,
  bytesOf,
  type ColumnValues,
  EVENT_COLUMN_LIST,
  EVENT_PLACEHOLDERS,
  identityOf,
  idOf,
  versionOf,
} from '../columns.ts';
import { EventOrder } from '../event-order.ts';
import { type KeyWrites, prepareKeyWrites } from './key-writes.ts';
import type { CallOf, Outcome } from './rpc-server.ts';

/** The row number of a new event, or the stored version of an existing one. */
export type Created = CreateOutcome<{ readonly rowId: number }, Pick<StoredEvent, 'json' | 'version'>>;

/** Methods of the writer thread. */
export interface WriterCalls extends KeyWrites {
  ping(): void;
  /** Always writes something, to test whether commits succeed. */
  probe(): void;
  addAgent(agent: AgentRow, key: KeyFingerprint): void;
  touchAgents(used: ReadonlyMap<string, number>): void;
  /** Takes the event's values in the order of EVENT_COLUMNS: arrays cross threads cheaper than objects. */
  createEvent(event: ColumnValues, maxPerAgent: number, maxBytes: number): Created;
  createEvents(
    events: readonly ColumnValues[],
    maxPerAgent: number,
    maxBytes: number,
  ): CreateOutcome['kind'][];
  replaceEvent(next: ColumnValues, maxBytes: number): ReplaceOutcome<undefined>;
  /** `version` null: deletes any version. */
  deleteEvent(eventId: string, agentId: string, version: number | null): boolean;
  deleteEventAsAdmin(eventId: string, audit: AuditEntry): boolean;
  /** Returns the changed agent; undefined if it does not exist. */
  updateAgent(agentId: string, update: AgentUpdate, audit: AuditEntry): AgentColumns | undefined;
  /** Returns the IDs of the deleted events; undefined if the agent does not exist. */
  deleteAgent(agentId: string, audit: AuditEntry): string[] | undefined;
  deleteAgentEvents(agentId: string, audit: AuditEntry): string[] | undefined;
  endSession(sessionId: string, expiresMs: number, nowMs: number): void;
  /** Returns the IDs of the deleted events, all of this agent; undefined if the agent does not exist. */
  deleteSelectedEvents(agentId: string, eventIds: readonly string[], audit: AuditEntry): string[] | undefined;
  /** Removes those of these events that have ended by then. Returns their IDs. */
  removeEnded(eventIds: readonly string[], endedByMs: number): string[];
  /** Removes up to `limit` agents without events that never made a request. Returns their IDs. */
  removeUnusedAgents(registeredByMs: number, limit: number): string[];
  /** Returns the stored value: the existing one, or else this one. */
  addSetting(name: string, value: string): string;
}

/** Error code of a violated constraint, e.g. a duplicate key. Any other SQLite error concerns the database itself. */
const SQLITE_CONSTRAINT = 19;

export class Writer {
  readonly #database: DatabaseSync;
  readonly #calls: WriterCalls;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#calls = prepareCalls(database);
  }

  /** Runs the calls in one transaction. Throws if it cannot be committed; then no call has any effect. */
  run(calls: readonly CallOf<WriterCalls>[]): Outcome[] {
    const database = this.#database;
    database.exec('BEGIN IMMEDIATE');
    try {
      const outcomes = calls.map((call) => this.#runOne(call));
      database.exec('COMMIT');
      return outcomes;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  #runOne(call: CallOf<WriterCalls>): Outcome {
    const database = this.#database;
    database.exec('SAVEPOINT one');
    try {
      const method = this.#calls[call.name] as (...args: readonly unknown[]) => unknown;
      const value = method(...call.args);
      database.exec('RELEASE one');
      return { value };
    } catch (error) {
      // A full disk or an I/O error is not caused by this call, and may already have ended the transaction.
      const { errcode } = error as { errcode?: number };
      if (errcode !== undefined && (errcode & 0xff) !== SQLITE_CONSTRAINT) throw error;
      database.exec('ROLLBACK TO one');
      database.exec('RELEASE one');
      return { error: error as Error };
    }
  }
}

/** Number and bytes of an agent's events. */
interface Stored {
  count: number;
  bytes: number;
}

/** The stored version of an event that is to be replaced. */
interface Previous {
  readonly version: number;
  readonly agent_id: string;
  readonly bytes: number;
}

function prepareCalls(database: DatabaseSync): WriterCalls {
  const prepare = (sql: string) => database.prepare(sql);
  const insertAgent = prepare(
    'INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const insertKey = prepare('INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)');
  const touchAgent = prepare(
    'UPDATE agents SET last_used_ms = max(?, coalesce(last_used_ms, 0)) WHERE agent_id = ?',
  );
  const findName = prepare('SELECT agent_name FROM agents WHERE agent_id = ?');
  const findStored = prepare(
    'SELECT event_count AS count, event_bytes AS bytes FROM agents WHERE agent_id = ?',
  );
  const changeStored = prepare(
    'UPDATE agents SET event_count = event_count + ?, event_bytes = max(0, event_bytes + ?) WHERE agent_id = ?',
  );
  const insertEvent = prepare(`INSERT INTO events (${EVENT_COLUMN_LIST}) VALUES (${EVENT_PLACEHOLDERS})`);
  const insertNewEvent = prepare(
    `INSERT INTO events (${EVENT_COLUMN_LIST}) VALUES (${EVENT_PLACEHOLDERS})
     ON CONFLICT (agent_id, start_ms, lat, lng, title) DO NOTHING`,
  );
  const findDuplicate = prepare(
    `SELECT event_id, version, json FROM events
     WHERE agent_id = ? AND start_ms = ? AND lat = ? AND lng = ? AND title = ?`,
  );
  const findPrevious = prepare(
    'SELECT version, agent_id, octet_length(json) AS bytes FROM events WHERE event_id = ?',
  );
  const updateEvent = prepare(
    `UPDATE events SET (${EVENT_COLUMN_LIST}) = (${EVENT_PLACEHOLDERS}) WHERE event_id = ?`,
  );
  const removeOwned = prepare(
    `DELETE FROM events WHERE event_id = ? AND agent_id = ? AND version = coalesce(?, version)
     RETURNING octet_length(json) AS bytes`,
  );
  const removeIfEnded = prepare(
    `DELETE FROM events WHERE event_id = ? AND coalesce(end_ms, start_ms + ${ASSUMED_DURATION_MS}) <= ?
     RETURNING agent_id, octet_length(json) AS bytes`,
  );
  const removeUnused = prepare(
    `DELETE FROM agents WHERE agent_id IN (
       SELECT agent_id FROM agents WHERE last_used_ms IS NULL AND event_count = 0 AND created_ms <= ? LIMIT ?
     ) RETURNING agent_id`,
  );
  const removeAny = prepare(
    'DELETE FROM events WHERE event_id = ? RETURNING agent_id, title, octet_length(json) AS bytes',
  );
  const removeOfAgent = prepare('DELETE FROM events WHERE agent_id = ? RETURNING event_id');
  const zeroStored = prepare('UPDATE agents SET event_count = 0, event_bytes = 0 WHERE agent_id = ?');
  const setAgent = prepare(
    `UPDATE agents SET is_active = coalesce(?, is_active), tier = coalesce(?, tier) WHERE agent_id = ?
     RETURNING ${AGENT_COLUMNS}`,
  );
  const removeAgent = prepare('DELETE FROM agents WHERE agent_id = ?');
  const insertAudit = prepare(
    `INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, target_name, detail, count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const forgetSessions = prepare('DELETE FROM ended_sessions WHERE expires_ms <= ?');
  const insertSession = prepare(
    `INSERT INTO ended_sessions (session_id, expires_ms) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET expires_ms = max(expires_ms, excluded.expires_ms)`,
  );
  const insertSetting = prepare('INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const order = new EventOrder(database);
  const writeProbe = prepare("REPLACE INTO settings (name, value) VALUES ('probe', hex(randomblob(16)))");
  const findSetting = prepare('SELECT value FROM settings WHERE name = ?');

  const duplicateOf = (event: ColumnValues) =>
    findDuplicate.get(...identityOf(event)) as
      | { event_id: string; version: number; json: string }
      | undefined;
  const nameOf = (agentId: string) => findName.get(agentId)?.agent_name as string | undefined;
  const record = (audit: AuditEntry, name: string, count: number, detail = audit.detail) => {
    const { at_ms, actor_subject, actor_email, action, target } = audit;
    insertAudit.run(at_ms, actor_subject, actor_email, action, target, name, detail, count);
  };
  const removeEventsOf = (agentId: string): string[] =>
    removeOfAgent.all(agentId).map((row) => row.event_id as string);
  const storedOf = (agentId: string) => findStored.get(agentId) as Stored | undefined;
  /** Returns the bytes of the deleted event; undefined if none matched. */
  const removeOwn = (eventId: string, agentId: string, version: number | null): number | undefined =>
    removeOwned.get(eventId, agentId, version)?.bytes as number | undefined;

  return {
    ping() {},

    probe() {
      writeProbe.run();
    },

    addAgent(agent, key) {
      const { agent_id, email, agent_name, tier, is_active, created_ms } = agent;
      insertAgent.run(agent_id, email, agent_name, tier, Number(is_active), created_ms);
      insertKey.run(key.hash, agent_id, key.prefix, created_ms);
    },

    ...prepareKeyWrites(database),

    touchAgents(used) {
      for (const [agentId, atMs] of used) touchAgent.run(atMs, agentId);
    },

    createEvent(event, maxPerAgent, maxBytes) {
      const duplicate = duplicateOf(event);
      if (duplicate)
        return { kind: 'existing', record: { version: duplicate.version, json: duplicate.json } };
      const [agentId] = identityOf(event);
      const stored = storedOf(agentId);
      if (!stored) return { kind: 'no-agent' };
      const bytes = bytesOf(event);
      if (maxPerAgent > 0 && stored.count >= maxPerAgent) return { kind: 'limit' };
      if (maxBytes > 0 && stored.bytes + bytes > maxBytes) return { kind: 'size-limit' };
      const { lastInsertRowid } = insertEvent.run(...event);
      changeStored.run(1, bytes, agentId);
      order.add(event, stored.count + 1);
      return { kind: 'created', record: { rowId: Number(lastInsertRowid) } };
    },

    createEvents(events, maxPerAgent, maxBytes) {
      const totals = new Map<string, { readonly before: Stored; readonly added: Stored }>();
      const create = (event: ColumnValues): CreateOutcome['kind'] => {
        const [agentId] = identityOf(event);
        let total = totals.get(agentId);
        if (!total) {
          const before = storedOf(agentId);
          if (!before) return 'no-agent';
          total = { before, added: { count: 0, bytes: 0 } };
          totals.set(agentId, total);
          order.removeAgent(agentId);
        }
        const { before, added } = total;
        const bytes = bytesOf(event);
        if (maxPerAgent > 0 && before.count + added.count >= maxPerAgent)
          return duplicateOf(event) ? 'existing' : 'limit';
        if (maxBytes > 0 && before.bytes + added.bytes + bytes > maxBytes)
          return duplicateOf(event) ? 'existing' : 'size-limit';
        if (insertNewEvent.run(...event).changes === 0) return 'existing';
        added.count++;
        added.bytes += bytes;
        return 'created';
      };
      const outcomes = events.map(create);
      for (const [agentId, { added }] of totals) changeStored.run(added.count, added.bytes, agentId);
      return outcomes;
    },

    replaceEvent(next, maxBytes) {
      // Check the version first: a duplicate of an outdated version is meaningless.
      const eventId = idOf(next);
      const previous = findPrevious.get(eventId) as Previous | undefined;
      if (previous?.version !== versionOf(next) - 1) return { kind: 'conflict' };
      const duplicate = duplicateOf(next);
      if (duplicate && duplicate.event_id !== eventId) return { kind: 'duplicate', id: duplicate.event_id };
      const growth = bytesOf(next) - previous.bytes;
      if (maxBytes > 0 && growth > 0 && storedOf(previous.agent_id)!.bytes + growth > maxBytes)
        return { kind: 'size-limit' };
      updateEvent.run(...next, eventId);
      if (growth !== 0) changeStored.run(0, growth, previous.agent_id);
      return { kind: 'replaced', record: undefined };
    },

    deleteEvent(eventId, agentId, version) {
      const bytes = removeOwn(eventId, agentId, version);
      if (bytes === undefined) return false;
      changeStored.run(-1, -bytes, agentId);
      return true;
    },

    deleteEventAsAdmin(eventId, audit) {
      const removed = removeAny.get(eventId);
      if (!removed) return false;
      const { agent_id, title, bytes } = removed as { agent_id: string; title: string; bytes: number };
      changeStored.run(-1, -bytes, agent_id);
      record(audit, title, 1, detailOfOwner({ agent_id, agent_name: nameOf(agent_id)! }));
      return true;
    },

    updateAgent(agentId, update, audit) {
      const active = update.is_active === undefined ? null : Number(update.is_active);
      const agent = setAgent.get(active, update.tier ?? null, agentId) as AgentColumns | undefined;
      if (agent) record(audit, agent.agent_name, 1);
      return agent;
    },

    deleteAgent(agentId, audit) {
      const name = nameOf(agentId);
      if (name === undefined) return undefined;
      const removed = removeEventsOf(agentId);
      removeAgent.run(agentId);
      record(audit, name, removed.length);
      return removed;
    },

    deleteAgentEvents(agentId, audit) {
      const name = nameOf(agentId);
      if (name === undefined) return undefined;
      const removed = removeEventsOf(agentId);
      zeroStored.run(agentId);
      record(audit, name, removed.length);
      return removed;
    },

    deleteSelectedEvents(agentId, eventIds, audit) {
      const name = nameOf(agentId);
      if (name === undefined) return undefined;
      let freedBytes = 0;
      const removed = eventIds.filter((eventId) => {
        const bytes = removeOwn(eventId, agentId, null);
        freedBytes += bytes ?? 0;
        return bytes !== undefined;
      });
      if (removed.length === 0) return removed;
      changeStored.run(-removed.length, -freedBytes, agentId);
      record(audit, name, removed.length, detailOfDeleted(removed));
      return removed;
    },

    removeEnded(eventIds, endedByMs) {
      const freed = new Map<string, Stored>();
      const removed = eventIds.filter((eventId) => {
        const row = removeIfEnded.get(eventId, endedByMs) as { agent_id: string; bytes: number } | undefined;
        if (!row) return false;
        const { count, bytes } = freed.get(row.agent_id) ?? { count: 0, bytes: 0 };
        freed.set(row.agent_id, { count: count + 1, bytes: bytes + row.bytes });
        return true;
      });
      for (const [agentId, { count, bytes }] of freed) changeStored.run(-count, -bytes, agentId);
      return removed;
    },

    removeUnusedAgents(registeredByMs, limit) {
      return removeUnused.all(registeredByMs, limit).map((row) => row.agent_id as string);
    },

    endSession(sessionId, expiresMs, nowMs) {
      forgetSessions.run(nowMs);
      if (expiresMs > nowMs) insertSession.run(sessionId, expiresMs);
    },

    addSetting(name, value) {
      insertSetting.run(name, value);
      return findSetting.get(name)!.value as string;
    },
  };
}
