// The events that a node has in memory: loads them, follows the log of changes, and answers searches. A search that it cannot answer
// gets undefined, and the store uses SQL.
import { setTimeout as sleep } from 'node:timers/promises';
import type { AllEventsPage, AllEventsQuery } from '../../domain/administration/event-list.ts';
import type { NearbyQuery } from '../../domain/events/nearby.ts';
import type { NearbyPage, Searcher, Stats } from '../../domain/store.ts';
import type { Wire } from '../../domain/wire.ts';
import type { EventStorage } from '../../memory/event-lookup.ts';
import { type EventMemory, INDEX_BYTES_PER_EVENT } from '../../memory/event-memory.ts';
import { measureWords, type OnWordsProblem, type OnWordsReady } from '../../memory/memory-words.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { type Database, FIRST_PAUSE_MS, type OwnConnection, PATIENCE_MS } from '../client/database.ts';
import { codeOf, failureOf, unavailable, withoutData } from '../client/errors.ts';
import { isDirect } from '../pooler.ts';
import { ALL_EVENTS_CHANGED, POLL_SETTINGS, poll, writeIncarnation } from './changes.ts';
import { EventBodies } from './event-bodies.ts';
import { FirstLoad, type FirstLoadOptions, IN_MEMORY } from './first-load.ts';
import { followMany, load, loadWords, reconcile } from './load.ts';
import type { LoadedEvents } from './loaded-events.ts';
import { ReadIndex } from './read-index.ts';

/** Pauses between two attempts to load. */
const FIRST_LOAD_PAUSE_MS = 100;
const MAX_LOAD_PAUSE_MS = 30_000;

/** Pause before a node that cannot have the events in memory checks again whether it can. */
const IMPOSSIBLE_PAUSE_MS = 60_000;

/** Searches wait this long for many changes before they use SQL. Following them mostly takes less. */
const BEHIND_AFTER_MS = 250;

/** PostgreSQL has cancelled the statement. */
const STATEMENT_TIMEOUT = '57014';

/** Pause after words could not be read. */
const WORDS_RETRY_MS = 1_000;

/** Which way the searches of a node take from now on. */
export type SearchChange =
  | { readonly by: 'memory'; readonly events: number; readonly tookMs: number }
  | {
      readonly by: 'database';
      readonly reason: 'too large' | 'reload' | 'pooler' | 'failure';
      readonly events?: number;
      readonly cause?: unknown;
    };

export interface NodeEventsOptions extends FirstLoadOptions {
  readonly cacheBytes: number;
  /** Above this size of the index, searches use the database. */
  readonly indexMaxBytes: number;
  /** Current time. */
  readonly nowMs: number;
  /** From the oldest remembered change on: after a failover, the server must have all changes of this period. Default: 10 seconds. */
  readonly commonHistoryMs?: number | undefined;
  readonly metrics?: Metrics | undefined;
  /** A random number, so that nobody can choose words that are slow to look up. */
  readonly hashSeed?: number | undefined;
  readonly onWordsProblem?: OnWordsProblem | undefined;
  readonly onWordsReady?: OnWordsReady | undefined;
  readonly onChange?: ((change: SearchChange) => void) | undefined;
}

const DEFAULTS = {
  cacheBytes: 0,
  indexMaxBytes: Number.POSITIVE_INFINITY,
  nowMs: Number.NEGATIVE_INFINITY,
};

export class NodeEvents {
  readonly #database: Database;
  readonly #options: NodeEventsOptions;
  readonly #bodies: EventBodies;
  readonly #firstLoad: FirstLoad;
  readonly #readIndex = new ReadIndex((onBehind) => this.#poll(onBehind));
  /** Undefined until the events are loaded, and while they are loaded again. */
  #loaded: LoadedEvents | undefined;
  /** Whether the memory also has all words, or cannot have them. */
  #isComplete = false;
  #pollConnection: OwnConnection | undefined;
  #pollConnectionName = '';
  #loadConnection: OwnConnection | undefined;
  /** Resolves when the events must be loaded again, or the node closes. */
  #unloaded = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  readonly #loop: Promise<void>;
  /** Whether the last poll took longer than a statement may: something holds a lock. */
  #isBlocked = false;
  /** Time of the last search. */
  #nowMs: number;
  /** Why searches use the database, as reported last. */
  #lastReason: string | undefined;

  constructor(database: Database, options: Partial<NodeEventsOptions>) {
    this.#database = database;
    this.#options = { ...DEFAULTS, ...options };
    this.#bodies = new EventBodies(database);
    this.#nowMs = this.#options.nowMs;
    this.#firstLoad = new FirstLoad(database, this.#closing.signal, options);
    this.#registerMetrics();
    this.#loop = this.#keepLoaded();
  }

  /** Number of events in memory; undefined while searches use the database. */
  get size(): number | undefined {
    return this.#loaded?.memory.size;
  }

  /** Whether requests should still go to other nodes, see FirstLoad. */
  get isLoading(): boolean {
    return !this.#firstLoad.isOver;
  }

  /**
   * Sees every write that any node acknowledged before the call. Undefined if the events, or the words that the search needs, are not in
   * memory; also if memory must catch up with many changes, and `mayUseSql` has reserved room for a search by SQL. To be called within
   * an operation of the database. Throws UNAVAILABLE if the primary does not respond.
   */
  search(
    query: NearbyQuery,
    nowMs: number,
    mayUseSql: () => boolean = () => false,
    searcher?: Searcher,
  ): Promise<NearbyPage | undefined> {
    this.#nowMs = nowMs;
    return this.#read(query, mayUseSql, (memory) => memory.search(query, nowMs, searcher));
  }

  /** A page of the list of all events, under the same rules. Undefined whenever memory must catch up with many changes. */
  list(query: AllEventsQuery, nowMs: number, signal?: AbortSignal): Promise<AllEventsPage<Wire> | undefined> {
    return this.#read(
      query,
      () => true,
      (memory) => memory.list(query, nowMs, signal),
    );
  }

  async #read<T>(
    { terms }: Pick<NearbyQuery, 'terms'>,
    mayUseSql: () => boolean,
    read: (memory: EventMemory) => Promise<T>,
  ): Promise<T | undefined> {
    if (!this.#loaded || (terms && !this.#loaded.memory.knowsWords)) return undefined;
    do {
      if (this.#readIndex.isBehind && mayUseSql()) return undefined;
    } while ((await this.#readIndex.confirm()) === 'behind');
    try {
      return this.#loaded && (await read(this.#loaded.memory));
    } catch (error) {
      const hasLostWords = terms !== undefined && this.#loaded?.memory.knowsWords === false;
      if (error instanceof MemoryReplaced || hasLostWords) return undefined;
      throw error;
    }
  }

  /** Both counts are of one moment. Undefined if the events are not in memory, or if memory must catch up with many changes. */
  async count(nowMs: number): Promise<Pick<Stats, 'events' | 'events_upcoming'> | undefined> {
    if (!this.#loaded || this.#readIndex.isBehind || (await this.#readIndex.confirm()) === 'behind')
      return undefined;
    const memory = this.#loaded?.memory;
    return memory && { events: memory.size, events_upcoming: memory.countUpcoming(nowMs) };
  }

  /** Stops loading. Searches from memory work until the database is closed. */
  async close(): Promise<void> {
    this.#readIndex.close();
    this.#closing.abort();
    this.#unloaded.resolve();
    this.#loadConnection?.drop();
    await this.#loop;
  }

  async #keepLoaded(): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = FIRST_LOAD_PAUSE_MS; !signal.aborted; ) {
      const loaded = await this.#load().catch((error: unknown) => {
        this.#firstLoad.noteFailure();
        const isOutage = failureOf(error) !== 'other';
        const cause = isOutage ? unavailable(withoutData(error)) : withoutData(error);
        if (!signal.aborted) this.#report({ by: 'database', reason: 'failure', cause });
        return undefined;
      });
      if (signal.aborted) return;
      if (loaded === 'impossible') this.#firstLoad.end();
      if (loaded === 'loaded') {
        this.#firstLoad.noteProgress();
        const sinceMs = performance.now();
        await this.#unloaded.promise;
        this.#unloaded = Promise.withResolvers();
        // A node that must load again so soon probably cannot follow the changes: the pauses grow, so that it does not load all the time.
        if (performance.now() - sinceMs > MAX_LOAD_PAUSE_MS) pauseMs = FIRST_LOAD_PAUSE_MS;
      }
      const waitMs = loaded === 'impossible' ? IMPOSSIBLE_PAUSE_MS : pauseMs;
      await sleep(waitMs, undefined, { ref: false, signal }).catch(() => {});
      pauseMs = Math.min(2 * pauseMs, MAX_LOAD_PAUSE_MS);
    }
  }

  async #load(): Promise<'loaded' | 'impossible'> {
    const beganMs = performance.now();
    // A pooler would give the settings of our sessions to others, or refuse them.
    if (!(await this.#database.accepted.run('repeatable', isDirect))) {
      this.#report({ by: 'database', reason: 'pooler' });
      return 'impossible';
    }
    const applicationName = await this.#firstLoad.nameOfLoading();
    // No statement timeout: all events take long to read.
    const session = { statementTimeoutMs: 0, settings: POLL_SETTINGS_TO_LOAD, applicationName };
    this.#loadConnection = await this.#database.connect(session);
    try {
      const { signal } = this.#closing;
      signal.throwIfAborted();
      const options = { ...this.#options, nowMs: this.#nowMs, signal };
      const loaded = await load(this.#loadConnection, options, (events) => this.#storageOf(events));
      if (typeof loaded === 'number') {
        this.#report({ by: 'database', reason: 'too large', events: loaded });
        return 'impossible';
      }
      this.#loaded = loaded;
      void this.#readWords(loaded);
      this.#registerMetrics(); // again: the memory has registered its own
      this.#report({ by: 'memory', events: loaded.memory.size, tookMs: performance.now() - beganMs });
      return 'loaded';
    } finally {
      this.#loadConnection.drop();
      this.#loadConnection = undefined;
    }
  }

  /** Reads the words of all events in the background, until that has succeeded. */
  async #readWords(loaded: LoadedEvents): Promise<void> {
    const isUseful = () => this.#loaded === loaded && !this.#closing.signal.aborted;
    const requireUse = () => {
      if (!isUseful()) throw new MemoryReplaced();
    };
    const beganMs = performance.now();
    let furthest = '';
    const onRead = (id: string) => {
      if (id <= furthest) return; // read before: repeating the same part is no progress
      furthest = id;
      this.#firstLoad.noteProgress();
    };
    while (isUseful()) {
      const isDone = await loaded.memory.addWords(loadWords(this.#database, requireUse, onRead)).then(
        () => true,
        () => false,
      );
      if (isDone && isUseful()) {
        this.#isComplete = true;
        this.#firstLoad.end();
        if (loaded.memory.knowsWords) this.#options.onWordsReady?.(performance.now() - beganMs);
      }
      // If it is not useful any more, another load has begun; that this one ended is no failure.
      if (isDone || !isUseful()) return;
      this.#firstLoad.noteFailure();
      await sleep(WORDS_RETRY_MS, undefined, { ref: false });
    }
  }

  #storageOf(events: () => LoadedEvents): EventStorage {
    return {
      readEvents: async (wanted, apply) => {
        const { incarnation } = events();
        const found = await this.#bodies.read(wanted);
        // Under another incarnation, the same version of an event may have another content.
        const isSame = found.incarnation === incarnation && events().incarnation === incarnation;
        return apply(isSame ? found : { ...found, ids: found.ids.map(() => '') });
      },
      catchUp: async () => {
        while ((await this.#readIndex.confirm()) === 'behind');
        if (this.#loaded !== events()) throw new MemoryReplaced();
      },
    };
  }

  /** Lets searches use SQL, and loads all events again. */
  #unload(change: SearchChange): void {
    this.#loaded = undefined;
    this.#isComplete = false;
    this.#dropConnection(); // so that other nodes know
    this.#report(change);
    this.#unloaded.resolve();
  }

  /** Brings the memory to a snapshot taken after the call, or unloads it. Throws UNAVAILABLE if the database does not respond. */
  async #poll(onBehind: () => void): Promise<void> {
    const behind = this.#isBlocked ? setTimeout(onBehind, BEHIND_AFTER_MS) : undefined;
    await this.#pollUntilDone(onBehind).finally(() => clearTimeout(behind));
  }

  async #pollUntilDone(onBehind: () => void): Promise<void> {
    const beginMs = performance.now();
    for (let pauseMs = FIRST_PAUSE_MS; this.#loaded; pauseMs *= 2) {
      try {
        if (!this.#pollConnection?.isCurrent) await this.#connect(beginMs);
        await this.#nameConnection(this.#pollConnection!);
        if (!(await this.#pollOnce(this.#pollConnection!, this.#loaded, onBehind))) continue;
        this.#isBlocked = false;
        return;
      } catch (error) {
        this.#dropConnection();
        const failure = failureOf(error);
        // Nothing was applied, so the next poll goes on from the same snapshot.
        this.#isBlocked = codeOf(error) === STATEMENT_TIMEOUT;
        if (this.#isBlocked) throw unavailable(withoutData(error));
        if (failure === 'lost' || failure === 'not-begun') this.#database.suspect();
        else if (codeOf(error) === 'UNAVAILABLE') throw error;
        else if (failure !== 'conflict')
          return this.#unload({ by: 'database', reason: 'failure', cause: withoutData(error) });
        if (performance.now() - beginMs + pauseMs > PATIENCE_MS) throw unavailable(withoutData(error));
        await sleep(pauseMs);
      }
    }
  }

  async #connect(beginMs: number): Promise<void> {
    this.#dropConnection();
    this.#pollConnectionName = this.#isComplete ? IN_MEMORY : await this.#firstLoad.nameOfLoading();
    const session = { settings: POLL_SETTINGS, applicationName: this.#pollConnectionName };
    this.#pollConnection = await this.#database.connect(session, beginMs);
  }

  #dropConnection(): void {
    this.#pollConnection?.drop();
    this.#pollConnection = undefined;
  }

  /** Tells other nodes when this one has everything in memory. */
  async #nameConnection({ sql }: OwnConnection): Promise<void> {
    if (!this.#isComplete || this.#pollConnectionName === IN_MEMORY) return;
    await sql`SELECT set_config('application_name', ${IN_MEMORY}, false)`;
    this.#pollConnectionName = IN_MEMORY;
  }

  /** False if it must be repeated. */
  async #pollOnce(connection: OwnConnection, loaded: LoadedEvents, onBehind: () => void): Promise<boolean> {
    const { state, changes } = await poll(connection.sql, loaded.snapshot);
    if (state.incarnation === undefined) {
      await writeIncarnation(connection.sql);
      return false;
    }
    const isNew = state.incarnation !== loaded.incarnation;
    const isLogTooShort = state.horizon > loaded.snapshot.xmin;
    const haveAllChanged = changes?.some(({ eventId }) => eventId === ALL_EVENTS_CHANGED);
    let isFollowed = true;
    const behind = isNew || !changes ? setTimeout(onBehind, BEHIND_AFTER_MS) : undefined;
    try {
      if (isNew) isFollowed = await reconcile(connection, loaded);
      else if (isLogTooShort || haveAllChanged) isFollowed = false;
      else if (!changes) isFollowed = await followMany(connection, loaded);
      // All has been read. If the connection is current, it came from the primary.
      else if (connection.isCurrent) await loaded.follow(state, changes);
    } finally {
      clearTimeout(behind);
    }
    if (!connection.isCurrent) return false;
    if (!isFollowed) this.#unload({ by: 'database', reason: 'reload' });
    else if (loaded.memory.size * INDEX_BYTES_PER_EVENT > this.#options.indexMaxBytes)
      this.#unload({ by: 'database', reason: 'too large', events: loaded.memory.size });
    return true;
  }

  /** Reports a change once, however often a load fails again for the same reason. */
  #report(change: SearchChange): void {
    const isSame =
      change.by === 'database' && change.reason !== 'reload' && change.reason === this.#lastReason;
    this.#lastReason = change.by === 'database' ? change.reason : undefined;
    if (!isSame) this.#options.onChange?.(change);
  }

  #registerMetrics(): void {
    const { metrics } = this.#options;
    metrics?.gauge('local_events_index_events', 'Events in the index.', () => this.size ?? 0);
    metrics?.gauge(
      'local_events_searches_from_memory',
      '1 while searches are answered from memory, 0 while they use SQL.',
      () => (this.#loaded ? 1 : 0),
    );
    measureWords(metrics, () => this.#loaded?.memory.knowsWords === true);
  }
}

/** Loading scans the table, and needs no plan for polls. */
const POLL_SETTINGS_TO_LOAD = { extra_float_digits: POLL_SETTINGS.extra_float_digits };

/** The search must start again, with other events in memory or in the database. */
class MemoryReplaced extends Error {}
