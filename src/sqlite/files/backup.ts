// Backup of a data folder, which may be in use, and restore into an empty one.
import { existsSync } from 'node:fs';
import { StartError } from '../../domain/errors.ts';
import type { CopyControl, StoreSummary } from '../../domain/store.ts';
import { databasePath, getDatabase, holdFolder, requireVacant, restoringPath } from './data-folder.ts';
import { Snapshot } from './snapshot.ts';

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
