// Removes what the operator does not want to keep for ever: ended events and unused agents, regularly and in slices.
import type { Clock } from '../domain/clock-and-random.ts';
import type { Store } from '../domain/store.ts';

const DAY_MS = 86_400_000;
const INTERVAL_MS = 600_000;

/** Between two slices, so that a long removal takes only a part of the store's time. */
const PAUSE_MS = 20;

export interface RetentionPolicy {
  /** Days after its end that an event is kept; undefined: for ever. */
  readonly keepEndedDays: number | undefined;
  /** Days after its registration that an agent is kept that made no request and has no events; undefined: for ever. */
  readonly keepUnusedAgentsDays: number | undefined;
}

export interface RetentionOptions extends RetentionPolicy {
  readonly store: Pick<Store, 'removeEnded' | 'removeUnusedAgents'>;
  readonly clock: Clock;
  readonly onRemoved: (count: number, what: 'events' | 'agents', days: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export class Retention {
  readonly #options: RetentionOptions;
  readonly #done: Promise<void>;
  #isClosed = false;
  /** Ends the current pause. */
  #wake = () => {};

  /** Begins at once. */
  constructor(options: RetentionOptions) {
    this.#options = options;
    const isUsed = options.keepEndedDays !== undefined || options.keepUnusedAgentsDays !== undefined;
    this.#done = isUsed ? this.#repeat() : Promise.resolve();
  }

  /** Waits for the slice that is being removed. The next start continues. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#done;
  }

  async #repeat(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#removeAll();
      } catch (error) {
        if (!this.#isClosed) this.#options.onFailure(error);
      }
      await this.#pause(INTERVAL_MS);
    }
  }

  async #removeAll(): Promise<void> {
    const { store, clock, keepEndedDays, keepUnusedAgentsDays } = this.#options;
    const nowMs = clock();
    if (keepEndedDays !== undefined)
      await this.#remove(store.removeEnded(nowMs - keepEndedDays * DAY_MS), 'events', keepEndedDays);
    if (keepUnusedAgentsDays !== undefined) {
      const slices = store.removeUnusedAgents(nowMs - keepUnusedAgentsDays * DAY_MS);
      await this.#remove(slices, 'agents', keepUnusedAgentsDays);
    }
  }

  async #remove(slices: AsyncIterable<number>, what: 'events' | 'agents', days: number): Promise<void> {
    let total = 0;
    try {
      for await (const count of slices) {
        total += count;
        if (this.#isClosed) return;
        await this.#pause(PAUSE_MS);
      }
    } finally {
      if (total > 0) this.#options.onRemoved(total, what, days);
    }
  }

  /** Ends early when it is closed. */
  async #pause(ms: number): Promise<void> {
    if (this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}
