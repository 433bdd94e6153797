// Backup of a data folder, which may be in use, and restore into an empty one. Both copy a snapshot of a database. A copy is a single
// file, accessible to its owner only. It is checked and synced to disk before it gets its final name; after a failure nothing is left.
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { StartError } from '../../domain/errors.ts';
import type { CopyControl, StoreSummary } from '../../domain/store.ts';
import { openForReading } from '../connection.ts';
import type { CheckResult, CheckThreadData } from './check-worker.ts';
import {
  databasePath,
  getDatabase,
  holdFolder,
  lastBackupPath,
  requireVacant,
  restoringPath,
  sync,
} from './data-folder.ts';
import { readSummary } from './summary.ts';

/** 4 MiB between two checks of the abort signal. */
const PAGES_PER_STEP = 1_024;

/** Throws StartError if the folder has no data, the data is damaged, or the file exists; AbortError if aborted. */
export async function backUp(folder: string, file: string, control: CopyControl): Promise<StoreSummary> {
  const path = getDatabase(folder);
  if (existsSync(file)) {
    throw new StartError(`${file} already exists. Choose another name, or remove the file first.`);
  }
  const snapshot = Snapshot.open(path);
  try {
    await snapshot.copyTo(file, `${file}.${process.pid}.part`, control);
    return snapshot.summary;
  } finally {
    snapshot.close();
  }
}

/**
 * Throws StartError if the file is not a local-events backup or is damaged, or if the folder is not empty; AbortError if
 * aborted. Until the restore is complete, the folder still counts as empty, even after a crash.
 */
export async function restore(file: string, folder: string, control: CopyControl): Promise<StoreSummary> {
  const snapshot = Snapshot.open(file); // before the folder is created
  try {
    requireVacant(folder);
    const lock = holdFolder(folder);
    try {
      requireVacant(folder); // another process may have written before this one held the lock
      await snapshot.copyTo(databasePath(folder), restoringPath(folder), control);
      return snapshot.summary;
    } finally {
      lock.release();
    }
  } finally {
    snapshot.close();
  }
}

/** Notes when a backup of the folder began. Throws the system's error. */
export function writeLastBackup(folder: string, beganMs: number): void {
  const path = lastBackupPath(databasePath(folder));
  const began = new Date(beganMs);
  writeFileSync(path, `${began.toISOString()}\n`, { mode: 0o600 });
  utimesSync(path, began, began);
}

class Snapshot {
  readonly summary: StoreSummary;
  readonly #path: string;
  readonly #connection: DatabaseSync;

  private constructor(path: string, connection: DatabaseSync, summary: StoreSummary) {
    this.#path = path;
    this.#connection = connection;
    this.summary = summary;
  }

  /** Throws StartError if the file cannot be read, is not a local-events database, or was written by a newer version. */
  static open(path: string): Snapshot {
    let connection: DatabaseSync | undefined;
    try {
      if (!statSync(path).isFile()) throw new Error('it is not a file');
      connection = openForReading(path);
      // The snapshot is taken by the first read in the transaction. Without a transaction, SQLite would restart the copy
      // after every write.
      connection.exec('BEGIN');
      return new Snapshot(path, connection, readSummary(connection));
    } catch (cause) {
      connection?.close();
      const { message } = cause as Error;
      throw new StartError(
        cause instanceof StartError
          ? `${path} cannot be used. ${message}`
          : `${path} cannot be read: ${message}`,
        { cause },
      );
    }
  }

  /**
   * Copies the snapshot to `part`, then renames that to `file`. Closes the snapshot as soon as it is copied. Throws
   * StartError if the copy is damaged, AbortError if aborted.
   */
  async copyTo(file: string, part: string, control: CopyControl): Promise<void> {
    try {
      remove(part); // may be left from a killed process
      createPrivate(part, file);
      await this.#copyPages(part, control).finally(() => this.close());
      leaveWalMode(part);
      await this.#check(part, control.signal);
      sync(part);
      renameSync(part, file);
    } catch (error) {
      remove(part);
      throw error;
    }
    try {
      sync(dirname(file));
    } catch {
      // Some file systems cannot sync a folder; SQLite ignores that, too.
    }
  }

  close(): void {
    if (this.#connection.isOpen) this.#connection.close();
  }

  async #copyPages(part: string, { signal, onProgress }: CopyControl): Promise<void> {
    const { page_size } = this.#connection.prepare('PRAGMA page_size').get() as { page_size: number };
    const pages = await backup(this.#connection, part, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => {
        signal.throwIfAborted(); // stops the copy
        onProgress((totalPages - remainingPages) * page_size, totalPages * page_size);
      },
    });
    signal.throwIfAborted();
    onProgress(pages * page_size, pages * page_size);
  }

  async #check(part: string, signal: AbortSignal): Promise<void> {
    const data: CheckThreadData = { path: part };
    const thread = new Worker(new URL('./check-worker.ts', import.meta.url), { workerData: data, env: {} });
    try {
      const [result] = (await once(thread, 'message', { signal })) as [CheckResult];
      if ('damage' in result)
        throw new StartError(
          `${this.#path} is damaged: ${result.damage}. Nothing was written. Use an older backup.`,
        );
      if (!isDeepStrictEqual(result.summary, this.summary))
        throw new StartError(
          `The copy of ${this.#path} differs from it and was removed. Check the disk of the copy, then retry.`,
        );
    } finally {
      void thread.terminate();
    }
  }
}

function createPrivate(part: string, file: string): void {
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (cause) {
    throw new StartError(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/** Leaves WAL mode: otherwise even reading the copy would need a writable folder for its write-ahead log. */
function leaveWalMode(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

function remove(part: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(part + suffix, { force: true });
}
