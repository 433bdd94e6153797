// The embedded engine as source or target of a move. Uses the database on the main thread: a move serves no requests.
import { readdirSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StartError } from '../../domain/errors.ts';
import {
  columnsOf,
  type Key,
  TABLES,
  type Table,
  type TransferStore,
  type Values,
} from '../../domain/transfer.ts';
import { UNFINISHED_MOVE } from '../../domain/unfinished-move.ts';
import { openForWriting } from '../connection.ts';
import { databasePath, type FolderLock, getDatabase, holdFolder, isOurs } from './data-folder.ts';

/** 45 MB if all events have the maximum size. */
const ROWS_PER_BATCH = 500;

const MARK = `'${UNFINISHED_MOVE}'`;

type Stored = (string | number | null)[];

export class SqliteTransfer implements TransferStore {
  readonly howToEmpty: string;
  readonly #lock: FolderLock;
  readonly #database: DatabaseSync;

  private constructor(folder: string, lock: FolderLock, database: DatabaseSync) {
    this.howToEmpty = `Remove the folder ${folder}`;
    this.#lock = lock;
    this.#database = database;
  }

  /** Throws StartError if another process uses the folder, it has no data or cannot be read, or its data is newer. */
  static openSource(folder: string): SqliteTransfer {
    getDatabase(folder); // throws if missing; #open would create it
    const transfer = SqliteTransfer.#open(folder);
    transfer.#database.exec('PRAGMA query_only = ON');
    return transfer;
  }

  /** Creates the folder. Throws StartError if another process uses it, it is not writable, or it contains other files. */
  static openTarget(folder: string): SqliteTransfer {
    if (isFolder(folder) && !readdirSync(folder).every(isOurs)) {
      throw new StartError(
        `The folder ${folder} contains other files. Choose one that is empty or does not exist.`,
      );
    }
    return SqliteTransfer.#open(folder);
  }

  static #open(folder: string): SqliteTransfer {
    const lock = holdFolder(folder);
    try {
      return new SqliteTransfer(folder, lock, openForWriting(databasePath(folder), 'bulk'));
    } catch (cause) {
      lock.release();
      if (cause instanceof StartError) throw cause;
      throw new StartError(
        `The database ${databasePath(folder)} cannot be read: ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  async findUnfinished(): Promise<string | undefined> {
    const row = this.#database.prepare(`SELECT value FROM settings WHERE name = ${MARK}`).get();
    return row?.value as string | undefined;
  }

  async count(table: Table): Promise<number> {
    return this.#database.prepare(`SELECT count(*) AS count FROM ${sourceOf(table)}`).get()!.count as number;
  }

  async findLastKey(table: Table): Promise<Key | undefined> {
    const key = columnsOf(table)[0]![0];
    const row = this.#database.prepare(`SELECT max(${key}) AS last FROM ${sourceOf(table)}`).get()!;
    return (row.last as Key | null) ?? undefined;
  }

  async *rows(table: Table, after?: Key): AsyncGenerator<Values[]> {
    const columns = columnsOf(table);
    const key = columns[0]![0];
    const select = (where: string) => {
      const names = columns.map(([name]) => name).join(', ');
      const statement = this.#database.prepare(
        `SELECT ${names} FROM ${sourceOf(table)} ${where} ORDER BY ${key} LIMIT ${ROWS_PER_BATCH}`,
      );
      statement.setReturnArrays(true);
      return statement;
    };
    const first = select('');
    const next = select(`WHERE ${key} > ?`);
    const booleans = columns.flatMap(([, kind], at) => (kind === 'boolean' ? [at] : []));
    for (let last = after; ; ) {
      const found = (last === undefined ? first.all() : next.all(last)) as unknown as Stored[];
      const rows = booleans.length === 0 ? found : found.map((row) => toValues(row, booleans));
      if (rows.length > 0) yield rows;
      if (rows.length < ROWS_PER_BATCH) return;
      last = rows.at(-1)![0] as Key;
      await nextTurn(); // lets the other store's connection and timers run
    }
  }

  async begin(source: string): Promise<void> {
    this.#inTransaction(() => {
      this.#database.exec('DELETE FROM settings');
      this.#database.prepare(`INSERT INTO settings (name, value) VALUES (${MARK}, ?)`).run(source);
    });
  }

  async write(table: Table, rows: readonly Values[]): Promise<void> {
    const names = Object.keys(TABLES[table]);
    const insert = this.#database.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    );
    this.#inTransaction(() => {
      for (const values of rows) {
        insert.run(...values.map((value) => (typeof value === 'boolean' ? Number(value) : value)));
      }
    });
  }

  async finish(): Promise<void> {
    this.#database.exec(`DELETE FROM settings WHERE name = ${MARK}`);
  }

  async close(): Promise<void> {
    this.#database.close();
    this.#lock.release();
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The table, without the mark of the move itself. */
function sourceOf(table: Table): string {
  return table === 'settings' ? `(SELECT * FROM settings WHERE name <> ${MARK})` : table;
}

/** Converts 0 and 1 to booleans, which SQLite does not have. */
function toValues(row: Stored, booleans: readonly number[]): Values {
  const values: (string | number | boolean | null)[] = row;
  for (const at of booleans) values[at] = row[at] === 1;
  return values;
}
