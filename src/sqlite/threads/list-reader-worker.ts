// Entry of the thread that reads lists for administrators, so that other requests do not wait for them.
import { workerData } from 'node:worker_threads';
import { ListReader, type ListReaderCalls } from './list-reader.ts';
import { serveBatches } from './rpc-server.ts';

export interface ListThreadData {
  readonly path: string;
}

const { path } = workerData as ListThreadData;

serveBatches<ListReaderCalls>(path, () => new ListReader(path));
