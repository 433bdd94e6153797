// A queue for expensive work: a few at a time for the whole process, in fair order, with a limit on what waits. Works begin
// in different turns of the event loop, so that requests are served in between. Work of a client that has left is not begun.
import { AppError, type RefusedBy } from '../../domain/errors.ts';
import { type Distribution, Metrics } from '../../metrics/metrics.ts';
import { queueMetrics } from '../../metrics/queue-metrics.ts';
import { FairOrder } from './fair-order.ts';

export interface WorkQueueLimits {
  /** Works in progress. */
  readonly atOnce: number;
  /** Works of one client in progress, so that others need not wait for one of these to end. Default: as many as of all. */
  readonly atOncePerClient?: number | undefined;
  /** Works that begin in the same turn of the event loop. */
  readonly perTurn: number;
  /** Turns in which none begins after that. Default: 0. */
  readonly pauseTurns?: number | undefined;
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
  readonly name: string;
  readonly begin: () => void;
  readonly refuse: (error: AppError) => void;
}

const RETRY_SECONDS = 2;

export class WorkQueue {
  readonly #limits: WorkQueueLimits;
  readonly #waiting = new FairOrder<Waiting>();
  /** Works whose turn came while their clients had as many in progress as they may. */
  readonly #parked = new Map<string, Waiting[]>();
  #running = 0;
  /** By client, if there is a limit for each. */
  readonly #runningOf = new Map<string, number>();
  /** Works begun in this turn of the event loop, or before the pause after it. */
  #begun = 0;

  readonly #waits: Distribution;

  constructor(limits: WorkQueueLimits, name = 'work', metrics = new Metrics()) {
    this.#limits = limits;
    this.#waits = queueMetrics(metrics, name, () => this.#waiting.size + this.#countParked());
  }

  /**
   * Runs the work when it is the client's turn. Throws RATE_LIMITED if too much of the client's own work waits, OVERLOADED if
   * too much waits altogether or the turn does not come in time. Clients of one network are told apart by `name`.
   */
  async run<T>(client: Client, work: () => Promise<T>, name = client.name): Promise<T> {
    if (this.#hasRoom() && this.#mayBegin(client, name)) this.#countBegun(client, name);
    else await this.#wait(client, name);
    try {
      return await work();
    } finally {
      this.#countEnded(client, name);
      this.#beginNext();
    }
  }

  #hasRoom(): boolean {
    return this.#running < this.#limits.atOnce && this.#begun < this.#limits.perTurn;
  }

  #mayBegin(client: Client, name: string): boolean {
    const { atOncePerClient } = this.#limits;
    if (atOncePerClient === undefined) return true;
    return (this.#runningOf.get(keyOf(client, name)) ?? 0) < atOncePerClient;
  }

  #countBegun(client: Client, name: string): void {
    this.#running++;
    if (this.#limits.atOncePerClient !== undefined) {
      const key = keyOf(client, name);
      this.#runningOf.set(key, (this.#runningOf.get(key) ?? 0) + 1);
    }
    if (this.#begun++ === 0) this.#pause(this.#limits.pauseTurns);
  }

  #countEnded(client: Client, name: string): void {
    this.#running--;
    if (this.#limits.atOncePerClient === undefined) return;
    const key = keyOf(client, name);
    const running = this.#runningOf.get(key)! - 1;
    if (running > 0) this.#runningOf.set(key, running);
    else this.#runningOf.delete(key);
    const parked = this.#parked.get(key);
    const next = parked?.shift();
    if (parked?.length === 0) this.#parked.delete(key);
    if (next) this.#waiting.push(client.network, name, next);
  }

  #park(waiting: Waiting): void {
    const key = keyOf(waiting.client, waiting.name);
    const parked = this.#parked.get(key);
    if (parked) parked.push(waiting);
    else this.#parked.set(key, [waiting]);
  }

  #countParked(): number {
    let count = 0;
    for (const { length } of this.#parked.values()) count += length;
    return count;
  }

  #pause(turns = 0): void {
    setImmediate(() => {
      if (turns > 0) return this.#pause(turns - 1);
      this.#begun = 0;
      this.#beginNext();
    });
  }

  /** The next work takes the slot before this returns, so no other can. */
  #beginNext(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (!next) return;
      const { client, name, begin, refuse } = next;
      const waitedMs = performance.now() - next.sinceMs;
      if (client.isGone()) refuse(overloaded());
      else if (waitedMs > this.#limits.waitMs) refuse(overloaded('queue_wait'));
      else if (!this.#mayBegin(client, name)) this.#park(next);
      else {
        this.#waits.observe(waitedMs / 1_000);
        this.#countBegun(client, name);
        begin();
      }
    }
  }

  #wait(client: Client, name: string): Promise<void> {
    const { waiting, waitingPerClient } = this.#limits;
    const { own, network, clients } = this.#waiting.countOf(client.network, name);
    const parked = this.#parked.size > 0 ? (this.#parked.get(keyOf(client, name))?.length ?? 0) : 0;
    if (own + parked >= waitingPerClient) {
      throw new AppError(
        'RATE_LIMITED',
        `${waitingPerClient} of your requests are already waiting. Wait for their responses, then retry.`,
        { retryAfterSeconds: RETRY_SECONDS, refusedBy: 'queue_per_client' },
      );
    }
    // Above the limit, networks with less than the average still get in; in the others, clients with less than the average of
    // their network, up to twice the limit.
    const { size, networks } = this.#waiting;
    const isGreedyNetwork = network > 0 && network * networks >= size;
    const isGreedyClient = own > 0 && own * clients >= network;
    if (isGreedyNetwork && size >= (isGreedyClient ? waiting : 2 * waiting)) throw overloaded('queue');
    return new Promise((begin, refuse) => {
      this.#waiting.push(client.network, name, { sinceMs: performance.now(), client, name, begin, refuse });
    });
  }
}

function keyOf({ network }: Client, name: string): string {
  return `${network} ${name}`;
}

/** `refusedBy` is left out if the client has left, so that nobody is refused. */
export function overloaded(refusedBy?: RefusedBy): AppError {
  return new AppError('OVERLOADED', 'The service has more requests than it can serve in time. Retry.', {
    retryAfterSeconds: RETRY_SECONDS,
    ...(refusedBy && { refusedBy }),
  });
}
