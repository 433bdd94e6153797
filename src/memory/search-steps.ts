// Long work on the event loop, so that other requests run in between. Searches that take long work in steps of a few milliseconds:
// one step of one of them per turn of the event loop, in fair order. Loading pauses as long as others have work.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairOrder } from '../domain/fair-order.ts';
import type { Searcher } from '../domain/store.ts';

/** A searcher, of whom nothing need be known: searches of the same one share its part of the steps. */
export type AnySearcher = { readonly [K in keyof Searcher]?: Searcher[K] | undefined };

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

export class SearchSteps {
  readonly #waiting = new FairOrder<Waiting>();
  #isScheduled = false;

  /** Resolves when the searcher may take its next step. Rejects with the reason of its signal if that is aborted: this takes no time. */
  next({ network, name, signal }: AnySearcher): Promise<void> {
    return new Promise((begin, refuse) => {
      this.#waiting.push(network ?? '', name ?? '', { begin, refuse, signal });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        if (!next.signal?.aborted) {
          next.begin();
          break;
        }
        next.refuse(next.signal.reason);
      }
      this.#schedule();
    });
  }
}

/** A turn of the event loop that took less had nothing else to do. */
const IDLE_TURN_MS = 0.1;

/** Lets other work run: as long as there is some, but at most for `maxMs`. */
export async function letOthersRun(maxMs: number): Promise<void> {
  const startedMs = performance.now();
  for (let beforeMs = startedMs; ; ) {
    await nextTurn();
    const nowMs = performance.now();
    if (nowMs - beforeMs < IDLE_TURN_MS || nowMs - startedMs >= maxMs) return;
    beforeMs = nowMs;
  }
}
