// The database as source or target of a move. No node may be connected when it is opened, and none can start while the move
// is unfinished.
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../domain/errors.ts';
import {
  columnsOf,
  type Key,
  TABLE_NAMES,
  TABLES,
  type Table,
  type TransferStore,
  type Values,
} from '../domain/transfer.ts';
import { UNFINISHED_MOVE } from '../domain/unfinished-move.ts';
import type { Database, DatabaseOptions } from './client/database.ts';
import { APPLICATION } from './client/driver.ts';
import { describeAddress } from './client/url.ts';
import { openDatabase } from './open.ts';
import { insertRecords } from './records.ts';

/** 45 MB if all events have the maximum size. */
const ROWS_PER_BATCH = 500;

/** Time for the server to notice that a process has ended, e.g. a killed move. */
const DISCONNECT_MS = 3_000;
const RECHECK_MS = 100;

const MARK = `'${UNFINISHED_MOVE}'`;

export class PostgresTransfer implements TransferStore {
  readonly howToEmpty = `Empty its tables (TRUNCATE ${TABLE_NAMES.join(', ')})`;
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** `name` must be unique to this process. Throws StartError if the database cannot be used, or another process uses it. */
  static async open(options: DatabaseOptions, name: string): Promise<PostgresTransfer> {
    const applicationName = `${APPLICATION} move ${name}`;
    // No statement timeout: a move may take long.
    const database = await openDatabase({ ...options, statementTimeoutMs: 0, applicationName }, 'move');
    try {
      await requireAlone(database, applicationName, describeAddress(options.url));
      return new PostgresTransfer(database);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async findUnfinished(): Promise<string | undefined> {
    return this.#queryValue<string>(`SELECT value FROM settings WHERE name = ${MARK}`);
  }

  async count(table: Table): Promise<number> {
    return (await this.#queryValue<number>(`SELECT count(*) FROM ${sourceOf(table)}`))!;
  }

  async findLastKey(table: Table): Promise<Key | undefined> {
    const key = columnsOf(table)[0]![0];
    return this.#queryValue<Key>(`SELECT ${key} FROM ${sourceOf(table)} ORDER BY ${key} DESC LIMIT 1`);
  }

  async *rows(table: Table, after?: Key): AsyncGenerator<Values[]> {
    const names = Object.keys(TABLES[table]);
    const key = names[0]!;
    const select = (where: string) =>
      `SELECT ${names.join(', ')} FROM ${sourceOf(table)} ${where} ORDER BY ${key} LIMIT ${ROWS_PER_BATCH}`;
    for (let last = after; ; ) {
      const rows: Values[] = await this.#database.run('repeatable', (sql) =>
        last === undefined
          ? sql.unsafe(select('')).values()
          : sql.unsafe(select(`WHERE ${key} > $1`), [last], { prepare: true }).values(),
      );
      if (rows.length > 0) yield rows;
      if (rows.length < ROWS_PER_BATCH) return;
      last = rows.at(-1)![0] as Key;
    }
  }

  async begin(source: string): Promise<void> {
    await this.#database.transaction('repeatable', async (sql) => {
      await sql`DELETE FROM settings`;
      await sql`INSERT INTO settings (name, value) VALUES (${UNFINISHED_MOVE}, ${source})`;
    });
  }

  async write(table: Table, rows: readonly Values[]): Promise<void> {
    const names = Object.keys(TABLES[table]);
    const sent = JSON.stringify(
      rows.map((values) => Object.fromEntries(names.map((name, at) => [name, values[at]]))),
    );
    // A retry after a lost response finds its own rows.
    const insert = `${insertRecords(table)} ON CONFLICT (${names[0]}) DO NOTHING`;
    await this.#database.run('repeatable', (sql) => sql.unsafe(insert, [sent], { prepare: true }));
  }

  async finish(): Promise<void> {
    // The rows came with their IDs, so set the sequence to the last one.
    await this.#queryValue(
      `SELECT setval(pg_get_serial_sequence('audit', 'audit_id'), coalesce(max(audit_id), 1), max(audit_id) IS NOT NULL)
       FROM audit`,
    );
    // ANALYZE gives the planner its statistics; VACUUM allows index-only scans.
    await this.#queryValue(`VACUUM (ANALYZE) ${TABLE_NAMES.join(', ')}`);
    await this.#queryValue(`DELETE FROM settings WHERE name = ${MARK}`);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** The first value of the first row. */
  async #queryValue<T>(statement: string): Promise<T | undefined> {
    const [row] = await this.#database.run('repeatable', (sql) => sql.unsafe(statement).values());
    return row?.[0] as T | undefined;
  }
}

/** The table, without the mark of the move itself. */
function sourceOf(table: Table): string {
  return table === 'settings' ? `(SELECT * FROM settings WHERE name <> ${MARK}) AS moved` : table;
}

/** Throws StartError if another local-events process stays connected. */
async function requireAlone(database: Database, applicationName: string, place: string): Promise<void> {
  for (const startedMs = performance.now(); ; await sleep(RECHECK_MS)) {
    const others = await database.run(
      'repeatable',
      (sql) => sql`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
          AND starts_with(application_name, ${APPLICATION}) AND application_name <> ${applicationName}`,
    );
    if (others.length === 0) return;
    if (performance.now() - startedMs < DISCONNECT_MS) continue;
    throw new StartError(
      `The database ${place} is in use by another local-events process. Stop every node, then run "move" again.`,
    );
  }
}
