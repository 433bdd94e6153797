// Opens the database for the writer, with the settings under which an answered write survives a power cut.
import { DatabaseSync } from 'node:sqlite';
import { migrate } from './migrate.ts';

/** For much writing at once: indexes fit into 128 MiB of memory, and 64 MiB are logged before they go to the file. */
const BULK = 'PRAGMA cache_size = -131072; PRAGMA wal_autocheckpoint = 16384;';

/** Throws StartError for a database that a newer version wrote. */
export function openForWriting(path: string, purpose: 'serve' | 'bulk' = 'serve'): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    // FULL: a commit is on the disk before it is answered; fullfsync makes that true on macOS too.
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA foreign_keys = ON;
      PRAGMA journal_size_limit = 67108864;
    `);
    if (purpose === 'bulk') database.exec(BULK);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
