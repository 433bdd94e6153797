// The operations of a store that are under way: closing waits for them, however many steps each has, and refuses new ones.
import { AppError } from './errors.ts';

export class Operations {
  #underWay = 0;
  #isClosed = false;
  readonly #finished = Promise.withResolvers<void>();

  /** `work` must return a promise, not throw. Rejects with UNAVAILABLE once `close` was called. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new AppError('UNAVAILABLE', 'The service is stopping. Retry.'));
    this.#underWay++;
    const done = work();
    done.then(this.#leave, this.#leave);
    return done;
  }

  /** Resolves when the operations that were accepted are done. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#underWay === 0) this.#finished.resolve();
    return this.#finished.promise;
  }

  readonly #leave = (): void => {
    this.#underWay--;
    if (this.#isClosed && this.#underWay === 0) this.#finished.resolve();
  };
}
