// Opens the database for a store or for bulk work: connects, migrates the schema and explains failures.
import { StartError } from '../domain/errors.ts';
import { UNFINISHED_MOVE, unfinishedMove } from '../domain/unfinished-move.ts';
import { Database, type DatabaseOptions } from './client/database.ts';
import { codeOf } from './client/errors.ts';
import { describeAddress } from './client/url.ts';
import { LOCK_TIMEOUT_MS, migrate, requireReadable } from './migrate.ts';
import { CHECKED_CONNECTIONS, explainRefusal, requireUsablePooler } from './pooler.ts';

/** Advice for errors caused by a mistake in DATABASE_URL, by error code. */
const HINTS: Readonly<Record<string, string>> = {
  '28P01': 'Check user and password in DATABASE_URL.',
  '28000': 'Check the user in DATABASE_URL, and pg_hba.conf of the server.',
  '3D000': 'Create the database, or set another in DATABASE_URL.',
  '25006': 'Set DATABASE_URL to the primary, or to several hosts including the primary.',
  ECONNREFUSED: 'Check host and port in DATABASE_URL, and that the server runs.',
  CONNECT_TIMEOUT: 'Check host and port in DATABASE_URL, and that the server runs.',
  ENOTFOUND: 'Check the host name in DATABASE_URL.',
  EAI_AGAIN: 'Check the host name in DATABASE_URL.',
  TLS_REFUSED: 'Check sslmode in DATABASE_URL, and the certificate of the server.',
  UNAVAILABLE: 'Check host and port in DATABASE_URL, and that the server runs.',
};

/** Connections for a migration: one holds its lock, another may do its work. Some are always left to reads. */
const MIGRATION_POOL_SIZE = 4;

/**
 * Throws StartError if the database cannot be used, or if a move into it is unfinished. A move itself may continue, but needs
 * exactly our schema, to copy everything; others can use a newer one that is compatible. Without a purpose, the role must be allowed to
 * change the data.
 */
export async function openDatabase(options: DatabaseOptions, purpose?: 'move' | 'export'): Promise<Database> {
  const place = describeAddress(options.url);
  let database: Database | undefined;
  try {
    database = await connectChecked(options, place);
    await database.close();
    // No statement timeout: migrations may take long.
    const session = { statementTimeoutMs: 0, lockTimeoutMs: LOCK_TIMEOUT_MS, poolSize: MIGRATION_POOL_SIZE };
    database = await Database.open({ ...options, ...session });
    const { isNewer } = await migrate(database, undefined, undefined, options.onMigrated);
    if (isNewer && purpose === 'move') throw newerThanMove(place);
    await database.close();
    database = await Database.open(options);
    if (purpose !== 'move') await requireFinished(database, place);
    if (purpose === undefined) await requireRights(database, place);
    return database;
  } catch (error) {
    await database?.close();
    throw explainOpening(error, options, place);
  }
}

/** For reading agents. Changes nothing, so it also works for a role that may only read. Throws StartError as `openDatabase` does. */
export async function openReadable(options: DatabaseOptions): Promise<Database> {
  const place = describeAddress(options.url);
  let database: Database | undefined;
  try {
    database = await connectChecked(options, place);
    await database.run('repeatable', (sql) => requireReadable(sql, place));
    await requireFinished(database, place);
    return database;
  } catch (error) {
    await database?.close();
    throw explainOpening(error, options, place);
  }
}

/** A few connections to the primary. Throws StartError if a pooler in between cannot be used, otherwise the driver's errors. */
export async function connectChecked(options: DatabaseOptions, place: string): Promise<Database> {
  const database = await Database.open({ ...options, poolSize: CHECKED_CONNECTIONS });
  try {
    await requireUsablePooler(database, options, place);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Says what is wrong, and what to do. */
export function explainOpening(error: unknown, options: DatabaseOptions, place: string): StartError {
  if (error instanceof StartError) return error;
  const { cause } = error as Error;
  const reason = codeOf(error) === 'UNAVAILABLE' && cause ? cause : error;
  const refusal = explainRefusal(reason, options, place);
  if (refusal) return refusal;
  const hint = HINTS[codeOf(reason)] ?? '';
  const { message } = reason as Error;
  const problem = `The database ${place} cannot be used: ${message.replace(/\.$/, '')}.`;
  return new StartError(`${problem} ${hint}`.trim(), { cause: error });
}

/** A database that is only partly filled must not be served. */
export async function requireFinished(database: Database, place: string): Promise<void> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<{ value: string }[]>`SELECT value FROM settings WHERE name = ${UNFINISHED_MOVE}`,
  );
  if (found) throw unfinishedMove(`The database ${place}`, found.value);
}

/** Throws StartError if the role may not change the data, for example because another role has made the tables. */
export async function requireRights(database: Database, place: string): Promise<void> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<{ role: string; name: string; owner: string }[]>`
      SELECT quote_ident(current_user) AS role, relname AS name, quote_ident(pg_get_userbyid(relowner)) AS owner
      FROM pg_class
      WHERE oid IN (to_regclass('agents'), to_regclass('keys'), to_regclass('events'), to_regclass('oauth_clients'),
          to_regclass('grants'), to_regclass('grant_tokens'))
        AND NOT (has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
          AND has_table_privilege(oid, 'DELETE'))`,
  );
  if (!found) return;
  const { role, name, owner } = found;
  throw new StartError(
    `The role ${role} may not change the table ${name} of the database ${place}. Use the owner of the table in DATABASE_URL: ${owner}.`,
  );
}

function newerThanMove(place: string): StartError {
  return new StartError(
    `The database ${place} was migrated by a newer version of local-events. Use that version for the move.`,
  );
}
