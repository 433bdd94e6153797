// When the last backup of a data folder began: the time of a file beside the database, which a running service sees.
import { utimesSync, writeFileSync } from 'node:fs';

export function lastBackupPath(databasePath: string): string {
  return `${databasePath}.last-backup`;
}

/** Throws the system's error. */
export function writeLastBackup(databasePath: string, beganMs: number): void {
  const path = lastBackupPath(databasePath);
  const began = new Date(beganMs);
  writeFileSync(path, `${began.toISOString()}\n`, { mode: 0o600 });
  utimesSync(path, began, began);
}
