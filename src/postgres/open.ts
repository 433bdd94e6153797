// Opens the database for a store or for bulk work: reached, understood, and with the newest schema.
import { StartError } from '../domain/errors.ts';
import { UNFINISHED_MOVE, unfinishedMove } from '../domain/transfer.ts';
import { Database, type DatabaseOptions } from './client/database.ts';
import { codeOf } from './client/errors.ts';
import { describeAddress } from './client/url.ts';
import { migrate } from './migrate.ts';

/** What to do about the errors that a mistake in DATABASE_URL makes. */
const HINTS: Readonly<Record<string, string>> = {
  '28P01': 'Check user and password in DATABASE_URL.',
  '28000': 'Check the user in DATABASE_URL, and pg_hba.conf of the server.',
  '3D000': 'Create the database, or name another in DATABASE_URL.',
  '25006': 'DATABASE_URL must name a primary, or several hosts of which one is.',
  ECONNREFUSED: 'Check host and port in DATABASE_URL, and that the server runs.',
  CONNECT_TIMEOUT: 'Check host and port in DATABASE_URL, and that the server runs.',
  ENOTFOUND: 'Check the name of the host in DATABASE_URL.',
  EAI_AGAIN: 'Check the name of the host in DATABASE_URL.',
  TLS_REFUSED: 'Check sslmode in DATABASE_URL, and the certificate of the server.',
  UNAVAILABLE: 'Check host and port in DATABASE_URL, and that the server runs.',
};

/** Throws StartError if the database cannot be reached or used, and unless told otherwise if a move into it is unfinished. */
export async function openDatabase(options: DatabaseOptions, even?: 'unfinished'): Promise<Database> {
  let database: Database | undefined;
  try {
    // However long the steps to a new schema take.
    database = await Database.open({ ...options, statementTimeoutMs: 0 });
    await migrate(database);
    await database.close();
    database = await Database.open(options);
    if (even !== 'unfinished') await requireFinished(database, describeAddress(options.url));
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

/** Data that is only half there is not served. */
async function requireFinished(database: Database, place: string): Promise<void> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<{ value: string }[]>`SELECT value FROM settings WHERE name = ${UNFINISHED_MOVE}`,
  );
  if (found) throw unfinishedMove(`The database ${place}`, found.value);
}
