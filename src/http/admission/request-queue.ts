// The queue in which requests wait during a flood. A few start in each turn of the event loop, in fair order: the request of another
// client, which arrives between two turns, starts in the next one. Without a flood, requests start at once.
import { performance } from 'node:perf_hooks';
import { FairOrder } from '../../domain/fair-order.ts';
import { type Distribution, Metrics, queueMetrics } from '../../metrics/metrics.ts';

/** Requests per turn of the event loop: at 0.1 ms for a search, a turn takes about 2 ms. */
const PER_TURN = 16;
const TURN_MS = 2;

/**
 * More waiting requests are a flood: then turns are shorter. Node accepts a few connections per turn, so long turns would
 * keep others from connecting.
 */
const FLOOD = 64;
const PER_FLOOD_TURN = 4;

interface Waiting {
  readonly sinceMs: number;
  /** False if there was nothing to start. */
  readonly start: (waitedMs: number) => boolean;
}

export class RequestQueue {
  readonly #waiting = new FairOrder<Waiting>();
  #started = 0;
  #countedUntilMs = 0;
  #isScheduled = false;
  readonly #waits: Distribution;

  constructor(metrics = new Metrics()) {
    this.#waits = queueMetrics(metrics, 'turns', () => this.#waiting.size);
  }

  /** Whether a request that arrived at this time may start at once. If so, it is counted. */
  mayStart(nowMs: number): boolean {
    if (this.#waiting.size > 0) return false;
    // Only an immediate shows that a turn has ended. It costs a turn of its own, so there is one per TURN_MS, not one per request.
    if (nowMs > this.#countedUntilMs) {
      this.#countedUntilMs = nowMs + TURN_MS;
      if (!this.#isScheduled) this.#started = 0;
      this.#schedule();
    }
    // They may have arrived in several turns: then the next ones need not wait.
    if (++this.#started === PER_TURN) this.#schedule();
    return this.#started <= PER_TURN;
  }

  /** Calls `start` when the request is next. It returns false if the client has left; then the next one starts. */
  wait(network: string, client: string, sinceMs: number, start: (waitedMs: number) => boolean): void {
    this.#waiting.push(network, client, { sinceMs, start });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#startNext);
  }

  readonly #startNext = (): void => {
    this.#isScheduled = false;
    this.#started = 0;
    if (this.#waiting.size === 0) return;
    const nowMs = performance.now();
    while (this.#started < (this.#waiting.size > FLOOD ? PER_FLOOD_TURN : PER_TURN)) {
      const next = this.#waiting.shift();
      if (!next) return;
      const waitedMs = nowMs - next.sinceMs;
      if (!next.start(waitedMs)) continue;
      this.#waits.observe(waitedMs / 1_000);
      this.#started++;
    }
    this.#schedule();
  };
}
