// Main-thread client of the writer thread. A batch of calls is one transaction; its calls return once it is on disk.
import { RpcClient } from './rpc-client.ts';
import type { WriterCalls } from './writer.ts';
import type { WriterThreadData } from './writer-worker.ts';

/** Maximum calls per transaction. More would not increase throughput, only the latency of waiting calls. */
const MAX_BATCH = 512;

export class WriterClient extends RpcClient<WriterCalls> {
  #failing = false;

  /** Waits until the database is open and migrated. Throws StartError if that fails. */
  static async start(path: string, purpose: WriterThreadData['purpose'] = 'serve'): Promise<WriterClient> {
    const data: WriterThreadData = { path, purpose };
    const thread = await WriterClient.startThread('./writer-worker.ts', data);
    return new WriterClient(thread, {
      name: 'writer',
      failureMessage: 'The store could not be written. Retry.',
      maxBatch: MAX_BATCH,
      maxBatchesInFlight: 1,
    });
  }

  /** Whether the last batch with writes could not be committed. */
  get isFailing(): boolean {
    return this.#failing;
  }

  protected override noteBatch(names: readonly (keyof WriterCalls)[], failed: boolean): void {
    this.#failing = failed || (this.#failing && names.every((name) => name === 'ping'));
  }
}
