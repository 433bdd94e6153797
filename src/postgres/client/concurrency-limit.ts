// Limit on concurrent statements, so that there are never more connections than allowed. Further statements wait in a queue,
// each up to a timeout.
import { AppError } from '../../domain/errors.ts';
import { type Distribution, Metrics, queueMetrics } from '../../metrics/metrics.ts';

export class ConcurrencyLimit {
  #free: number;
  readonly #timeoutMs: number;
  readonly #refusal: () => AppError;
  readonly #queue: (() => void)[] = [];
  readonly #waits: Distribution;

  constructor(
    count: number,
    timeoutMs: number,
    name = 'connections',
    metrics = new Metrics(),
    refusal = noConnection,
  ) {
    this.#free = count;
    this.#timeoutMs = timeoutMs;
    this.#refusal = refusal;
    this.#waits = queueMetrics(metrics, name, () => this.#queue.length);
  }

  /** Takes a slot if one is free; `release` returns it. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Resolves when the caller has a slot; `release` returns it. Throws the refusal if none becomes free in time. */
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
    const sinceMs = performance.now();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#queue.splice(this.#queue.indexOf(go), 1);
        reject(this.#refusal());
      }, this.#timeoutMs);
      const go = () => {
        clearTimeout(timer);
        this.#waits.observe((performance.now() - sinceMs) / 1_000);
        resolve();
      };
      this.#queue.push(go);
    });
  }
}

export function noConnection(): AppError {
  const refusedBy = 'database_connections';
  return new AppError('UNAVAILABLE', 'No database connection is free. Retry.', { refusedBy });
}
