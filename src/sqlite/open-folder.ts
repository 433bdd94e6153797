// An open data folder: its lock, the threads that write and read its database, and whether all of these work.

import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../domain/clock-and-random.ts';
import { AppError, type Part, StartError } from '../domain/errors.ts';
import { BYTES_PER_MB } from '../domain/store.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { OnMigrated } from '../migrations.ts';
import {
  databasePath,
  type FolderLock,
  holdFolder,
  lastBackupPath,
  requireIntact,
  requireSpace,
  watchedFiles,
} from './files/data-folder.ts';
import { requireFinishedMove } from './reader.ts';
import { ReaderClient } from './threads/reader-client.ts';
import type { ThreadOptions } from './threads/rpc-client.ts';
import { WriterClient } from './threads/writer-client.ts';

/**
 * A write-ahead log that is larger than this, and larger than the database: SQLite can no longer empty it. Normally it does so every
 * 4 MB, and truncates the file to 64 MB; while a backup reads the database, the log grows by what is written meanwhile.
 */
const MAX_WAL_BYTES = 512 * BYTES_PER_MB;

export interface FolderOptions {
  readonly onMigrated?: OnMigrated | undefined;
  /** Called if the writer or the permanent reader dies. */
  readonly onFatal?: ((error: Error) => void) | undefined;
  readonly metrics?: Metrics | undefined;
  readonly maxWalBytes?: number | undefined;
  /** For the age of the last backup. */
  readonly clock?: Clock | undefined;
}

export class OpenFolder {
  readonly writer: WriterClient;
  readonly reader: ReaderClient;
  readonly #lock: FolderLock;
  readonly #watch: FolderWatch;
  readonly #maxWalBytes: number;
  readonly #damage: { isFound: boolean };

  private constructor(
    folder: string,
    lock: FolderLock,
    threads: Pick<OpenFolder, 'writer' | 'reader'>,
    damage: { isFound: boolean },
    { metrics, maxWalBytes = MAX_WAL_BYTES, clock }: FolderOptions,
  ) {
    this.writer = threads.writer;
    this.reader = threads.reader;
    this.#lock = lock;
    this.#damage = damage;
    this.#maxWalBytes = maxWalBytes;
    this.#watch = new FolderWatch(watchedFiles(folder));
    if (clock)
      metrics?.gauge(
        'local_events_backup_age_seconds',
        'Time since the last backup began that the command backup made; NaN: none.',
        () => (clock() - this.#watch.lastBackupMs) / 1_000,
      );
    const size = () => this.#watch.databaseBytes;
    metrics?.gauge('local_events_database_bytes', 'Size of the database on disk.', size);
    metrics?.gauge('local_events_wal_bytes', "Size of SQLite's write-ahead log.", () => this.#watch.walBytes);
  }

  /**
   * Throws StartError if another process uses the folder, it is not writable, its disk is full, its database is missing although other files show
   * that there was one, a newer version wrote its data, or a move into it is unfinished.
   */
  static async open(folder: string, options: FolderOptions = {}): Promise<OpenFolder> {
    requireIntact(folder);
    const lock = holdFolder(folder);
    const path = databasePath(folder);
    const damage = { isFound: false };
    const { onFatal: onDeath, metrics } = options;
    const onDamage = () => {
      damage.isFound = true;
    };
    const { onMigrated } = options;
    const observed: ThreadOptions = { onMigrated, onDeath, onDamage, metrics };
    let writer: WriterClient | undefined;
    try {
      requireSpace(folder);
      requireFinishedMove(path);
      writer = await WriterClient.start(path, 'serve', observed);
      const reader = await ReaderClient.start(path, observed);
      return new OpenFolder(folder, lock, { writer, reader }, damage, options);
    } catch (error) {
      await writer?.close().catch(() => {});
      lock.release();
      throw error;
    }
  }

  /** Throws UNAVAILABLE if somebody has deleted, renamed or replaced the folder or its files. */
  requireFolder(): void {
    if (!this.#watch.isLost) return;
    throw unusable(
      'data_folder',
      'The data folder of the service was deleted, renamed or replaced, so nothing can be changed. ' +
        'Its operator must put it back, or restart the service.',
    );
  }

  /** Throws UNAVAILABLE, with the part that cannot be used, unless the database can be read and written. */
  async check(): Promise<void> {
    this.requireFolder();
    if (this.#damage.isFound)
      throw unusable(
        'database',
        'The database of the service is damaged. Its operator must check it, and restore a backup.',
      );
    const { walBytes, databaseBytes } = this.#watch;
    if (walBytes > this.#maxWalBytes && walBytes > databaseBytes)
      throw unusable(
        'database',
        'The write-ahead log of the service grows and is not emptied. Its operator must end what reads the database, or restart the service.',
      );
    // After a failed commit, e.g. because of a full disk, only a successful one proves that writes work again.
    const call = this.writer.isFailing ? 'probe' : 'ping';
    const written = this.writer.run(call, [], () => {});
    const read = this.reader.run('findSetting', [''], () => {});
    await Promise.all([
      requireWork('writer', this.writer, written),
      requireWork('reader', this.reader, read),
    ]);
  }

  /** Completes pending calls. */
  async close(): Promise<void> {
    this.#watch.close();
    // The writer is closed last: as the last connection, it removes SQLite's write-ahead log.
    await this.reader.close().catch(() => {});
    await this.writer.close().finally(() => this.#lock.release());
  }
}

function unusable(part: Part, message: string, cause?: unknown): AppError {
  return new AppError('UNAVAILABLE', message, { part, ...(cause !== undefined && { cause }) });
}

/** Throws UNAVAILABLE, with the part, if the work fails or its thread is stuck. */
async function requireWork(part: Part, thread: Progress, work: Promise<void>): Promise<void> {
  try {
    await unlessStuck(thread, work, () => unusable(part, 'The store does not respond. Retry.'));
  } catch (error) {
    throw error instanceof AppError ? unusable(part, error.message, error.cause) : error;
  }
}

/** A thread that finishes nothing for this long is stuck. */
const STUCK_MS = 2_000;

interface Progress {
  /** A number that grows as long as the thread finishes calls. */
  readonly finishedBatches: number;
}

/** Waits for work of a thread; rejects with an error of `stuck` if the thread is: a busy one finishes other work first. */
export async function unlessStuck<T>(
  thread: Progress,
  work: Promise<T>,
  stuck: () => Error,
  stuckMs = STUCK_MS,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let finished = thread.finishedBatches;
  const timer = setInterval(async () => {
    await nextTurn(); // if this thread was late itself, it has not yet read what the other has finished
    if (thread.finishedBatches === finished) reject(stuck());
    finished = thread.finishedBatches;
  }, stuckMs).unref();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
  }
}

/** For an error of the database: StartError. Returns other errors unchanged. */
export function startErrorOf(error: unknown, path: string): unknown {
  const cause = error instanceof AppError ? error.cause : error;
  const { code, message } = cause as Error & { code?: string };
  if (code !== 'ERR_SQLITE_ERROR') return error;
  return new StartError(`The database ${path} cannot be read: ${message}`, { cause });
}

const WATCH_INTERVAL_MS = 1_000;

/**
 * Notices that the data folder was deleted, renamed or replaced while the service runs. SQLite would go on writing to files that nobody
 * finds any more. Also keeps the sizes of the database and of its write-ahead log, and the time of the last backup.
 */
class FolderWatch {
  readonly #files: readonly string[];
  readonly #known: readonly string[];
  readonly #timer: NodeJS.Timeout;
  #isLost = false;
  #isLooking = false;
  #databaseBytes = 0;
  #walBytes = 0;
  #lastBackupMs = Number.NaN;

  /** The files must exist. The first one is the database. */
  constructor(files: readonly string[]) {
    this.#files = files;
    this.#known = files.map((file) => identityOf(statSync(file)));
    this.#timer = setInterval(() => void this.#look(), WATCH_INTERVAL_MS).unref();
    void this.#look();
  }

  /** Whether a file is missing, or another file has its name. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** As of the last second. */
  get databaseBytes(): number {
    return this.#databaseBytes;
  }

  get walBytes(): number {
    return this.#walBytes;
  }

  /** When the last backup began; NaN if there is none. */
  get lastBackupMs(): number {
    return this.#lastBackupMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return; // a disk that does not respond must not keep all of Node's threads waiting
    this.#isLooking = true;
    const find = (file: string) => stat(file).catch(() => undefined);
    const [wal, backup, ...found] = await Promise.all([
      find(`${this.#files[0]}-wal`),
      find(lastBackupPath(this.#files[0]!)),
      ...this.#files.map(find),
    ]);
    this.#isLost = found.some((stats, at) => identityOf(stats) !== this.#known[at]);
    this.#databaseBytes = found[0]?.size ?? 0;
    this.#walBytes = wal?.size ?? 0;
    this.#lastBackupMs = backup?.mtimeMs ?? Number.NaN;
    this.#isLooking = false;
  }
}

function identityOf(stats: Stats | undefined): string {
  return stats ? `${stats.dev} ${stats.ino}` : 'missing';
}
