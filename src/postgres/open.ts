// Opens the database for a store or for bulk work: connects, migrates the schema and explains failures.
import { StartError } from '../domain/errors.ts';
import { UNFINISHED_MOVE, unfinishedMove } from '../domain/transfer.ts';
import { Database, type DatabaseOptions } from './client/database.ts';
import { codeOf } from './client/errors.ts';
import { describeAddress } from './client/url.ts';
import { migrate } from './migrate.ts';

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

/** Throws StartError if the database cannot be used, or if a move into it is unfinished and that is not allowed. */
export async function openDatabase(options: DatabaseOptions, allow?: 'unfinished'): Promise<Database> {
  let database: Database | undefined;
  try {
    // No statement timeout: migrations may take long.
    database = await Database.open({ ...options, statementTimeoutMs: 0 });
    await migrate(database);
    await database.close();
    database = await Database.open(options);
    if (allow !== 'unfinished') await requireFinished(database, describeAddress(options.url));
    return database;
  } catch (error) {
    await database?.close();
    if (error instanceof StartError) throw error;
    const { cause } = error as Error;
    const reason = codeOf(error) === 'UNAVAILABLE' && cause ? cause : error;
    const hint = HINTS[codeOf(reason)] ?? '';
    const { message } = reason as Error;
    const problem = `The database ${describeAddress(options.url)} cannot be used: ${message.replace(/\.$/, '')}.`;
    throw new StartError(`${problem} ${hint}`.trim(), { cause: error });
  }
}

/** A database that is only partly filled must not be served. */
async function requireFinished(database: Database, place: string): Promise<void> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<{ value: string }[]>`SELECT value FROM settings WHERE name = ${UNFINISHED_MOVE}`,
  );
  if (found) throw unfinishedMove(`The database ${place}`, found.value);
}
