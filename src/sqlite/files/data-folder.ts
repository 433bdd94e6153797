// The data folder: created if missing, accessible to its owner only, and locked by one process at a time.
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FolderInUse, StartError } from '../../domain/errors.ts';

const DATABASE = 'local-events.db';
const LOCK = 'lock.db';
const RESTORING = `${DATABASE}.restoring`;
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/** Room that a start needs. With less, SQLite fails with an I/O error, or the process ends with SIGBUS in mapped memory. */
const START_BYTES = 1_048_576;

export function databasePath(folder: string): string {
  return join(folder, DATABASE);
}

/** Path of a database until its restore is complete. */
export function restoringPath(folder: string): string {
  return join(folder, RESTORING);
}

/** Path of a file whose time says when the last backup of the database began, for a running service. */
export function lastBackupPath(databasePath: string): string {
  return `${databasePath}.last-backup`;
}

/** Path of the existing database. Throws StartError if it is missing or empty, or if this user may not look. */
export function getDatabase(folder: string): string {
  const path = databasePath(folder);
  if (hasContent(path)) return path;
  throw new StartError(`There is no data in ${folder}. Set DATA_DIR to the folder of the service.`);
}

/** Files that no other process may replace while a service uses the folder. */
export function watchedFiles(folder: string): string[] {
  return [databasePath(folder), join(folder, LOCK)];
}

/**
 * Throws StartError if the folder has remains of data but no database. A start would create an empty one, and SQLite would
 * delete what is left.
 */
export function requireIntact(folder: string): void {
  const path = databasePath(folder);
  if (hasContent(path)) return;
  if (hasContent(`${path}-wal`)) {
    throw new StartError(
      `The data folder ${folder} has ${DATABASE}-wal, with the latest writes, but its ${DATABASE} is missing or empty. ` +
        'Copy both files back from where they were, or restore a backup into an empty folder. ' +
        `To start without this data, move ${DATABASE}-wal away.`,
    );
  }
  if (hasContent(restoringPath(folder))) {
    throw new StartError(
      `A restore into the data folder ${folder} was not completed. Run "restore" again. ` +
        `To start without data, delete ${RESTORING}.`,
    );
  }
}

/** Whether the file exists and is not empty. Throws StartError if this cannot be known, for example because the folder is another user's. */
function hasContent(path: string): boolean {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (cause) {
    const { code = 'unknown reason' } = cause as NodeJS.ErrnoException;
    throw new StartError(
      `${path} cannot be read (${code}). Run this as the user of the service, or set DATA_DIR to another folder.`,
      { cause },
    );
  }
}

/** Lock on a data folder. No other process can take it until it is released or this process ends. */
export interface FolderLock {
  release(): void;
}

/** Throws StartError if the folder is not writable, FolderInUse if another process holds its lock. */
export function holdFolder(folder: string): FolderLock {
  try {
    if (!existsSync(folder)) createFolder(folder);
    // An existing folder with other files keeps its mode: it may be shared, and our files are private anyway.
    else if (readdirSync(folder).every(isOurs)) chmodSync(folder, 0o700);
    makePrivate(join(folder, LOCK));
    makePrivate(databasePath(folder));
  } catch (cause) {
    throw unusable(folder, cause);
  }
  return takeLock(folder);
}

/** Throws StartError if the folder contains more than a lock and the remains of an interrupted restore. */
export function requireVacant(folder: string): void {
  let found: string[];
  try {
    found = existsSync(folder) ? readdirSync(folder).filter((name) => !isNegligible(folder, name)) : [];
  } catch (cause) {
    throw unusable(folder, cause);
  }
  if (found.length === 0) return;
  const more = found.length > 3 ? `, and ${found.length - 3} more` : '';
  throw new StartError(
    `The data folder ${folder} is not empty: it contains ${found.slice(0, 3).join(', ')}${more}. ` +
      'Set DATA_DIR to a folder that is empty or does not exist.',
  );
}

function isNegligible(folder: string, name: string): boolean {
  if (name === DATABASE) return statSync(join(folder, name)).size === 0;
  return name.startsWith(RESTORING) || name.startsWith(LOCK) || isSystemFile(name);
}

/** Whether the file is one of ours, or one that file systems and desktops create. */
export function isOurs(name: string): boolean {
  return name.startsWith(DATABASE) || name.startsWith(LOCK) || isSystemFile(name);
}

/** Whether the file is one that file systems and desktops create in any folder. */
function isSystemFile(name: string): boolean {
  return name.startsWith('.') || name === 'lost+found';
}

/**
 * Throws StartError if the disk of the folder has no room for START_BYTES. Really writes them: what the system reports as free
 * ignores quotas and what is reserved for root.
 */
export function requireSpace(folder: string): void {
  const path = join(folder, `${DATABASE}.${process.pid}.space`);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      unlinkSync(path); // nothing is left behind, even after a kill
      for (let bytes = 0; bytes < START_BYTES; ) bytes += writeSync(file, Buffer.alloc(START_BYTES - bytes));
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

function full(folder: string, cause: unknown): StartError {
  return new StartError(
    `The disk of the data folder ${folder} is full, or nearly so: a start needs 1 MiB. ` +
      'Free some space, or set DATA_DIR to another folder.',
    { cause },
  );
}

function unusable(folder: string, cause: unknown): StartError {
  const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown reason';
  if (reason === 'ENOSPC' || reason === 'EDQUOT') return full(folder, cause);
  return new StartError(
    `The data folder ${folder} cannot be written (${reason}). Make it writable or set DATA_DIR to another.`,
    { cause },
  );
}

/** Creates one level at a time: Node's recursive mkdir never returns for some errors, e.g. under /proc. */
function createFolder(folder: string): void {
  if (!existsSync(dirname(folder))) createFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  sync(dirname(folder)); // otherwise a power cut may remove the folder, with writes that were acknowledged
}

/** Syncs a file, or the file names of a folder, to disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Does not open an existing file: closing it would release all locks that this process holds on it (POSIX). */
function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** Whether another process has the lock of the folder. Takes nothing that a start could miss. */
export function isLocked(folder: string): boolean {
  const path = join(folder, LOCK);
  if (!existsSync(path)) return false;
  const lock = new DatabaseSync(path, { readOnly: true });
  try {
    lock.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY;
  } finally {
    lock.close();
  }
}

function takeLock(folder: string): FolderLock {
  const path = join(folder, LOCK);
  try {
    const lock = beginExclusive(path);
    return { release: () => lock.close() };
  } catch (cause) {
    const { errcode, message } = cause as Error & { errcode?: number };
    if (errcode === SQLITE_FULL) throw full(folder, cause);
    if (errcode === SQLITE_BUSY)
      throw new FolderInUse(
        `The data folder ${folder} is in use by another local-events process. Stop that process, or set DATA_DIR to another folder.`,
        { cause },
      );
    throw new StartError(
      `The lock ${path} cannot be used: ${message}. Stop every local-events process of this folder and remove the file.`,
      { cause },
    );
  }
}

/** Lock that ends with the process. Node has no flock, so this is an exclusive transaction on a small separate database. */
function beginExclusive(path: string): DatabaseSync {
  const lock = new DatabaseSync(path);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}
