// Backups named after the time at which they began, in one folder that keeps only the newest.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '../domain/clock-and-random.ts';
import { StartError } from '../domain/errors.ts';

const NAME = /^local-events-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.db$/;

/** What a backup that was killed has left. */
const PARTIAL = /^local-events-[\dTZ-]+\.db\.\d+\.part(?:-journal|-wal|-shm)?$/;

export function backupName(nowMs: number): string {
  return `local-events-${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`;
}

/** Creates the folder if only its last level is missing. Throws StartError. */
export function makeBackupFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new StartError(`${folder} cannot be created: ${message}`, { cause });
  }
}

export interface Cleared {
  readonly removed: readonly string[];
  /** Names later than that of the backup just made: a clock was wrong. Nobody knows how old these are, so they do not count, and stay. */
  readonly later: readonly string[];
}

/**
 * Removes all but the newest backups up to the one just `made`, and partial ones that are older than a day. Other files are left alone.
 * Throws StartError.
 */
export function removeOldBackups(folder: string, made: string, keep: number, nowMs: number): Cleared {
  try {
    const names = readdirSync(folder);
    const backups = names.filter((name) => NAME.test(name)).sort();
    const later = backups.filter((name) => name > made);
    const removed = backups.filter((name) => name <= made).slice(0, -keep);
    const partial = names.filter(
      (name) => PARTIAL.test(name) && statSync(join(folder, name)).mtimeMs < nowMs - DAY_MS,
    );
    for (const name of [...removed, ...partial]) rmSync(join(folder, name), { force: true });
    return { removed, later };
  } catch (cause) {
    const { message } = cause as Error;
    throw new StartError(`The backup is complete, but old ones in ${folder} cannot be removed: ${message}`, {
      cause,
    });
  }
}
