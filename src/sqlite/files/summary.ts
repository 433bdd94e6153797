// What a database file holds, and whether it is sound: read from the original before it is copied, and from the copy.
import type { DatabaseSync } from 'node:sqlite';
import { StartError } from '../../domain/errors.ts';
import type { StoreSummary } from '../../domain/store.ts';
import { readSchemaVersion } from '../migrate.ts';

/** There since the first schema, and together in nobody else's database. */
const TABLES = ['agents', 'audit', 'events', 'keys', 'settings'];

/** Throws StartError for a database that is not ours, or that a newer version wrote. */
export function readSummary(database: DatabaseSync): StoreSummary {
  const tables = new Set(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  );
  if (!TABLES.every((name) => tables.has(name))) throw new StartError('It is no database of local-events.');
  const schema = readSchemaVersion(database);
  const counts = database
    .prepare(
      `SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM agents) AS agents,
        (SELECT json ->> 'created_at' FROM events ORDER BY event_id DESC LIMIT 1) AS newestAt`,
    )
    .get() as Omit<StoreSummary, 'schema'>;
  return { schema, ...counts };
}

/** The first thing that is wrong; undefined if all is well. */
export function findDamage(database: DatabaseSync): string | undefined {
  const { integrity_check } = database.prepare('PRAGMA integrity_check(1)').get() as {
    integrity_check: string;
  };
  if (integrity_check !== 'ok') return integrity_check;
  const orphan = database.prepare('PRAGMA foreign_key_check').get();
  return orphan && `a row of ${orphan.table} belongs to a row of ${orphan.parent} that is missing`;
}
