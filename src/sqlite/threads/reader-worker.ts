// Entry of the threads that read: single rows, events that are missing in the cache, and lists. A slow disk or a long list therefore
// never blocks other requests.
import { workerData } from 'node:worker_threads';
import { Reader } from '../reader.ts';
import { GrantReader, type GrantReaderCalls } from './grant-reader.ts';
import { ListReader, type ListReaderCalls } from './list-reader.ts';
import { RowReader, type RowReaderCalls } from './row-reader.ts';
import { type Batches, serveBatches } from './rpc-server.ts';

export interface ReaderThreadData {
  readonly path: string;
  readonly cacheKib: number;
}

type SingleReads = 'findAgentDetails' | 'findSetting' | 'countFreeBytes';

export interface ReaderCalls
  extends Pick<Reader, SingleReads>,
    RowReaderCalls,
    ListReaderCalls,
    GrantReaderCalls {
  ping(): void;
}

/** Each statement reads the latest commit, so the rows of one page of a search may come from different commits. */
function open(path: string, cacheKib: number): Batches<ReaderCalls> {
  const reader = new Reader(path);
  reader.connection.exec(`PRAGMA cache_size = -${cacheKib}`);
  const rows = new RowReader(reader.connection);
  const { connection } = reader;
  const others = [new ListReader(connection), new GrantReader(connection), { ping() {} }];
  const parts = [reader, rows, ...others] as unknown as Record<
    string,
    (...args: readonly unknown[]) => unknown
  >[];
  return {
    run(batch) {
      const events = rows.findEvents(
        batch.flatMap((call) => (call.name === 'findEvents' ? [call.args[0]] : [])),
      );
      return batch.map(({ name, args }) => ({
        value: name === 'findEvents' ? events.shift() : parts.find((part) => name in part)![name]!(...args),
      }));
    },
    close: () => reader.close(),
  };
}

const { path, cacheKib } = workerData as ReaderThreadData;

serveBatches(path, () => open(path, cacheKib));
