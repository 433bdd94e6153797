// The data folder: made if missing, readable by its owner only, and held by one process at a time.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartError } from '../../domain/errors.ts';

const DATABASE = 'local-events.db';
const LOCK = 'lock.db';
const RESTORING = `${DATABASE}.restoring`;
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

export function databasePath(folder: string): string {
  return join(folder, DATABASE);
}

/** What a database is called until it is wholly restored. */
export function restoringPath(folder: string): string {
  return join(folder, RESTORING);
}

/** The path of the database. Throws StartError if there is none, or nothing was ever written to it. */
export function getDatabase(folder: string): string {
  const path = databasePath(folder);
  if (existsSync(path) && statSync(path).size > 0) return path;
  throw new StartError(`There is no data in ${folder}. Set DATA_DIR to the folder of the service.`);
}

/** A held data folder; nobody else can hold it until it is released or the process is gone. */
export interface FolderLock {
  release(): void;
}

/** Throws StartError if the folder cannot be written or another process holds it. */
export function holdFolder(folder: string): FolderLock {
  try {
    if (!existsSync(folder)) makeFolder(folder);
    // A folder that was there with other things in it keeps its mode: it may be shared, and the files are private anyway.
    else if (readdirSync(folder).every(isOurs)) chmodSync(folder, 0o700);
    makePrivate(join(folder, LOCK));
    makePrivate(databasePath(folder));
  } catch (cause) {
    throw unusable(folder, cause);
  }
  return takeLock(folder);
}

/** Throws StartError if the folder holds more than locks and what a restore that was cut short leaves. */
export function requireVacant(folder: string): void {
  let found: string[];
  try {
    found = existsSync(folder) ? readdirSync(folder).filter((name) => !isVoid(folder, name)) : [];
  } catch (cause) {
    throw unusable(folder, cause);
  }
  if (found.length === 0) return;
  const more = found.length > 3 ? `, and ${found.length - 3} more` : '';
  throw new StartError(
    `The data folder ${folder} is not empty: it holds ${found.slice(0, 3).join(', ')}${more}. ` +
      'Set DATA_DIR to a folder that is empty or does not exist.',
  );
}

function isVoid(folder: string, name: string): boolean {
  if (name === DATABASE) return statSync(join(folder, name)).size === 0;
  return name.startsWith(RESTORING) || name.startsWith(LOCK) || isNobodys(name);
}

/** Files that we write, or that say nothing about who else uses the folder. */
export function isOurs(name: string): boolean {
  return name.startsWith(DATABASE) || name.startsWith(LOCK) || isNobodys(name);
}

/** What a file system or a desktop puts into every folder. */
function isNobodys(name: string): boolean {
  return name.startsWith('.') || name === 'lost+found';
}

function unusable(folder: string, cause: unknown): StartError {
  const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown reason';
  return new StartError(
    `The data folder ${folder} cannot be written (${reason}). Make it writable or set DATA_DIR to another.`,
    { cause },
  );
}

/** One folder after another: the recursive mkdir of Node never returns where the system refuses as it does under /proc. */
function makeFolder(folder: string): void {
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** An existing file is not opened: closing it would drop every lock that this process holds on it (POSIX). */
function makePrivate(file: string): void {
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

function takeLock(folder: string): FolderLock {
  const path = join(folder, LOCK);
  try {
    const lock = beginExclusive(path);
    return { release: () => lock.close() };
  } catch (cause) {
    const { errcode, message } = cause as Error & { errcode?: number };
    throw new StartError(
      errcode === SQLITE_BUSY
        ? `The data folder ${folder} is in use by another local-events process. Stop that one, or set DATA_DIR to another folder.`
        : errcode === SQLITE_FULL
          ? `The disk of the data folder ${folder} is full. Make room, or set DATA_DIR to another folder.`
          : `The lock ${path} cannot be used: ${message}. Stop every local-events process of this folder and remove the file.`,
      { cause },
    );
  }
}

/** Node has no flock; an exclusive transaction on a small database of its own is one that ends with the process. */
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
