// In-memory index of all events by place and start time: finds pages and exact totals. Callers pass in the current time;
// ended events leave the search structures. Storage, JSON and clocks are left to others.
import { chordSquared, unitVector } from '../domain/events/geo.ts';
import { bytes, doubles, integers, LongColumn, naturals, PIECE } from './columns.ts';
import { EventScan, type ScanQuery } from './event-scan.ts';
import { Expiry } from './expiry.ts';
import { HandleMap } from './handle-map.ts';
import { filterHandles, HandleTest } from './handle-set.ts';
import { Hidden } from './hidden.ts';
import type { IndexEntry, IndexPage, IndexQuery } from './index-entry.ts';
import type { Located } from './leaves.ts';
import { isFew, latReachOf, matcherOf } from './matcher.ts';
import { NearestPage } from './nearest.ts';
import { Page } from './page.ts';
import { EVERYWHERE, type PlaceQuery, toPlaceQuery } from './place-query.ts';
import { Structures } from './structures.ts';
import { requireTag } from './tags.ts';
import { Ulids } from './ulids.ts';

/**
 * Maximum number of ended or hidden events that one search takes out of the search structures, in a few milliseconds. With a lower
 * limit, searches would filter the remaining ones too often.
 */
const SETTLED_PER_SEARCH = 250;

/** Up to this many matches at any distance, comparing all is cheaper than looking for the nearest in the tree. */
const MAX_COMPARED = 2_000;

/** Events processed between two yields. */
const EVENTS_PER_TURN = 20_000;

export class EventIndex {
  readonly #settledPerSearch: number;
  readonly #onDrop: (handle: number) => void;
  #capacity = 0;
  readonly #ids = new Ulids();
  readonly #handleOf = new HandleMap(this.#ids);
  readonly #blocks = {
    leafOf: new LongColumn(integers),
    blockOf: new LongColumn(integers),
    longBlockOf: new LongColumn(integers),
  };
  readonly #scheduled = new Structures(this.#ids, this.#blocks);
  /** Most services have no cancelled events. */
  #cancelled: Structures | undefined;
  readonly #expiry = new Expiry();
  readonly #page = new Page(this.#ids);
  readonly #nearestPage = new NearestPage(this.#ids);
  // Columns by handle; handle 0 is reserved for the cursor.
  readonly #version = new LongColumn(naturals);
  readonly #row = new LongColumn(naturals);
  readonly #lat = new LongColumn(doubles);
  readonly #lng = new LongColumn(doubles);
  readonly #start = new LongColumn(doubles);
  readonly #tag = new LongColumn(bytes);
  /** 1 for cancelled events. */
  readonly #isCancelled = new LongColumn(bytes);
  readonly #updated = new LongColumn(doubles);
  readonly #zone = new LongColumn(naturals);
  readonly #columns = {
    ...{ lat: this.#lat, lng: this.#lng, start: this.#start, ends: this.#expiry.ends },
    ...{ tag: this.#tag, zone: this.#zone, isCancelled: this.#isCancelled, updated: this.#updated },
  };
  /** 0 for handles that are free. */
  readonly #owner = new LongColumn(naturals);
  /** 1 for retired events: ended, and no longer in the search structures. */
  readonly #isRetired = new LongColumn(bytes);
  readonly #hidden = new Hidden(this.#isRetired, this.#lat);
  readonly #scanned = { ...this.#columns, ids: this.#ids, owner: this.#owner, hidden: this.#hidden };
  #created = 1;
  readonly #free: number[] = [];
  /** Latest end of a retired event. */
  #retiredUntilMs = Number.NEGATIVE_INFINITY;

  /** `onDrop` is called when an event is gone and its handle is free. */
  constructor(settledPerSearch = SETTLED_PER_SEARCH, onDrop: (handle: number) => void = () => {}) {
    this.#settledPerSearch = settledPerSearch;
    this.#onDrop = onDrop;
    this.#reserve(1);
  }

  get size(): number {
    return this.#handleOf.size - this.#hidden.size;
  }

  find(id: string): number | undefined {
    const handle = this.#handleOf.find(id);
    return handle === undefined || this.#hidden.has(handle) ? undefined : handle;
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
      isCancelled: this.#isCancelled.get(handle) === 1,
      updatedMs: this.updatedMsOf(handle),
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

  updatedMsOf(handle: number): number {
    return this.#updated.get(handle);
  }

  rowOf(handle: number): number {
    return this.#row.get(handle);
  }

  /** Adds the entry, or replaces the entry with the same ID and keeps its handle. Throws RangeError for an invalid tag. */
  put(entry: IndexEntry): number {
    requireTag(entry.tag);
    const known = this.#handleOf.find(entry.id);
    if (known !== undefined) {
      this.#hidden.remove(known);
      this.#removeFromSearch(known);
    }
    const handle = known ?? this.#create(entry.id);
    this.#write(handle, entry);
    this.#addToSearch(handle);
    return handle;
  }

  /** Returns the handle that the event had; undefined if the ID is unknown. */
  remove(id: string): number | undefined {
    const handle = this.find(id);
    if (handle !== undefined) this.#drop(handle);
    return handle;
  }

  readonly ownerOf = (handle: number): number => this.#owner.get(handle);

  /**
   * Hides all events of the owner up to this row: no caller finds them any more. This takes a few milliseconds for a million events;
   * `settle` drops them.
   */
  hideOf(owner: number, upToRow: number): void {
    this.#owner.visit(owner, this.#created, (handle) => {
      if (this.#row.get(handle) <= upToRow) this.#hidden.add(handle);
    });
  }

  /** Hides the events with these IDs, a text separated by commas; unknown IDs are ignored. Returns their handles. */
  hideMany(ids: Uint8Array): Int32Array {
    const handles = this.#handleOf.findMany(ids);
    for (const handle of handles) this.#hidden.add(handle);
    return handles;
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
        if (this.find(id) === handle) ids.push(id); // otherwise the handle is free, or the event hidden
      }
      if (ids.length < perBatch && handle % EVENTS_PER_TURN > 0) continue;
      yield ids;
      ids = [];
    }
    yield ids;
  }

  search(query: IndexQuery, nowMs: number): IndexPage {
    this.#returnRetired(nowMs);
    const isSettled = this.settle(nowMs, this.#hidden.size > this.#settledPerSearch);
    const isGone = (handle: number) => this.#hidden.has(handle) || this.#expiry.endsMs(handle) <= nowMs;
    const isLeftOut = isSettled ? undefined : isGone;
    const { among } = query;
    const isByDistance = query.sort === 'distance';
    const plain = toPlaceQuery(query);
    const { reach } = plain;
    const page = this.#page;
    const nearest = this.#nearestPage;
    if (isByDistance) page.beginEmpty();
    else page.begin(query.limit, query.after, isLeftOut);
    if (isByDistance) nearest.begin(query.limit, query.after, reach, isLeftOut);
    if (among && isFew(among, plain, isByDistance, this.size)) {
      const matches = matcherOf(this.#columns, query, plain);
      // The set may be older than the last removals, which leave free handles.
      const isUsed = (handle: number) => this.#handleOf.find(this.#ids.get(handle)) === handle;
      const handles = filterHandles(among, (handle) => !isGone(handle) && matches(handle) && isUsed(handle));
      if (isByDistance) this.#offerNearest(handles, plain);
      else for (const handle of handles) page.offer(this.#start.get(handle), handle);
      return (isByDistance ? nearest : page).finish(handles.length);
    }
    const placeQuery = among ? { ...plain, among: new HandleTest(among, this.#capacity) } : plain;
    const searched = this.#structuresFor(query.status);
    let found = 0;
    for (const structures of searched) found += structures.search(placeQuery, page);
    const total = isSettled ? found : found - this.#countGone(query, placeQuery, nowMs);
    if (!isByDistance) return page.finish(total);
    for (const structures of searched) {
      // Without a radius, looking for the nearest of so few would visit the whole tree.
      if (reach === EVERYWHERE && found <= MAX_COMPARED)
        this.#offerNearest(structures.starts.collect(placeQuery), placeQuery);
      else structures.places.searchNearest(placeQuery, nearest);
    }
    return nearest.finish(total);
  }

  scan(query: ScanQuery): EventScan {
    return new EventScan(this.#scanned, query, this.#created);
  }

  #offerNearest(handles: readonly number[], centre: PlaceQuery): void {
    for (const handle of handles) {
      const place = unitVector(this.#lat.get(handle), this.#lng.get(handle));
      this.#nearestPage.offer(chordSquared(place, centre), this.#start.get(handle), handle);
    }
  }

  #structuresFor(status: IndexQuery['status']): Structures[] {
    const cancelled = this.#cancelled ? [this.#cancelled] : [];
    if (status === 'cancelled') return cancelled;
    return status === 'any' ? [this.#scheduled, ...cancelled] : [this.#scheduled];
  }

  /**
   * Drops hidden events and retires ended ones: a limited number per call, because there may be many, and a tenth of it if `isBrief`.
   * Returns false if some remain. Searches do not return those either, but must filter them one by one.
   */
  settle(nowMs: number, isBrief = false): boolean {
    for (let left = this.#settledPerSearch / (isBrief ? 10 : 1); left > 0; left--) {
      const hidden = this.#hidden.take();
      if (hidden !== undefined) {
        this.#drop(hidden);
        continue;
      }
      const handle = this.#expiry.next(nowMs);
      if (handle === undefined) return true;
      this.#removeFromSearch(handle);
      this.#retire(handle);
    }
    return this.isSettled(nowMs);
  }

  isSettled(nowMs: number): boolean {
    return this.#hidden.size === 0 && this.#expiry.next(nowMs) === undefined;
  }

  /** Number of matching events that are hidden or have ended, and are still in the search structures. */
  #countGone(query: IndexQuery, placeQuery: PlaceQuery, nowMs: number): number {
    let count = 0;
    const matches = matcherOf(this.#columns, query, placeQuery);
    const visit = (handle: number) => {
      if (matches(handle)) count++;
    };
    this.#hidden.visitSearchable(query.lat, latReachOf(placeQuery), visit);
    this.#expiry.visitEnded(nowMs, (handle) => {
      if (!this.#hidden.has(handle)) visit(handle);
    });
    return count;
  }

  *#finishLoad(): Generator<void> {
    const handles = new Int32Array(this.#created - 1);
    // Scheduled events from the front, cancelled ones from the end.
    let [scheduled, cancelled] = [0, handles.length];
    for (let handle = 1; handle < this.#created; handle++) {
      if (this.#isRetired.get(handle) === 1) continue;
      handles[this.#isCancelled.get(handle) === 0 ? scheduled++ : --cancelled] = handle;
    }
    yield* this.#load(handles.subarray(0, scheduled));
    if (cancelled < handles.length) yield* this.#load(handles.subarray(cancelled));
  }

  /** Loads events that all have the same status. If there are none, they count as scheduled. */
  *#load(handles: Int32Array): Generator<void> {
    const structures = handles.length === 0 ? this.#scheduled : this.#structuresOf(handles[0]!);
    yield* structures.load(handles, this.#columns);
  }

  /** Makes retired events searchable again if the clock was set back before their end. */
  #returnRetired(nowMs: number): void {
    if (this.#retiredUntilMs <= nowMs) return;
    this.#retiredUntilMs = Number.NEGATIVE_INFINITY;
    this.#isRetired.visit(1, this.#created, (handle) => {
      const endsMs = this.#expiry.endsMs(handle);
      if (endsMs <= nowMs) this.#retiredUntilMs = Math.max(this.#retiredUntilMs, endsMs);
      else if (!this.#hidden.has(handle)) {
        this.#isRetired.set(handle, 0);
        this.#addToSearch(handle);
      }
    });
  }

  #retire(handle: number): void {
    this.#isRetired.set(handle, 1);
    this.#retiredUntilMs = Math.max(this.#retiredUntilMs, this.#expiry.endsMs(handle));
  }

  /** Removes the event and frees its handle. */
  #drop(handle: number): void {
    this.#removeFromSearch(handle);
    this.#handleOf.remove(handle);
    this.#owner.set(handle, 0);
    this.#free.push(handle);
    this.#onDrop(handle);
  }

  #addToSearch(handle: number): void {
    this.#structuresOf(handle).insert(this.#locate(handle));
    this.#expiry.add(handle);
  }

  #structuresOf(handle: number): Structures {
    if (this.#isCancelled.get(handle) === 0) return this.#scheduled;
    this.#cancelled ??= new Structures(this.#ids, this.#blocks);
    return this.#cancelled;
  }

  #removeFromSearch(handle: number): void {
    if (this.#isRetired.get(handle) === 1) {
      this.#isRetired.set(handle, 0);
      return;
    }
    const [startMs, endsMs] = [this.#start.get(handle), this.#expiry.endsMs(handle)];
    this.#structuresOf(handle).remove({ handle, startMs, endsMs, tag: this.#tag.get(handle) });
    this.#expiry.remove(handle);
  }

  #locate(handle: number): Located {
    const { x, y, z } = unitVector(this.#lat.get(handle), this.#lng.get(handle));
    const [startMs, endsMs] = [this.#start.get(handle), this.#expiry.endsMs(handle)];
    return { handle, x, y, z, startMs, endsMs, tag: this.#tag.get(handle), zone: this.#zone.get(handle) };
  }

  #write(handle: number, entry: IndexEntry): void {
    this.#version.set(handle, entry.version);
    this.#row.set(handle, entry.row);
    this.#lat.set(handle, entry.lat);
    this.#lng.set(handle, entry.lng);
    this.#start.set(handle, entry.startMs);
    this.#tag.set(handle, entry.tag);
    this.#isCancelled.set(handle, Number(entry.isCancelled));
    this.#updated.set(handle, entry.updatedMs);
    this.#zone.set(handle, entry.zone ?? 0);
    this.#owner.set(handle, entry.owner ?? 0);
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
    for (const part of [this.#ids, this.#expiry, this.#hidden]) part.grow(this.#capacity);
    const others = [this.#version, this.#row, this.#isRetired, this.#updated, this.#owner];
    const columns = [...Object.values(this.#columns), ...Object.values(this.#blocks), ...others];
    for (const column of columns) column.grow(this.#capacity);
  }
}
