// Migrates a database to the latest schema: applies each missing migration in a transaction and records its name. The number
// of the last one is also the user_version, by which older versions detect newer data.
import type { DatabaseSync } from 'node:sqlite';
import { StartError } from '../domain/errors.ts';
import { type Migration, type OnMigrated, readMigrations, requireKnown } from '../migrations.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** Throws StartError if a newer version wrote the database, if it has other migrations than ours, or if it is from before 1.0.0. */
export function readSchemaVersion(database: DatabaseSync, migrations = readMigrations(FOLDER)): number {
  const version = Number(database.prepare('PRAGMA user_version').get()!.user_version);
  requireKnown(migrations, version, readRecord(database));
  return version;
}

/** The version, and the names of the migrations that `migrate` would apply. Throws the same errors. */
export function readMissing(database: DatabaseSync): { version: number; missing: string[] } {
  const migrations = readMigrations(FOLDER);
  const version = readSchemaVersion(database, migrations);
  return { version, missing: migrations.slice(version).map(({ name }) => name) };
}

/**
 * For reading without migrating, also while a service uses the database. Throws StartError if an older version wrote it, or as
 * `readSchemaVersion` does.
 */
export function requireReadable(database: DatabaseSync, migrations = readMigrations(FOLDER)): void {
  const version = readSchemaVersion(database, migrations);
  if (version === migrations.length) return;
  throw new StartError(
    `The data was written by an older version of local-events (schema ${version}), and must be migrated before this version can read ` +
      'it. Start the service once.',
  );
}

/** Throws StartError as `readSchemaVersion` does. */
export function migrate(
  database: DatabaseSync,
  migrations = readMigrations(FOLDER),
  onMigrated: OnMigrated = () => {},
): void {
  const version = readSchemaVersion(database, migrations);
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    const beganMs = performance.now();
    inTransaction(database, () => apply(database, index + 1, migration));
    onMigrated(migration.name, performance.now() - beganMs);
  }
}

function apply(database: DatabaseSync, number: number, { name, sql }: Migration): void {
  database.exec(sql);
  database.exec(
    'CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT',
  );
  database.prepare('INSERT INTO migrations (number, name) VALUES (?, ?)').run(number, name);
  database.exec(`PRAGMA user_version = ${number}`);
}

/** Names of the applied migrations in order. */
function readRecord(database: DatabaseSync): string[] {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'");
  if (!table.get()) return [];
  const rows = database.prepare('SELECT name FROM migrations ORDER BY number').all();
  return rows.map(({ name }) => String(name));
}

function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
