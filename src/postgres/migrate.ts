// Brings the database to the newest schema: the migrations that it lacks, in one transaction, under a lock, so that any
// number of nodes may start at once. The table schema_version has the number of the last one and the names of all.
import { StartError } from '../domain/errors.ts';
import { readMigrations, requireKnown } from '../migrations.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { codeOf } from './client/errors.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** Ours among the advisory locks of the database. */
const LOCK = 7_305_914_226;

const INSUFFICIENT_PRIVILEGE = '42501';

/** Whom and where we are, as one writes it in SQL. */
interface Who {
  readonly role: string;
  readonly name: string;
  readonly is_super: boolean;
}

/**
 * Throws StartError for a database that a newer version wrote, that has other migrations than ours, that lacks PostGIS or ICU,
 * or in which we may not make tables.
 */
export function migrate(database: Database, migrations = readMigrations(FOLDER)): Promise<void> {
  return database.transaction('repeatable', async (sql) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`;
    const [who] = await sql<[Who]>`
      SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS name,
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_super`;
    await requireDatabase(sql, who);
    const { version, names, isOwned } = await readApplied(sql);
    requireKnown(migrations, version, names);
    const lacking = migrations.slice(version);
    // A database of a version that recorded no names gets them, unless only another role may change its tables.
    const isRecorded = names.length >= version || !isOwned;
    if (lacking.length === 0 && isRecorded) return;
    try {
      for (const migration of lacking) await sql.unsafe(migration.sql);
      await record(
        sql,
        migrations.map(({ name }) => name),
      );
    } catch (cause) {
      if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
      throw new StartError(
        `The role ${who.role} may not make tables in the database ${who.name}. Run as its owner or a superuser: ` +
          `GRANT CREATE ON SCHEMA public TO ${who.role};`,
        { cause },
      );
    }
  });
}

/** The migrations that the database has. */
interface Applied {
  /** The number of the last one; 0 in an empty database. */
  readonly version: number;
  /** From the first on; none where they were not recorded. */
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
  // Apart, for a table of a version that recorded only the number, and goes on doing so.
  await sql`ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS names text[]`;
  await sql`DELETE FROM schema_version`;
  await sql`
    INSERT INTO schema_version (version, names)
    VALUES (${names.length}, string_to_array(${names.join(' ')}, ' '))`;
}

/** Every text must fit in and be compared by Unicode's rules. PostGIS must be there; a superuser may add it. */
async function requireDatabase(sql: Sql, who: Who): Promise<void> {
  const [found] = await sql`
    SELECT (SELECT count(*) FROM pg_extension WHERE extname = 'postgis')::integer AS installed,
      (SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis')::integer AS available,
      current_setting('server_version_num')::integer / 10000 AS major,
      current_setting('server_encoding') AS encoding,
      EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS has_icu`;
  const { installed, available, major, encoding, has_icu } = found!;
  if (encoding !== 'UTF8') {
    throw new StartError(
      `The database ${who.name} has the encoding ${encoding}, which cannot hold every text. ` +
        'Create one with ENCODING UTF8 TEMPLATE template0.',
    );
  }
  if (!has_icu) {
    throw new StartError(
      `The database ${who.name} has no collation und-x-icu, by which texts are compared. ` +
        'Use a PostgreSQL that is built with ICU, as the usual packages are.',
    );
  }
  if (installed > 0) return;
  const add = `psql -d ${who.name} -c 'CREATE EXTENSION postgis'`;
  if (available === 0) {
    throw new StartError(
      `PostGIS is not on the database server. Install it there, on Debian: apt-get install postgresql-${major}-postgis-3; ` +
        `then run as a superuser: ${add}`,
    );
  }
  if (who.is_super) await sql`CREATE EXTENSION postgis`;
  else throw new StartError(`PostGIS is not in the database ${who.name}. Run as a superuser: ${add}`);
}
