// Migrates the database to the latest schema: applies the missing migrations one after another, each under a lock, so that any
// number of nodes can start at once and beside running ones. A migration waits for the locks of tables only a moment, because
// everybody else waits behind it, and then tries again. The table schema_version records what was applied.
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../domain/errors.ts';
import { type Migration, type OnMigrated, readMigrations, requireKnown } from '../migrations.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { codeOf } from './client/errors.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** Number of our advisory lock. */
const LOCK = 7_305_914_226;

/** Time between two attempts to get it, while another node migrates. */
const LOCK_PAUSE_MS = 200;

const INSUFFICIENT_PRIVILEGE = '42501';
const LOCK_NOT_AVAILABLE = '55P03';

/** How migrations wait for the locks of tables. */
interface Waits {
  /** Maximum time of one attempt. */
  readonly lockTimeoutMs: number;
  /** Time between two attempts. */
  readonly pauseMs: number;
  /** Maximum time for all attempts of a migration. */
  readonly patienceMs: number;
}

/** Less than the time that a request waits for a connection. */
export const LOCK_TIMEOUT_MS = 1_000;

const WAITS: Waits = { lockTimeoutMs: LOCK_TIMEOUT_MS, pauseMs: 2_000, patienceMs: 120_000 };

/** Header line of a migration: the oldest schema whose nodes keep working beside it. Without it, they do not. */
const COMPATIBLE_FROM = /^-- Compatible from: (\d+)$/m;

/** Header line of a migration whose statements cannot run in a transaction, such as CREATE INDEX CONCURRENTLY. */
const OUTSIDE = /^-- Outside a transaction\b/m;

/** Current role and database, quoted for SQL. */
interface Current {
  readonly role: string;
  readonly name: string;
  readonly is_super: boolean;
}

/**
 * Returns whether the database has a newer schema, which is compatible with ours. Throws StartError if a newer version wrote the
 * database and it is not, if it has other migrations than ours or is from before 1.0.0, if it lacks PostGIS or ICU, if we may not
 * create tables in it, or if others hold the locks that a migration needs for too long.
 */
export async function migrate(
  database: Database,
  migrations = readMigrations(FOLDER),
  waits = WAITS,
  onMigrated: OnMigrated = () => {},
): Promise<{ isNewer: boolean }> {
  let sinceMs = performance.now();
  for (;;) {
    const outcome = await database
      .transaction('repeatable', (sql) => takeStep(sql, database, migrations, waits))
      .catch((error: unknown) => {
        if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
        if (performance.now() - sinceMs > waits.patienceMs) throw locked(error);
        return 'locked' as const;
      });
    if (typeof outcome === 'object' && 'isNewer' in outcome) return outcome;
    if (typeof outcome === 'object') {
      onMigrated(outcome.applied, outcome.ms);
      sinceMs = performance.now();
    } else await sleep(outcome === 'busy' ? LOCK_PAUSE_MS : waits.pauseMs);
  }
}

export interface SchemaState {
  /** Number of the last applied migration. */
  readonly count: number;
  /** Names of those that a start applies. */
  readonly missing: readonly string[];
  /** Whether a start adds PostGIS, too. */
  readonly addsPostgis: boolean;
  readonly mayCreate: boolean;
  readonly role: string;
}

/** What `migrate` would do. Changes nothing. Throws the same errors. */
export async function inspectSchema(sql: Sql): Promise<SchemaState> {
  const migrations = readMigrations(FOLDER);
  const current = await readCurrent(sql);
  const addsPostgis = await requireDatabase(sql, current);
  const { count, names, compatibleFrom } = await readApplied(sql);
  requireKnown(migrations, count, names, compatibleFrom);
  const [{ may_create }] = await sql<
    [{ may_create: boolean }]
  >`SELECT has_schema_privilege('public', 'CREATE') AS may_create`;
  const missing = migrations.slice(count).map(({ name }) => name);
  return { count, missing, addsPostgis, mayCreate: may_create, role: current.role };
}

/**
 * For reading agents without migrating: throws StartError unless these migrations know the schema, and work beside it. So a role
 * that may only read can do so.
 */
export async function requireReadable(
  sql: Sql,
  place: string,
  migrations = readMigrations(FOLDER),
): Promise<void> {
  const { count, names, compatibleFrom: from } = await readApplied(sql);
  requireKnown(migrations, count, names, from);
  if (count === 0)
    throw new StartError(`There is no data in the database ${place} yet. A start of the service creates it.`);
  if (count < compatibleFrom(migrations)) {
    throw new StartError(
      `The database ${place} was written by an older version of local-events (schema ${count}), and must be migrated before ` +
        'this version can read it. Start the service once.',
    );
  }
}

async function readCurrent(sql: Sql): Promise<Current> {
  const [current] = await sql<[Current]>`
    SELECT quote_ident(current_user) AS role, quote_ident(current_database()) AS name,
      (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_super`;
  return current;
}

/** Applies the next missing migration. 'busy': another node migrates. */
async function takeStep(
  sql: Sql,
  database: Database,
  migrations: readonly Migration[],
  { lockTimeoutMs }: Waits,
): Promise<'busy' | { applied: string; ms: number } | { isNewer: boolean }> {
  // Never wait for this lock: CREATE INDEX CONCURRENTLY of the node that has it would wait for our snapshot.
  const [lock] = await sql<[{ taken: boolean }]>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS taken`;
  if (!lock.taken) return 'busy';
  const current = await readCurrent(sql);
  if (await requireDatabase(sql, current)) await sql`CREATE EXTENSION postgis`;
  const { count, names, compatibleFrom } = await readApplied(sql);
  requireKnown(migrations, count, names, compatibleFrom);
  const next = migrations[count];
  if (!next) return { isNewer: count > migrations.length };
  // For this transaction only: the connection may be a pooler's, with settings of its own.
  await sql.unsafe(
    `SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`,
  );
  const beganMs = performance.now();
  try {
    if (OUTSIDE.test(next.sql)) await runOutside(database, next.sql);
    else await sql.unsafe(next.sql);
    await record(sql, migrations.slice(0, count + 1));
  } catch (cause) {
    if (codeOf(cause) !== INSUFFICIENT_PRIVILEGE) throw cause;
    throw new StartError(
      `The role ${current.role} may not create tables in the database ${current.name}. Run as its owner or a superuser: ` +
        `GRANT CREATE ON SCHEMA public TO ${current.role};`,
      { cause },
    );
  }
  return { applied: next.name, ms: performance.now() - beganMs };
}

/** Runs the statements one by one, on another connection: the transaction of this step holds the lock meanwhile. */
async function runOutside(database: Database, text: string): Promise<void> {
  for (const statement of text.split(/(?<=;)\s*$/m).filter((part) => /^\s*[^-\s]/m.test(part)))
    await database.run('once', (sql) => sql.unsafe(statement));
}

function locked(cause: unknown): StartError {
  return new StartError(
    'The schema cannot be migrated: other sessions hold locks on its tables. Find them in pg_stat_activity (the oldest xact_start), ' +
      'wait for them or end them, and start again.',
    { cause },
  );
}

/** Applied migrations. */
interface Applied {
  /** 0 in an empty database. */
  readonly count: number;
  /** In order. */
  readonly names: readonly string[];
  /** The oldest schema whose versions can use the database. */
  readonly compatibleFrom: number;
}

/**
 * The column `version` has the number of the oldest compatible schema, `names` all applied migrations. The first versions before 1.0.0
 * had no column `names`.
 */
async function readApplied(sql: Sql): Promise<Applied> {
  const [table] = await sql`SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL`;
  if (!table) return { count: 0, names: [], compatibleFrom: 0 };
  const [row] = await sql<{ version: number; names: string[] | null }[]>`
    SELECT version, to_jsonb(schema_version) -> 'names' AS names FROM schema_version`;
  const { version = 0, names } = row ?? {};
  return { count: Math.max(version, names?.length ?? 0), names: names ?? [], compatibleFrom: version };
}

async function record(sql: Sql, applied: readonly Migration[]): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL, names text[] NOT NULL)`;
  await sql`DELETE FROM schema_version`;
  const names = applied.map(({ name }) => name).join(' ');
  await sql`
    INSERT INTO schema_version (version, names)
    VALUES (${compatibleFrom(applied)}, string_to_array(${names}, ' '))`;
}

/** The oldest schema whose nodes can use a database with these migrations: each of them must allow it. */
function compatibleFrom(migrations: readonly Migration[]): number {
  return Math.max(...migrations.map(({ sql }, index) => Number(COMPATIBLE_FROM.exec(sql)?.[1] ?? index + 1)));
}

/** Requires UTF-8, ICU collations and PostGIS. Returns whether PostGIS is missing, and can be added by us: a superuser may. */
async function requireDatabase(sql: Sql, current: Current): Promise<boolean> {
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
  if (installed > 0) {
    await requireReach(sql, current);
    return false;
  }
  const add = `psql -d ${current.name} -c 'CREATE EXTENSION postgis'`;
  if (available === 0) {
    throw new StartError(
      `PostGIS is not installed on the database server. Install it there, on Debian: apt-get install postgresql-${major}-postgis-3; ` +
        `then run as a superuser: ${add}`,
    );
  }
  if (current.is_super) return true;
  throw new StartError(`PostGIS is not enabled in the database ${current.name}. Run as a superuser: ${add}`);
}

/** Our statements name types and functions of PostGIS without a schema. */
async function requireReach(sql: Sql, { role, name }: Current): Promise<void> {
  const [found] = await sql`
    SELECT quote_ident(nspname) AS schema, nspname = ANY (current_schemas(true)) AS is_found,
      current_setting('search_path') AS path
    FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'postgis'`;
  const { schema, is_found, path } = found!;
  if (is_found) return;
  throw new StartError(
    `PostGIS is in the schema ${schema} of the database ${name}, where the role ${role} does not look for it. ` +
      `Run as a superuser: psql -d ${name} -c 'GRANT USAGE ON SCHEMA ${schema} TO ${role}' ` +
      `-c 'ALTER ROLE ${role} IN DATABASE ${name} SET search_path = ${path}, ${schema}'`,
  );
}
