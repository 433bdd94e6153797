// The table removals: rows of events that callers no longer see, and that are deleted in slices, so that other writes run in between.
// The views stored_events and stored_agents leave them out. Runs on the writer thread, each call in its own savepoint.
import type { DatabaseSync } from 'node:sqlite';
import { EVENT_COLUMN_LIST } from '../columns.ts';

/** Calls of the writer. */
export interface RemovalCalls {
  /**
   * Deletes up to `limit` rows that count as deleted; after an agent's last row, also the agent if it was deleted. Rows that can come
   * back are moved to deleted_events first. False if there are no such rows.
   */
  removeSlice(limit: number): boolean;
  /** The same for the agent of this entry of the audit log. */
  moveSlice(auditId: number, limit: number): boolean;
}

export interface Removals {
  readonly calls: RemovalCalls;
  /** The highest number that a row has, or has had while it is being removed. */
  findLastRow(): number;
  /**
   * Deletes the agent's rows for all callers, and the agent if `withAgent`. They can come back with the entry, if there is one. Returns
   * the number up to which its rows are deleted.
   */
  begin(agentId: string, withAgent: boolean, auditId: number | null): number;
  /** No row of the agent that is being removed can come back. */
  forgetUndo(agentId: string): void;
  /** Whether the entry's rows must be moved, by `moveSlice`, before they can come back. */
  isPending(auditId: number): boolean;
  /** Deletes the row if it is one that is being removed. False if callers still see it. */
  removeRow(rowId: number): boolean;
}

/** A row of the table. */
interface Removal {
  readonly agent_id: string;
  readonly up_to_row: number;
  readonly with_agent: 0 | 1;
  readonly audit_id: number | null;
}

const COPY = `INSERT OR REPLACE INTO deleted_events (audit_id, ${EVENT_COLUMN_LIST})`;

/** Copies the event with the ID of the second parameter to deleted_events, for the entry of the first. */
export const COPY_EVENT = `${COPY} SELECT ?, ${EVENT_COLUMN_LIST} FROM events WHERE event_id = ?`;

/** Copies events that are being removed, and match the condition, for the entries that deleted them, if these can still be undone. */
function copyRemoved(condition: string): string {
  return `${COPY} SELECT audit_id, ${EVENT_COLUMN_LIST} FROM events JOIN audit ON audit_id = (
      SELECT removals.audit_id FROM removals
      WHERE removals.agent_id = events.agent_id AND up_to_row >= events.row_id ORDER BY up_to_row LIMIT 1
    ) AND undo = 'kept' WHERE ${condition}`;
}

/**
 * The agent whose rows must be moved before the entry of the first parameter can be undone. A deleted agent without new events is
 * removed together with events that an earlier entry deleted.
 */
const PENDING_AGENT = `coalesce((SELECT agent_id FROM deleted_agents WHERE audit_id = ?1),
  (SELECT agent_id FROM removals WHERE audit_id = ?1))`;

export function prepareRemovals(database: DatabaseSync): Removals {
  const prepare = (sql: string) => database.prepare(sql);
  const findLastRow = prepare(
    `SELECT max((SELECT coalesce(max(row_id), 0) FROM events), (SELECT coalesce(max(up_to_row), 0) FROM removals)) AS row`,
  );
  // Never below an earlier one, to which the rows up to its number belong.
  const begin = prepare(
    `INSERT INTO removals (agent_id, up_to_row, with_agent, audit_id)
     VALUES (?1, max((SELECT coalesce(max(row_id), 0) FROM events),
       (SELECT coalesce(max(up_to_row), 0) FROM removals WHERE agent_id = ?1)), ?2, ?3)
     ON CONFLICT DO UPDATE SET with_agent = max(with_agent, excluded.with_agent)
     RETURNING up_to_row`,
  );
  const forgetUndo = prepare('UPDATE removals SET audit_id = NULL WHERE agent_id = ?');
  const findPending = prepare(`SELECT 1 FROM removals WHERE agent_id = ${PENDING_AGENT}`);
  const copyRow = prepare(copyRemoved('row_id = ?'));
  const removeRow = prepare(
    'DELETE FROM events WHERE row_id = ?1 AND row_id NOT IN (SELECT row_id FROM stored_events WHERE row_id = ?1)',
  );
  // The lowest rows first: they belong to the earliest delete.
  const findRemoval = prepare('SELECT * FROM removals ORDER BY agent_id, up_to_row LIMIT 1');
  const findRemovalFor = prepare(
    `SELECT * FROM removals WHERE agent_id = ${PENDING_AGENT} ORDER BY up_to_row LIMIT 1`,
  );
  const findRows = prepare(
    'SELECT json_group_array(row_id) AS rows, count(*) AS count FROM (SELECT row_id FROM events WHERE agent_id = ? AND row_id <= ? LIMIT ?)',
  );
  const isListed = 'row_id IN (SELECT value FROM json_each(?))';
  const copyRows = prepare(copyRemoved(isListed));
  const removeRows = prepare(`DELETE FROM events WHERE ${isListed}`);
  const endRemoval = prepare('DELETE FROM removals WHERE agent_id = ? AND up_to_row = ?');
  const removeAgent = prepare('DELETE FROM agents WHERE agent_id = ?');

  const removeSliceOf = (removal: Removal | undefined, limit: number): boolean => {
    if (!removal) return false;
    const { agent_id, up_to_row, with_agent, audit_id } = removal;
    const { rows, count } = findRows.get(agent_id, up_to_row, limit) as { rows: string; count: number };
    if (audit_id !== null) copyRows.run(rows);
    removeRows.run(rows);
    if (count === limit) return true;
    endRemoval.run(agent_id, up_to_row);
    if (with_agent === 1) removeAgent.run(agent_id);
    return true;
  };

  return {
    calls: {
      removeSlice: (limit) => removeSliceOf(findRemoval.get() as Removal | undefined, limit),
      moveSlice: (auditId, limit) => removeSliceOf(findRemovalFor.get(auditId) as Removal | undefined, limit),
    },
    findLastRow: () => findLastRow.get()!.row as number,
    begin: (agentId, withAgent, auditId) =>
      begin.get(agentId, Number(withAgent), auditId)!.up_to_row as number,
    forgetUndo: (agentId) => forgetUndo.run(agentId),
    isPending: (auditId) => findPending.get(auditId) !== undefined,
    removeRow(rowId) {
      copyRow.run(rowId);
      return removeRow.run(rowId).changes === 1;
    },
  };
}

/** Deletes what a service was removing when it stopped. Without a service, there is nobody to wait. */
export function finishRemovals(database: DatabaseSync): void {
  if (!database.prepare('SELECT 1 FROM removals').get()) return;
  database.exec(`
    BEGIN IMMEDIATE;
    ${copyRemoved('true')};
    DELETE FROM events WHERE NOT EXISTS (SELECT 1 FROM stored_events WHERE stored_events.row_id = events.row_id);
    DELETE FROM agents WHERE agent_id IN (SELECT agent_id FROM removals WHERE with_agent = 1);
    DELETE FROM removals;
    COMMIT`);
}
