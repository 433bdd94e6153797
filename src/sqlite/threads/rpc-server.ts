// A thread's end of its conversation with the main thread: it opens the database, then answers one batch of calls after
// another. What the calls are is left to the writer and the reader.
import { parentPort } from 'node:worker_threads';
import { StartError } from '../../domain/errors.ts';

/** What a thread can be asked: functions, and one that does nothing, to wait for those before it. */
export type Methods<C> = { [Name in keyof C]: (...args: never[]) => unknown } & { ping(): void };

export type CallOf<C extends Methods<C>> = {
  [Name in keyof C]: { readonly name: Name; readonly args: Parameters<C[Name]> };
}[keyof C];

export type Outcome = { readonly value: unknown } | { readonly error: Error };

export type ToThread<C extends Methods<C>> = { readonly batch: readonly CallOf<C>[] } | 'close';

export type FromThread =
  /** The first message: `refused` says why the database cannot be used, otherwise it is ready. */
  | { readonly refused: string | undefined }
  | { readonly outcomes: readonly Outcome[] }
  /** The whole batch failed. */
  | { readonly failure: Error };

/** Answers batches. `run` throws where the whole batch fails. */
export interface Batches<C extends Methods<C>> {
  run(batch: readonly CallOf<C>[]): readonly Outcome[];
  close(): void;
}

/** Runs for as long as the thread does; `open` may throw StartError. */
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
        send({ failure: error as Error });
      }
    });
    send({ refused: undefined });
  } catch (error) {
    const { message } = error as Error;
    send({
      refused: error instanceof StartError ? message : `The database ${path} cannot be opened: ${message}`,
    });
  }
}
