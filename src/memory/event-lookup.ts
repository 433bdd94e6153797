// Finds the JSON of indexed events: from the cache, or else from storage. A row read from storage is checked against the
// index, because either may change during the read.
import type { Wire } from '../domain/wire.ts';
import { type CacheMetrics, cacheMetrics, type Metrics } from '../metrics/metrics.ts';
import type { EventIndex } from '../spatial/event-index.ts';

/** Rows read from storage, as parallel arrays in the order of the request: arrays cross threads far cheaper than objects. */
export interface StoredEvents {
  /** An empty string if the row does not exist. */
  readonly ids: readonly string[];
  readonly versions: readonly number[];
  readonly jsons: readonly Wire[];
}

/** An event to read from storage. An engine finds it by its ID or by the number that it gave the event. */
export interface WantedEvent {
  readonly id: string;
  readonly row: number;
}

/** Functions that an engine provides so that its events can be kept in memory. */
export interface EventStorage {
  /** Reads events. `apply` runs as soon as they arrive. */
  readEvents<T>(wanted: readonly WantedEvent[], apply: (found: StoredEvents) => T): Promise<T>;
  /** Resolves when the memory has every write that storage had committed at the time of the call. */
  catchUp(): Promise<void>;
}

export class EventLookup {
  readonly #index: EventIndex;
  readonly #cache: EventCache;
  readonly #storage: EventStorage;
  readonly #counts: CacheMetrics;

  constructor(index: EventIndex, cache: EventCache, storage: EventStorage, metrics: Metrics) {
    this.#index = index;
    this.#cache = cache;
    this.#storage = storage;
    this.#counts = cacheMetrics(metrics, 'events');
  }

  /** Undefined unless the event is in the cache. */
  findOne(handle: number): Wire | undefined {
    const event = this.#cache.find(handle);
    if (event !== undefined) this.#counts.hits.value++;
    return event;
  }

  /** Undefined unless all events are in the cache. */
  findCached(handles: readonly number[]): Wire[] | undefined {
    const events: Wire[] = [];
    for (const handle of handles) {
      const event = this.#cache.find(handle);
      if (event === undefined) return undefined;
      events.push(event);
    }
    this.#counts.hits.value += events.length;
    return events;
  }

  /**
   * The events in the versions that the index had at the call. Undefined if one changed during the read, or if storage was
   * ahead of the index. The index has caught up by then, so the caller can search again.
   */
  async findAll(handles: readonly number[]): Promise<Wire[] | undefined> {
    const events: Wire[] = [];
    const missing: Missing[] = [];
    for (let at = 0; at < handles.length; at++) {
      const handle = handles[at]!;
      const event = this.#cache.find(handle);
      if (event !== undefined) events[at] = event;
      else {
        events[at] = NOT_YET;
        missing.push({ at, handle, ...this.#index.entryOf(handle) });
      }
    }
    this.#counts.hits.value += handles.length - missing.length;
    this.#counts.misses.value += missing.length;
    const isComplete = await this.#storage.readEvents(missing, ({ ids, versions, jsons }) => {
      let isSame = true;
      for (const [number, { at, handle, id, version, row }] of missing.entries()) {
        const json = jsons[number]!;
        // After a removal, the handle or the row number may belong to another event. An engine may number changes, not rows.
        const isHere =
          ids[number] === id && this.#index.find(id) === handle && this.#index.rowOf(handle) === row;
        // Cached even if this page must be read again: the next read then needs fewer rows.
        if (isHere && versions[number] === this.#index.versionOf(handle)) this.#cache.put(handle, json);
        if (isHere && versions[number] === version) events[at] = json;
        else isSame = false;
      }
      return isSame;
    });
    if (isComplete) return events;
    await this.#storage.catchUp();
    return undefined;
  }
}

/** An event of the page that is not in the cache. */
interface Missing extends WantedEvent {
  /** Its position on the page. */
  readonly at: number;
  readonly handle: number;
  readonly version: number;
}

const NOT_YET = '' as Wire;

/** Memory per event besides its text: the string header, the array slot and the used flag. */
const OVERHEAD_BYTES = 32;

const PIECE_BITS = 14;
const PIECE = 2 ** PIECE_BITS;

/** Events of PIECE consecutive handles. One array for all would block the event loop whenever it grows. */
class Piece {
  readonly events: (Wire | undefined)[] = Array(PIECE).fill(undefined);
  /** 1 for events used since the hand last passed. */
  readonly used = new Uint8Array(PIECE);
}

/**
 * Cache of event JSON by index handle, limited in bytes. Eviction is the clock algorithm: a hand goes round the entries and
 * evicts those that were not used since it last passed.
 */
export class EventCache {
  readonly #maxBytes: number;
  /** Undefined until an event is stored in the piece. */
  readonly #pieces: (Piece | undefined)[] = [];
  #hand = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(handle: number): Wire | undefined {
    const piece = this.#pieces[handle >>> PIECE_BITS];
    const event = piece?.events[handle & (PIECE - 1)];
    if (event !== undefined) piece!.used[handle & (PIECE - 1)] = 1;
    return event;
  }

  put(handle: number, event: Wire): void {
    this.remove(handle);
    const cost = costOf(event);
    if (cost > this.#maxBytes) return;
    while (this.#bytes + cost > this.#maxBytes) this.#evictNext();
    const number = handle >>> PIECE_BITS;
    while (number >= this.#pieces.length) this.#pieces.push(undefined);
    this.#pieces[number] ??= new Piece();
    const piece = this.#pieces[number];
    piece.events[handle & (PIECE - 1)] = event;
    piece.used[handle & (PIECE - 1)] = 0;
    this.#bytes += cost;
  }

  remove(handle: number): void {
    const piece = this.#pieces[handle >>> PIECE_BITS];
    const event = piece?.events[handle & (PIECE - 1)];
    if (event === undefined) return;
    piece!.events[handle & (PIECE - 1)] = undefined;
    this.#bytes -= costOf(event);
  }

  #evictNext(): void {
    this.#hand = (this.#hand + 1) % (this.#pieces.length * PIECE);
    const piece = this.#pieces[this.#hand >>> PIECE_BITS];
    const at = this.#hand & (PIECE - 1);
    if (!piece) this.#hand += PIECE - 1 - at;
    else if (piece.used[at] === 1) piece.used[at] = 0;
    else this.remove(this.#hand);
  }
}

function costOf(event: Wire): number {
  return event.length + OVERHEAD_BYTES;
}
