// Notices that the data folder was deleted, renamed or replaced while the service runs. SQLite would go on writing to files
// that nobody finds any more. Also keeps the sizes of the database and of its write-ahead log, and the time of the last backup.
import { type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { lastBackupPath } from './data-folder.ts';

const INTERVAL_MS = 1_000;

export class FolderWatch {
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
    this.#timer = setInterval(() => void this.#look(), INTERVAL_MS).unref();
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
