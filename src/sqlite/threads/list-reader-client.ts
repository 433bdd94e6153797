// Main-thread client of the list reader threads. A thread starts when a list finds the others busy: most services never need
// one. A list after its thread has exited starts a new one.
import { AppError } from '../../domain/errors.ts';
import { Operations } from '../../domain/operations.ts';
import { type Distribution, Metrics, queueMetrics } from '../../metrics/metrics.ts';
import type { ListReaderCalls } from './list-reader.ts';
import type { ListThreadData } from './list-reader-worker.ts';
import { RpcClient, type ThreadOptions } from './rpc-client.ts';

/** As many lists are read at the same time. One administrator gets at most two, so that another need not wait. */
const THREADS = 3;

const FAILURE_MESSAGE = 'The list could not be read. Retry.';

class ListThread extends RpcClient<ListReaderCalls> {
  static async start(path: string, options: ThreadOptions): Promise<ListThread> {
    const data: ListThreadData = { path };
    const thread = await ListThread.startThread('./list-reader-worker.ts', data);
    return new ListThread(thread, {
      name: 'list',
      failureMessage: FAILURE_MESSAGE,
      maxBatch: 1,
      maxBatchesInFlight: 1,
      ...options,
    });
  }
}

/** A place for one thread, which reads one list at a time. */
class Lane {
  readonly #path: string;
  readonly #options: ThreadOptions;
  #thread: ListThread | undefined;

  constructor(path: string, options: ThreadOptions) {
    this.#path = path;
    this.#options = options;
  }

  async getThread(): Promise<ListThread> {
    if (this.#thread && !this.#thread.isGone) return this.#thread;
    try {
      this.#thread = await ListThread.start(this.#path, this.#options);
      return this.#thread;
    } catch (cause) {
      throw new AppError('UNAVAILABLE', FAILURE_MESSAGE, { cause });
    }
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }
}

export class ListReaderClient {
  readonly #lanes: readonly Lane[];
  /** The one used last is taken first, so that no more threads start than are needed. */
  readonly #free: Lane[];
  readonly #waiting: ((lane: Lane) => void)[] = [];
  readonly #waits: Distribution;
  readonly #operations = new Operations();

  constructor(path: string, { onDamage, metrics = new Metrics() }: ThreadOptions = {}) {
    this.#lanes = Array.from({ length: THREADS }, () => new Lane(path, { onDamage }));
    this.#free = [...this.#lanes];
    this.#waits = queueMetrics(metrics, 'list', () => this.#waiting.length);
  }

  /** Rejects with UNAVAILABLE if the list cannot be read. */
  run<Name extends keyof ListReaderCalls>(
    name: Name,
    args: Parameters<ListReaderCalls[Name]>,
  ): Promise<ReturnType<ListReaderCalls[Name]>> {
    return this.#operations.run(async () => {
      const lane = this.#free.pop() ?? (await this.#untilFree());
      try {
        const thread = await lane.getThread();
        return await thread.run(name, args, (value) => value);
      } finally {
        this.#release(lane);
      }
    });
  }

  /** Completes pending calls first. */
  async close(): Promise<void> {
    await this.#operations.close();
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async #untilFree(): Promise<Lane> {
    const sinceMs = performance.now();
    const lane = await new Promise<Lane>((resolve) => this.#waiting.push(resolve));
    this.#waits.observe((performance.now() - sinceMs) / 1_000);
    return lane;
  }

  #release(lane: Lane): void {
    const next = this.#waiting.shift();
    if (next) next(lane);
    else this.#free.push(lane);
  }
}
