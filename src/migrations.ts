// Migrations of an engine: the files NNNN-name.sql in its folder, numbered from 1. Other files are ignored. The engines apply
// them and record their names in the database.
import { readdirSync, readFileSync } from 'node:fs';
import { StartError } from './domain/errors.ts';

const FILE_NAME = /^\d{4}-[a-z0-9-]+\.sql$/;

/** Called after a migration was applied. */
export type OnMigrated = (name: string, ms: number) => void;

export interface Migration {
  /** File name without `.sql`. */
  readonly name: string;
  readonly sql: string;
}

/** In order of their numbers. Throws StartError if a number is missing or used twice. */
export function readMigrations(folder: URL): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => FILE_NAME.test(file))
    .sort();
  for (const [index, file] of files.entries()) {
    const number = String(index + 1).padStart(4, '0');
    if (file.startsWith(`${number}-`)) continue;
    throw new StartError(
      `The installation is damaged: found ${file} instead of migration ${number}. Reinstall local-events.`,
    );
  }
  return files.map((file) => ({
    name: file.slice(0, -'.sql'.length),
    sql: readFileSync(new URL(file, folder), 'utf8'),
  }));
}

/**
 * Throws StartError if a newer version wrote the database, unless its schema is compatible with ours, or if the database has other
 * migrations than these. `version` is the number of the last applied migration, `compatibleFrom` that of the oldest schema whose
 * versions can use the database. `recorded` has the applied names in order; it is empty if none were recorded.
 */
export function requireKnown(
  migrations: readonly Migration[],
  version: number,
  recorded: readonly string[],
  compatibleFrom = version,
): void {
  if (compatibleFrom > migrations.length) {
    throw new StartError(
      `The data was written by a newer version of local-events (schema ${version}; this version supports up to ${migrations.length}). ` +
        'Install that version or newer.',
    );
  }
  for (const [index, { name }] of migrations.slice(0, version).entries()) {
    const found = recorded[index];
    if (found === undefined || found === name) continue;
    throw new StartError(
      `The data was written by another version of local-events: its migration ${index + 1} is ${found}, not ${name}. ` +
        'Install that version.',
    );
  }
}
