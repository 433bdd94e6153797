// In-memory index of all events by place and start time: finds pages and exact totals. Callers pass in the current time;
// ended events leave the search structures. Storage, JSON and clocks are left to others.

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
  /** Kept for the caller; not searchable. */
  readonly version: number;
  /** Row number in the caller's storage, below 2^32. Not searchable. */
  readonly row: number;
  readonly startMs: number;
  /** Searches at or after this time no longer find the event. */
  readonly endsMs: number;
  readonly lat: number;
  readonly lng: number;
  /** Tag of the event type and audience. */
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
  /** The page holds events after this position; the total counts all matches. */
  readonly after: Position | undefined;
  /** 1 to 100. */
  readonly limit: number;
}

export interface IndexPage {
  /** In order of start and ID. A handle identifies one event as long as that event is in the index. */
  readonly handles: readonly number[];
  readonly total: number;
  readonly more: boolean;
}

/**
 * Maximum number of ended events that one search retires; takes a few milliseconds. With a lower limit, searches would
 * filter the remaining ones too often.
 */
const RETIRED_PER_SEARCH = 250;

/** Squared chord length that includes every place. */
const EVERYWHERE = Number.POSITIVE_INFINITY;

/** Events processed between two yields. */
const EVENTS_PER_TURN = 20_000;

export class EventIndex {
  readonly #retiredPerSearch: number;
  #capacity = 0;
  readonly #ids = new Ulids();
  readonly #handleOf = new HandleMap(this.#ids);
  readonly #places = new PlaceTree(this.#ids);
  readonly #starts = new StartList(this.#ids);
  readonly #expiry = new Expiry();
  readonly #page = new Page(this.#ids);
  // Columns by handle; handle 0 is reserved for the cursor.
  readonly #version = new LongColumn(naturals);
  readonly #row = new LongColumn(naturals);
  readonly #lat = new LongColumn(doubles);
  readonly #lng = new LongColumn(doubles);
  readonly #start = new LongColumn(doubles);
  readonly #tag = new LongColumn(bytes);
  #created = 1;
  readonly #free: number[] = [];
  #removals = 0;
  /** Handles of retired events: ended, and no longer in the search structures. */
  readonly #retired = new Set<number>();
  /** Latest end of a retired event. */
  #retiredUntilMs = Number.NEGATIVE_INFINITY;

  constructor(retiredPerSearch = RETIRED_PER_SEARCH) {
    this.#retiredPerSearch = retiredPerSearch;
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

  /** Number of removals so far. If it has changed, earlier handles may identify other events. */
  get removals(): number {
    return this.#removals;
  }

  /** Adds the entry, or replaces the entry with the same ID and keeps its handle. Throws RangeError for an invalid tag. */
  put(entry: IndexEntry): number {
    requireTag(entry.tag);
    const known = this.#handleOf.find(entry.id);
    if (known !== undefined) this.#removeFromSearch(known);
    const handle = known ?? this.#create(entry.id);
    this.#write(handle, entry);
    this.#addToSearch(handle);
    return handle;
  }

  /** Returns the handle that the event had; undefined if the ID is unknown. */
  remove(id: string): number | undefined {
    const handle = this.#handleOf.find(id);
    if (handle === undefined) return undefined;
    this.#removeFromSearch(handle);
    this.#handleOf.remove(handle);
    this.#free.push(handle);
    this.#removals++;
    return handle;
  }

  /**
   * Fills an empty index. Events that have ended by `nowMs` are retired at once. `finish` yields regularly, so that the
   * caller can let other work run.
   */
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
        if (entry.endsMs <= nowMs) this.#retire(handle);
        else this.#expiry.add(handle);
      },
      finish: () => this.#finishLoad(),
    };
  }

  /** IDs of events that have ended by this time, in batches. Events may be added and removed in between. */
  *idsEndedBy(endedByMs: number, perBatch: number): Generator<string[]> {
    let ids: string[] = [];
    for (let handle = 1; handle < this.#created; handle++) {
      if (this.#expiry.endsMs(handle) <= endedByMs) {
        const id = this.#ids.get(handle);
        if (this.#handleOf.find(id) === handle) ids.push(id); // otherwise the handle is free
      }
      if (ids.length < perBatch && handle % EVENTS_PER_TURN > 0) continue;
      yield ids;
      ids = [];
    }
    yield ids;
  }

  search(query: IndexQuery, nowMs: number): IndexPage {
    this.#restoreRetired(nowMs);
    const isSettled = this.settle(nowMs);
    const hasEnded = (handle: number) => this.#expiry.endsMs(handle) <= nowMs;
    const { tags, startsFromMs: fromMs, startsBeforeMs: beforeMs } = query;
    const page = this.#page;
    page.begin(query.limit, query.after, isSettled ? undefined : hasEnded);
    const centre = unitVector(query.lat, query.lng);
    const reach = query.radiusMiles === undefined ? EVERYWHERE : chordSquaredOfMiles(query.radiusMiles);
    const placeQuery = { ...centre, reach, tags, fromMs, beforeMs };
    const total =
      reach === EVERYWHERE
        ? this.#starts.search(fromMs, beforeMs, tags, page)
        : this.#places.search(placeQuery, page);
    return page.finish(isSettled ? total : total - this.#countEnded(placeQuery, nowMs));
  }

  /**
   * Retires ended events, a limited number per call because many may end at once. Returns false if some remain. Searches
   * do not return those either, but must filter them one by one.
   */
  settle(nowMs: number): boolean {
    for (let count = 0; count < this.#retiredPerSearch; count++) {
      const handle = this.#expiry.next(nowMs);
      if (handle === undefined) return true;
      this.#removeFromSearch(handle);
      this.#retire(handle);
    }
    return this.isSettled(nowMs);
  }

  isSettled(nowMs: number): boolean {
    return this.#expiry.next(nowMs) === undefined;
  }

  /** Number of ended but not yet retired events that match the query. */
  #countEnded({ x, y, z, reach, tags, fromMs, beforeMs }: PlaceQuery, nowMs: number): number {
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
    const handles = new Int32Array(this.#created - 1 - this.#retired.size);
    for (let handle = 1, at = 0; handle < this.#created; handle++) {
      if (!this.#retired.has(handle)) handles[at++] = handle;
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
    for (let from = 0, end = 1, yieldedAt = 0; from < sorted.length; from = end++) {
      while (end < sorted.length && start.get(sorted[end]!) === start.get(sorted[from]!)) end++;
      if (end - from > 1) sorted.subarray(from, end).sort((a, b) => this.#ids.compare(a, b));
      if (end - yieldedAt < EVENTS_PER_TURN) continue;
      yield;
      yieldedAt = end;
    }
    return sorted;
  }

  /** Makes retired events searchable again if the clock was set back before their end. */
  #restoreRetired(nowMs: number): void {
    if (this.#retiredUntilMs <= nowMs) return;
    this.#retiredUntilMs = Number.NEGATIVE_INFINITY;
    for (const handle of [...this.#retired]) {
      const endsMs = this.#expiry.endsMs(handle);
      if (endsMs <= nowMs) this.#retiredUntilMs = Math.max(this.#retiredUntilMs, endsMs);
      else {
        this.#retired.delete(handle);
        this.#addToSearch(handle);
      }
    }
  }

  #retire(handle: number): void {
    this.#retired.add(handle);
    this.#retiredUntilMs = Math.max(this.#retiredUntilMs, this.#expiry.endsMs(handle));
  }

  #addToSearch(handle: number): void {
    this.#places.insert(this.#locate(handle));
    this.#starts.insert(handle, this.#start.get(handle), this.#tag.get(handle));
    this.#expiry.add(handle);
  }

  #removeFromSearch(handle: number): void {
    if (this.#retired.delete(handle)) return;
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
    const handle = this.#free.pop() ?? this.#created++;
    if (handle >= this.#capacity) this.#reserve(handle + 1);
    this.#ids.set(handle, id);
    this.#handleOf.add(handle);
    return handle;
  }

  /** Makes room for this many handles, rounded up to whole pieces. */
  #reserve(handles: number): void {
    this.#capacity = Math.max(this.#capacity, PIECE * Math.ceil(handles / PIECE));
    for (const part of [this.#ids, this.#places, this.#starts, this.#expiry]) part.grow(this.#capacity);
    for (const column of [this.#version, this.#row, this.#lat, this.#lng, this.#start, this.#tag])
      column.grow(this.#capacity);
  }
}
