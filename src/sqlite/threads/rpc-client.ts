// Client of a worker thread: sends it calls in batches. Calls that arrive while the thread is busy form the next batch.
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError, StartError } from '../../domain/errors.ts';
import type { CallOf, FromThread, Methods, ToThread } from './rpc-server.ts';

interface RpcOptions {
  readonly name: string;
  /** Message for callers when the thread fails. */
  readonly failureMessage: string;
  /** Maximum calls per batch. */
  readonly maxBatch: number;
  /** Maximum batches in flight. */
  readonly maxBatchesInFlight: number;
}

interface Pending<C extends Methods<C>> {
  readonly call: CallOf<C>;
  readonly settle: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class RpcClient<C extends Methods<C>> {
  readonly #thread: Worker;
  readonly #options: RpcOptions;
  readonly #queue: Pending<C>[] = [];
  readonly #inFlight: Pending<C>[][] = [];
  #stopped: Error | undefined;

  protected constructor(thread: Worker, options: RpcOptions) {
    this.#thread = thread;
    this.#options = options;
    thread.on('message', (message: FromThread) => this.#finish(message));
    thread.on('error', (error: Error) => this.#stop(error));
    thread.on('exit', () => this.#stop(new Error(`the ${options.name} thread has exited`)));
  }

  /** Starts a worker file of this folder and waits until its database is open. Throws StartError if that fails. */
  protected static async startThread(file: string, workerData: unknown): Promise<Worker> {
    const thread = new Worker(new URL(file, import.meta.url), { workerData, env: threadEnv() });
    const [first] = (await once(thread, 'message')) as [FromThread];
    if ('startError' in first && first.startError !== undefined) throw new StartError(first.startError);
    return thread;
  }

  /**
   * `apply` converts the returned value to the result, and updates the state of this thread. It runs in the order of the
   * calls. Rejects with UNAVAILABLE if the batch fails.
   */
  run<Name extends keyof C, Result>(
    name: Name,
    args: Parameters<C[Name]>,
    apply: (value: ReturnType<C[Name]>) => Result,
  ): Promise<Result> {
    if (this.#stopped) return Promise.reject(this.#unavailable(this.#stopped));
    return new Promise((resolve, reject) => {
      this.#queue.push({
        call: { name, args },
        settle: (value) => {
          try {
            resolve(apply(value as ReturnType<C[Name]>));
          } catch (error) {
            reject(error); // otherwise the rest of the batch would never settle
          }
        },
        reject,
      });
      this.#startBatch();
    });
  }

  get isGone(): boolean {
    return this.#stopped !== undefined;
  }

  /** Completes pending calls, then ends the thread. */
  async close(): Promise<void> {
    if (this.#stopped) return;
    await this.run('ping', [] as Parameters<C['ping']>, () => {});
    const gone = once(this.#thread, 'exit');
    this.#thread.postMessage('close' satisfies ToThread<C>);
    await gone;
  }

  /** Hook for subclasses: called after each batch, before its calls are settled. */
  protected noteBatch(_names: readonly (keyof C)[], _failed: boolean): void {}

  #startBatch(): void {
    if (this.#queue.length === 0 || this.#inFlight.length === this.#options.maxBatchesInFlight) return;
    const batch = this.#queue.splice(0, this.#options.maxBatch);
    this.#inFlight.push(batch);
    this.#thread.postMessage({ batch: batch.map(({ call }) => call) } satisfies ToThread<C>);
  }

  #finish(message: FromThread): void {
    const finished = this.#inFlight.shift() ?? [];
    this.#startBatch();
    this.noteBatch(
      finished.map(({ call }) => call.name),
      'failure' in message,
    );
    if ('failure' in message) {
      for (const { reject } of finished) reject(this.#unavailable(message.failure));
    } else if ('outcomes' in message) {
      for (const [index, outcome] of message.outcomes.entries()) {
        const pending = finished[index]!;
        if ('error' in outcome) pending.reject(outcome.error);
        else pending.settle(outcome.value);
      }
    }
  }

  #stop(reason: Error): void {
    this.#stopped ??= reason;
    const unanswered = [...this.#inFlight.splice(0).flat(), ...this.#queue.splice(0)];
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
