// Brings a database to the newest schema: the files of migrations/ in the order of their numbers, each in a transaction.
import { readdirSync, readFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StartError } from '../domain/errors.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** Throws StartError for a database that a newer version wrote. */
export function readSchemaVersion(database: DatabaseSync): number {
  const newest = readdirSync(FOLDER).length;
  const found = Number(database.prepare('PRAGMA user_version').get()!.user_version);
  if (found > newest) {
    throw new StartError(
      `The data was written by a newer version of local-events (schema ${found}; this one knows ${newest}). ` +
        'Install that version or newer.',
    );
  }
  return found;
}

/** Throws StartError for a database that a newer version wrote. */
export function migrate(database: DatabaseSync): void {
  const found = readSchemaVersion(database);
  const files = readdirSync(FOLDER).sort();
  for (const [index, file] of files.entries()) {
    if (index < found) continue;
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(readFileSync(new URL(file, FOLDER), 'utf8'));
      database.exec(`PRAGMA user_version = ${index + 1}`);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}
