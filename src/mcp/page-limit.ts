// Limits the size of a page in a tool result: a model cannot use megabytes of text, and encoding it blocks other requests.
import type { Wire } from '../domain/wire.ts';

/** Bytes of JSON: several times the size of a hundred average events. */
const MAX_BYTES = 262_144;

/** The number of events that fit on a page: all of them, or as many as the limit allows, at least one. */
export function countFitting(events: readonly Wire[]): number {
  let bytes = 0;
  const tooMany = events.findIndex((event, at) => {
    bytes += event.length;
    return bytes > MAX_BYTES && at > 0;
  });
  return tooMany < 0 ? events.length : tooMany;
}
