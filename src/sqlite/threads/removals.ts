// Statements that remove rows in slices. Run on the writer thread, each call in its own savepoint; other calls run in between.
import type { DatabaseSync } from 'node:sqlite';
import { keepRemoved } from '../kept-events.ts';

export interface Removals {
  /**
   * Deletes up to `limit` rows that count as deleted; after an agent's last row, also the agent if it was deleted. Rows that can be
   * restored are moved to deleted_events first. False if there are no such rows.
   */
  removeSlice(limit: number): boolean;
  /** The same for the agent of this entry of the audit log. */
  moveSlice(auditId: number, limit: number): boolean;
}

/** A row of the table removals. */
interface Removal {
  readonly agent_id: string;
  readonly up_to_row: number;
  readonly with_agent: 0 | 1;
  readonly audit_id: number | null;
}

/**
 * SQL: the agent whose rows must be moved before the entry of the first parameter can be restored. A deleted agent without new events
 * is removed together with events that an earlier entry keeps.
 */
export const PENDING_AGENT = `coalesce((SELECT agent_id FROM deleted_agents WHERE audit_id = ?1),
  (SELECT agent_id FROM removals WHERE audit_id = ?1))`;

export function prepareRemovals(database: DatabaseSync): Removals {
  // The lowest rows first: they belong to the earliest delete.
  const findRemoval = database.prepare('SELECT * FROM removals ORDER BY agent_id, up_to_row LIMIT 1');
  const findRemovalFor = database.prepare(
    `SELECT * FROM removals WHERE agent_id = ${PENDING_AGENT} ORDER BY up_to_row LIMIT 1`,
  );
  const findRows = database.prepare(
    'SELECT json_group_array(row_id) AS rows, count(*) AS count FROM (SELECT row_id FROM events WHERE agent_id = ? AND row_id <= ? LIMIT ?)',
  );
  const isListed = 'row_id IN (SELECT value FROM json_each(?))';
  const keepRows = database.prepare(keepRemoved(isListed));
  const removeRows = database.prepare(`DELETE FROM events WHERE ${isListed}`);
  const endRemoval = database.prepare('DELETE FROM removals WHERE agent_id = ? AND up_to_row = ?');
  const removeAgent = database.prepare('DELETE FROM agents WHERE agent_id = ?');

  const removeSliceOf = (removal: Removal | undefined, limit: number): boolean => {
    if (!removal) return false;
    const { agent_id, up_to_row, with_agent, audit_id } = removal;
    const { rows, count } = findRows.get(agent_id, up_to_row, limit) as { rows: string; count: number };
    if (audit_id !== null) keepRows.run(rows);
    removeRows.run(rows);
    if (count === limit) return true;
    endRemoval.run(agent_id, up_to_row);
    if (with_agent === 1) removeAgent.run(agent_id);
    return true;
  };

  return {
    removeSlice(limit) {
      return removeSliceOf(findRemoval.get() as Removal | undefined, limit);
    },

    moveSlice(auditId, limit) {
      return removeSliceOf(findRemovalFor.get(auditId) as Removal | undefined, limit);
    },
  };
}
