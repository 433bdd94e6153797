// The thread that owns the writing connection: opens and migrates the database, then answers one batch after another.
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { StartError } from '../domain/errors.ts';
import { openForWriting } from './connection.ts';
import { type Call, type Outcome, Writer } from './writer.ts';

export interface ThreadData {
  readonly path: string;
  readonly purpose: 'serve' | 'bulk';
}

export type ToThread = { readonly batch: readonly Call[] } | 'close';

export type FromThread =
  /** The first message: `refused` says why the database cannot be used, otherwise it is ready. */
  | { readonly refused: string | undefined }
  | { readonly outcomes: readonly Outcome[] }
  /** The whole batch failed. */
  | { readonly failure: Error };

const port = parentPort!;
const { path, purpose } = workerData as ThreadData;
const send = (message: FromThread) => port.postMessage(message);

function serve(database: DatabaseSync): void {
  const writer = new Writer(database);
  port.on('message', (message: ToThread) => {
    if (message === 'close') {
      database.close();
      port.close();
      return;
    }
    try {
      send({ outcomes: writer.run(message.batch) });
    } catch (error) {
      send({ failure: error as Error });
    }
  });
}

try {
  serve(openForWriting(path, purpose));
  send({ refused: undefined });
} catch (error) {
  const { message } = error as Error;
  send({
    refused: error instanceof StartError ? message : `The database ${path} cannot be opened: ${message}`,
  });
}
