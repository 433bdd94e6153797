// The main thread's end of the writer: calls that arrive while a batch is being committed form the next batch.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { AppError, StartError } from '../domain/errors.ts';
import type { Call, WriterCalls } from './writer.ts';
import type { FromThread, ThreadData, ToThread } from './writer-thread.ts';

/** More than this many calls in one transaction gain nothing and make those that wait, wait longer. */
const MAX_BATCH = 512;

interface Pending {
  readonly call: Call;
  readonly settle: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class WriterClient {
  readonly #thread: Worker;
  #waiting: Pending[] = [];
  #running: Pending[] = [];
  #stopped: Error | undefined;
  #failing = false;

  private constructor(thread: Worker) {
    this.#thread = thread;
    thread.on('message', (message: FromThread) => this.#finish(message));
    thread.on('error', (error: Error) => this.#stop(error));
    thread.on('exit', () => this.#stop(new Error('the writer thread is gone')));
  }

  /** Starts the thread and waits until the database is open and migrated. Throws StartError if it cannot be. */
  static async start(path: string, purpose: 'serve' | 'bulk' = 'serve'): Promise<WriterClient> {
    const workerData: ThreadData = { path, purpose };
    // It reads no variables; with those of "node --watch" it would report what it imports, as messages among ours.
    const thread = new Worker(new URL('./writer-thread.ts', import.meta.url), { workerData, env: {} });
    const [first] = (await once(thread, 'message')) as [FromThread];
    if ('refused' in first && first.refused !== undefined) throw new StartError(first.refused);
    return new WriterClient(thread);
  }

  /**
   * Runs one call and answers once it is on the disk. `apply` brings the memory of this thread up to date; it runs in the
   * order of the commits, before the answer. Rejects with UNAVAILABLE when the commit fails.
   */
  run<Name extends keyof WriterCalls, Result>(
    name: Name,
    args: Parameters<WriterCalls[Name]>,
    apply: (value: ReturnType<WriterCalls[Name]>) => Result,
  ): Promise<Result> {
    if (this.#stopped) return Promise.reject(unavailable(this.#stopped));
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        call: { name, args } as Call,
        settle: (value) => resolve(apply(value as ReturnType<WriterCalls[Name]>)),
        reject,
      });
      if (this.#running.length === 0) this.#startBatch();
    });
  }

  /** Whether the last batch that wrote something could not be committed. */
  get isFailing(): boolean {
    return this.#failing;
  }

  async close(): Promise<void> {
    if (this.#stopped) return;
    await this.run('ping', [], () => {});
    const gone = once(this.#thread, 'exit');
    this.#thread.postMessage('close' satisfies ToThread);
    await gone;
  }

  #startBatch(): void {
    if (this.#waiting.length === 0) return;
    this.#running = this.#waiting.splice(0, MAX_BATCH);
    this.#thread.postMessage({ batch: this.#running.map(({ call }) => call) } satisfies ToThread);
  }

  #finish(message: FromThread): void {
    const finished = this.#running;
    this.#running = [];
    this.#startBatch();
    this.#failing =
      'failure' in message || (this.#failing && finished.every(({ call }) => call.name === 'ping'));
    if ('failure' in message) {
      for (const { reject } of finished) reject(unavailable(message.failure));
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
    for (const { reject } of [...this.#running, ...this.#waiting]) reject(unavailable(reason));
    this.#running = [];
    this.#waiting = [];
  }
}

function unavailable(cause: Error): AppError {
  return new AppError('UNAVAILABLE', 'The store could not write. Try again.', { cause });
}
