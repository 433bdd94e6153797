// A search as the two search structures need it: the centre as a unit vector, and which starts may, and which surely match.
import { chordSquaredOfMiles, unitVector } from '../domain/events/geo.ts';
import type { ActiveWindows } from './active-windows.ts';
import type { HandleTest } from './handle-set.ts';
import type { TagSet } from './tags.ts';

/** Squared chord length that includes every place. */
export const EVERYWHERE = Number.POSITIVE_INFINITY;

export interface PlaceQuery {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Maximum squared chord length between centre and event. */
  readonly reach: number;
  /** Undefined: all match. */
  readonly tags: TagSet | undefined;
  readonly fromMs: number;
  readonly beforeMs: number;
  /** Undefined: events match whenever they are on. */
  readonly active: ActiveWindows | undefined;
  /** Events that start in [commonFromMs, commonBeforeMs) match the time window, and `active` in every timezone. */
  readonly commonFromMs: number;
  readonly commonBeforeMs: number;
  /** Events that may match. Undefined: all. */
  readonly among?: HandleTest | undefined;
}

interface Search {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number | undefined;
  readonly tags: TagSet | undefined;
  readonly startsFromMs: number;
  readonly startsBeforeMs: number;
  readonly active?: ActiveWindows | undefined;
}

export function toPlaceQuery(query: Search): PlaceQuery {
  const { tags, active, startsFromMs: fromMs, startsBeforeMs: beforeMs } = query;
  const reach = query.radiusMiles === undefined ? EVERYWHERE : chordSquaredOfMiles(query.radiusMiles);
  const { x, y, z } = unitVector(query.lat, query.lng);
  return {
    x,
    y,
    z,
    reach,
    tags,
    fromMs,
    beforeMs: active ? Math.min(beforeMs, active.beforeMs) : beforeMs,
    active,
    commonFromMs: active ? Math.max(fromMs, active.commonFromMs) : fromMs,
    commonBeforeMs: active ? Math.min(beforeMs, active.commonBeforeMs) : beforeMs,
  };
}

/** Whether events must also have certain times or tags. */
export function hasConditions({ fromMs, beforeMs, tags, active }: PlaceQuery): boolean {
  const isAlways = fromMs === Number.NEGATIVE_INFINITY && beforeMs === Number.POSITIVE_INFINITY;
  return !isAlways || tags !== undefined || active !== undefined;
}
