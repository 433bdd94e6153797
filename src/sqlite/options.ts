// Options of the embedded engine.
import type { Clock } from '../domain/clock-and-random.ts';
import type { IndexOptions, OnWordsReady } from '../memory/memory-words.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { OnMigrated } from '../migrations.ts';
import type { DiskSpace, OnDiskChange } from './free-disk.ts';

export interface SqliteOptions extends IndexOptions {
  readonly folder: string;
  readonly cacheBytes: number;
  /** Current time. Events that have ended by then are not added to the search structures. */
  readonly nowMs?: number;
  /** Free space below which nothing is added or changed. Undefined: a default. 0: none. */
  readonly minFreeBytes?: number | undefined;
  readonly onDiskChange?: OnDiskChange | undefined;
  readonly metrics?: Metrics | undefined;
  readonly onMigrated?: OnMigrated | undefined;
  readonly onWordsReady?: OnWordsReady | undefined;
  /** For the age of the last backup. */
  readonly clock?: Clock | undefined;
  /** Size of the write-ahead log from which the store counts as unavailable. */
  readonly maxWalBytes?: number;
  /** Called if a thread dies. The store does not work any more. */
  readonly onFatal?: ((error: Error) => void) | undefined;
  /** Reads the free space. */
  readonly measureDisk?: () => Promise<DiskSpace>;
  /** Called with the number of events read so far, and once with all of them before the index is built. */
  readonly onProgress?: (done: number, total: number) => void;
}
