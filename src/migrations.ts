// Migrations of an engine: the files NNNN-name.sql in its folder, numbered from 1. Other files are ignored. The engines apply
// them and record their names in the database.
import { readdirSync, readFileSync } from 'node:fs';
import { StartError } from './domain/errors.ts';

const FILE_NAME = /^\d{4}-[a-z0-9-]+\.sql$/;

/** The last commit before 1.0.0, whose "export" reads data from before. */
export const LAST_BEFORE_RELEASE = '1d2a53b';

/** First migrations of data from before 1.0.0. */
const BEFORE_RELEASE = ['0001-initial', '0001-start'];

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
 * Throws StartError if a newer version wrote the database, unless its schema is compatible with ours, if the database has other
 * migrations than these, or if it is from before 1.0.0. `version` is the number of the last applied migration, `compatibleFrom` that of
 * the oldest schema whose versions can use the database. `recorded` has the applied names in order.
 */
export function requireKnown(
  migrations: readonly Migration[],
  version: number,
  recorded: readonly string[],
  compatibleFrom = version,
): void {
  // The first versions recorded no names.
  if (version > 0 && (recorded[0] === undefined || BEFORE_RELEASE.includes(recorded[0])))
    throw beforeRelease();
  if (compatibleFrom > migrations.length) {
    throw new StartError(
      `The data was written by a newer version of local-events (schema ${version}; this version supports up to ${migrations.length}). ` +
        'Install that version or newer.',
    );
  }
  for (const [index, { name }] of migrations.slice(0, version).entries()) {
    const found = recorded[index];
    if (found === name) continue;
    throw new StartError(
      `The data was written by another version of local-events: its migration ${index + 1} is ${found}, not ${name}. ` +
        'Install that version.',
    );
  }
}

function beforeRelease(): StartError {
  return new StartError(
    'The data was written by a version of local-events before 1.0.0, which this version cannot use. Nothing was changed. To take over ' +
      `its events, run "export" with the version of commit ${LAST_BEFORE_RELEASE}, then "import" with this version into new data. ` +
      'Agents, keys, IDs, ended events and the audit log are not taken over.',
  );
}
