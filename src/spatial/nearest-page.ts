// Result page of a search in the order by distance: keeps the nearest events, in a short sorted list. Events at the same
// distance are ordered by start and ID. The same object is reused for every search.
import { CURSOR_HANDLE, MAX_LIMIT, type Position } from './page.ts';
import type { Ulids } from './ulids.ts';

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
