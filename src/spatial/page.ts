// The first so many events of a search in order of start and id, found in any order: a short sorted list that is used again
// for every search.
import type { Ulids } from './ulids.ts';

export interface Position {
  readonly startMs: number;
  readonly id: string;
}

/** The handle under which the columns hold the id of the position that a page comes after. */
export const CURSOR_HANDLE = 0;

const MAX_LIMIT = 100;

export class Page {
  readonly #ids: Ulids;
  // One more than the limit is kept: it tells whether more follow.
  readonly #starts = new Float64Array(MAX_LIMIT + 1);
  readonly #handles = new Int32Array(MAX_LIMIT + 1);
  #size = 0;
  #length = 0;
  #isOver: ((handle: number) => boolean) | undefined;
  /** Nothing that starts before this can be on the page. */
  fromMs = Number.NEGATIVE_INFINITY;
  /** Nothing that starts after this can be on the page any more. */
  lastMs = Number.POSITIVE_INFINITY;

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  /** Begins a page of up to `limit` (100 at most) that comes after a position, without those that are over. */
  begin(limit: number, after: Position | undefined, isOver: ((handle: number) => boolean) | undefined): void {
    this.#isOver = isOver;
    this.#size = limit + 1;
    this.#length = 0;
    this.lastMs = Number.POSITIVE_INFINITY;
    this.fromMs = after ? after.startMs : Number.NEGATIVE_INFINITY;
    if (after) this.#ids.set(CURSOR_HANDLE, after.id);
  }

  /** Whether there is one beyond the limit. */
  get isFull(): boolean {
    return this.#length === this.#size;
  }

  offer(startMs: number, handle: number): void {
    if (startMs > this.lastMs || startMs < this.fromMs) return;
    const ids = this.#ids;
    if (startMs === this.fromMs && ids.compare(handle, CURSOR_HANDLE) <= 0) return;
    if (this.#isOver?.(handle)) return;
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

  /** The handles in order, at most the limit; `more` tells whether others follow. */
  finish(total: number): { handles: number[]; total: number; more: boolean } {
    const more = this.isFull;
    const handles: number[] = [];
    for (let at = 0; at < (more ? this.#size - 1 : this.#length); at++) handles.push(this.#handles[at]!);
    return { handles, total, more };
  }
}
