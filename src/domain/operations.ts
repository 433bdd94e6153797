// Tracks the running operations of a store. Closing waits for them, however many steps each has, and refuses new ones.
import { AppError } from './errors.ts';

export class Operations {
  #running = 0;
  #isClosed = false;
  readonly #finished = Promise.withResolvers<void>();

  /** `work` must return a promise, not throw. Rejects with UNAVAILABLE once `close` was called. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(stopping());
    this.#running++;
    const done = work();
    done.then(this.#leave, this.#leave);
    return done;
  }

  /** Resolves when all accepted operations are done. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#running === 0) this.#finished.resolve();
    return this.#finished.promise;
  }

  readonly #leave = (): void => {
    this.#running--;
    if (this.#isClosed && this.#running === 0) this.#finished.resolve();
  };
}

/** The service takes no new work. */
export function stopping(): AppError {
  return new AppError('UNAVAILABLE', 'The service is stopping. Retry.');
}
