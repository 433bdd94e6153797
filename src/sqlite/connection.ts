// Database connection of the writer. With its settings, an acknowledged write survives a power cut.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { OnMigrated } from '../migrations.ts';
import { IS_STORED_AGENT, IS_STORED_EVENT } from './columns.ts';
import { orderEventsAtStart } from './event-order.ts';
import { keepRemoved } from './kept-events.ts';
import { migrate } from './migrate.ts';

/** Settings for bulk writes: 128 MiB of page cache for the indexes, and a checkpoint every 64 MiB of log. */
const BULK = 'PRAGMA cache_size = -131072; PRAGMA wal_autocheckpoint = 16384;';

/** Deletes what a service was removing in slices when it stopped. Without a service, there is nobody to wait. */
function finishRemovals(database: DatabaseSync): void {
  if (!database.prepare('SELECT 1 FROM removals').get()) return;
  database.exec(`
    BEGIN IMMEDIATE;
    ${keepRemoved('true')};
    DELETE FROM events WHERE NOT ${IS_STORED_EVENT};
    DELETE FROM agents WHERE NOT ${IS_STORED_AGENT};
    DELETE FROM removals;
    COMMIT`);
}

function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}

/** Throws StartError if a newer version wrote the database. */
export function openForWriting(
  path: string,
  purpose: 'serve' | 'bulk' = 'serve',
  onMigrated?: OnMigrated,
): DatabaseSync {
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
