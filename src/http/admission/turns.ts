// Paces requests: a few per turn of the event loop, in fair order. A flood then waits in its own queue, and what arrives
// between two turns from somebody else is served in the next. Without a flood, requests start at once.
import { FairOrder } from './fair-order.ts';

/** Requests per turn of the event loop: at 0.1 ms for a search, a turn takes about 2 ms. */
const PER_TURN = 16;

/**
 * More waiting requests are a flood: then turns are shorter. Node accepts a few connections per turn, so long turns would
 * keep others from connecting.
 */
const FLOOD = 64;
const PER_FLOOD_TURN = 4;

interface Waiting {
  readonly sinceMs: number;
  readonly start: (waitedMs: number) => void;
}

export class Turns {
  readonly #waiting = new FairOrder<Waiting>();
  #started = 0;
  #isScheduled = false;

  /** Calls `start` at once, or when it is the client's turn. */
  enter(network: string, client: string, start: (waitedMs: number) => void): void {
    if (this.#started < PER_TURN && this.#waiting.size === 0) {
      this.#count();
      start(0);
    } else {
      this.#waiting.push(network, client, { sinceMs: performance.now(), start });
    }
  }

  #count(): void {
    this.#started++;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#isScheduled = false;
    this.#started = 0;
    if (this.#waiting.size === 0) return;
    const nowMs = performance.now();
    while (this.#started < (this.#waiting.size > FLOOD ? PER_FLOOD_TURN : PER_TURN)) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#count();
      next.start(nowMs - next.sinceMs);
    }
  };
}
