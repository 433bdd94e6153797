// Brings the database to the newest schema: the files of migrations/ in the order of their numbers, in one transaction,
// under a lock, so that any number of nodes may start at once.
import { readdirSync, readFileSync } from 'node:fs';
import { StartError } from '../domain/errors.ts';
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

/** Throws StartError for a database that a newer version wrote, that lacks PostGIS or ICU, or in which we may not make tables. */
export function migrate(database: Database): Promise<void> {
  return database.transaction('repeatable', async (sql) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`;
    const [who] = await sql<[Who]>`
      SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS name,
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_super`;
    await requireDatabase(sql, who);
    const files = readdirSync(FOLDER).sort();
    const found = await findVersion(sql);
    if (found > files.length) {
      throw new StartError(
        `The data was written by a newer version of local-events (schema ${found}; this one knows ${files.length}). ` +
          'Install that version or newer.',
      );
    }
    if (found === files.length) return;
    try {
      for (const file of files.slice(found)) await sql.unsafe(readFileSync(new URL(file, FOLDER), 'utf8'));
      await sql`CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)`;
      await sql`DELETE FROM schema_version`;
      await sql`INSERT INTO schema_version VALUES (${files.length})`;
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

async function findVersion(sql: Sql): Promise<number> {
  const [table] = await sql`SELECT to_regclass('schema_version') IS NOT NULL AS is_there`;
  if (!table?.is_there) return 0;
  const [row] = await sql`SELECT version FROM schema_version`;
  return row?.version ?? 0;
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
