// Settings of the service in the database, and the time by the database's clock.
import type { Expiry, ReferenceTime } from '../domain/store.ts';
import type { Database } from './client/database.ts';

export function getSetting(
  database: Database,
  name: string,
  initial: () => Promise<string>,
  expiry?: Expiry,
): Promise<string> {
  return database.operation(async (statements) => {
    const value = await initial();
    // On a conflict the update changes nothing; it only makes RETURNING yield the stored value.
    const [stored] = await statements.run(
      'repeatable',
      (sql) => sql<[{ readonly value: string }]>`
        WITH expired AS (DELETE FROM settings WHERE expires_ms <= ${expiry?.nowMs ?? null}::bigint AND name <> ${name})
        INSERT INTO settings (name, value, expires_ms) VALUES (${name}, ${value}, ${expiry?.atMs ?? null}::bigint)
        ON CONFLICT (name) DO UPDATE SET value = settings.value RETURNING value`,
    );
    return stored.value;
  });
}

export async function findSetting(database: Database, name: string): Promise<string | undefined> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<{ value: string }[]>`SELECT value FROM settings WHERE name = ${name}`,
  );
  return found?.value;
}

export async function setSetting(
  database: Database,
  name: string,
  value: string,
  expiry?: Expiry,
): Promise<void> {
  await database.run(
    'repeatable write',
    (sql) => sql`
      WITH expired AS (DELETE FROM settings WHERE expires_ms <= ${expiry?.nowMs ?? null}::bigint AND name <> ${name})
      INSERT INTO settings (name, value, expires_ms) VALUES (${name}, ${value}, ${expiry?.atMs ?? null}::bigint)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, expires_ms = excluded.expires_ms`,
  );
}

export async function referenceTime(database: Database): Promise<ReferenceTime> {
  const [{ ms }] = await database.run(
    'repeatable',
    (sql) => sql<[{ ms: number }]>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`,
  );
  return { of: 'database', ms };
}
