// Every event in memory in the order of a search (start, then id). Finds pages and exact totals; knows nothing of
// storage, wire forms or clocks. A search walks the starts within its window and tests each.
import { chordSquared, chordSquaredOfMiles, type UnitVector, unitVector } from './geo.ts';

export interface IndexEntry {
  readonly id: string;
  /** Carried for the caller; not searched by. */
  readonly version: number;
  readonly startMs: number;
  /** The instant from which the event is no longer found. */
  readonly endsMs: number;
  readonly lat: number;
  readonly lng: number;
  /** Small numbers, 0 to 31, chosen by the caller. */
  readonly type: number;
  readonly audience: number;
}

export interface IndexQuery {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number | undefined;
  /** A bit per accepted value. */
  readonly typeMask: number;
  readonly audienceMask: number;
  /** startMs >= startsFromMs and startMs < startsBeforeMs. */
  readonly startsFromMs: number;
  readonly startsBeforeMs: number;
  /** The page holds what lies after this position; the total does not depend on it. */
  readonly after: { readonly startMs: number; readonly id: string } | undefined;
  readonly limit: number;
}

export interface IndexPage {
  readonly entries: readonly IndexEntry[];
  readonly total: number;
  readonly more: boolean;
}

interface Item {
  readonly entry: IndexEntry;
  readonly place: UnitVector;
}

export class EventIndex {
  #order: Item[] = [];
  readonly #byId = new Map<string, Item>();

  get size(): number {
    return this.#byId.size;
  }

  find(id: string): IndexEntry | undefined {
    return this.#byId.get(id)?.entry;
  }

  /** Adds many at once to an empty index, in any order. */
  load(entries: Iterable<IndexEntry>): void {
    for (const entry of entries) {
      this.#byId.set(entry.id, { entry, place: unitVector(entry.lat, entry.lng) });
    }
    this.#order = [...this.#byId.values()].sort((a, b) => compare(a.entry, b.entry));
  }

  /** Adds the entry, or puts it in the place of the one with its id. */
  put(entry: IndexEntry): void {
    this.remove(entry.id);
    const item = { entry, place: unitVector(entry.lat, entry.lng) };
    this.#byId.set(entry.id, item);
    this.#order.splice(this.#rank(entry), 0, item);
  }

  /** False if there was none. */
  remove(id: string): boolean {
    const item = this.#byId.get(id);
    if (!item) return false;
    this.#byId.delete(id);
    this.#order.splice(this.#rank(item.entry), 1);
    return true;
  }

  search(query: IndexQuery, nowMs: number): IndexPage {
    const centre = unitVector(query.lat, query.lng);
    const reach = query.radiusMiles === undefined ? 4.1 : chordSquaredOfMiles(query.radiusMiles);
    const entries: IndexEntry[] = [];
    let total = 0;
    let more = false;
    for (let at = this.#rank({ startMs: query.startsFromMs, id: '' }); at < this.#order.length; at++) {
      const { entry, place } = this.#order[at]!;
      if (entry.startMs >= query.startsBeforeMs) break;
      if (entry.endsMs <= nowMs) continue;
      if (((query.typeMask >>> entry.type) & (query.audienceMask >>> entry.audience) & 1) === 0) continue;
      if (chordSquared(centre, place) > reach) continue;
      total++;
      if (query.after && compare(entry, query.after) <= 0) continue;
      if (entries.length < query.limit) entries.push(entry);
      else more = true;
    }
    return { entries, total, more };
  }

  /** How many entries lie before this position. */
  #rank(position: { readonly startMs: number; readonly id: string }): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(this.#order[middle]!.entry, position) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Place {
  readonly startMs: number;
  readonly id: string;
}

function compare(a: Place, b: Place): number {
  if (a.startMs !== b.startMs) return a.startMs - b.startMs;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
