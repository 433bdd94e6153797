// A queue for expensive work: a few at a time for the whole process, in fair order, with a limit on what waits. Works begin
// in different turns of the event loop, so that requests are served in between. Work of a client that has left is not begun, and
// does not keep others waiting.
import { AppError, type RefusedBy } from '../../domain/errors.ts';
import { FairOrder } from '../../domain/fair-order.ts';
import { type Distribution, Metrics, queueMetrics } from '../../metrics/metrics.ts';

export interface WorkQueueLimits {
  /** Works in progress. Those of clients that have left do not count, up to as many again: they may take long to end. */
  readonly atOnce: number;
  /** Works of one client in progress, so that others need not wait for one of these to end. Default: as many as of all. */
  readonly atOncePerClient?: number | undefined;
  /** The same of all clients of one network. */
  readonly atOncePerNetwork?: number | undefined;
  /** Works that begin in the same turn of the event loop. */
  readonly perTurn: number;
  /** Turns in which none begins after that. Default: 0. */
  readonly pauseTurns?: number | undefined;
  readonly waitingPerClient: number;
  readonly waiting: number;
  readonly waitMs: number;
}

/** Stands for trusted proxies themselves: they speak for many clients, so no limit per network applies to them. */
export const UNLIMITED = 'proxy';

/** Who the work is for. */
export interface Client {
  readonly network: string;
  /** The agent, the readers without a key of a network, or the administrator; empty for other clients. */
  readonly name: string;
  /** Whether the client has closed the connection. */
  isGone(): boolean;
}

interface Work {
  readonly client: Client;
  readonly name: string;
  /** Whether its client has left, and another work has its slot. */
  isAbandoned: boolean;
}

interface Waiting extends Work {
  readonly sinceMs: number;
  readonly begin: () => void;
  readonly refuse: (error: AppError) => void;
}

const RETRY_SECONDS = 2;

/** How often those that wait are looked at, whether or not a slot is free. */
const CHECK_MS = 250;

export class WorkQueue {
  readonly #limits: WorkQueueLimits;
  readonly #waiting = new FairOrder<Waiting>();
  readonly #running = new Set<Work>();
  #abandoned = 0;
  /** Works in progress by client and by network, if there is a limit for each. */
  readonly #runningOf = new Map<string, number>();
  /** Works begun in this turn of the event loop, or before the pause after it. */
  #begun = 0;
  /** Runs while something waits. */
  #timer: NodeJS.Timeout | undefined;

  readonly #waits: Distribution;

  constructor(limits: WorkQueueLimits, name = 'work', metrics = new Metrics()) {
    this.#limits = limits;
    this.#waits = queueMetrics(metrics, name, () => this.#waiting.size);
  }

  /**
   * Runs the work in fair order. Throws RATE_LIMITED if too much of the client's own work waits, OVERLOADED if
   * too much waits altogether or the work cannot begin in time. Clients of one network are told apart by `name`.
   */
  async run<T>(client: Client, work: () => Promise<T>, name = client.name): Promise<T> {
    const isFree = this.#hasRoom() && this.#mayBegin(client.network, name);
    const begun: Work = isFree ? { client, name, isAbandoned: false } : await this.#wait(client, name);
    if (isFree) this.#countBegun(begun);
    try {
      return await work();
    } finally {
      this.#countEnded(begun);
      this.#beginNext();
    }
  }

  #hasRoom(): boolean {
    return this.#running.size - this.#abandoned < this.#limits.atOnce && this.#begun < this.#limits.perTurn;
  }

  readonly #mayBegin = (network: string, name: string): boolean => {
    const { atOncePerClient = Infinity, atOncePerNetwork = Infinity } = this.#limits;
    const isBelow = (key: string, limit: number) =>
      limit === Infinity || (this.#runningOf.get(key) ?? 0) < limit;
    return (
      isBelow(keyOf(network, name), atOncePerClient) &&
      (network === UNLIMITED || isBelow(network, atOncePerNetwork))
    );
  };

  #countBegun(work: Work): void {
    this.#running.add(work);
    this.#count(work, 1);
    if (this.#begun++ === 0) this.#pause(this.#limits.pauseTurns);
  }

  #countEnded(work: Work): void {
    this.#running.delete(work);
    this.#count(work, -1);
    if (work.isAbandoned) this.#abandoned--;
  }

  #count({ client: { network }, name }: Work, change: number): void {
    if ((this.#limits.atOncePerClient ?? this.#limits.atOncePerNetwork) === undefined) return;
    for (const key of [keyOf(network, name), network]) {
      const running = (this.#runningOf.get(key) ?? 0) + change;
      if (running > 0) this.#runningOf.set(key, running);
      else this.#runningOf.delete(key);
    }
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
      const next = this.#waiting.shift(this.#mayBegin);
      if (!next) return;
      if (this.#refuseIfLate(next)) continue;
      this.#waits.observe((performance.now() - next.sinceMs) / 1_000);
      this.#countBegun(next);
      next.begin();
    }
  }

  #isLate({ sinceMs }: Waiting): boolean {
    return performance.now() - sinceMs > this.#limits.waitMs;
  }

  /** Refuses work that nobody waits for, or that has waited too long. */
  #refuseIfLate(waiting: Waiting): boolean {
    if (waiting.client.isGone()) waiting.refuse(overloaded());
    else if (this.#isLate(waiting)) waiting.refuse(overloaded('queue_wait'));
    else return false;
    return true;
  }

  /** Frees what clients that have left keep from others. */
  #check(): void {
    const isOver = (waiting: Waiting) => waiting.client.isGone() || this.#isLate(waiting);
    for (const waiting of this.#waiting.remove(isOver)) this.#refuseIfLate(waiting);
    for (const work of this.#running) {
      if (this.#abandoned === this.#limits.atOnce) break;
      if (work.isAbandoned || !work.client.isGone()) continue;
      work.isAbandoned = true;
      this.#abandoned++;
    }
    this.#beginNext();
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #wait(client: Client, name: string): Promise<Work> {
    const { waiting, waitingPerClient } = this.#limits;
    const { own, network, clients } = this.#waiting.countOf(client.network, name);
    if (own >= waitingPerClient) {
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
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref();
    return new Promise((resolve, refuse) => {
      const item: Waiting = {
        client,
        name,
        isAbandoned: false,
        sinceMs: performance.now(),
        begin: () => resolve(item),
        refuse,
      };
      this.#waiting.push(client.network, name, item);
    });
  }
}

function keyOf(network: string, name: string): string {
  return `${network} ${name}`;
}

/** `refusedBy` is left out if the client has left, so that nobody is refused. */
export function overloaded(refusedBy?: RefusedBy): AppError {
  return new AppError('OVERLOADED', 'The service has more requests than it can serve in time. Retry.', {
    retryAfterSeconds: RETRY_SECONDS,
    ...(refusedBy && { refusedBy }),
  });
}
