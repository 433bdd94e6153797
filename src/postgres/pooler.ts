// PgBouncer between a node and the database: whether the settings of our sessions and prepared statements survive it. If not, the
// start is refused with the lines to write, because timeouts would vanish silently and transactions fail now and then.
import { StartError } from '../domain/errors.ts';
import type { Database } from './client/database.ts';
import { type Session, type Sql, sessionSettings } from './client/driver.ts';
import { codeOf } from './client/errors.ts';
import { withTimeout } from './client/timeout.ts';

/** Connections that `requireUsablePooler` needs. */
export const CHECKED_CONNECTIONS = 4;

/** Error of a pooler that refuses the settings with which a session begins; undefined if it is another one. */
export function explainRefusal(error: unknown, session: Session, place: string): StartError | undefined {
  if (!/unsupported startup parameter/.test((error as Error).message)) return undefined;
  const names = Object.keys(sessionSettings(session));
  return new StartError(
    `PgBouncer at ${place} refuses the settings of our sessions. Write in pgbouncer.ini:\n` +
      `  ignore_startup_parameters = ${names.join(', ')}\n` +
      `and set them for the role instead. Run as that role, in the database:\n${alterRole(session)}\n` +
      'Then restart PgBouncer.',
    { cause: error },
  );
}

/** Throws StartError if a pooler drops settings of our sessions, or loses prepared statements. */
export async function requireUsablePooler(
  database: Database,
  session: Session,
  place: string,
): Promise<void> {
  await database.run('repeatable', async (sql) => {
    if (await isDirect(sql)) return;
    await requireSettings(sql, session, place);
    await database.run('repeatable', (other) => requireStatements(sql, other, place));
  });
}

/** PgBouncer gives its clients a process ID of its own. */
export async function isDirect(sql: Sql): Promise<boolean> {
  const rows = await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
  return rows.state.pid === rows[0].pid;
}

async function requireSettings(sql: Sql, session: Session, place: string): Promise<void> {
  const rows = await sql<{ name: string; setting: string }[]>`SELECT name, setting FROM pg_settings`;
  const actual = new Map(rows.map(({ name, setting }) => [name, setting]));
  const dropped = Object.entries(sessionSettings(session)).filter(
    ([name, value]) => actual.get(name) !== value,
  );
  if (dropped.length === 0) return;
  if (session.statementTimeoutMs === 0) {
    throw new StartError(
      `This needs statements without a timeout, but PgBouncer at ${place} has one. Use the address of PostgreSQL itself.`,
    );
  }
  const named = dropped.map(([name]) => `${name} is ${actual.get(name)}`).join(', ');
  throw new StartError(
    `PgBouncer at ${place} ignores the settings of our sessions (${named}). Run as the role of the service, in the database:\n` +
      `${alterRole(session)}\nThen restart PgBouncer.`,
  );
}

function alterRole(session: Session): string {
  const settings = Object.entries(sessionSettings(session));
  return settings.map(([name, value]) => `  ALTER ROLE CURRENT_USER SET ${name} = '${value}';`).join('\n');
}

/** Errors of a statement that was prepared on another connection of the pooler; the second, if the driver prepared it again. */
const LOST_STATEMENT = new Set(['26000', '25P02']);

const ATTEMPTS = 5;

/** A pooler with only one connection lets us wait. */
const WAIT_MS = 1_000;

/** Prepares a statement and runs it on another connection of the pooler. `other` takes the one on which it was prepared. */
async function requireStatements(sql: Sql, other: Sql, place: string): Promise<void> {
  const findPid = async () => (await sql<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`)[0].pid;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const preparedOn = await findPid();
    await other.unsafe('BEGIN');
    try {
      const begun = sql.unsafe('BEGIN').execute();
      begun.catch(() => {});
      if (!(await withTimeout(begun, WAIT_MS).catch(() => undefined))) return;
      if ((await findPid()) !== preparedOn) return;
    } catch (cause) {
      if (!LOST_STATEMENT.has(codeOf(cause))) throw cause;
      throw new StartError(
        `PgBouncer at ${place} loses prepared statements. Install version 1.21 or newer, and write in pgbouncer.ini:\n` +
          '  max_prepared_statements = 200',
        { cause },
      );
    } finally {
      await other.unsafe('ROLLBACK');
      await sql.unsafe('ROLLBACK');
    }
  }
}
