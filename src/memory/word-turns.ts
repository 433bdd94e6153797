// Turns of searches that take long: one of them at a time works for a few milliseconds, in fair order, and other requests run
// in between. Those whose clients have left end with their next turn, which takes no time.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairOrder } from '../domain/fair-order.ts';
import type { Searcher } from '../domain/store.ts';

/** Whoever is the same takes turns with others, not with itself. */
export type Taker = { readonly [K in keyof Searcher]?: Searcher[K] | undefined };

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

export class WordTurns {
  readonly #waiting = new FairOrder<Waiting>();
  #isScheduled = false;

  /** Resolves when it is the searcher's turn. Rejects with the reason of its signal if that is aborted. */
  next({ network, name, signal }: Taker): Promise<void> {
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
