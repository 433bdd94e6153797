// The correct results of a search, computed the simplest way: haversine, filter, sort, slice. It shares no code with
// src/spatial, so any index with the same interface, and any store, can be compared with it.
import { EventIndex } from '../../src/spatial/event-index.ts';
import type { IndexEntry, IndexQuery } from '../../src/spatial/index-entry.ts';

export interface EntryPage {
  readonly entries: readonly IndexEntry[];
  readonly total: number;
  readonly more: boolean;
}

/** The operations of every index. */
export interface Index {
  readonly size: number;
  find(id: string): IndexEntry | undefined;
  load(entries: readonly IndexEntry[]): void;
  put(entry: IndexEntry): void;
  remove(id: string): boolean;
  search(query: IndexQuery, nowMs: number): EntryPage;
}

/** The index with whole entries instead of handles. */
export class SpelledIndex implements Index {
  readonly index: EventIndex;

  constructor(asidePerSearch?: number) {
    this.index = new EventIndex(asidePerSearch);
  }

  get size(): number {
    return this.index.size;
  }

  find(id: string): IndexEntry | undefined {
    const handle = this.index.find(id);
    return handle === undefined ? undefined : this.index.entryOf(handle);
  }

  load(entries: readonly IndexEntry[], nowMs?: number): void {
    const loader = this.index.loader(entries.length, nowMs);
    for (const entry of entries) loader.add(entry);
    for (const _ of loader.finish());
  }

  put(entry: IndexEntry): void {
    this.index.put(entry);
  }

  remove(id: string): boolean {
    return this.index.remove(id) !== undefined;
  }

  search(query: IndexQuery, nowMs: number): EntryPage {
    const { handles, total, more } = this.index.search(query, nowMs);
    return { entries: Array.from(handles, (handle) => this.index.entryOf(handle)), total, more };
  }
}

const RADIUS_METRES = Number('6371008.7714150598');
const MILE_METRES = 1_609.344;

interface Place {
  readonly lat: number;
  readonly lng: number;
}

/** The great-circle distance by the haversine formula. */
export function haversineMiles(a: Place, b: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const sinLat = Math.sin(radians(b.lat - a.lat) / 2);
  const sinLng = Math.sin(radians(b.lng - a.lng) / 2);
  const h = sinLat * sinLat + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * sinLng * sinLng;
  return (2 * RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(h)))) / MILE_METRES;
}

export function byStartThenId(a: Pick<IndexEntry, 'startMs' | 'id'>, b: typeof a): number {
  return a.startMs - b.startMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

export class Oracle implements Index {
  readonly #entries = new Map<string, IndexEntry>();

  get size(): number {
    return this.#entries.size;
  }

  find(id: string): IndexEntry | undefined {
    return this.#entries.get(id);
  }

  load(entries: readonly IndexEntry[]): void {
    for (const entry of entries) this.put(entry);
  }

  put(entry: IndexEntry): void {
    this.#entries.set(entry.id, entry);
  }

  remove(id: string): boolean {
    return this.#entries.delete(id);
  }

  /** All matching entries, in order, without paging. */
  matches(query: IndexQuery, nowMs: number): IndexEntry[] {
    const matching: IndexEntry[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.endsMs <= nowMs) continue;
      if (entry.startMs < query.startsFromMs || entry.startMs >= query.startsBeforeMs) continue;
      if (query.status !== 'any' && entry.isCancelled !== (query.status === 'cancelled')) continue;
      if (query.tags && !query.tags.list.includes(entry.tag)) continue;
      if (query.radiusMiles !== undefined && haversineMiles(query, entry) > query.radiusMiles) continue;
      matching.push(entry);
    }
    return matching.sort(byStartThenId);
  }

  search(query: IndexQuery, nowMs: number): EntryPage {
    const all = this.matches(query, nowMs);
    const { after } = query;
    const following = after ? all.filter((entry) => byStartThenId(entry, after) > 0) : all;
    return {
      entries: following.slice(0, query.limit),
      total: all.length,
      more: following.length > query.limit,
    };
  }
}
