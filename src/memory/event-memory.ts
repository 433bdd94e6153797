// All events in memory: the index that finds them and a cache of their JSON. An engine feeds it every committed write, and
// reads events that are not in the cache. Storage, threads and rules are left to the engine and the use cases.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { EventRow } from '../domain/event.ts';
import { ALL_EVENTS, type NearbyQuery } from '../domain/nearby.ts';
import type { EventRecord, NearbyPage } from '../domain/store.ts';
import { toWire } from '../domain/wire.ts';
import { EventIndex, type IndexPage, type IndexQuery } from '../spatial/event-index.ts';
import { EventCache } from './event-cache.ts';
import { EventLookup, type EventStorage } from './event-lookup.ts';
import { entryOf, type IndexValues, toEntry, toIndexQuery } from './index-mapping.ts';

/**
 * Maximum attempts of a search whose events change while they are read. Each attempt leaves its events in the cache, so only
 * a database that another program changes needs this many.
 */
const MAX_ROUNDS = 100;

export class EventMemory {
  readonly #index = new EventIndex();
  readonly #cache: EventCache;
  readonly #lookup: EventLookup;
  #isSettling = false;
  /** The time of the last search. */
  #searchedMs = Number.NEGATIVE_INFINITY;

  constructor(cacheBytes: number, storage: EventStorage) {
    this.#cache = new EventCache(cacheBytes);
    this.#lookup = new EventLookup(this.#index, this.#cache, storage);
  }

  /** Number of events, including ended ones. */
  get size(): number {
    return this.#index.size;
  }

  /** Fills an empty memory. `finish` builds the index, and lets other work run in between. */
  loader(total: number, nowMs: number): { add(values: IndexValues): void; finish(): Promise<void> } {
    const loader = this.#index.loader(total, nowMs);
    return {
      add: (values) => loader.add(entryOf(values)),
      finish: async () => {
        for (const _ of loader.finish()) await nextTurn();
      },
    };
  }

  /** Stores a committed event. `row` is its row number; undefined if it replaces its previous version. */
  put(event: EventRow, json: string, row: number | undefined): EventRecord {
    const stored = row ?? this.#index.rowOf(this.#index.find(event.event_id)!);
    const handle = this.#index.put(toEntry(event, stored));
    const record = { version: event.version, json: toWire(json) };
    this.#cache.put(handle, record.json);
    return record;
  }

  remove(eventId: string): void {
    const handle = this.#index.remove(eventId);
    if (handle !== undefined) this.#cache.remove(handle);
  }

  /** IDs of events that have ended by this time, in batches; other requests run in between. */
  async *idsEndedBy(endedByMs: number, perBatch: number): AsyncGenerator<readonly string[]> {
    for (const ids of this.#index.idsEndedBy(endedByMs, perBatch)) {
      if (ids.length > 0) yield ids;
      await nextTurn();
    }
  }

  async find(eventId: string): Promise<EventRecord | undefined> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const handle = this.#index.find(eventId);
      if (handle === undefined) return undefined;
      const version = this.#index.versionOf(handle);
      const json = this.#cache.find(handle) ?? (await this.#lookup.findAll([handle]))?.[0];
      if (json !== undefined) return { version, json };
    }
    throw changing();
  }

  async search(query: NearbyQuery, nowMs: number): Promise<NearbyPage> {
    const indexQuery = toIndexQuery(query);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      // A retry must not use an earlier time than the searches made meanwhile.
      const atMs = round === 0 ? nowMs : Math.max(nowMs, this.#searchedMs);
      const { handles, total, more } = this.#search(indexQuery, atMs);
      // Read from the index before waiting: afterwards, handles may belong to other events.
      const last = more ? handles.at(-1) : undefined;
      const next =
        last === undefined ? undefined : { startMs: this.#index.startMsOf(last), id: this.#index.idOf(last) };
      const details = query.details ? handles.map((handle) => this.#index.entryOf(handle)) : NO_DETAILS;
      const events = this.#lookup.findCached(handles) ?? (await this.#lookup.findAll(handles));
      if (events) return { events, details, total, next };
    }
    throw changing();
  }

  countUpcoming(nowMs: number): number {
    return this.#search(toIndexQuery(ALL_EVENTS), nowMs).total;
  }

  #search(query: IndexQuery, nowMs: number): IndexPage {
    this.#searchedMs = nowMs;
    const page = this.#index.search(query, nowMs);
    this.#settle(nowMs);
    return page;
  }

  /** Retires the remaining ended events between requests, if a search left some. */
  #settle(nowMs: number): void {
    if (this.#isSettling || this.#index.isSettled(nowMs)) return;
    this.#isSettling = true;
    setImmediate(() => {
      this.#isSettling = false;
      this.#index.settle(nowMs);
      this.#settle(nowMs);
    });
  }
}

const NO_DETAILS: NearbyPage['details'] = [];

function changing(): AppError {
  return new AppError('UNAVAILABLE', 'The data changes faster than it can be read. Retry.');
}
