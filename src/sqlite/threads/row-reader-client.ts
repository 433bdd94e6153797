// Main-thread client of the row reader thread.
import type { RowReaderCalls } from './row-reader.ts';
import type { ReaderThreadData } from './row-reader-worker.ts';
import { RpcClient, type ThreadOptions } from './rpc-client.ts';
import type { CallOf } from './rpc-server.ts';

/**
 * Maximum rows per batch: four pages of usual size, or one of the largest; and small calls. Each call waits for its whole batch.
 * A second batch is queued at the thread, so that it need not wait for work.
 */
const MAX_ROWS = 120;
const MAX_SMALL = 16;

/** Calls that read many rows, and `ping`, which waits for them. */
const LARGE: ReadonlySet<keyof RowReaderCalls> = new Set([
  'findEvents',
  'wordsAfter',
  'deletedAfter',
  'ping',
]);

function isSmall(call: CallOf<RowReaderCalls>): boolean {
  return !LARGE.has(call.name) || (call.name === 'findEvents' && call.args[0].length === 1);
}

function rowsOf(call: CallOf<RowReaderCalls>): number {
  return call.name === 'findEvents' ? call.args[0].length : MAX_ROWS;
}

export class RowReaderClient extends RpcClient<RowReaderCalls> {
  /** The database must exist. Throws StartError if it cannot be opened. */
  static async start(path: string, options: ThreadOptions = {}): Promise<RowReaderClient> {
    const data: ReaderThreadData = { path };
    const thread = await RowReaderClient.startThread('./row-reader-worker.ts', data);
    return new RowReaderClient(thread, {
      name: 'reader',
      failureMessage: 'The store could not be read. Retry.',
      maxBatch: MAX_ROWS,
      weightOf: rowsOf,
      small: { includes: isSmall, maxBatch: MAX_SMALL },
      gathersTurn: true,
      maxBatchesInFlight: 2,
      ...options,
    });
  }
}
