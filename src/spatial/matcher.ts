// Tests single events against a search, in two cases: words have found so few events that the index is not needed, or deleted
// and ended events, which the index still counts, must be subtracted.
import { chordSquared, unitVector } from '../domain/events/geo.ts';
import type { LongColumn } from './columns.ts';
import type { HandleSet } from './handle-set.ts';
import { EVERYWHERE, hasConditions, type PlaceQuery } from './place-query.ts';
import type { PlaceColumns } from './place-tree.ts';

/** In degrees: 1 cm. */
const LAT_MARGIN = 1e-7;

/** With a radius, up to this many events are tested: more would take longer than to look at those of a city. */
const MAX_VISITED_NEARBY = 200;
/** Without a radius, up to this part of all events: for more, it is faster to read all of them in the order of start. */
const MAX_VISITED_SHARE = 1 / 40;
/** Without radius and conditions, in the order of start, up to this multiple of the root of all events: more are counted by their bits. */
const MAX_VISITED_ROOTS = 4;

/** Whether so few events are given that each is tested. */
export function isFew(among: HandleSet, query: PlaceQuery, isByDistance: boolean, events: number): boolean {
  if (query.reach !== EVERYWHERE) return among.size <= MAX_VISITED_NEARBY;
  const areCounted = !isByDistance && !hasConditions(query);
  const most = areCounted ? MAX_VISITED_ROOTS * Math.sqrt(events) : Number.POSITIVE_INFINITY;
  return among.size <= Math.min(most, MAX_VISITED_SHARE * events);
}

interface Columns extends PlaceColumns {
  readonly isCancelled: LongColumn;
}

/** No match is more degrees of latitude away from the centre. Rounding is far below the margin. */
export function latReachOf({ reach }: Pick<PlaceQuery, 'reach'>): number {
  return reach >= 4 ? 180 : (Math.asin(Math.sqrt(reach) / 2) * 360) / Math.PI + LAT_MARGIN;
}

/** Hidden and ended events match, too. */
export function matcherOf(
  { lat: lats, lng: lngs, start: starts, ends, zone, tag: tagOf, isCancelled }: Columns,
  { lat, status }: { readonly lat: number; readonly status: 'scheduled' | 'cancelled' | 'any' },
  { x, y, z, reach, tags, fromMs, beforeMs, active, among }: PlaceQuery,
): (handle: number) => boolean {
  const otherStatus = status === 'any' ? undefined : Number(status === 'scheduled');
  const latReach = latReachOf({ reach });
  return (handle) => {
    // Most places are too far north or south, which is far cheaper to see.
    if (reach !== EVERYWHERE && Math.abs(lats.get(handle) - lat) > latReach) return false;
    if (isCancelled.get(handle) === otherStatus || (among && !among.has(handle))) return false;
    const startMs = starts.get(handle);
    if (startMs < fromMs || startMs >= beforeMs || tags?.has[tagOf.get(handle)] === 0) return false;
    if (active && !active.has(startMs, ends.get(handle), zone.get(handle))) return false;
    if (reach === EVERYWHERE) return true;
    return chordSquared(unitVector(lats.get(handle), lngs.get(handle)), { x, y, z }) <= reach;
  };
}
