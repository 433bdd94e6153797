// The migrations of an engine: the files NNNN-name.sql of its folder, numbered from 1. Any other file there is ignored.
// Applying them, and recording their names in the database, is left to the engines.
import { readdirSync, readFileSync } from 'node:fs';
import { StartError } from './domain/errors.ts';

const FILE_NAME = /^\d{4}-[a-z0-9-]+\.sql$/;

export interface Migration {
  /** The name of the file without `.sql`. */
  readonly name: string;
  readonly sql: string;
}

/** By number: the first one is number 1. Throws StartError where a number is missing or used twice. */
export function readMigrations(folder: URL): readonly Migration[] {
  const files = readdirSync(folder)
    .filter((file) => FILE_NAME.test(file))
    .sort();
  for (const [index, file] of files.entries()) {
    const number = String(index + 1).padStart(4, '0');
    if (file.startsWith(`${number}-`)) continue;
    throw new StartError(
      `The installation is damaged: ${file} is where migration ${number} belongs. Install local-events again.`,
    );
  }
  return files.map((file) => ({
    name: file.slice(0, -'.sql'.length),
    sql: readFileSync(new URL(file, folder), 'utf8'),
  }));
}

/**
 * Throws StartError for a database that a newer version wrote, or that has other migrations than these. `version` is the number
 * of the last one that was applied; `recorded` are the names, from the first on, none in a database that has no record yet.
 */
export function requireKnown(
  migrations: readonly Migration[],
  version: number,
  recorded: readonly string[],
): void {
  if (version > migrations.length) {
    throw new StartError(
      `The data was written by a newer version of local-events (schema ${version}; this one knows ${migrations.length}). ` +
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
