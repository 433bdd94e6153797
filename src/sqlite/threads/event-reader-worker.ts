// The thread that reads events which searches and reads find missing in the cache: a disk that is slow
// never holds up what others ask.
import { workerData } from 'node:worker_threads';
import { EventReader, type EventReaderCalls } from './event-reader.ts';
import { serveBatches } from './rpc-server.ts';

export interface ReaderThreadData {
  readonly path: string;
}

const { path } = workerData as ReaderThreadData;

serveBatches<EventReaderCalls>(path, () => new EventReader(path));
