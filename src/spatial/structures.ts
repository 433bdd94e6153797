// The structures that searches look through: events by place and events by start. Scheduled and cancelled events have a pair each,
// so that a search for one kind does not pass the other.
import { type LongColumn, sortedOrder } from './columns.ts';
import type { Located } from './leaves.ts';
import type { Page } from './page.ts';
import { EVERYWHERE, type PlaceQuery } from './place-query.ts';
import { type PlaceColumns, PlaceTree } from './place-tree.ts';
import type { Listed } from './start-list.ts';
import { Timeline } from './timeline.ts';
import type { Ulids } from './ulids.ts';

/** Where each event is, by handle. An event is in one pair at most, so all pairs share these columns. */
export interface Whereabouts {
  readonly leafOf: LongColumn;
  readonly blockOf: LongColumn;
  /** For events that last longer than a day. */
  readonly longBlockOf: LongColumn;
}

/** Events processed between two yields. */
const EVENTS_PER_TURN = 20_000;

export class Structures {
  readonly #ids: Ulids;
  readonly places: PlaceTree;
  readonly starts: Timeline;

  constructor(ids: Ulids, { leafOf, blockOf, longBlockOf }: Whereabouts) {
    this.#ids = ids;
    this.places = new PlaceTree(ids, leafOf);
    this.starts = new Timeline(ids, blockOf, longBlockOf);
  }

  insert(event: Located): void {
    this.places.insert(event);
    this.starts.insert(event);
  }

  /** The values must be those that the event was inserted with. */
  remove(event: Omit<Listed, 'zone'>): void {
    this.places.remove(event.handle);
    this.starts.remove(event);
  }

  /** Counts matching events and offers them to the page. */
  search(query: PlaceQuery, page: Page): number {
    return query.reach === EVERYWHERE ? this.starts.search(query, page) : this.places.search(query, page);
  }

  /** Fills empty structures. Yields regularly, so that the caller can let other work run. */
  *load(handles: Int32Array, columns: PlaceColumns): Generator<void> {
    yield* this.places.load(handles, columns);
    const sorted = yield* this.#sortByStart(handles, columns.start);
    yield* this.starts.load(sorted, columns);
  }

  /** The handles in order of start and id. */
  *#sortByStart(handles: Int32Array, start: LongColumn): Generator<void, Int32Array> {
    let least = Number.POSITIVE_INFINITY;
    for (const handle of handles) least = Math.min(least, start.get(handle));
    const sorted = new Int32Array(handles.length);
    const keys = new Float64Array(handles.length);
    for (let at = 0; at < handles.length; at++) keys[at] = start.get(handles[at]!) - least;
    const order = yield* sortedOrder(keys);
    for (let at = 0; at < order.length; at++) sorted[at] = handles[order[at]!]!;
    for (let from = 0, end = 1, yieldedAt = 0; from < sorted.length; from = end++) {
      while (end < sorted.length && start.get(sorted[end]!) === start.get(sorted[from]!)) end++;
      if (end - from > 1) sorted.subarray(from, end).sort((a, b) => this.#ids.compare(a, b));
      if (end - yieldedAt < EVENTS_PER_TURN) continue;
      yield;
      yieldedAt = end;
    }
    return sorted;
  }
}
