// Main-thread client of the list reader thread. The first list starts the thread, because most services never need it. A
// list after the thread has exited starts a new one.
import { AppError } from '../../domain/errors.ts';
import type { ListReaderCalls } from './list-reader.ts';
import type { ListThreadData } from './list-reader-worker.ts';
import { RpcClient, type ThreadOptions } from './rpc-client.ts';

const FAILURE_MESSAGE = 'The list could not be read. Retry.';

class ListThread extends RpcClient<ListReaderCalls> {
  static async start(path: string, options: ThreadOptions): Promise<ListThread> {
    const data: ListThreadData = { path };
    const thread = await ListThread.startThread('./list-reader-worker.ts', data);
    return new ListThread(thread, {
      name: 'list',
      failureMessage: FAILURE_MESSAGE,
      maxBatch: 1,
      maxBatchesInFlight: 1,
      ...options,
    });
  }
}

export class ListReaderClient {
  readonly #path: string;
  readonly #options: ThreadOptions;
  #thread: ListThread | undefined;
  #starting: Promise<ListThread> | undefined;
  #isClosed = false;

  constructor(path: string, options: ThreadOptions = {}) {
    this.#path = path;
    this.#options = options;
  }

  /** Rejects with UNAVAILABLE if the list cannot be read. */
  async run<Name extends keyof ListReaderCalls>(
    name: Name,
    args: Parameters<ListReaderCalls[Name]>,
  ): Promise<ReturnType<ListReaderCalls[Name]>> {
    const thread = await this.#getThread();
    return thread.run(name, args, (value) => value);
  }

  /** Completes pending calls first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = await this.#starting?.catch(() => undefined);
    await thread?.close();
  }

  #getThread(): Promise<ListThread> {
    if (this.#isClosed) throw new AppError('UNAVAILABLE', FAILURE_MESSAGE);
    if (this.#thread?.isGone) this.#starting = undefined;
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<ListThread> {
    try {
      this.#thread = await ListThread.start(this.#path, this.#options);
      return this.#thread;
    } catch (cause) {
      this.#starting = undefined;
      throw new AppError('UNAVAILABLE', FAILURE_MESSAGE, { cause });
    }
  }
}
