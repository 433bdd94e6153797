// All statements that change the database. Runs on the writer thread. A batch of calls shares one transaction, and so one
// fsync. A call that violates a constraint is rolled back alone; any other database error fails the whole batch.
import type { DatabaseSync } from 'node:sqlite';
import type { AgentRow, AgentUpdate } from '../../domain/agent.ts';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import { type AuditEntry, detailOfDeleted, detailOfOwner } from '../../domain/audit.ts';
import type { StoredEvent } from '../../domain/event.ts';
import type { CreateOutcome, ReplaceOutcome } from '../../domain/store.ts';
import {
  AGENT_COLUMNS,
  type AgentColumns,
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
  createEvent(event: ColumnValues, maxPerAgent: number): Created;
  createEvents(events: readonly ColumnValues[], maxPerAgent: number): CreateOutcome['kind'][];
  replaceEvent(next: ColumnValues): ReplaceOutcome<undefined>;
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
  const findCount = prepare('SELECT event_count FROM agents WHERE agent_id = ?');
  const changeCount = prepare('UPDATE agents SET event_count = event_count + ? WHERE agent_id = ?');
  const insertEvent = prepare(`INSERT INTO events (${EVENT_COLUMN_LIST}) VALUES (${EVENT_PLACEHOLDERS})`);
  const insertNewEvent = prepare(
    `INSERT INTO events (${EVENT_COLUMN_LIST}) VALUES (${EVENT_PLACEHOLDERS})
     ON CONFLICT (agent_id, start_ms, lat, lng, title) DO NOTHING`,
  );
  const findDuplicate = prepare(
    `SELECT event_id, version, json FROM events
     WHERE agent_id = ? AND start_ms = ? AND lat = ? AND lng = ? AND title = ?`,
  );
  const findVersion = prepare('SELECT version FROM events WHERE event_id = ?');
  const updateEvent = prepare(
    `UPDATE events SET (${EVENT_COLUMN_LIST}) = (${EVENT_PLACEHOLDERS}) WHERE event_id = ?`,
  );
  const removeOwned = prepare(
    'DELETE FROM events WHERE event_id = ? AND agent_id = ? AND version = coalesce(?, version)',
  );
  const removeAny = prepare('DELETE FROM events WHERE event_id = ? RETURNING agent_id, title');
  const removeOfAgent = prepare('DELETE FROM events WHERE agent_id = ? RETURNING event_id');
  const zeroCount = prepare('UPDATE agents SET event_count = 0 WHERE agent_id = ?');
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

    createEvent(event, maxPerAgent) {
      const duplicate = duplicateOf(event);
      if (duplicate)
        return { kind: 'existing', record: { version: duplicate.version, json: duplicate.json } };
      const [agentId] = identityOf(event);
      const agent = findCount.get(agentId);
      if (!agent) return { kind: 'no-agent' };
      if (maxPerAgent > 0 && (agent.event_count as number) >= maxPerAgent) return { kind: 'limit' };
      const { lastInsertRowid } = insertEvent.run(...event);
      changeCount.run(1, agentId);
      order.add(event, (agent.event_count as number) + 1);
      return { kind: 'created', record: { rowId: Number(lastInsertRowid) } };
    },

    createEvents(events, maxPerAgent) {
      const counts = new Map<string, { before: number; now: number }>();
      const create = (event: ColumnValues): CreateOutcome['kind'] => {
        const [agentId] = identityOf(event);
        let count = counts.get(agentId);
        if (!count) {
          const agent = findCount.get(agentId);
          if (!agent) return 'no-agent';
          const before = agent.event_count as number;
          count = { before, now: before };
          counts.set(agentId, count);
          order.removeAgent(agentId);
        }
        if (maxPerAgent > 0 && count.now >= maxPerAgent) return duplicateOf(event) ? 'existing' : 'limit';
        if (insertNewEvent.run(...event).changes === 0) return 'existing';
        count.now++;
        return 'created';
      };
      const outcomes = events.map(create);
      for (const [agentId, { before, now }] of counts) changeCount.run(now - before, agentId);
      return outcomes;
    },

    replaceEvent(next) {
      // Check the version first: a duplicate of an outdated version is meaningless.
      const eventId = idOf(next);
      if (findVersion.get(eventId)?.version !== versionOf(next) - 1) return { kind: 'conflict' };
      const duplicate = duplicateOf(next);
      if (duplicate && duplicate.event_id !== eventId) return { kind: 'duplicate', id: duplicate.event_id };
      updateEvent.run(...next, eventId);
      return { kind: 'replaced', record: undefined };
    },

    deleteEvent(eventId, agentId, version) {
      if (removeOwned.run(eventId, agentId, version).changes === 0) return false;
      changeCount.run(-1, agentId);
      return true;
    },

    deleteEventAsAdmin(eventId, audit) {
      const removed = removeAny.get(eventId);
      if (!removed) return false;
      const { agent_id, title } = removed as { agent_id: string; title: string };
      changeCount.run(-1, agent_id);
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
      zeroCount.run(agentId);
      record(audit, name, removed.length);
      return removed;
    },

    deleteSelectedEvents(agentId, eventIds, audit) {
      const name = nameOf(agentId);
      if (name === undefined) return undefined;
      const removed = eventIds.filter((eventId) => removeOwned.run(eventId, agentId).changes > 0);
      if (removed.length === 0) return removed;
      changeCount.run(-removed.length, agentId);
      record(audit, name, removed.length, detailOfDeleted(removed));
      return removed;
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
