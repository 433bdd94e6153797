// Every event in memory, by place and by start: finds pages and exact totals. Knows nothing of storage, wire forms or
// clocks. Time is passed in, and what has ended by then is put aside.

import { chordSquared, chordSquaredOfMiles, unitVector } from '../domain/geo.ts';
import { bytes, doubles, LongColumn, naturals, PIECE, sortedOrder } from './columns.ts';
import { Expiry } from './expiry.ts';
import { HandleMap } from './handle-map.ts';
import type { Located, PlaceQuery } from './leaves.ts';
import { Page, type Position } from './page.ts';
import { PlaceTree } from './place-tree.ts';
import { StartList } from './start-list.ts';
import { requireTag, type TagSet } from './tags.ts';
import { Ulids } from './ulids.ts';

export interface IndexEntry {
  /** A ULID. */
  readonly id: string;
  // Carried for the caller; not searched by.
  readonly version: number;
  /** Where the caller keeps the event: a number below 2^32. */
  readonly row: number;
  readonly startMs: number;
  /** The instant from which the event is no longer found. */
  readonly endsMs: number;
  readonly lat: number;
  readonly lng: number;
  /** The tag of type and audience. */
  readonly tag: number;
}

export interface IndexQuery {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number | undefined;
  /** Undefined: all match. */
  readonly tags: TagSet | undefined;
  /** startMs >= startsFromMs and startMs < startsBeforeMs. */
  readonly startsFromMs: number;
  readonly startsBeforeMs: number;
  /** The page holds what lies after this position; the total does not depend on it. */
  readonly after: Position | undefined;
  /** 1 to 100. */
  readonly limit: number;
}

export interface IndexPage {
  /** In order. A handle stands for one event for as long as that is in the index. */
  readonly handles: readonly number[];
  readonly total: number;
  readonly more: boolean;
}

/**
 * Ended events that one search puts aside at most: some milliseconds. With fewer, searches would look at those that remain
 * too often.
 */
const ASIDE_PER_SEARCH = 250;

/** A reach that holds every place. */
const EVERYWHERE = Number.POSITIVE_INFINITY;

/** Events loaded before others get a turn. */
const EVENTS_PER_TURN = 20_000;

export class EventIndex {
  readonly #asidePerSearch: number;
  #capacity = 0;
  readonly #ids = new Ulids();
  readonly #handleOf = new HandleMap(this.#ids);
  readonly #places = new PlaceTree(this.#ids);
  readonly #starts = new StartList(this.#ids);
  readonly #expiry = new Expiry();
  readonly #page = new Page(this.#ids);
  // By handle; the first one is the cursor's.
  readonly #version = new LongColumn(naturals);
  readonly #row = new LongColumn(naturals);
  readonly #lat = new LongColumn(doubles);
  readonly #lng = new LongColumn(doubles);
  readonly #start = new LongColumn(doubles);
  readonly #tag = new LongColumn(bytes);
  #made = 1;
  readonly #free: number[] = [];
  #removals = 0;
  /** Handles of events that had ended when last looked at, and when the last of them ends. */
  readonly #ended = new Set<number>();
  #endedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(asidePerSearch = ASIDE_PER_SEARCH) {
    this.#asidePerSearch = asidePerSearch;
    this.#reserve(1);
  }

  get size(): number {
    return this.#handleOf.size;
  }

  find(id: string): number | undefined {
    return this.#handleOf.find(id);
  }

  entryOf(handle: number): IndexEntry {
    return {
      id: this.#ids.get(handle),
      version: this.#version.get(handle),
      row: this.#row.get(handle),
      startMs: this.#start.get(handle),
      endsMs: this.#expiry.endsMs(handle),
      lat: this.#lat.get(handle),
      lng: this.#lng.get(handle),
      tag: this.#tag.get(handle),
    };
  }

  idOf(handle: number): string {
    return this.#ids.get(handle);
  }

  startMsOf(handle: number): number {
    return this.#start.get(handle);
  }

  versionOf(handle: number): number {
    return this.#version.get(handle);
  }

  rowOf(handle: number): number {
    return this.#row.get(handle);
  }

  /** Changes whenever handles have become free to stand for other events. */
  get removals(): number {
    return this.#removals;
  }

  /** Adds the entry, or puts it in the place of the one with its id, whose handle it keeps. Throws RangeError for what is no tag. */
  put(entry: IndexEntry): number {
    requireTag(entry.tag);
    const known = this.#handleOf.find(entry.id);
    if (known !== undefined) this.#takeOut(known);
    const handle = known ?? this.#create(entry.id);
    this.#write(handle, entry);
    this.#putIn(handle);
    return handle;
  }

  /** The handle that the event had; undefined if there is none. */
  remove(id: string): number | undefined {
    const handle = this.#handleOf.find(id);
    if (handle === undefined) return undefined;
    this.#takeOut(handle);
    this.#handleOf.remove(handle);
    this.#free.push(handle);
    this.#removals++;
    return handle;
  }

  /** Fills an empty index; what has ended at `nowMs` is put aside at once. `finish` gives way now and then: whoever drives it may let others have a turn. */
  loader(
    expected: number,
    nowMs = Number.NEGATIVE_INFINITY,
  ): { add(entry: IndexEntry): void; finish(): Generator<void> } {
    this.#reserve(expected + 1);
    this.#handleOf.reserve(expected);
    return {
      add: (entry) => {
        requireTag(entry.tag);
        const handle = this.#create(entry.id);
        this.#write(handle, entry);
        if (entry.endsMs <= nowMs) this.#setAside(handle);
        else this.#expiry.add(handle);
      },
      finish: () => this.#finishLoad(),
    };
  }

  search(query: IndexQuery, nowMs: number): IndexPage {
    this.#takeBack(nowMs);
    const isSettled = this.settle(nowMs);
    const isOver = (handle: number) => this.#expiry.endsMs(handle) <= nowMs;
    const { tags, startsFromMs: fromMs, startsBeforeMs: beforeMs } = query;
    const page = this.#page;
    page.begin(query.limit, query.after, isSettled ? undefined : isOver);
    const centre = unitVector(query.lat, query.lng);
    const reach = query.radiusMiles === undefined ? EVERYWHERE : chordSquaredOfMiles(query.radiusMiles);
    const wanted = { ...centre, reach, tags, fromMs, beforeMs };
    const total =
      reach === EVERYWHERE
        ? this.#starts.search(fromMs, beforeMs, tags, page)
        : this.#places.search(wanted, page);
    return page.finish(isSettled ? total : total - this.#countOver(wanted, nowMs));
  }

  /**
   * Puts aside what has ended, some at a time: many may end at once. False while there are more; searches see to it that
   * these are not found either, which costs them a look at each.
   */
  settle(nowMs: number): boolean {
    for (let count = 0; count < this.#asidePerSearch; count++) {
      const handle = this.#expiry.next(nowMs);
      if (handle === undefined) return true;
      this.#takeOut(handle);
      this.#setAside(handle);
    }
    return this.isSettled(nowMs);
  }

  isSettled(nowMs: number): boolean {
    return this.#expiry.next(nowMs) === undefined;
  }

  /** How many of those that have ended, and are not yet put aside, match otherwise. */
  #countOver({ x, y, z, reach, tags, fromMs, beforeMs }: PlaceQuery, nowMs: number): number {
    let count = 0;
    this.#expiry.visitEnded(nowMs, (handle) => {
      const startMs = this.#start.get(handle);
      if (startMs < fromMs || startMs >= beforeMs || tags?.has[this.#tag.get(handle)] === 0) return;
      const place = unitVector(this.#lat.get(handle), this.#lng.get(handle));
      if (reach === EVERYWHERE || chordSquared(place, { x, y, z }) <= reach) count++;
    });
    return count;
  }

  *#finishLoad(): Generator<void> {
    const handles = new Int32Array(this.#made - 1 - this.#ended.size);
    for (let handle = 1, at = 0; handle < this.#made; handle++) {
      if (!this.#ended.has(handle)) handles[at++] = handle;
    }
    const columns = { lat: this.#lat, lng: this.#lng, start: this.#start, tag: this.#tag };
    yield* this.#places.load(handles, columns);
    const sorted = yield* this.#sortByStart(handles);
    yield* this.#starts.load(sorted, this.#start, this.#tag);
  }

  /** The handles in order of start and id. */
  *#sortByStart(handles: Int32Array): Generator<void, Int32Array> {
    const start = this.#start;
    let least = Number.POSITIVE_INFINITY;
    for (const handle of handles) least = Math.min(least, start.get(handle));
    const sorted = new Int32Array(handles.length);
    const keys = new Float64Array(handles.length);
    for (let at = 0; at < handles.length; at++) keys[at] = start.get(handles[at]!) - least;
    const order = yield* sortedOrder(keys);
    for (let at = 0; at < order.length; at++) sorted[at] = handles[order[at]!]!;
    for (let from = 0, end = 1, rested = 0; from < sorted.length; from = end++) {
      while (end < sorted.length && start.get(sorted[end]!) === start.get(sorted[from]!)) end++;
      if (end - from > 1) sorted.subarray(from, end).sort((a, b) => this.#ids.compare(a, b));
      if (end - rested < EVENTS_PER_TURN) continue;
      yield;
      rested = end;
    }
    return sorted;
  }

  /** Takes back what has not ended after all, should the clock have been set back. */
  #takeBack(nowMs: number): void {
    if (this.#endedUntilMs <= nowMs) return;
    this.#endedUntilMs = Number.NEGATIVE_INFINITY;
    for (const handle of [...this.#ended]) {
      const endsMs = this.#expiry.endsMs(handle);
      if (endsMs <= nowMs) this.#endedUntilMs = Math.max(this.#endedUntilMs, endsMs);
      else {
        this.#ended.delete(handle);
        this.#putIn(handle);
      }
    }
  }

  #setAside(handle: number): void {
    this.#ended.add(handle);
    this.#endedUntilMs = Math.max(this.#endedUntilMs, this.#expiry.endsMs(handle));
  }

  #putIn(handle: number): void {
    this.#places.insert(this.#locate(handle));
    this.#starts.insert(handle, this.#start.get(handle), this.#tag.get(handle));
    this.#expiry.add(handle);
  }

  #takeOut(handle: number): void {
    if (this.#ended.delete(handle)) return;
    this.#places.remove(handle);
    this.#starts.remove(handle, this.#start.get(handle), this.#tag.get(handle));
    this.#expiry.remove(handle);
  }

  #locate(handle: number): Located {
    const { x, y, z } = unitVector(this.#lat.get(handle), this.#lng.get(handle));
    return { handle, x, y, z, startMs: this.#start.get(handle), tag: this.#tag.get(handle) };
  }

  #write(handle: number, entry: IndexEntry): void {
    this.#version.set(handle, entry.version);
    this.#row.set(handle, entry.row);
    this.#lat.set(handle, entry.lat);
    this.#lng.set(handle, entry.lng);
    this.#start.set(handle, entry.startMs);
    this.#tag.set(handle, entry.tag);
    this.#expiry.set(handle, entry.endsMs);
  }

  #create(id: string): number {
    const handle = this.#free.pop() ?? this.#made++;
    if (handle >= this.#capacity) this.#reserve(handle + 1);
    this.#ids.set(handle, id);
    this.#handleOf.add(handle);
    return handle;
  }

  /** Room for so many handles, in whole pieces. */
  #reserve(handles: number): void {
    this.#capacity = Math.max(this.#capacity, PIECE * Math.ceil(handles / PIECE));
    for (const part of [this.#ids, this.#places, this.#starts, this.#expiry]) part.grow(this.#capacity);
    for (const column of [this.#version, this.#row, this.#lat, this.#lng, this.#start, this.#tag])
      column.grow(this.#capacity);
  }
}
