// SQL for the table deleted_events: it has the columns of events, and the entry of the audit log that keeps them. Words are not kept:
// copying them would take longer than the rest, and a restore finds them again.
import { EVENT_COLUMNS } from '../domain/events/event.ts';

/** Columns of an event that a restore writes; others follow from them. */
export const DELETED_COLUMNS = [...EVENT_COLUMNS.map(([name]) => name), 'json'].join(', ');

const UPDATES = ['audit_id', ...DELETED_COLUMNS.split(', ')].map((name) => `${name} = excluded.${name}`);

/** Keeps events that match the condition for the entry of the first parameter. */
export function keepEvents(condition: string): string {
  return `INSERT INTO deleted_events (audit_id, ${DELETED_COLUMNS}) SELECT $1::bigint, ${DELETED_COLUMNS} FROM events WHERE ${condition}
    ON CONFLICT (event_id) DO UPDATE SET ${UPDATES.join(', ')}`;
}
