// The main thread's end of the reader of lists. Its thread is started by the first list that is asked for, and again after
// one that is gone: most services never need it.
import { AppError } from '../../domain/errors.ts';
import type { ListReaderCalls } from './list-reader.ts';
import type { ListThreadData } from './list-reader-worker.ts';
import { RpcClient } from './rpc-client.ts';

const REFUSAL = 'The list could not be read. Try again.';

class ListThread extends RpcClient<ListReaderCalls> {
  static async start(path: string): Promise<ListThread> {
    const data: ListThreadData = { path };
    const thread = await ListThread.startThread('./list-reader-worker.ts', data);
    return new ListThread(thread, { name: 'list', refusal: REFUSAL, maxBatch: 1, maxUnderWay: 1 });
  }
}

export class ListReaderClient {
  readonly #path: string;
  #thread: ListThread | undefined;
  #starting: Promise<ListThread> | undefined;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects with UNAVAILABLE when the list cannot be read. */
  async run<Name extends keyof ListReaderCalls>(
    name: Name,
    args: Parameters<ListReaderCalls[Name]>,
  ): Promise<ReturnType<ListReaderCalls[Name]>> {
    const thread = await this.#getThread();
    return thread.run(name, args, (value) => value);
  }

  /** Answers what was asked. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const thread = await this.#starting?.catch(() => undefined);
    await thread?.close();
  }

  #getThread(): Promise<ListThread> {
    if (this.#isClosed) throw new AppError('UNAVAILABLE', REFUSAL);
    if (this.#thread?.isGone) this.#starting = undefined;
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<ListThread> {
    try {
      this.#thread = await ListThread.start(this.#path);
      return this.#thread;
    } catch (cause) {
      this.#starting = undefined;
      throw new AppError('UNAVAILABLE', REFUSAL, { cause });
    }
  }
}
