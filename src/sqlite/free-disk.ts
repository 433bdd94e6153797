// Free space for the database: on the volume, and in pages of its file that deletes have freed. Below a floor, writes that
// need more space are refused before the disk is full: SQLite needs some space even to delete.
import { statfs } from 'node:fs/promises';
import { AppError } from '../domain/errors.ts';
import { BYTES_PER_MB } from '../domain/store.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** How often free space is read. A busy service writes some ten MB in that time. */
const INTERVAL_MS = 1_000;

const DEFAULT_FLOOR_BYTES = 500 * BYTES_PER_MB;
/** Part of a small volume that is kept free if no floor is set. */
const DEFAULT_FLOOR_PART = 0.05;

/** Writes resume above the floor by this part of it, so that the state does not change all the time. */
const RESUME_PART = 0.1;

const RETRY_SECONDS = 60;

/**
 * Part of the floor that must be free on the volume itself, however much is free in the file: every write goes to the
 * write-ahead log first.
 */
const LOG_PART = 0.5;

export interface DiskSpace {
  /** On the volume. */
  readonly freeBytes: number;
  /** In the database file. */
  readonly reusableBytes: number;
  /** Size of the volume. */
  readonly totalBytes: number;
}

/** Called when free space falls below the floor, and when there is enough again. */
export type OnDiskChange = (isLow: boolean, space: DiskSpace, floorBytes: number) => void;

export interface FreeDiskOptions {
  /** Undefined: 500 MB, or a twentieth of the volume if that is less. 0: no floor. */
  readonly floorBytes?: number | undefined;
  readonly onChange?: OnDiskChange | undefined;
  readonly metrics?: Metrics | undefined;
  readonly measure: () => Promise<DiskSpace>;
}

export class FreeDisk {
  readonly #options: FreeDiskOptions;
  readonly #timer: NodeJS.Timeout;
  #freeBytes = Number.NaN;
  #isLow = false;
  #isMeasuring = false;

  constructor(options: FreeDiskOptions) {
    this.#options = options;
    options.metrics?.gauge(
      'local_events_disk_free_bytes',
      'Free space on the disk of DATA_DIR.',
      () => this.#freeBytes,
    );
    this.#timer = setInterval(() => void this.update(), INTERVAL_MS).unref();
  }

  /** UNAVAILABLE while free space is below the floor; otherwise undefined. */
  findRefusal(): AppError | undefined {
    if (!this.#isLow) return undefined;
    return new AppError(
      'UNAVAILABLE',
      'The disk of the service is nearly full, so nothing can be added or changed until there is more room. ' +
        'Searches, reads and deletes still work.',
      { retryAfterSeconds: RETRY_SECONDS, isReported: true, refusedBy: 'disk_space' },
    );
  }

  /** Reads the free space. If that fails or takes long, the state stays as it is. */
  async update(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    try {
      this.#note(await this.#options.measure());
    } catch {
      // Reads and writes of the database report what is wrong with the volume.
    } finally {
      this.#isMeasuring = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #note(space: DiskSpace): void {
    this.#freeBytes = space.freeBytes;
    const { onChange } = this.#options;
    const floorBytes = floorOf(space, this.#options.floorBytes);
    const isLow = usableBytesOf(space) < floorBytes + (this.#isLow ? floorBytes * RESUME_PART : 0);
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    onChange?.(isLow, space, floorBytes);
  }
}

/** `floorBytes` as in the options. */
export function floorOf({ totalBytes }: DiskSpace, floorBytes: number | undefined): number {
  return floorBytes ?? Math.min(DEFAULT_FLOOR_BYTES, totalBytes * DEFAULT_FLOOR_PART);
}

/** What is compared with the floor. */
export function usableBytesOf({ freeBytes, reusableBytes }: DiskSpace): number {
  return Math.min(freeBytes + reusableBytes, freeBytes / LOG_PART);
}

/** Space of the volume that has this folder, as far as this user may use it, and of the file that the reader reads. */
export async function measureDisk(folder: string, countFreeBytes: () => Promise<number>): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const reusableBytes = await countFreeBytes();
  return { freeBytes: bavail * bsize, reusableBytes, totalBytes: blocks * bsize };
}
