// Main-thread client of the writer thread. A batch of calls is one transaction; its calls return once it is on disk.
import type { Distribution, Metrics } from '../../metrics/metrics.ts';
import { RpcClient, type ThreadOptions } from './rpc-client.ts';
import type { WriterCalls } from './writer.ts';
import type { WriterThreadData } from './writer-worker.ts';

/** Maximum calls per transaction. More would not increase throughput, only the latency of waiting calls. */
const MAX_BATCH = 512;

/** When the disk does not respond. Shorter than the time that connections may be idle: their clients get a response. */
const DEADLINE = {
  ms: 8_000,
  notBegun: 'The disk of the service does not respond. Nothing was changed. Retry.',
  begun: 'The disk of the service does not respond. The change may still happen: read before you retry.',
};

const SIZE_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5];

export class WriterClient extends RpcClient<WriterCalls> {
  #failing = false;
  #sizes: Distribution | undefined;
  #durations: Distribution | undefined;

  /** Waits until the database is open and migrated. Throws StartError if that fails. */
  static async start(
    path: string,
    purpose: WriterThreadData['purpose'] = 'serve',
    options: ThreadOptions = {},
  ): Promise<WriterClient> {
    const data: WriterThreadData = { path, purpose };
    const thread = await WriterClient.startThread('./writer-worker.ts', data, options.onMigrated);
    const client = new WriterClient(thread, {
      name: 'writer',
      failureMessage: 'The store could not be written. Retry.',
      maxBatch: MAX_BATCH,
      maxBatchesInFlight: 1,
      ...options,
      // A bulk write may take minutes, and nobody waits for its response.
      deadline: purpose === 'serve' ? DEADLINE : undefined,
    });
    if (options.metrics) client.#measure(options.metrics);
    return client;
  }

  /** Whether the last batch with writes could not be committed. */
  get isFailing(): boolean {
    return this.#failing;
  }

  protected override noteBatch(names: readonly (keyof WriterCalls)[], failed: boolean, ms: number): void {
    const isWrite = names.some((name) => name !== 'ping');
    this.#failing = failed || (this.#failing && !isWrite);
    if (!isWrite) return;
    this.#sizes?.observe(names.length);
    this.#durations?.observe(ms / 1_000);
  }

  #measure(metrics: Metrics): void {
    this.#sizes = metrics.histogram(
      'local_events_commit_batch_size',
      'Writes that share a commit.',
      SIZE_BOUNDS,
    );
    this.#durations = metrics.histogram(
      'local_events_commit_duration_seconds',
      'From passing a batch of writes to the writer thread until it is on disk.',
      DURATION_BOUNDS,
    );
  }
}
