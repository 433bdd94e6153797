// A database as it is at one moment, and copies of it. Others may write meanwhile. A copy is one plain file for its owner
// alone, checked and on the disk before it gets its name; where it fails, nothing is left of it.
import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { StartError } from '../../domain/errors.ts';
import type { CopyControl, StoreSummary } from '../../domain/store.ts';
import type { CheckResult, CheckThreadData } from './check-worker.ts';
import { readSummary } from './summary.ts';

/** 4 MiB between two looks at the signal to stop. */
const PAGES_PER_STEP = 1_024;

export class Snapshot {
  readonly summary: StoreSummary;
  readonly #path: string;
  readonly #connection: DatabaseSync;

  private constructor(path: string, connection: DatabaseSync, summary: StoreSummary) {
    this.#path = path;
    this.#connection = connection;
    this.summary = summary;
  }

  /** Throws StartError if the file cannot be read, is no database of ours, or was written by a newer version. */
  static open(path: string): Snapshot {
    let connection: DatabaseSync | undefined;
    try {
      if (!statSync(path).isFile()) throw new Error('it is no file');
      connection = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
      // The moment is the first read of the transaction. Without one, SQLite begins the copy again after every write.
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
   * Copies it to a file of this name, by way of `part` beside it. Closes the snapshot as soon as it is copied. Throws
   * StartError if the copy is not sound, AbortError if it was told to stop.
   */
  async copyTo(file: string, part: string, control: CopyControl): Promise<void> {
    try {
      remove(part); // left behind by a process that was killed
      createPrivate(part, file);
      await this.#copyPages(part, control).finally(() => this.close());
      leaveLog(part);
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
      // some file systems cannot, and SQLite does not insist either
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
        signal.throwIfAborted(); // ends the copy
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
      const damage =
        'damage' in result
          ? result.damage
          : isDeepStrictEqual(result.summary, this.summary)
            ? undefined
            : 'the copy does not hold what the original does';
      if (damage === undefined) return;
      throw new StartError(
        `${this.#path} is damaged: ${damage}. Nothing was written; go back to an older backup.`,
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

/** A copy of a database with a write-ahead log would need one too, and a folder that can be written, only to be read. */
function leaveLog(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

/** A file, or the names in a folder. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function remove(part: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(part + suffix, { force: true });
}
