// What an index must answer, found the plainest way: haversine, filter, sort, slice. Shares no code with src/spatial, so
// that any index behind the same interface, and any store, can be held against it.
import type { EventIndex, IndexEntry, IndexPage, IndexQuery } from '../../src/spatial/event-index.ts';

/** What every index can do. */
export type Index = Pick<EventIndex, 'size' | 'find' | 'load' | 'put' | 'remove' | 'search'>;

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

  load(entries: Iterable<IndexEntry>): void {
    for (const entry of entries) this.put(entry);
  }

  put(entry: IndexEntry): void {
    this.#entries.set(entry.id, entry);
  }

  remove(id: string): boolean {
    return this.#entries.delete(id);
  }

  /** All that match, in order, whatever the page. */
  matches(query: IndexQuery, nowMs: number): IndexEntry[] {
    const matching: IndexEntry[] = [];
    for (const entry of this.#entries.values()) {
      if (entry.endsMs <= nowMs) continue;
      if (entry.startMs < query.startsFromMs || entry.startMs >= query.startsBeforeMs) continue;
      if (!isInMask(entry.type, query.typeMask) || !isInMask(entry.audience, query.audienceMask)) continue;
      if (query.radiusMiles !== undefined && haversineMiles(query, entry) > query.radiusMiles) continue;
      matching.push(entry);
    }
    return matching.sort(byStartThenId);
  }

  search(query: IndexQuery, nowMs: number): IndexPage {
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

function isInMask(number: number, mask: number): boolean {
  return (mask & (1 << number)) !== 0;
}
