// All events in the order of start, twice: all of them, and those that last longer than a day. Most events that are on at some time
// have begun within the day before it. Only the long ones must be looked for among all that began earlier.
import { DAY_MS } from '../domain/clock-and-random.ts';
import type { LongColumn } from './columns.ts';
import type { Page } from './page.ts';
import type { PlaceQuery } from './place-query.ts';
import type { PlaceColumns } from './place-tree.ts';
import { type Listed, StartList } from './start-list.ts';
import type { Ulids } from './ulids.ts';

export class Timeline {
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
