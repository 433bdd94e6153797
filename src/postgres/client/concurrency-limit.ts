// Limit on concurrent statements, so that there are never more connections than allowed. Further statements wait in a queue,
// each up to a timeout.
import { AppError } from '../../domain/errors.ts';

export class ConcurrencyLimit {
  #free: number;
  readonly #timeoutMs: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number, timeoutMs: number) {
    this.#free = count;
    this.#timeoutMs = timeoutMs;
  }

  /** Resolves when the caller has a slot; `release` returns it. Throws UNAVAILABLE if none becomes free in time. */
  async acquire(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait();
  }

  release(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#free++;
  }

  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#queue.splice(this.#queue.indexOf(go), 1);
        reject(new AppError('UNAVAILABLE', 'No database connection is free. Retry.'));
      }, this.#timeoutMs);
      const go = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#queue.push(go);
    });
  }
}
