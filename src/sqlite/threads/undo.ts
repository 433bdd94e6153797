// Undoes deletes by administrators, and removes what was deleted too long ago for that. Runs on the writer thread, each call in its own
// savepoint.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditEntry, AuditRecord } from '../../domain/administration/audit.ts';
import {
  detailOfUndo,
  refusalOf,
  type SkippedEvent,
  type SkipReason,
  type UndoRefusal,
  type UndoStep,
} from '../../domain/administration/undo.ts';
import {
  INDEX_COLUMNS,
  type IndexColumns,
  type IndexedEvent,
  readIndexed,
} from '../../memory/index-mapping.ts';
import {
  AGENT_COLUMNS,
  type AgentColumns,
  bytesOf,
  type ColumnValues,
  DELETED_AGENT_COLUMNS,
  EVENT_COLUMN_LIST,
  identityOf,
} from '../columns.ts';
import type { EventOrder } from '../event-order.ts';
import type { SharedStatements } from './admin-writes.ts';
import type { AccessTokenRow } from './grant-reader.ts';

export interface UndoneKey {
  readonly key_hash: string;
  readonly expires_ms: number | null;
}

/** What one step has restored. */
export interface UndoneSlice {
  readonly kind: 'restored';
  readonly agent: AgentColumns | undefined;
  readonly keys: readonly UndoneKey[];
  readonly accessTokens: readonly AccessTokenRow[];
  readonly events: readonly IndexedEvent[];
  readonly skipped: readonly SkippedEvent[];
  readonly into: number | undefined;
}

export interface Undos {
  /** Why nothing can be restored; `pending` if rows of the entry are still to be moved by `moveSlice`; undefined if it can be. */
  checkUndo(auditId: number, deletedAfterMs: number): UndoRefusal | 'pending' | undefined;
  /** Brings back those of these events that are still there for the entry, after its agent. */
  undoSlice(
    step: UndoStep,
    eventIds: readonly string[],
    audit: AuditEntry,
  ): UndoneSlice | { readonly kind: UndoRefusal };
  /** Removes up to `limit` events that were deleted by then. Returns their number; undefined if there are none. */
  removeDeleted(deletedByMs: number, limit: number): number | undefined;
}

interface UndoStatements extends SharedStatements {
  readonly order: EventOrder;
  /** Whether another event of the agent has this title, start and place. */
  hasDuplicate(event: ColumnValues): boolean;
  /** Inserts the event as a new row, and returns its number. */
  insertEvent(event: ColumnValues): number;
}

export function prepareUndos(database: DatabaseSync, shared: UndoStatements): Undos {
  const prepare = (sql: string) => database.prepare(sql);
  const insertAgent = prepare(
    `INSERT INTO agents (${DELETED_AGENT_COLUMNS})
     SELECT ${DELETED_AGENT_COLUMNS} FROM deleted_agents WHERE audit_id = ?
     RETURNING ${AGENT_COLUMNS}`,
  );
  const insertKeys = prepare(
    `INSERT INTO keys (key_hash, agent_id, prefix, created_ms, expires_ms, last_used_ms)
     SELECT key_hash, ?, prefix, created_ms, expires_ms, last_used_ms FROM deleted_keys WHERE audit_id = ?
     RETURNING key_hash, expires_ms`,
  );
  const forgetAgent = prepare('DELETE FROM deleted_agents WHERE audit_id = ?');
  const forgetKeys = prepare('DELETE FROM deleted_keys WHERE audit_id = ?');
  const findDeleted = prepare(
    `SELECT ${EVENT_COLUMN_LIST} FROM deleted_events WHERE event_id = ? AND audit_id = ?`,
  );
  findDeleted.setReturnArrays(true);
  const findStored = prepare('SELECT 1 FROM events WHERE event_id = ?');
  const forgetEvent = prepare('DELETE FROM deleted_events WHERE event_id = ?');
  const readIndexColumns = prepare(`SELECT ${INDEX_COLUMNS} FROM events WHERE row_id = ?`);
  readIndexColumns.setReturnArrays(true);
  const addToAudit = prepare(
    'UPDATE audit SET count = count + ? WHERE audit_id = ? AND action = ? AND actor_subject = ? AND detail = ?',
  );
  // Skipped events stay restorable.
  const noteUndo = prepare(
    `UPDATE audit SET restored_ms = ?2, undo = CASE
       WHEN EXISTS (SELECT 1 FROM deleted_events WHERE deleted_events.audit_id = ?1) THEN undo ELSE 'restored' END
     WHERE audit_id = ?1`,
  );
  const beginExpiry = prepare("UPDATE audit SET undo = 'expiring' WHERE undo = 'kept' AND at_ms <= ?");
  const findExpiring = prepare("SELECT audit_id FROM audit WHERE undo = 'expiring' LIMIT 1");
  const removeDeletedRows = prepare(
    'DELETE FROM deleted_events WHERE event_id IN (SELECT event_id FROM deleted_events WHERE audit_id = ? LIMIT ?)',
  );
  const endExpiry = prepare("UPDATE audit SET undo = 'expired' WHERE audit_id = ?");

  const reasonToSkip = (event: ColumnValues, eventId: string): SkipReason | undefined => {
    const [agentId] = identityOf(event);
    if (shared.nameOf(agentId) === undefined) return 'agent_deleted';
    if (findStored.get(eventId)) return 'exists';
    return shared.hasDuplicate(event) ? 'duplicate' : undefined;
  };
  const undoEvent = (event: ColumnValues, eventId: string): IndexedEvent => {
    const [agentId] = identityOf(event);
    const rowId = shared.insertEvent(event);
    forgetEvent.run(eventId);
    shared.changeStored(agentId, 1, bytesOf(event));
    shared.order.add(event, shared.storedOf(agentId)!.count);
    return readIndexed(readIndexColumns.get(rowId) as unknown as IndexColumns);
  };
  /** Returns the entry of the undo: an earlier step's if it wrote one, otherwise a new one. */
  const record = (audit: AuditEntry, entry: AuditRecord, count: number, into: number | undefined): number => {
    const { action, actor_subject } = audit;
    const { target, target_name } = entry;
    const detail = detailOfUndo(entry);
    if (into !== undefined && addToAudit.run(count, into, action, actor_subject, detail).changes === 1)
      return into;
    return shared.record(audit, { target, target_name, detail, count });
  };

  return {
    checkUndo(auditId, deletedAfterMs) {
      const refusal = refusalOf(shared.findEntry(auditId), deletedAfterMs);
      return refusal ?? (shared.removals.isPending(auditId) ? 'pending' : undefined);
    },

    undoSlice({ auditId, deletedAfterMs, into }, eventIds, audit) {
      const entry = shared.findEntry(auditId);
      const refusal = refusalOf(entry, deletedAfterMs);
      if (!entry || refusal) return { kind: refusal ?? 'no-entry' };
      const agent = insertAgent.get(auditId) as AgentColumns | undefined;
      const keys = agent ? (insertKeys.all(agent.agent_id, auditId) as unknown as UndoneKey[]) : [];
      const accessTokens = agent ? shared.grantEnds.restore(auditId) : [];
      if (agent) {
        forgetAgent.run(auditId);
        forgetKeys.run(auditId);
      }
      const events: IndexedEvent[] = [];
      const skipped: SkippedEvent[] = [];
      for (const eventId of eventIds) {
        const event = findDeleted.get(eventId, auditId) as unknown as ColumnValues | undefined;
        if (!event) continue; // another undo was faster
        const reason = reasonToSkip(event, eventId);
        const title = identityOf(event)[4];
        if (reason) skipped.push({ event_id: eventId, title, reason });
        else events.push(undoEvent(event, eventId));
      }
      const done = { kind: 'restored', agent, keys, accessTokens, events, skipped } as const;
      if (!agent && events.length === 0) return { ...done, into };
      noteUndo.run(auditId, audit.at_ms);
      const written = record(audit, entry, events.length, into);
      return { ...done, into: written };
    },

    removeDeleted(deletedByMs, limit) {
      beginExpiry.run(deletedByMs);
      const auditId = findExpiring.get()?.audit_id as number | undefined;
      if (auditId === undefined) return undefined;
      const removed = Number(removeDeletedRows.run(auditId, limit).changes);
      if (removed < limit) {
        forgetAgent.run(auditId);
        forgetKeys.run(auditId);
        shared.grantEnds.forget(auditId);
        endExpiry.run(auditId);
      }
      return removed;
    },
  };
}
