// Backups of a data folder: out of one that may be in use, and back into one that holds nothing.
import { existsSync } from 'node:fs';
import { StartError } from '../../domain/errors.ts';
import type { CopyControl, StoreSummary } from '../../domain/store.ts';
import { databasePath, getDatabase, holdFolder, requireVacant, restoringPath } from './data-folder.ts';
import { Snapshot } from './snapshot.ts';

/** Throws StartError if there is no data, it is damaged, or there is such a file already; AbortError if told to stop. */
export async function backUp(folder: string, file: string, control: CopyControl): Promise<StoreSummary> {
  const path = getDatabase(folder);
  if (existsSync(file)) {
    throw new StartError(`${file} exists already. Name a file that does not, or remove that one first.`);
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
 * Throws StartError if the file is no backup of ours or damaged, or the folder is not empty; AbortError if told to stop.
 * Until all is in place the folder counts as empty, however this ends.
 */
export async function restore(file: string, folder: string, control: CopyControl): Promise<StoreSummary> {
  const snapshot = Snapshot.open(file); // before a folder is made
  try {
    requireVacant(folder);
    const lock = holdFolder(folder);
    try {
      requireVacant(folder); // others may have been here before the lock
      await snapshot.copyTo(databasePath(folder), restoringPath(folder), control);
      return snapshot.summary;
    } finally {
      lock.release();
    }
  } finally {
    snapshot.close();
  }
}
