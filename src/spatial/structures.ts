// The structures that searches look through: events by place and events by start. Scheduled and cancelled events have a pair each,
// so that a search for one kind does not pass the other.
import { DAY_MS } from '../domain/clock-and-random.ts';
import { type LongColumn, sortedOrder } from './columns.ts';
import type { Located } from './leaves.ts';
import type { Page } from './page.ts';
import { EVERYWHERE, type PlaceQuery } from './place-query.ts';
import { type PlaceColumns, PlaceTree } from './place-tree.ts';
import { type Listed, StartList } from './start-list.ts';
import type { Ulids } from './ulids.ts';

/** Where each event is, by handle. An event is in one pair at most, so all pairs share these columns. */
export interface PositionColumns {
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

  constructor(ids: Ulids, { leafOf, blockOf, longBlockOf }: PositionColumns) {
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

/**
 * All events in the order of start, twice: all of them, and those that last longer than a day. Most events that are on at some time
 * have begun within the day before it. Only the long ones must be looked for among all that began earlier.
 */
class Timeline {
  readonly #all: StartList;
  readonly #long: StartList;

  /** Columns for the block of each event in the two lists, by handle. The caller makes them grow. */
  constructor(ids: Ulids, blockOf: LongColumn, longBlockOf: LongColumn) {
    this.#all = new StartList(ids, blockOf);
    this.#long = new StartList(ids, longBlockOf);
  }

  /** Fills an empty timeline with events that are already in order. Yields regularly, so that other work can run. */
  *load(handles: Int32Array, columns: PlaceColumns): Generator<void> {
    yield* this.#all.load(handles, columns);
    const isLong = (handle: number) => isLongBetween(columns.start, columns.ends, handle);
    yield* this.#long.load(handles.filter(isLong), columns);
  }

  insert(event: Listed): void {
    this.#all.insert(event);
    if (event.endsMs - event.startMs > DAY_MS) this.#long.insert(event);
  }

  /** The values must be those that the event was inserted with. */
  remove({ handle, startMs, endsMs, tag }: Omit<Listed, 'zone'>): void {
    this.#all.remove(handle, startMs, tag);
    if (endsMs - startMs > DAY_MS) this.#long.remove(handle, startMs, tag);
  }

  /** Counts events that match, wherever they are, and offers them to the page. */
  search(query: PlaceQuery, page: Page): number {
    if (query.active === undefined) return this.#all.search(query, page);
    const [earlier, later] = divide(query);
    if (!earlier) return this.#all.search(later, page);
    // In this order, so that the page gets the events in the order of start.
    return this.#long.search(earlier, page) + this.#all.search(later, page);
  }

  /** The handles of all events that match, wherever they are. For searches that match few. */
  collect(query: PlaceQuery): number[] {
    const [earlier, later] = divide(query);
    const handles: number[] = [];
    if (earlier) this.#long.collect(earlier, handles);
    this.#all.collect(later, handles);
    return handles;
  }
}

/** Searches for events that begin more than a day before the first interval, of which only long ones match, and for the others. */
function divide(query: PlaceQuery): [earlier: PlaceQuery | undefined, later: PlaceQuery] {
  const { active, fromMs, beforeMs } = query;
  const pivotMs = active ? active.fromMs - DAY_MS : Number.NEGATIVE_INFINITY;
  if (fromMs >= pivotMs) return [undefined, query];
  const endMs = Math.min(pivotMs, beforeMs);
  return [
    { ...query, beforeMs: endMs, commonFromMs: endMs, commonBeforeMs: endMs },
    { ...query, fromMs: pivotMs },
  ];
}

function isLongBetween(start: LongColumn, ends: LongColumn, handle: number): boolean {
  return ends.get(handle) - start.get(handle) > DAY_MS;
}
