// How much of a page fits into one answer: a model cannot use megabytes of text, and others wait while they are written.
import type { Position } from '../domain/cursor.ts';
import { parseEvent } from '../domain/event.ts';
import type { Wire } from '../domain/wire.ts';

/** Of events, as JSON: a hundred with descriptions of average length fit in several times over. */
const MAX_BYTES = 262_144;

/** Those of the events that fit, at least one of them; and after which one to go on, where some are left out. */
export function fit(events: readonly Wire[]): {
  readonly fitting: readonly Wire[];
  readonly last?: Position;
} {
  let bytes = 0;
  const tooMany = events.findIndex((event, at) => {
    bytes += event.length;
    return bytes > MAX_BYTES && at > 0;
  });
  if (tooMany < 0) return { fitting: events };
  const fitting = events.slice(0, tooMany);
  const { start_at, event_id } = parseEvent(fitting.at(-1)!);
  return { fitting, last: { startMs: Date.parse(start_at), id: event_id } };
}
