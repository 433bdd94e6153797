// Summary and integrity check of a database file. Backup and restore compare the summaries of the original and the copy.
import type { DatabaseSync } from 'node:sqlite';
import { StartError } from '../../domain/errors.ts';
import type { StoreSummary } from '../../domain/store.ts';
import { readSchemaVersion } from '../migrate.ts';

/** Tables since the first versions. A database with all of them is taken for one of local-events. */
const TABLES = ['agents', 'audit', 'events', 'keys', 'settings'];

/** Throws StartError if it is not a local-events database, or a newer version wrote it. */
export function readSummary(database: DatabaseSync): StoreSummary {
  const tables = new Set(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  );
  if (!TABLES.every((name) => tables.has(name))) throw new StartError('It is not a local-events database.');
  const schema = readSchemaVersion(database);
  const counts = database
    .prepare(
      `SELECT (SELECT count(*) FROM stored_events) AS events, (SELECT count(*) FROM stored_agents) AS agents,
        (SELECT json ->> 'created_at' FROM stored_events ORDER BY event_id DESC LIMIT 1) AS newestAt`,
    )
    .get() as Omit<StoreSummary, 'schema'>;
  return { schema, ...counts };
}

/** The first problem; undefined if there is none. */
export function findDamage(database: DatabaseSync): string | undefined {
  const { integrity_check } = database.prepare('PRAGMA integrity_check(1)').get() as {
    integrity_check: string;
  };
  if (integrity_check !== 'ok') return integrity_check;
  const orphan = database.prepare('PRAGMA foreign_key_check').get();
  return orphan && `a row in ${orphan.table} refers to a missing row in ${orphan.parent}`;
}
