// Result page of a search: collects events in any order and keeps the first ones by start and ID, in a short sorted list.
// The same object is reused for every search.
import type { Ulids } from './ulids.ts';

export interface Position {
  readonly startMs: number;
  readonly id: string;
  /** Squared chord from the centre; only in the order by distance. */
  readonly chord?: number;
}

/** Handle reserved for the ID of the cursor, so that it can be compared with events. */
export const CURSOR_HANDLE = 0;

export const MAX_LIMIT = 100;

export class Page {
  readonly #ids: Ulids;
  // One more than the limit, to know whether more events follow.
  readonly #starts = new Float64Array(MAX_LIMIT + 1);
  readonly #handles = new Int32Array(MAX_LIMIT + 1);
  #size = 0;
  #length = 0;
  #isExcluded: ((handle: number) => boolean) | undefined;
  /** Events that start before this are not on the page. */
  fromMs = Number.NEGATIVE_INFINITY;
  /** Events that start after this can no longer be on the page. */
  lastMs = Number.POSITIVE_INFINITY;

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  /** Starts a page of up to `limit` (at most 100) events after a position, without those that have ended. */
  begin(
    limit: number,
    after: Position | undefined,
    isExcluded: ((handle: number) => boolean) | undefined,
  ): void {
    this.#isExcluded = isExcluded;
    this.#size = limit + 1;
    this.#length = 0;
    this.lastMs = Number.POSITIVE_INFINITY;
    this.fromMs = after ? after.startMs : Number.NEGATIVE_INFINITY;
    if (after) this.#ids.set(CURSOR_HANDLE, after.id);
  }

  /** Starts a page that takes no events, for a search that only counts. */
  beginEmpty(): void {
    this.begin(0, undefined, undefined);
    this.lastMs = Number.NEGATIVE_INFINITY;
  }

  /** Whether the page has one event more than the limit. */
  get isFull(): boolean {
    return this.#length === this.#size;
  }

  /** Whether an event would come after the last one of a full page, or is that one. */
  endsBefore(startMs: number, handle: number): boolean {
    if (startMs !== this.lastMs) return startMs > this.lastMs;
    return this.#ids.compare(handle, this.#handles[this.#size - 1]!) >= 0;
  }

  offer(startMs: number, handle: number): void {
    if (startMs > this.lastMs || startMs < this.fromMs) return;
    const ids = this.#ids;
    if (startMs === this.fromMs && ids.compare(handle, CURSOR_HANDLE) <= 0) return;
    if (this.#isExcluded?.(handle)) return;
    const starts = this.#starts;
    const handles = this.#handles;
    let at = this.#length;
    while (at > 0) {
      const other = starts[at - 1]!;
      if (other < startMs || (other === startMs && ids.compare(handles[at - 1]!, handle) < 0)) break;
      at--;
    }
    if (at === this.#size) return;
    if (this.#length < this.#size) this.#length++;
    for (let place = this.#length - 1; place > at; place--) {
      starts[place] = starts[place - 1]!;
      handles[place] = handles[place - 1]!;
    }
    starts[at] = startMs;
    handles[at] = handle;
    if (this.#length === this.#size) this.lastMs = starts[this.#size - 1]!;
  }

  /** Returns the handles in order, up to the limit; `more` is true if further events follow. */
  finish(total: number): { handles: number[]; total: number; more: boolean } {
    const more = this.isFull;
    const handles: number[] = [];
    for (let at = 0; at < (more ? this.#size - 1 : this.#length); at++) handles.push(this.#handles[at]!);
    return { handles, total, more };
  }
}
