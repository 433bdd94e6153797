// A queue for expensive work: a few at a time for the whole process, in fair order, with a limit on what waits. Works begin
// in different turns of the event loop, so that requests are served in between. Work of a client that has left is not begun.
import { AppError } from '../../domain/errors.ts';
import { FairOrder } from './fair-order.ts';

export interface WorkQueueLimits {
  /** Works in progress. */
  readonly atOnce: number;
  /** Works that begin in the same turn of the event loop. */
  readonly perTurn: number;
  readonly waitingPerClient: number;
  readonly waiting: number;
  readonly waitMs: number;
}

/** Who the work is for. */
export interface Client {
  readonly network: string;
  /** The agent or the administrator; empty for clients without a key. */
  readonly name: string;
  /** Whether the client has closed the connection. */
  isGone(): boolean;
}

interface Waiting {
  readonly sinceMs: number;
  readonly client: Client;
  readonly begin: () => void;
  readonly refuse: (error: AppError) => void;
}

const RETRY_SECONDS = 2;

export class WorkQueue {
  readonly #limits: WorkQueueLimits;
  readonly #waiting = new FairOrder<Waiting>();
  #running = 0;
  /** Works begun in this turn of the event loop. */
  #begun = 0;

  constructor(limits: WorkQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Runs the work when it is the client's turn. Throws RATE_LIMITED if too much of the client's own work waits, OVERLOADED if
   * too much waits altogether or the turn does not come in time.
   */
  async run<T>(client: Client, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom()) this.#countBegun();
    else await this.#wait(client);
    try {
      return await work();
    } finally {
      this.#running--;
      this.#beginNext();
    }
  }

  #hasRoom(): boolean {
    return this.#running < this.#limits.atOnce && this.#begun < this.#limits.perTurn;
  }

  #countBegun(): void {
    this.#running++;
    if (this.#begun++ === 0) setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#begun = 0;
    this.#beginNext();
  };

  /** The next work takes the slot before this returns, so no other can. */
  #beginNext(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (!next) return;
      if (next.client.isGone()) next.refuse(overloaded());
      else if (performance.now() - next.sinceMs > this.#limits.waitMs) next.refuse(overloaded());
      else {
        this.#countBegun();
        next.begin();
      }
    }
  }

  #wait(client: Client): Promise<void> {
    const { waiting, waitingPerClient } = this.#limits;
    const own = this.#waiting.countOf(client.network, client.name);
    if (own >= waitingPerClient) {
      throw new AppError(
        'RATE_LIMITED',
        `${waitingPerClient} of your requests are already waiting. Wait for their responses, then retry.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    // Above the limit, clients with less than the average still get in.
    if (this.#waiting.size >= waiting && own * this.#waiting.networks >= waiting) throw overloaded();
    return new Promise((begin, refuse) => {
      this.#waiting.push(client.network, client.name, { sinceMs: performance.now(), client, begin, refuse });
    });
  }
}

export function overloaded(): AppError {
  return new AppError('OVERLOADED', 'The service has more requests than it can serve in time. Retry.', {
    retryAfterSeconds: RETRY_SECONDS,
  });
}
