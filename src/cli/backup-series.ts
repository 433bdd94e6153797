// Backups named after the time at which they began, in one folder that keeps only the newest.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../domain/errors.ts';
import { DAY_MS } from '../domain/undo.ts';

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

/**
 * Removes all but the newest backups, and partial ones that are older than a day. The file `made` stays, whatever the clock says. Other files are
 * left alone. Returns the names of removed backups. Throws StartError.
 */
export function removeOldBackups(folder: string, made: string, keep: number, nowMs: number): string[] {
  try {
    const names = readdirSync(folder);
    const others = names.filter((name) => NAME.test(name) && name !== made).sort();
    const old = others.slice(0, Math.max(0, others.length - (keep - 1)));
    const partial = names.filter(
      (name) => PARTIAL.test(name) && statSync(join(folder, name)).mtimeMs < nowMs - DAY_MS,
    );
    for (const name of [...old, ...partial]) rmSync(join(folder, name), { force: true });
    return old;
  } catch (cause) {
    const { message } = cause as Error;
    throw new StartError(`The backup is complete, but old ones in ${folder} cannot be removed: ${message}`, {
      cause,
    });
  }
}
