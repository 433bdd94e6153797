// SQL that keeps deleted events in the table deleted_events.
import { EVENT_COLUMN_LIST } from './columns.ts';

const INSERT = `INSERT OR REPLACE INTO deleted_events (audit_id, ${EVENT_COLUMN_LIST})`;

/** Keeps the event with the ID of the second parameter for the entry of the first. */
export const KEEP_EVENT = `${INSERT} SELECT ?, ${EVENT_COLUMN_LIST} FROM events WHERE event_id = ?`;

/** Keeps events that are being removed, and match the condition, for the entries that deleted them, if these still keep events. */
export function keepRemoved(condition: string): string {
  return `${INSERT} SELECT audit_id, ${EVENT_COLUMN_LIST} FROM events JOIN audit ON audit_id = (
      SELECT removals.audit_id FROM removals
      WHERE removals.agent_id = events.agent_id AND up_to_row >= events.row_id ORDER BY up_to_row LIMIT 1
    ) AND undo = 'kept' WHERE ${condition}`;
}
