// The main thread's end of the reader of events.
import type { EventReaderCalls } from './event-reader.ts';
import type { ReaderThreadData } from './reader-thread.ts';
import { ThreadClient } from './thread-client.ts';

/** Pages at once: the first of them waits for the last. A second batch waits in front of the thread, so that it never does. */
const MAX_BATCH = 4;

export class ReaderClient extends ThreadClient<EventReaderCalls> {
  /** The database must exist already. Throws StartError if it cannot be opened. */
  static async start(path: string): Promise<ReaderClient> {
    const data: ReaderThreadData = { path };
    const thread = await ReaderClient.startThread('./reader-thread.ts', data);
    return new ReaderClient(thread, {
      name: 'reader',
      refusal: 'The store could not be read. Try again.',
      maxBatch: MAX_BATCH,
      maxUnderWay: 2,
    });
  }
}
