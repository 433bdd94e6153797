// Main-thread client of the row reader thread.
import type { RowReaderCalls } from './row-reader.ts';
import type { ReaderThreadData } from './row-reader-worker.ts';
import { RpcClient, type ThreadOptions } from './rpc-client.ts';

/**
 * Maximum pages per batch; each waits for its whole batch. A second batch is queued at the thread, so that the thread never
 * waits for work.
 */
const MAX_BATCH = 4;

export class RowReaderClient extends RpcClient<RowReaderCalls> {
  /** The database must exist. Throws StartError if it cannot be opened. */
  static async start(path: string, options: ThreadOptions = {}): Promise<RowReaderClient> {
    const data: ReaderThreadData = { path };
    const thread = await RowReaderClient.startThread('./row-reader-worker.ts', data);
    return new RowReaderClient(thread, {
      name: 'reader',
      failureMessage: 'The store could not be read. Retry.',
      maxBatch: MAX_BATCH,
      maxBatchesInFlight: 2,
      ...options,
    });
  }
}
