// Finds the JSON of indexed events: from the cache, or else from storage. A row read from storage is checked against the
// index, because either may change during the read.
import type { Wire } from '../domain/wire.ts';
import { type CacheMetrics, cacheMetrics, type Metrics } from '../metrics/metrics.ts';
import type { EventIndex } from '../spatial/event-index.ts';
import type { EventCache } from './event-cache.ts';

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
