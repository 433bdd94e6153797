// Entry of the thread that reads single rows, and events missing from the cache. A slow disk therefore never blocks other requests.
import { workerData } from 'node:worker_threads';
import { RowReader, type RowReaderCalls } from './row-reader.ts';
import { serveBatches } from './rpc-server.ts';

export interface ReaderThreadData {
  readonly path: string;
}

const { path } = workerData as ReaderThreadData;

serveBatches<RowReaderCalls>(path, () => new RowReader(path));
