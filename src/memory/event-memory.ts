// All events in memory: the index that finds them, their words, and a cache of their JSON. An engine passes in every committed write, and
// reads events that are not in the cache. Storage, threads and rules are left to the engine and the use cases.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AllEventsPage, AllEventsQuery } from '../domain/administration/event-list.ts';
import { AppError } from '../domain/errors.ts';
import type { Position } from '../domain/events/cursor.ts';
import type { EventRow } from '../domain/events/event.ts';
import { cutPage } from '../domain/events/event-page.ts';
import { ALL_EVENTS, chordBetween, type NearbyQuery } from '../domain/events/nearby.ts';
import { hasPrefix } from '../domain/events/word-query.ts';
import type { Words } from '../domain/events/words.ts';
import type { WordShare } from '../domain/own-agent.ts';
import type { EventRecord, FoundRecord, NearbyPage } from '../domain/store.ts';
import { toWire, type Wire } from '../domain/wire.ts';
import { Metrics } from '../metrics/metrics.ts';
import { EventIndex } from '../spatial/event-index.ts';
import { type HandleSet, listOf } from '../spatial/handle-set.ts';
import type { IndexEntry, IndexPage, IndexQuery } from '../spatial/index-entry.ts';
import { copyOf } from '../words/word-index.ts';
import { EventCache, EventLookup, type EventStorage } from './event-lookup.ts';
import { entryOf, type IndexedEvent, toEntry, toIndexQuery, toScanQuery } from './index-mapping.ts';
import { type IndexOptions, MemoryWords, measureWords, type StoredWords } from './memory-words.ts';
import { type AnySearcher, SearchSteps } from './search-steps.ts';
import { Zones } from './zones.ts';

/**
 * Maximum attempts of a search whose events change while they are read. Each attempt leaves its events in the cache, so this many are
 * needed only if another program changes the database.
 */
const MAX_ROUNDS = 100;

/**
 * Bytes of the index per event without words. Measured before 2 bytes were added: 213 after a million events were loaded, 242 after half
 * as many were added to them; if all events last longer than a day, 242 and 281.
 */
export const INDEX_BYTES_PER_EVENT = 290;

export interface MemoryLoader {
  add(event: IndexedEvent): void;
  /** Builds the index, and lets other work run in between. Throws the signal's reason if it is aborted. */
  finish(signal?: AbortSignal): Promise<void>;
}

export class EventMemory {
  readonly #words: MemoryWords;
  readonly #index = new EventIndex(undefined, (handle) => this.#words.drop(handle));
  /** Numbers of agents in the index, from 1. */
  readonly #owners = new Map<string, number>();
  readonly #zones = new Zones();
  readonly #cache: EventCache;
  readonly #lookup: EventLookup;
  readonly #storage: EventStorage;
  #isSettling = false;
  readonly #steps = new SearchSteps();
  /** Resolves when `changeTogether` has made its changes; undefined if there are none. */
  #changing: Promise<void> | undefined;
  /** The time of the last search. */
  #searchedMs = Number.NEGATIVE_INFINITY;

  constructor(
    cacheBytes: number,
    storage: EventStorage,
    metrics = new Metrics(),
    options: IndexOptions = {},
  ) {
    this.#words = new MemoryWords(this.#index, () => this.#index.size * INDEX_BYTES_PER_EVENT, options);
    this.#cache = new EventCache(cacheBytes);
    this.#storage = storage;
    this.#lookup = new EventLookup(this.#index, this.#cache, storage, metrics);
    metrics.gauge('local_events_index_events', 'Events in the index.', () => this.#index.size);
    measureWords(metrics, () => this.#words.areKnown);
  }

  /** Number of events, including ended ones. */
  get size(): number {
    return this.#index.size;
  }

  /** Fills an empty memory. `addWords` must follow. */
  loader(total: number, nowMs: number): MemoryLoader {
    this.#searchedMs = nowMs;
    this.#words.expect(total);
    const loader = this.#index.loader(total, nowMs);
    return {
      add: (event) => loader.add(this.#entryOf(event)),
      finish: async (signal) => {
        for (const _ of loader.finish()) {
          await nextTurn();
          signal?.throwIfAborted();
        }
      },
    };
  }

  /** Adds the words of all loaded events. Throws if it must be repeated. */
  addWords(batches: AsyncIterable<StoredWords>): Promise<void> {
    return this.#words.addAll(batches, () => this.#storage.catchUp());
  }

  /** Whether searches by words can be answered without waiting. */
  get knowsWords(): boolean {
    return this.#words.areKnown;
  }

  findWordShare(agentId: string): WordShare {
    return this.#words.shareOf(this.#ownerOf(agentId));
  }

  /** Reserves memory for the words of an event. Returns a function that ends the reservation; undefined if the event must be refused. */
  reserveWords(agentId: string, words: Words, replacedId?: string): (() => void) | undefined {
    const replaced = replacedId === undefined ? undefined : this.#index.find(replacedId);
    return this.#words.reserve(this.#ownerOf(agentId), words, replaced);
  }

  /** Makes changes that belong together: no search sees a part of them. */
  async changeTogether(work: () => Promise<void>): Promise<void> {
    const done = work();
    this.#changing = done.catch(() => {});
    await done.finally(() => {
      this.#changing = undefined;
    });
  }

  /** Stores a committed event. `row` is its row number; undefined if it replaces its previous version. */
  put(event: EventRow, json: string, row: number | undefined, words: Words): EventRecord {
    const stored = row ?? this.#index.rowOf(this.#index.find(event.event_id)!);
    const zone = this.#zones.numberOf(event.timezone);
    const owner = this.#ownerOf(event.agent_id);
    const handle = this.#index.put(toEntry(event, stored, zone, owner));
    this.#words.put(handle, words, owner);
    const record = { version: event.version, json: toWire(json) };
    this.#cache.put(handle, record.json);
    return record;
  }

  /** Stores a committed event. Without `json`, that is read when needed. Throws RangeError for an unknown type or audience. */
  putIndexed(event: IndexedEvent, words: Words, json?: Wire): void {
    const handle = this.#index.put(this.#entryOf(event));
    this.#words.put(handle, words, this.#ownerOf(event.agentId));
    if (json === undefined) this.#cache.remove(handle);
    else this.#cache.put(handle, json);
  }

  remove(eventId: string): void {
    const handle = this.#index.remove(eventId);
    if (handle !== undefined) this.#cache.remove(handle);
    this.#settle(this.#searchedMs);
  }

  /** Removes many events: hides them at once, drops them from the index between requests. `eventIds` is text, separated by commas. */
  removeMany(eventIds: Uint8Array): void {
    const handles = this.#index.hideMany(eventIds);
    for (const handle of handles) this.#cache.remove(handle);
    this.#settle(this.#searchedMs);
  }

  /** Removes the agent's events up to this row in the same way. */
  removeEventsOf(agentId: string, upToRow: number): void {
    this.#index.hideOf(this.#ownerOf(agentId), upToRow);
    this.#settle(this.#searchedMs);
  }

  /** IDs of events that have ended by this time, in batches; other requests run in between. */
  async *idsEndedBy(endedByMs: number, perBatch: number): AsyncGenerator<readonly string[]> {
    for (const ids of this.#index.idsEndedBy(endedByMs, perBatch)) {
      if (ids.length > 0) yield ids;
      await nextTurn();
    }
  }

  async find(eventId: string): Promise<FoundRecord | undefined> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const handle = this.#index.find(eventId);
      if (handle === undefined) return undefined;
      const version = this.#index.versionOf(handle);
      const updatedMs = this.#index.updatedMsOf(handle);
      const json = this.#lookup.findOne(handle) ?? (await this.#lookup.findAll([handle]))?.[0];
      if (json !== undefined) return { version, updatedMs, json };
    }
    throw changing();
  }

  /** Throws the reason of the searcher's signal if it is aborted and the search takes long. */
  async search(query: NearbyQuery, nowMs: number, searcher: AnySearcher = {}): Promise<NearbyPage> {
    this.#searchedMs = nowMs; // also if it is earlier: the clock may have been set back
    let hasWaited = query.terms !== undefined && this.#words.areAwaited;
    if (hasWaited) await this.#words.untilKnown();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let among: HandleSet | undefined;
      if (query.terms) {
        const isLong = hasPrefix(query.terms);
        hasWaited ||= isLong;
        among = isLong
          ? await this.#words.findInSteps(query.terms, this.#steps, searcher)
          : this.#words.findNow(query.terms);
      }
      if (hasWaited && this.#changing) {
        await this.#changing;
        continue;
      }
      // A search that has waited must not use an earlier time than the searches made meanwhile.
      const atMs = hasWaited ? Math.max(nowMs, this.#searchedMs) : nowMs;
      const windows = this.#zones.windowsOf(query, atMs);
      const indexQuery = toIndexQuery(query, windows);
      const { handles, total, more } = this.#search(among ? { ...indexQuery, among } : indexQuery, atMs);
      // Read from the index before waiting: afterwards, handles may belong to other events.
      const last = more ? handles.at(-1) : undefined;
      const next = last === undefined ? undefined : this.#positionOf(last, query);
      const details = query.details ? handles.map((handle) => this.#index.entryOf(handle)) : NO_DETAILS;
      const events = this.#lookup.findCached(handles) ?? (await this.#lookup.findAll(handles));
      if (events) return { events, details, total, next };
      hasWaited = true;
    }
    throw changing();
  }

  /**
   * A page of matching events, ended and cancelled ones included, with their total. Throws the reason of the signal if it is aborted.
   */
  async list(query: AllEventsQuery, nowMs: number, signal?: AbortSignal): Promise<AllEventsPage<Wire>> {
    const { eventId, terms, agentId, limit, sort } = query;
    const searcher = { name: 'administrator', signal };
    if (terms) await this.#words.untilKnown();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      let among: HandleSet | undefined;
      if (eventId !== undefined) among = listOf(Int32Array.of(this.#index.find(eventId) ?? 0));
      else if (terms && hasPrefix(terms)) among = await this.#words.findInSteps(terms, this.#steps, searcher);
      else if (terms) among = copyOf(this.#words.findNow(terms));
      const owner = agentId === undefined ? undefined : (this.#owners.get(agentId) ?? NO_OWNER);
      const scan = this.#index.scan(toScanQuery(query, nowMs, among, owner));
      while (!scan.step()) await this.#steps.next(searcher);
      const { first: found, total, ownerCount: agentCount } = scan;
      if (!scan.isCurrent || (terms && !found.every((handle) => this.#words.matches(handle, terms))))
        continue;
      const { page: handles, last } = cutPage(found, limit);
      const id = last === undefined ? '' : this.#index.idOf(last);
      const value = last !== undefined && sort.key === 'start_at' ? this.#index.startMsOf(last) : id;
      const items = this.#lookup.findCached(handles) ?? (await this.#lookup.findAll(handles));
      if (items) return { items, total, agentCount, next: last === undefined ? undefined : { value, id } };
    }
    throw changing();
  }

  /** Number of events that have not ended and are not cancelled. */
  countUpcoming(nowMs: number): number {
    return this.#search(toIndexQuery(ALL_EVENTS), nowMs).total;
  }

  #entryOf(event: IndexedEvent): IndexEntry {
    return entryOf(event, this.#zones.numberOf(event.timezone), this.#ownerOf(event.agentId));
  }

  #positionOf(handle: number, query: NearbyQuery): Position {
    const position = { startMs: this.#index.startMsOf(handle), id: this.#index.idOf(handle) };
    if (query.sort === 'start') return position;
    return { ...position, chord: chordBetween(query, this.#index.entryOf(handle)) };
  }

  #ownerOf(agentId: string): number {
    const known = this.#owners.get(agentId);
    if (known !== undefined) return known;
    const owner = this.#owners.size + 1;
    // A copy: the ID may be a slice of a long text, which would stay in memory with it.
    this.#owners.set(Buffer.from(agentId, 'latin1').toString('latin1'), owner);
    return owner;
  }

  #search(query: IndexQuery, nowMs: number): IndexPage {
    this.#searchedMs = nowMs;
    const page = this.#index.search(query, nowMs);
    this.#settle(nowMs);
    return page;
  }

  /** Retires ended events and drops hidden ones, between requests, until none are left. */
  #settle(nowMs: number): void {
    if (this.#isSettling || (this.#index.isSettled(nowMs) && this.#words.isSettled)) return;
    this.#isSettling = true;
    setImmediate(() => {
      this.#isSettling = false;
      this.#index.settle(nowMs);
      this.#words.settle();
      this.#settle(nowMs);
    });
  }
}

const NO_OWNER = -1; // of an agent without events
const NO_DETAILS: NearbyPage['details'] = [];

function changing(): AppError {
  return new AppError('UNAVAILABLE', 'The data changes faster than it can be read. Retry.');
}
