// The columns of an event, in the one order that both threads use.
import type { EventRow } from '../domain/event.ts';

const NAMES = [
  'event_id',
  'agent_id',
  'version',
  'title',
  'description',
  'start_ms',
  'end_ms',
  'timezone',
  'location_name',
  'address',
  'lat',
  'lng',
  'url',
  'cost',
  'audience',
  'event_type',
  'created_ms',
] as const satisfies readonly (keyof EventRow)[];

export const EVENT_COLUMNS = NAMES.join(', ');
export const EVENT_PLACEHOLDERS = NAMES.map(() => '?').join(', ');

/** The values of a row in the order of EVENT_COLUMNS. */
export function columnValues(row: EventRow) {
  return NAMES.map((name) => row[name]);
}
