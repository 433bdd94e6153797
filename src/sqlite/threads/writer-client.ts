// The main thread's end of the writer: a batch of calls is one transaction, and is answered once it is on the disk.
import { RpcClient } from './rpc-client.ts';
import type { WriterCalls } from './writer.ts';
import type { WriterThreadData } from './writer-worker.ts';

/** More than this many calls in one transaction gain nothing and make those that wait, wait longer. */
const MAX_BATCH = 512;

export class WriterClient extends RpcClient<WriterCalls> {
  #failing = false;

  /** Waits until the database is open and migrated. Throws StartError if it cannot be. */
  static async start(path: string, purpose: WriterThreadData['purpose'] = 'serve'): Promise<WriterClient> {
    const data: WriterThreadData = { path, purpose };
    const thread = await WriterClient.startThread('./writer-worker.ts', data);
    return new WriterClient(thread, {
      name: 'writer',
      refusal: 'The store could not write. Try again.',
      maxBatch: MAX_BATCH,
      maxUnderWay: 1,
    });
  }

  /** Whether the last batch that wrote something could not be committed. */
  get isFailing(): boolean {
    return this.#failing;
  }

  protected override noteBatch(names: readonly (keyof WriterCalls)[], failed: boolean): void {
    this.#failing = failed || (this.#failing && names.every((name) => name === 'ping'));
  }
}
