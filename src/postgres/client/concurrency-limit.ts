// As many statements at once as there may be connections: further ones wait their turn here, each no longer than it may.
import { AppError } from '../../domain/errors.ts';

export class ConcurrencyLimit {
  #free: number;
  readonly #timeoutMs: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number, timeoutMs: number) {
    this.#free = count;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when a slot is the caller's, until it is given back. Throws UNAVAILABLE if none becomes free in time. */
  async acquire(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free++;
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(new AppError('UNAVAILABLE', 'The database has more to do than it can. Try again.'));
      }, this.#timeoutMs);
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(go);
    });
  }
}
