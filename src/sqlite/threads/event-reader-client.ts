// The main thread's end of the reader of events.
import type { EventReaderCalls } from './event-reader.ts';
import type { ReaderThreadData } from './event-reader-worker.ts';
import { RpcClient } from './rpc-client.ts';

/** Pages at once: the first of them waits for the last. A second batch waits in front of the thread, so that it never does. */
const MAX_BATCH = 4;

export class EventReaderClient extends RpcClient<EventReaderCalls> {
  /** The database must exist already. Throws StartError if it cannot be opened. */
  static async start(path: string): Promise<EventReaderClient> {
    const data: ReaderThreadData = { path };
    const thread = await EventReaderClient.startThread('./event-reader-worker.ts', data);
    return new EventReaderClient(thread, {
      name: 'reader',
      refusal: 'The store could not be read. Try again.',
      maxBatch: MAX_BATCH,
      maxUnderWay: 2,
    });
  }
}
