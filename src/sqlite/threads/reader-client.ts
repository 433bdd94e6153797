// Main-thread client of the threads that read. One is permanent. Lists have threads of their own, so that nothing else waits behind
// them. A list that finds all started threads busy starts another one, up to three; a thread that has ended is started again when needed.
import { AppError } from '../../domain/errors.ts';
import { Operations } from '../../domain/operations.ts';
import { type Distribution, Metrics, queueMetrics } from '../../metrics/metrics.ts';
import { ListReader } from './list-reader.ts';
import type { ReaderCalls, ReaderThreadData } from './reader-worker.ts';
import { RpcClient, type ThreadOptions } from './rpc-client.ts';
import type { CallOf } from './rpc-server.ts';

/** Lists that are read at the same time. One administrator gets at most two of them, so that another need not wait. */
const LIST_THREADS = 3;

/** Maximum rows per batch: four pages of usual size, or one of the largest. Each call waits for its whole batch. */
const MAX_ROWS = 120;

/** Maximum small calls per batch, besides those rows. */
const MAX_SMALL = 16;

/** The second batch waits at the thread, so that the thread need not wait for it. */
const MAX_BATCHES_IN_FLIGHT = 2;

/** Calls that are not small: those that read many rows, and `ping`, which must not overtake them. */
const LARGE: ReadonlySet<keyof ReaderCalls> = new Set(['findEvents', 'wordsAfter', 'deletedAfter', 'ping']);

function isSmall(call: CallOf<ReaderCalls>): boolean {
  return !LARGE.has(call.name) || (call.name === 'findEvents' && call.args[0].length === 1);
}

function rowsOf(call: CallOf<ReaderCalls>): number {
  return call.name === 'findEvents' ? call.args[0].length : MAX_ROWS;
}

interface Role {
  readonly name: string;
  readonly failureMessage: string;
  readonly cacheKib: number;
}

const PERMANENT: Role = {
  name: 'reader',
  failureMessage: 'The store could not be read. Retry.',
  cacheKib: 16_384, // enough for the inner B-tree pages of a table of ten million rows
};

const LIST: Role = {
  name: 'list',
  failureMessage: 'The list could not be read. Retry.',
  cacheKib: 2_000, // SQLite's default
};

async function startThread(path: string, role: Role, options: ThreadOptions): Promise<ReaderThread> {
  const { cacheKib, ...names } = role;
  const data: ReaderThreadData = { path, cacheKib };
  return new RpcClient(await RpcClient.startThread('./reader-worker.ts', data), {
    ...names,
    maxBatch: MAX_ROWS,
    weightOf: rowsOf,
    small: { includes: isSmall, maxBatch: MAX_SMALL },
    gathersTurn: true,
    maxBatchesInFlight: MAX_BATCHES_IN_FLIGHT,
    ...options,
  });
}

type ReaderThread = RpcClient<ReaderCalls>;

/** Place for a thread that reads one list at a time. The thread is missing until the first list. */
interface Lane {
  thread?: ReaderThread;
}

export class ReaderClient {
  readonly #path: string;
  readonly #options: ThreadOptions;
  readonly #permanent: ReaderThread;
  readonly #lanes: readonly Lane[] = Array.from({ length: LIST_THREADS }, () => ({}));
  /** Lanes without a list. The last one, which was used last, is taken first, so that no more threads start than needed. */
  readonly #free = [...this.#lanes];
  readonly #waiting: ((lane: Lane) => void)[] = [];
  readonly #waits: Distribution;
  readonly #lists = new Operations();

  private constructor(path: string, permanent: ReaderThread, options: ThreadOptions) {
    this.#path = path;
    this.#permanent = permanent;
    this.#options = options;
    const { metrics = new Metrics() } = options;
    this.#waits = queueMetrics(metrics, LIST.name, () => this.#waiting.length);
  }

  /** The database must exist. Throws StartError if it cannot be opened. */
  static async start(path: string, options: ThreadOptions = {}): Promise<ReaderClient> {
    return new ReaderClient(path, await startThread(path, PERMANENT, options), options);
  }

  /** A number that grows as long as the permanent thread finishes calls. */
  get finishedBatches(): number {
    return this.#permanent.finishedBatches;
  }

  /** `apply` as for RpcClient. Rejects with UNAVAILABLE if the database cannot be read. */
  run<Name extends keyof ReaderCalls, Result>(
    name: Name,
    args: Parameters<ReaderCalls[Name]>,
    apply: (value: ReturnType<ReaderCalls[Name]>) => Result,
  ): Promise<Result> {
    if (!(name in ListReader.prototype)) return this.#permanent.run(name, args, apply);
    return this.#lists.run(async () => {
      const lane = this.#free.pop() ?? (await this.#untilFree());
      try {
        const thread = await this.#threadOf(lane);
        return await thread.run(name, args, apply);
      } finally {
        this.#release(lane);
      }
    });
  }

  /** Completes pending calls first. */
  async close(): Promise<void> {
    await this.#lists.close();
    const closed = Promise.all(this.#lanes.map(({ thread }) => thread?.close()));
    await closed.finally(() => this.#permanent.close());
  }

  async #threadOf(lane: Lane): Promise<ReaderThread> {
    if (lane.thread && !lane.thread.isGone) return lane.thread;
    try {
      lane.thread = await startThread(this.#path, LIST, { onDamage: this.#options.onDamage });
      return lane.thread;
    } catch (cause) {
      throw new AppError('UNAVAILABLE', LIST.failureMessage, { cause });
    }
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
