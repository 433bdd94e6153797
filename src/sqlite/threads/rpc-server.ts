// Worker-thread side of rpc-client.ts: opens the database, then runs one batch of calls after another. The writer and the
// readers implement the calls.
import { parentPort } from 'node:worker_threads';
import { StartError } from '../../domain/errors.ts';
import type { OnMigrated } from '../../migrations.ts';

const SQLITE_FULL = 13;

/** Methods that a thread offers. `ping` does nothing; it serves to wait for earlier calls. */
export type Methods<C> = { [Name in keyof C]: (...args: never[]) => unknown } & { ping(): void };

export type CallOf<C extends Methods<C>> = {
  [Name in keyof C]: { readonly name: Name; readonly args: Parameters<C[Name]> };
}[keyof C];

export type Outcome = { readonly value: unknown } | { readonly error: Error };

export type ToThread<C extends Methods<C>> = { readonly batch: readonly CallOf<C>[] } | 'close';

export type FromThread =
  /** The first message: `startError` says why the database cannot be used; undefined if it is ready. */
  | {
      readonly startError: string | undefined;
      readonly migrations?: readonly Parameters<OnMigrated>[] | undefined;
    }
  | { readonly outcomes: readonly Outcome[] }
  /** The whole batch failed. `isDamaged`: the database is damaged; an error loses its number on the way. */
  | { readonly failure: Error; readonly isDamaged: boolean };

/** Implementation of a thread's methods. `run` throws if the whole batch fails. */
export interface Batches<C extends Methods<C>> {
  run(batch: readonly CallOf<C>[]): readonly Outcome[];
  close(): void;
  /** Those that were applied to open the database. */
  readonly migrations?: readonly Parameters<OnMigrated>[];
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

function isDamage(error: unknown): boolean {
  const { errcode = 0 } = error as { errcode?: number };
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(errcode & 0xff);
}

/** Serves batches until the client closes the thread. `open` may throw StartError. */
export function serveBatches<C extends Methods<C>>(path: string, open: () => Batches<C>): void {
  const port = parentPort!;
  const send = (message: FromThread) => port.postMessage(message);
  try {
    const batches = open();
    port.on('message', (message: ToThread<C>) => {
      if (message === 'close') {
        batches.close();
        port.close();
        return;
      }
      try {
        send({ outcomes: batches.run(message.batch) });
      } catch (error) {
        send({ failure: error as Error, isDamaged: isDamage(error) });
      }
    });
    send({ startError: undefined, migrations: batches.migrations });
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number };
    const advice = errcode === SQLITE_FULL ? '. Free some space, and start again' : '';
    send({
      startError:
        error instanceof StartError ? message : `The database ${path} cannot be opened: ${message}${advice}`,
    });
  }
}
