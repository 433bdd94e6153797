// Entry of the thread that reads events missing from the cache. A slow disk therefore never blocks other requests.
import { workerData } from 'node:worker_threads';
import { EventReader, type EventReaderCalls } from './event-reader.ts';
import { serveBatches } from './rpc-server.ts';

export interface ReaderThreadData {
  readonly path: string;
}

const { path } = workerData as ReaderThreadData;

serveBatches<EventReaderCalls>(path, () => new EventReader(path));
