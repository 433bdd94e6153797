// All statements that change the database. Runs on the writer thread. A batch of calls shares one transaction, and so one
// fsync. A call that violates a constraint is rolled back alone; any other database error fails the whole batch.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AgentRow } from '../../domain/agent.ts';
import type { KeyFingerprint } from '../../domain/api-key.ts';
import type { StoredEvent } from '../../domain/events/event.ts';
import type { CreateOutcome, Expiry, ReplaceOutcome } from '../../domain/store.ts';
import {
  bytesOf,
  type ColumnValues,
  EVENT_COLUMN_LIST,
  EVENT_PLACEHOLDERS,
  identityOf,
  idOf,
  NEW_AGENT_COLUMNS,
  newAgentValues,
  versionOf,
} from '../columns.ts';
import { EventOrder, orderEvents } from '../event-order.ts';
import { type AdminWrites, prepareAdminWrites, prepareAudit, type Stored } from './admin-writes.ts';
import { prepareGrantEnds } from './grant-ends.ts';
import { type GrantWrites, prepareGrantWrites } from './grant-writes.ts';
import { type KeyWrites, prepareKeyWrites } from './key-writes.ts';
import { prepareRemovals, type RemovalCalls } from './removals.ts';
import type { CallOf, Outcome } from './rpc-server.ts';
import { prepareUndos, type Undos } from './undo.ts';

/** The row number of a new event, or the stored version of an existing one. */
export type Created = CreateOutcome<{ readonly rowId: number }, Pick<StoredEvent, 'json' | 'version'>>;

/** Methods of the writer thread. */
export interface WriterCalls extends KeyWrites, GrantWrites, RemovalCalls, AdminWrites, Undos {
  ping(): void;
  /** Always writes something, to test whether commits succeed. */
  probe(): void;
  addAgent(agent: AgentRow, key: KeyFingerprint): void;
  touchAgents(used: ReadonlyMap<string, number>): void;
  /** By key hash. */
  touchKeys(used: ReadonlyMap<string, number>): void;
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
  /** Returns the stored value: the existing one, or else this one. */
  addSetting(name: string, value: string, expiry?: Expiry): string;
  setSetting(name: string, value: string, expiry?: Expiry): void;
  /** After a bulk write; see event-order.ts. */
  orderEvents(freeBytes: number): void;
}

/** Error code of a violated constraint, e.g. a duplicate key. Any other SQLite error concerns the database itself. */
const SQLITE_CONSTRAINT = 19;

export class Writer {
  readonly #database: DatabaseSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #calls: WriterCalls;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#savepoint = database.prepare('SAVEPOINT one');
    this.#release = database.prepare('RELEASE one');
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
    this.#savepoint.run();
    try {
      const method = this.#calls[call.name] as (...args: readonly unknown[]) => unknown;
      const value = method(...call.args);
      this.#release.run();
      return { value };
    } catch (error) {
      // A full disk or an I/O error is not caused by this call, and may already have ended the transaction.
      const { errcode } = error as { errcode?: number };
      if (errcode !== undefined && (errcode & 0xff) !== SQLITE_CONSTRAINT) throw error;
      this.#database.exec('ROLLBACK TO one');
      this.#release.run();
      return { error: error as Error };
    }
  }
}

interface Duplicate {
  readonly row_id: number;
  readonly event_id: string;
  readonly version: number;
  readonly json: string;
}

/** The stored version of an event that is to be replaced. */
interface Previous {
  readonly version: number;
  readonly agent_id: string;
  readonly bytes: number;
}

function prepareCalls(database: DatabaseSync): WriterCalls {
  const prepare = (sql: string) => database.prepare(sql);
  const insertAgent = prepare(`INSERT INTO agents (${NEW_AGENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const insertKey = prepare('INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)');
  const touchAgent = prepare(
    'UPDATE agents SET last_used_ms = max(?, coalesce(last_used_ms, 0)) WHERE agent_id = ?',
  );
  const touchKey = prepare(
    'UPDATE keys SET last_used_ms = max(?, coalesce(last_used_ms, 0)) WHERE key_hash = ?',
  );
  const findName = prepare(`SELECT agent_name FROM stored_agents WHERE agent_id = ?`);
  const findStored = prepare(
    `SELECT event_count AS count, event_bytes AS bytes FROM stored_agents WHERE agent_id = ?`,
  );
  const changeStored = prepare(
    'UPDATE agents SET event_count = event_count + ?, event_bytes = max(0, event_bytes + ?) WHERE agent_id = ?',
  );
  const removals = prepareRemovals(database);
  // A new row must not get a number of rows that are being removed, which it could if SQLite chose it.
  let lastRow = removals.findLastRow();
  const insert = `INSERT INTO events (row_id, ${EVENT_COLUMN_LIST}) VALUES (?, ${EVENT_PLACEHOLDERS})`;
  const insertEvent = prepare(insert);
  const insertNewEvent = prepare(
    `${insert}
     ON CONFLICT (agent_id, start_ms, lat, lng, title) DO NOTHING`,
  );
  const findDuplicate = prepare(
    `SELECT row_id, event_id, version, json FROM events
     WHERE agent_id = ? AND start_ms = ? AND lat = ? AND lng = ? AND title = ?`,
  );
  const findPrevious = prepare(
    `SELECT version, agent_id, octet_length(json) AS bytes FROM stored_events WHERE event_id = ?`,
  );
  const updateEvent = prepare(
    `UPDATE events SET (${EVENT_COLUMN_LIST}) = (${EVENT_PLACEHOLDERS}) WHERE event_id = ?`,
  );
  const removeOwned = prepare(
    `DELETE FROM events WHERE row_id = (
       SELECT row_id FROM stored_events WHERE event_id = ? AND agent_id = ? AND version = coalesce(?, version)
     ) RETURNING octet_length(json) AS bytes`,
  );
  const insertSetting = prepare(
    'INSERT INTO settings (name, value, expires_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const replaceSetting = prepare(
    `INSERT INTO settings (name, value, expires_ms) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, expires_ms = excluded.expires_ms`,
  );
  const removeExpired = prepare('DELETE FROM settings WHERE expires_ms <= ? AND name <> ?');
  const order = new EventOrder(database);
  const writeProbe = prepare("REPLACE INTO settings (name, value) VALUES ('probe', hex(randomblob(16)))");
  const findSetting = prepare('SELECT value FROM settings WHERE name = ?');

  const duplicateOf = (event: ColumnValues): Duplicate | undefined => {
    const found = findDuplicate.get(...identityOf(event)) as Duplicate | undefined;
    // One that is being removed must not stand in the way.
    return found && removals.removeRow(found.row_id) ? undefined : found;
  };
  const nameOf = (agentId: string) => findName.get(agentId)?.agent_name as string | undefined;
  const storedOf = (agentId: string) => findStored.get(agentId) as Stored | undefined;
  const shared = {
    ...prepareAudit(database),
    ...{ nameOf, storedOf, order, removals, grantEnds: prepareGrantEnds(database) },
    changeStored: (agentId: string, count: number, bytes: number) => changeStored.run(count, bytes, agentId),
    hasDuplicate: (event: ColumnValues) => duplicateOf(event) !== undefined,
    insertEvent: (event: ColumnValues) => {
      insertEvent.run(++lastRow, ...event);
      return lastRow;
    },
  };

  return {
    ping() {},

    probe() {
      writeProbe.run();
    },

    addAgent(agent, key) {
      insertAgent.run(...newAgentValues(agent));
      insertKey.run(key.hash, agent.agent_id, key.prefix, agent.created_ms);
    },

    ...prepareKeyWrites(database, shared.grantEnds),
    ...prepareGrantWrites(database, shared),
    ...removals.calls,
    ...prepareAdminWrites(database, shared),
    ...prepareUndos(database, shared),

    touchAgents(used) {
      for (const [agentId, atMs] of used) touchAgent.run(atMs, agentId);
    },

    touchKeys(used) {
      for (const [keyHash, atMs] of used) touchKey.run(atMs, keyHash);
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
      const rowId = ++lastRow;
      insertEvent.run(rowId, ...event);
      changeStored.run(1, bytes, agentId);
      order.add(event, stored.count + 1);
      return { kind: 'created', record: { rowId } };
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
        const insertNew = () => insertNewEvent.run(++lastRow, ...event).changes === 1;
        if (!insertNew() && (duplicateOf(event) || !insertNew())) return 'existing';
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
      const removed = removeOwned.get(eventId, agentId, version) as { bytes: number } | undefined;
      if (!removed) return false;
      changeStored.run(-1, -removed.bytes, agentId);
      return true;
    },

    addSetting(name, value, expiry) {
      insertSetting.run(name, value, expiry?.atMs ?? null);
      if (expiry) removeExpired.run(expiry.nowMs, name);
      return findSetting.get(name)!.value as string;
    },

    orderEvents(freeBytes) {
      orderEvents(database, freeBytes);
    },

    setSetting(name, value, expiry) {
      replaceSetting.run(name, value, expiry?.atMs ?? null);
      if (expiry) removeExpired.run(expiry.nowMs, name);
    },
  };
}
