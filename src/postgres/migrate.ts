// Migrates the database to the latest schema: applies the missing migrations in one transaction, under a lock, so that any
// number of nodes can start at once. The table schema_version has the number of the last one and the names of all.
import { StartError } from '../domain/errors.ts';
import { readMigrations, requireKnown } from '../migrations.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { codeOf } from './client/errors.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** Number of our advisory lock. */
const LOCK = 7_305_914_226;

const INSUFFICIENT_PRIVILEGE = '42501';

/** Current role and database, quoted for SQL. */
interface Current {
  readonly role: string;
  readonly name: string;
  readonly is_super: boolean;
}

/**
 * Throws StartError if a newer version wrote the database, if it has other migrations than ours, if it lacks PostGIS or ICU,
 * or if we may not create tables in it.
 */
export function migrate(database: Database, migrations = readMigrations(FOLDER)): Promise<void> {
  return database.transaction('repeatable', async (sql) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`;
    const [current] = await sql<[Current]>`
      SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS name,
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_super`;
    await requireDatabase(sql, current);
    const { version, names, isOwned } = await readApplied(sql);
    requireKnown(migrations, version, names);
    const missing = migrations.slice(version);
    // If an older version recorded no names, record them now, unless only another role may change the table.
    const isRecorded = names.length >= version || !isOwned;
    if (missing.length === 0 && isRecorded) return;
    try {
      for (const migration of missing) await sql.unsafe(migration.sql);
      await record(
        sql,
        migrations.map(({ name }) => name),
      );
    } catch (cause) {
      if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
      throw new StartError(
        `The role ${current.role} may not create tables in the database ${current.name}. Run as its owner or a superuser: ` +
          `GRANT CREATE ON SCHEMA public TO ${current.role};`,
        { cause },
      );
    }
  });
}

/** Applied migrations. */
interface Applied {
  /** Number of the last one; 0 in an empty database. */
  readonly version: number;
  /** In order; empty if they were not recorded. */
  readonly names: readonly string[];
  /** Whether we may change the table that records them. */
  readonly isOwned: boolean;
}

async function readApplied(sql: Sql): Promise<Applied> {
  const [table] = await sql<{ is_owned: boolean; has_names: boolean }[]>`
    SELECT pg_has_role(relowner, 'USAGE') AS is_owned, EXISTS (
      SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'names' AND NOT attisdropped) AS has_names
    FROM pg_class WHERE oid = to_regclass('schema_version')`;
  if (!table) return { version: 0, names: [], isOwned: true };
  const [row] = table.has_names
    ? await sql<
        { version: number; names: string[] | null }[]
      >`SELECT version, array_to_json(names) AS names FROM schema_version`
    : await sql<{ version: number; names: null }[]>`SELECT version, NULL AS names FROM schema_version`;
  return { version: row?.version ?? 0, names: row?.names ?? [], isOwned: table.is_owned };
}

async function record(sql: Sql, names: readonly string[]): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)`;
  // A separate statement, for a table of an older version, which records only the number and may still run.
  await sql`ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS names text[]`;
  await sql`DELETE FROM schema_version`;
  await sql`
    INSERT INTO schema_version (version, names)
    VALUES (${names.length}, string_to_array(${names.join(' ')}, ' '))`;
}

/** Requires UTF-8, ICU collations and PostGIS. A superuser installs PostGIS here if it is available. */
async function requireDatabase(sql: Sql, current: Current): Promise<void> {
  const [found] = await sql`
    SELECT (SELECT count(*) FROM pg_extension WHERE extname = 'postgis')::integer AS installed,
      (SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis')::integer AS available,
      current_setting('server_version_num')::integer / 10000 AS major,
      current_setting('server_encoding') AS encoding,
      EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS has_icu`;
  const { installed, available, major, encoding, has_icu } = found!;
  if (encoding !== 'UTF8') {
    throw new StartError(
      `The database ${current.name} has the encoding ${encoding}, which cannot store every text. ` +
        'Create a database with ENCODING UTF8 TEMPLATE template0.',
    );
  }
  if (!has_icu) {
    throw new StartError(
      `The database ${current.name} has no collation und-x-icu, which is needed to compare texts. ` +
        'Use a PostgreSQL built with ICU, as the usual packages are.',
    );
  }
  if (installed > 0) return;
  const add = `psql -d ${current.name} -c 'CREATE EXTENSION postgis'`;
  if (available === 0) {
    throw new StartError(
      `PostGIS is not installed on the database server. Install it there, on Debian: apt-get install postgresql-${major}-postgis-3; ` +
        `then run as a superuser: ${add}`,
    );
  }
  if (current.is_super) await sql`CREATE EXTENSION postgis`;
  else
    throw new StartError(
      `PostGIS is not enabled in the database ${current.name}. Run as a superuser: ${add}`,
    );
}
