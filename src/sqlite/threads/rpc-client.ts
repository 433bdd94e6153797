// Client of a worker thread: sends it calls in batches. Calls that arrive while the thread is busy form the next batch.
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError, StartError } from '../../domain/errors.ts';
import { type Distribution, Metrics, queueMetrics } from '../../metrics/metrics.ts';
import type { OnMigrated } from '../../migrations.ts';
import type { CallOf, FromThread, Methods, Outcome, ToThread } from './rpc-server.ts';

/** What the owner of a thread wants to know about it. */
export interface ThreadOptions {
  /** Called if the thread ends by itself. Its calls fail from then on. */
  readonly onDeath?: ((error: Error) => void) | undefined;
  /** Called if the thread finds that the database is damaged. */
  readonly onDamage?: (() => void) | undefined;
  readonly metrics?: Metrics | undefined;
  readonly onMigrated?: OnMigrated | undefined;
}

interface RpcOptions<C extends Methods<C>> extends ThreadOptions {
  readonly name: string;
  /** Message for callers when the thread fails. */
  readonly failureMessage: string;
  /** Maximum weight of a batch. A call that weighs more is a batch of its own. */
  readonly maxBatch: number;
  /** 1 unless given. */
  readonly weightOf?: ((call: CallOf<C>) => number) | undefined;
  /** Small calls count apart, and do not wait behind others. Without this, none are small: calls then run in their order. */
  readonly small?: { readonly includes: (call: CallOf<C>) => boolean; readonly maxBatch: number } | undefined;
  /** Whether a batch waits for all calls of its turn of the event loop: a message costs as much as several small calls. */
  readonly gathersTurn?: boolean | undefined;
  /** Maximum batches in flight. */
  readonly maxBatchesInFlight: number;
  /** Time after which a caller gets an error, although the thread may still finish the call. */
  readonly deadline?: Deadline | undefined;
}

interface Deadline {
  readonly ms: number;
  /** Message for callers whose call was not passed to the thread: it has no effect. */
  readonly notBegun: string;
  /** Message for the others: the call may still have its effect. */
  readonly begun: string;
}

/** How often deadlines are checked. */
const CHECK_INTERVAL_MS = 250;

/** Results are applied for this long before other requests may run: that of a long event takes milliseconds. */
const APPLY_MS = 4;

interface Pending<C extends Methods<C>> {
  readonly call: CallOf<C>;
  readonly sinceMs: number;
  readonly settle: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A result that the thread has sent, and its call has not got yet. */
interface Result<C extends Methods<C>> {
  readonly pending: Pending<C>;
  readonly outcome: Outcome;
}

interface Batch<C extends Methods<C>> {
  readonly calls: Pending<C>[];
  readonly sentMs: number;
}

export class RpcClient<C extends Methods<C>> {
  readonly #thread: Worker;
  readonly #options: RpcOptions<C>;
  readonly #queue: Pending<C>[] = [];
  readonly #smallQueue: Pending<C>[] = [];
  readonly #inFlight: Batch<C>[] = [];
  /** In the order of the calls. */
  readonly #results: Result<C>[] = [];
  readonly #waits: Distribution;
  readonly #deadlines: NodeJS.Timeout | undefined;
  #finishedBatches = 0;
  #stopped: Error | undefined;
  #isClosing = false;
  #isScheduled = false;

  constructor(thread: Worker, options: RpcOptions<C>) {
    this.#thread = thread;
    this.#options = options;
    const { name, metrics = new Metrics() } = options;
    this.#waits = queueMetrics(metrics, name, () => this.#queue.length + this.#smallQueue.length);
    thread.on('message', (message: FromThread) => this.#finish(message));
    thread.on('error', (error: Error) => this.#stop(error));
    thread.on('exit', () => this.#stop(new Error(`the ${options.name} thread has exited`)));
    const { deadline } = options;
    if (deadline) this.#deadlines = setInterval(() => this.#rejectLate(deadline), CHECK_INTERVAL_MS).unref();
  }

  /** Starts a worker file of this folder and waits until its database is open. Throws StartError if that fails. */
  static async startThread(file: string, workerData: unknown, onMigrated?: OnMigrated): Promise<Worker> {
    const thread = new Worker(new URL(file, import.meta.url), { workerData, env: threadEnv() });
    const [first] = (await once(thread, 'message')) as [FromThread];
    if ('startError' in first && first.startError !== undefined) throw new StartError(first.startError);
    if ('migrations' in first) for (const migrated of first.migrations ?? []) onMigrated?.(...migrated);
    return thread;
  }

  /**
   * `apply` converts the returned value to the result, and updates the state of this thread. It runs in the order of the
   * calls; small calls may overtake others. Rejects with UNAVAILABLE if the batch fails.
   */
  run<Name extends keyof C, Result>(
    name: Name,
    args: Parameters<C[Name]>,
    apply: (value: ReturnType<C[Name]>) => Result,
  ): Promise<Result> {
    if (this.#stopped) return Promise.reject(this.#unavailable(this.#stopped));
    return new Promise((resolve, reject) => {
      const call: CallOf<C> = { name, args };
      const queue = this.#options.small?.includes(call) ? this.#smallQueue : this.#queue;
      queue.push({
        call,
        sinceMs: performance.now(),
        settle: (value) => {
          try {
            resolve(apply(value as ReturnType<C[Name]>));
          } catch (error) {
            reject(error); // otherwise the rest of the batch would never settle
          }
        },
        reject,
      });
      if (this.#options.gathersTurn) this.#startAfterTurn();
      else this.#startBatch(false);
    });
  }

  get isGone(): boolean {
    return this.#stopped !== undefined;
  }

  /** A number that grows as long as the thread finishes calls. */
  get finishedBatches(): number {
    return this.#finishedBatches;
  }

  /** Completes pending calls, then ends the thread. */
  async close(): Promise<void> {
    if (this.#stopped) return;
    this.#isClosing = true;
    await this.run('ping', [] as Parameters<C['ping']>, () => {});
    const gone = once(this.#thread, 'exit');
    this.#thread.postMessage('close' satisfies ToThread<C>);
    await gone;
  }

  /** Hook for subclasses: called after each batch, before its calls are settled. */
  protected noteBatch(_names: readonly (keyof C)[], _failed: boolean, _ms: number): void {}

  #startAfterTurn(): void {
    if (this.#isScheduled || this.#inFlight.length === this.#options.maxBatchesInFlight) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#startBatch(false);
    });
  }

  #startBatch(hasWaited = true): void {
    const { small, maxBatchesInFlight } = this.#options;
    // While results wait, one batch more is on its way, so that there are never many of them.
    if (this.#inFlight.length === maxBatchesInFlight || this.#results.length > 0) return;
    const calls = [
      ...this.#smallQueue.splice(0, small?.maxBatch ?? 0),
      ...this.#queue.splice(0, this.#countOfNextBatch()),
    ];
    if (calls.length === 0) return;
    const sentMs = performance.now();
    if (hasWaited) for (const { sinceMs } of calls) this.#waits.observe((sentMs - sinceMs) / 1_000);
    this.#inFlight.push({ calls, sentMs });
    this.#thread.postMessage({ batch: calls.map(({ call }) => call) } satisfies ToThread<C>);
  }

  #countOfNextBatch(): number {
    const { maxBatch, weightOf = () => 1 } = this.#options;
    let count = 0;
    for (let weight = 0; count < this.#queue.length; count++) {
      weight += weightOf(this.#queue[count]!.call);
      if (count > 0 && weight > maxBatch) break;
    }
    return count;
  }

  #finish(message: FromThread): void {
    this.#finishedBatches++;
    const { calls: finished, sentMs } = this.#inFlight.shift() ?? { calls: [], sentMs: performance.now() };
    this.#startBatch();
    this.noteBatch(
      finished.map(({ call }) => call.name),
      'failure' in message,
      performance.now() - sentMs,
    );
    if ('failure' in message) {
      if (message.isDamaged) this.#options.onDamage?.();
      for (const { reject } of finished) reject(this.#unavailable(message.failure));
    } else if ('outcomes' in message) {
      const isApplying = this.#results.length > 0;
      for (const [index, outcome] of message.outcomes.entries())
        this.#results.push({ pending: finished[index]!, outcome });
      if (!isApplying) this.#applyResults();
    }
  }

  readonly #applyResults = (): void => {
    const untilMs = performance.now() + APPLY_MS;
    let count = 0;
    for (const { pending, outcome } of this.#results) {
      if ('error' in outcome) pending.reject(outcome.error);
      else pending.settle(outcome.value);
      count++;
      if (performance.now() > untilMs) break;
    }
    this.#results.splice(0, count);
    if (this.#results.length > 0) setImmediate(this.#applyResults);
    else this.#startBatch();
  };

  /** A call in flight is settled all the same when the thread has finished it: its effect must reach this thread's state. */
  #rejectLate({ ms, notBegun, begun }: Deadline): void {
    const isLate = ({ sinceMs }: Pending<C>) => performance.now() - sinceMs > ms;
    const late = (message: string) => new AppError('UNAVAILABLE', message, { refusedBy: 'write_deadline' });
    for (const { calls } of this.#inFlight) {
      for (const { reject } of calls.filter(isLate)) reject(late(begun));
    }
    for (const queue of [this.#smallQueue, this.#queue]) {
      const waiting = queue.findIndex((pending) => !isLate(pending)); // the oldest are first
      for (const { reject } of queue.splice(0, waiting < 0 ? queue.length : waiting)) reject(late(notBegun));
    }
  }

  #stop(reason: Error): void {
    if (!this.#stopped && !this.#isClosing) this.#options.onDeath?.(reason);
    this.#stopped ??= reason;
    clearInterval(this.#deadlines);
    const unanswered = [
      ...this.#inFlight.splice(0).flatMap(({ calls }) => calls),
      ...this.#smallQueue.splice(0),
      ...this.#queue.splice(0),
    ];
    for (const { reject } of unanswered) reject(this.#unavailable(reason));
  }

  #unavailable(cause: Error): AppError {
    return new AppError('UNAVAILABLE', this.#options.failureMessage, { cause });
  }
}

/**
 * Environment of a thread: only the folder of Node's compile cache, for a faster start. The variables of "node --watch" would
 * make the thread send messages about its imports.
 */
function threadEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir(); // one per version of Node, below the folder that was set
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
