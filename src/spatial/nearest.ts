// Searches in the order by distance: their page, and how the place tree finds it by branch and bound. Visits the nearest children of
// a node first, and skips those that are farther than the last event of the page. Counting is left to others.
import { FAN, type Nodes } from './nodes.ts';
import { CURSOR_HANDLE, MAX_LIMIT, type Position } from './page.ts';
import type { PlaceQuery } from './place-query.ts';
import type { Ulids } from './ulids.ts';

/** Offers the events of a leaf to the page. */
interface SearchedLeaves {
  searchNearest(leaf: number, query: PlaceQuery, page: NearestPage): void;
}

/** Offers the events below this node (or leaf, written as its complement) to the page. */
export function searchNearest(
  root: number,
  nodes: Nodes,
  leaves: SearchedLeaves,
  query: PlaceQuery,
  page: NearestPage,
  depth = 0,
): void {
  if (root < 0) {
    leaves.searchNearest(~root, query, page);
    return;
  }
  const { x, y, z, fromMs, beforeMs } = query;
  const { box } = nodes;
  if (depth === LEVELS.length) LEVELS.push({ near: new Float64Array(FAN), child: new Int32Array(FAN) });
  const { near, child } = LEVELS[depth]!;
  let length = 0;
  const end = nodes.end(root);
  for (let at = root * FAN; at < end; at++) {
    if (nodes.lastMs[at]! < fromMs || nodes.firstMs[at]! >= beforeMs) continue;
    const b = at * 6;
    const x0 = box[b]! - x;
    const y0 = box[b + 1]! - y;
    const z0 = box[b + 2]! - z;
    const x1 = box[b + 3]! - x;
    const y1 = box[b + 4]! - y;
    const z1 = box[b + 5]! - z;
    const nearX = x0 > 0 ? x0 : x1 < 0 ? x1 : 0;
    const nearY = y0 > 0 ? y0 : y1 < 0 ? y1 : 0;
    const nearZ = z0 > 0 ? z0 : z1 < 0 ? z1 : 0;
    const nearest = nearX * nearX + nearY * nearY + nearZ * nearZ;
    if (nearest > page.last) continue;
    const farX = -x0 > x1 ? x0 : x1;
    const farY = -y0 > y1 ? y0 : y1;
    const farZ = -z0 > z1 ? z0 : z1;
    // Rounding is monotonic, so no place of the box is farther than this, nor nearer than `nearest`.
    if (farX * farX + farY * farY + farZ * farZ < page.from) continue;
    let place = length++;
    for (; place > 0 && near[place - 1]! > nearest; place--) {
      near[place] = near[place - 1]!;
      child[place] = child[place - 1]!;
    }
    near[place] = nearest;
    child[place] = nodes.child[at]!;
  }
  for (let place = 0; place < length && near[place]! <= page.last; place++)
    searchNearest(child[place]!, nodes, leaves, query, page, depth + 1);
}

/** Children that are still to be visited, by depth. */
const LEVELS: { readonly near: Float64Array; readonly child: Int32Array }[] = [];

/**
 * Result page of a search in the order by distance: keeps the nearest events, in a short sorted list. Events at the same
 * distance are ordered by start and ID. The same object is reused for every search.
 */
export class NearestPage {
  readonly #ids: Ulids;
  // One more than the limit, to know whether more events follow.
  readonly #chords = new Float64Array(MAX_LIMIT + 1);
  readonly #starts = new Float64Array(MAX_LIMIT + 1);
  readonly #handles = new Int32Array(MAX_LIMIT + 1);
  #size = 0;
  #length = 0;
  #isExcluded: ((handle: number) => boolean) | undefined;
  #afterMs = 0;
  /** Events nearer than this (as squared chords) are not on the page. */
  from = Number.NEGATIVE_INFINITY;
  /** Events farther than this can no longer be on the page. */
  last = Number.POSITIVE_INFINITY;

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  /** Starts a page of up to `limit` (at most 100) events after a position, within reach, without those that have ended. */
  begin(
    limit: number,
    after: Position | undefined,
    reach: number,
    isExcluded: ((handle: number) => boolean) | undefined,
  ): void {
    this.#isExcluded = isExcluded;
    this.#size = limit + 1;
    this.#length = 0;
    this.last = reach;
    this.from = after?.chord ?? Number.NEGATIVE_INFINITY;
    if (!after) return;
    this.#afterMs = after.startMs;
    this.#ids.set(CURSOR_HANDLE, after.id);
  }

  offer(chord: number, startMs: number, handle: number): void {
    if (chord > this.last || chord < this.from) return;
    const ids = this.#ids;
    if (chord === this.from) {
      if (startMs < this.#afterMs) return;
      if (startMs === this.#afterMs && ids.compare(handle, CURSOR_HANDLE) <= 0) return;
    }
    if (this.#isExcluded?.(handle)) return;
    let at = this.#length;
    while (at > 0 && this.#isBefore(chord, startMs, handle, at - 1)) at--;
    if (at === this.#size) return;
    if (this.#length < this.#size) this.#length++;
    this.#chords.copyWithin(at + 1, at, this.#length - 1);
    this.#starts.copyWithin(at + 1, at, this.#length - 1);
    this.#handles.copyWithin(at + 1, at, this.#length - 1);
    this.#chords[at] = chord;
    this.#starts[at] = startMs;
    this.#handles[at] = handle;
    if (this.#length === this.#size) this.last = this.#chords[this.#size - 1]!;
  }

  /** Returns the handles in order, up to the limit; `more` is true if further events follow. */
  finish(total: number): { handles: number[]; total: number; more: boolean } {
    const more = this.#length === this.#size;
    return { handles: [...this.#handles.subarray(0, more ? this.#size - 1 : this.#length)], total, more };
  }

  /** Whether the event comes before the one at this place of the page. */
  #isBefore(chord: number, startMs: number, handle: number, place: number): boolean {
    const difference = chord - this.#chords[place]! || startMs - this.#starts[place]!;
    return difference < 0 || (difference === 0 && this.#ids.compare(handle, this.#handles[place]!) < 0);
  }
}
