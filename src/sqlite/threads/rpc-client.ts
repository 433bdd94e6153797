// The main thread's end of a thread that answers calls: those that arrive while it has enough to do form the next batch.
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError, StartError } from '../../domain/errors.ts';
import type { CallOf, FromThread, Methods, ToThread } from './rpc-server.ts';

interface RpcOptions {
  readonly name: string;
  /** What callers are told when the thread fails. */
  readonly refusal: string;
  /** How many calls it is given at once. */
  readonly maxBatch: number;
  /** How many batches it is given before the first of them is answered. */
  readonly maxUnderWay: number;
}

interface Pending<C extends Methods<C>> {
  readonly call: CallOf<C>;
  readonly settle: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class RpcClient<C extends Methods<C>> {
  readonly #thread: Worker;
  readonly #options: RpcOptions;
  readonly #waiting: Pending<C>[] = [];
  readonly #underWay: Pending<C>[][] = [];
  #stopped: Error | undefined;

  protected constructor(thread: Worker, options: RpcOptions) {
    this.#thread = thread;
    this.#options = options;
    thread.on('message', (message: FromThread) => this.#finish(message));
    thread.on('error', (error: Error) => this.#stop(error));
    thread.on('exit', () => this.#stop(new Error(`the ${options.name} thread is gone`)));
  }

  /** Starts the thread of a file beside this one and waits until its database is open. Throws StartError if it cannot be. */
  protected static async startThread(file: string, workerData: unknown): Promise<Worker> {
    const thread = new Worker(new URL(file, import.meta.url), { workerData, env: threadEnv() });
    const [first] = (await once(thread, 'message')) as [FromThread];
    if ('refused' in first && first.refused !== undefined) throw new StartError(first.refused);
    return thread;
  }

  /**
   * `apply` makes the result of the answer, and brings the memory of this thread up to date; it runs in the order of the
   * calls. Rejects with UNAVAILABLE when the batch fails.
   */
  run<Name extends keyof C, Result>(
    name: Name,
    args: Parameters<C[Name]>,
    apply: (value: ReturnType<C[Name]>) => Result,
  ): Promise<Result> {
    if (this.#stopped) return Promise.reject(this.#unavailable(this.#stopped));
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        call: { name, args },
        settle: (value) => resolve(apply(value as ReturnType<C[Name]>)),
        reject,
      });
      this.#startBatch();
    });
  }

  get isGone(): boolean {
    return this.#stopped !== undefined;
  }

  /** Answers what was called, then ends the thread. */
  async close(): Promise<void> {
    if (this.#stopped) return;
    await this.run('ping', [] as Parameters<C['ping']>, () => {});
    const gone = once(this.#thread, 'exit');
    this.#thread.postMessage('close' satisfies ToThread<C>);
    await gone;
  }

  /** Told of every batch that has ended, before its calls are answered. */
  protected noteBatch(_names: readonly (keyof C)[], _failed: boolean): void {}

  #startBatch(): void {
    if (this.#waiting.length === 0 || this.#underWay.length === this.#options.maxUnderWay) return;
    const batch = this.#waiting.splice(0, this.#options.maxBatch);
    this.#underWay.push(batch);
    this.#thread.postMessage({ batch: batch.map(({ call }) => call) } satisfies ToThread<C>);
  }

  #finish(message: FromThread): void {
    const finished = this.#underWay.shift() ?? [];
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
    const unanswered = [...this.#underWay.splice(0).flat(), ...this.#waiting.splice(0)];
    for (const { reject } of unanswered) reject(this.#unavailable(reason));
  }

  #unavailable(cause: Error): AppError {
    return new AppError('UNAVAILABLE', this.#options.refusal, { cause });
  }
}

/**
 * The environment of a thread: only where Node keeps compiled code, so that it starts faster. With the variables of
 * "node --watch" it would report what it imports, as messages among ours.
 */
function threadEnv(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir(); // one per version of Node, below the folder that was set
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
