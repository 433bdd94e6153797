// Connections to the database. With the settings of the writer's, an acknowledged write survives a power cut.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { OnMigrated } from '../migrations.ts';
import { orderEventsAtStart } from './event-order.ts';
import { migrate, readSchemaVersion } from './migrate.ts';
import { finishRemovals } from './threads/removals.ts';

/** Settings for bulk writes: 128 MiB of page cache for the indexes, and a checkpoint every 64 MiB of log. */
const BULK = 'PRAGMA cache_size = -131072; PRAGMA wal_autocheckpoint = 16384;';

function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}

export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: 5000 });
}

/** Reads a database with a connection of its own that changes nothing. Undefined if there is none yet. */
export function readDatabase<T>(path: string, read: (database: DatabaseSync) => T): T | undefined {
  if (!existsSync(path) || statSync(path).size === 0) return undefined;
  const database = openForReading(path);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Throws StartError as `migrate` does. */
export function openForWriting(
  path: string,
  purpose: 'serve' | 'bulk' = 'serve',
  onMigrated?: OnMigrated,
): DatabaseSync {
  // Before a connection that may write: a database that is refused stays as it is.
  readDatabase(path, readSchemaVersion);
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    // FULL: a commit is on disk before it is acknowledged; fullfsync ensures this on macOS, too.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA foreign_keys = ON;
      PRAGMA journal_size_limit = 67108864;
    `);
    if (purpose === 'bulk') database.exec(BULK);
    migrate(database, undefined, onMigrated);
    if (purpose === 'bulk') finishRemovals(database);
    if (purpose === 'serve') orderEventsAtStart(database, freeBytesAt(path));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
