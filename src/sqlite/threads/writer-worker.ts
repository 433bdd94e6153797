// Entry of the thread that owns the connection for writes.
import { workerData } from 'node:worker_threads';
import { openForWriting } from '../connection.ts';
import { serveBatches } from './rpc-server.ts';
import { Writer, type WriterCalls } from './writer.ts';

export interface WriterThreadData {
  readonly path: string;
  readonly purpose: 'serve' | 'bulk';
}

const { path, purpose } = workerData as WriterThreadData;

serveBatches<WriterCalls>(path, () => {
  const migrations: [string, number][] = [];
  const database = openForWriting(path, purpose, (...migrated) => migrations.push(migrated));
  const writer = new Writer(database);
  return { run: (batch) => writer.run(batch), close: () => database.close(), migrations };
});
