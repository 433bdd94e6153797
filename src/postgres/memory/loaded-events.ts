// Events in memory as of a snapshot of the database, and how they follow to the next one. Reads nothing itself.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventStorage } from '../../memory/event-lookup.ts';
import { EventMemory, type MemoryLoader } from '../../memory/event-memory.ts';
import type { IndexedEvent } from '../../memory/index-mapping.ts';
import type { IndexOptions } from '../../memory/memory-words.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { readWords } from '../words.ts';
import { AppliedChanges } from './applied-changes.ts';
import type { Change, ChangedEvent, Deletes, ServerState, StoredEvent } from './changes.ts';
import type { Snapshot } from './snapshot.ts';

/** More removals than this are only marked at first: taking an event out of the index takes 20 µs. */
const MAX_REMOVED_AT_ONCE = 250;

/** Events that are put into the index between two turns of the event loop; as many characters of words count as another. */
const PUT_PER_TURN = 500;
const CHARS_PER_EVENT = 150;

/** An event as it is now. */
export type CurrentEvent = Pick<ChangedEvent, 'eventId' | 'event' | 'words' | 'json'>;

interface LoadedEventsOptions extends IndexOptions {
  readonly cacheBytes: number;
  readonly commonHistoryMs?: number | undefined;
  readonly metrics?: Metrics | undefined;
}

export class LoadedEvents {
  readonly memory: EventMemory;
  readonly applied: AppliedChanges;
  #state: ServerState & { readonly incarnation: string };
  /** Identifies the database server and the log: another server has another history. */
  readonly server: string;
  #changeNumber = 0;

  constructor(
    options: LoadedEventsOptions,
    storage: EventStorage,
    state: ServerState & { readonly incarnation: string },
    server: string,
  ) {
    this.memory = new EventMemory(options.cacheBytes, storage, options.metrics, options);
    this.applied = new AppliedChanges(options.commonHistoryMs);
    this.#state = state;
    this.server = server;
  }

  get snapshot(): Snapshot {
    return this.#state.snapshot;
  }

  get incarnation(): string {
    return this.#state.incarnation;
  }

  /** Fills the memory with all events of the snapshot. */
  async load(
    count: number,
    nowMs: number,
    events: AsyncIterable<readonly StoredEvent[]>,
  ): Promise<MemoryLoader> {
    const loader = this.memory.loader(count, nowMs);
    for await (const batch of events) for (const event of batch) loader.add(this.#numbered(event));
    return loader;
  }

  /** Notes changes that are in the memory already. */
  note(changes: readonly Change[]): void {
    this.applied.add(changes, performance.now());
  }

  /**
   * Applies all changes up to the snapshot of `state`, `deletes` first. No search may look at the index before it resolves: it lets other work run
   * in between. Throws RangeError for an event that this version does not know; the memory is of no use then.
   */
  async follow(
    state: ServerState,
    changes: readonly ChangedEvent[],
    deletes: readonly Deletes[] = [],
  ): Promise<void> {
    await this.#put(changes, deletes);
    this.applied.addDeletes(deletes, performance.now());
    this.applied.add(changes, performance.now());
    if (state.horizon > this.#state.horizon) this.applied.forgetBefore(state.horizon);
    this.#state = { ...state, incarnation: this.#state.incarnation };
  }

  /** The same for the first snapshot of a new incarnation: `changes` has every event that may differ, `log` what the server has. */
  async reconcile(
    state: ServerState & { readonly incarnation: string },
    changes: readonly CurrentEvent[],
    log: readonly Change[],
  ): Promise<void> {
    await this.#put(changes);
    this.applied.replace(log, performance.now());
    this.#state = state;
  }

  #put(changes: readonly CurrentEvent[], deletes: readonly Deletes[] = []): Promise<void> {
    return this.memory.changeTogether(() => {
      for (const { eventIds } of deletes) this.memory.removeMany(eventIds);
      return this.#putAll(changes);
    });
  }

  async #putAll(changes: readonly CurrentEvent[]): Promise<void> {
    const removed = changes.filter(({ event }) => event === undefined);
    if (removed.length > MAX_REMOVED_AT_ONCE)
      this.memory.removeMany(Buffer.from(removed.map(({ eventId }) => eventId).join(',')));
    else for (const { eventId } of removed) this.memory.remove(eventId);
    let steps = 0;
    for (const { event, words: stored, json } of changes) {
      if (event === undefined) continue;
      const found = readWords(stored);
      const words = typeof found === 'string' ? found : await found;
      this.memory.putIndexed(this.#numbered(event), words, json);
      steps += 1 + stored.length / CHARS_PER_EVENT;
      if (steps < PUT_PER_TURN) continue;
      await nextTurn();
      steps = 0;
    }
  }

  /** Numbers the change, because JSON that was read before the last change of its event is not used. */
  #numbered(event: StoredEvent): IndexedEvent {
    this.#changeNumber = (this.#changeNumber + 1) >>> 0;
    return { ...event, row: this.#changeNumber };
  }
}
