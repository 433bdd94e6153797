// Main-thread client of the event reader thread.
import type { EventReaderCalls } from './event-reader.ts';
import type { ReaderThreadData } from './event-reader-worker.ts';
import { RpcClient } from './rpc-client.ts';

/**
 * Maximum pages per batch; each waits for its whole batch. A second batch is queued at the thread, so that the thread never
 * waits for work.
 */
const MAX_BATCH = 4;

export class EventReaderClient extends RpcClient<EventReaderCalls> {
  /** The database must exist. Throws StartError if it cannot be opened. */
  static async start(path: string): Promise<EventReaderClient> {
    const data: ReaderThreadData = { path };
    const thread = await EventReaderClient.startThread('./event-reader-worker.ts', data);
    return new EventReaderClient(thread, {
      name: 'reader',
      failureMessage: 'The store could not be read. Retry.',
      maxBatch: MAX_BATCH,
      maxBatchesInFlight: 2,
    });
  }
}
