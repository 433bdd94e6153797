// Statements against the primary: each waits for a connection, is tried again where that is safe, and fails in our terms.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingQuery } from 'postgres';
import type { AppError } from '../../domain/errors.ts';
import { Operations } from '../../domain/operations.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import type { Session, Sql } from './driver.ts';
import { codeOf, type Failure, failureOf, unavailable, withoutData } from './errors.ts';
import { Primary } from './primary.ts';
import { withTimeout } from './timeout.ts';
import { addressesOf } from './url.ts';

export interface DatabaseOptions extends Session {
  /** One or several hosts. */
  readonly url: string;
  readonly poolSize: number;
  /** How long a request waits for a connection. */
  readonly poolTimeoutMs: number;
}

/** For this long a request is tried again, or waits for a new primary. */
const PATIENCE_MS = 1_500;
const FIRST_PAUSE_MS = 20;

/** What lost against another, for longer: it takes PostgreSQL a second to find a deadlock. */
const CONFLICT_PATIENCE_MS = 5_000;

/** What was accepted gets this long when the database is closed. */
const CLOSE_TIMEOUT_MS = 4_000;

/** A statement that is not answered this long after its own timeout never will be: the server may wait for a standby. */
const ANSWER_MARGIN_MS = 1_000;

/** Whether the same work may be done twice: a read may, a write only where a second one changes nothing more. */
export type Repeat = 'repeatable' | 'once';

export interface Statements {
  /** Throws UNAVAILABLE where the database does not answer; any other error of a statement as it is. */
  run<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T>;
  /** The same in one transaction. */
  transaction<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** Each statement and each transaction that is run here is an operation; `operation` makes one of several. */
export class Database implements Statements {
  readonly #primary: Primary;
  readonly #limit: ConcurrencyLimit;
  readonly #answerMs: number | undefined;
  readonly #operations = new Operations();
  /** Statements of operations that were accepted: they are run while the database is closing, too. */
  readonly #accepted: Statements = {
    run: (repeat, work) => this.#runWithinLimit(repeat, work),
    transaction: (repeat, work) => this.#runWithinLimit(repeat, (sql) => inTransaction(sql, work)),
  };

  private constructor(primary: Primary, options: DatabaseOptions) {
    this.#primary = primary;
    this.#limit = new ConcurrencyLimit(options.poolSize, options.poolTimeoutMs);
    const { statementTimeoutMs } = options;
    this.#answerMs = statementTimeoutMs === 0 ? undefined : statementTimeoutMs + ANSWER_MARGIN_MS;
  }

  /** Throws the driver's error if no host answers as a primary. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const primary = new Primary(addressesOf(options.url) ?? [], options);
    await primary.open();
    return new Database(primary, options);
  }

  /** Finishes the operations that were accepted, then the last one, and refuses others from now on. */
  async close(last?: (statements: Statements) => Promise<void>): Promise<void> {
    const late = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    const finished = this.#operations.close().then(() => last?.(this.#accepted));
    await Promise.race([finished, late]);
    await this.#primary.close();
  }

  /** Throws UNAVAILABLE unless the primary answers now, however many wait for it. */
  check(): Promise<void> {
    return this.#operations.run(() => this.#primary.check());
  }

  run<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.operation((statements) => statements.run(repeat, work));
  }

  transaction<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.operation((statements) => statements.transaction(repeat, work));
  }

  /** An operation of several statements: once it has begun, closing waits for all of them. Throws UNAVAILABLE when closing. */
  operation<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#operations.run(() => work(this.#accepted));
  }

  /** Rows of one moment, some at a time. They hold a connection until the last is read. */
  async *cursor<Row extends object>(
    batch: number,
    query: (sql: Sql) => PendingQuery<Row[]>,
  ): AsyncGenerator<Row[]> {
    const pool = await this.#primary.pool(performance.now(), PATIENCE_MS);
    const connection = pool.take();
    try {
      yield* query(connection.sql).cursor(batch) as AsyncIterable<Row[]>;
    } catch (error) {
      throw failureOf(error) === 'other' ? error : toUnavailable(error);
    } finally {
      connection.drop(); // there may be rows on it that nobody wants
      pool.release(connection);
    }
  }

  async #runWithinLimit<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    const begun = performance.now();
    await this.#limit.acquire();
    // The slot is free when the work is over, not when nobody waits for it any more: it has a connection.
    const done = this.#runPatiently(begun, repeat, work).finally(() => this.#limit.release());
    return this.#answerMs === undefined ? done : withTimeout(done, this.#answerMs);
  }

  async #runPatiently<T>(begun: number, repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      const pool = await this.#primary.pool(begun, PATIENCE_MS);
      const connection = pool.take();
      try {
        return await work(connection.sql);
      } catch (error) {
        const failure = failureOf(error);
        if (failure === 'other') throw withoutData(error);
        if (isConnectionLost(failure)) {
          connection.drop();
          this.#primary.suspect();
        }
        const isSafe = failure === 'conflict' || failure === 'not-begun' || repeat === 'repeatable';
        const patienceMs = failure === 'conflict' ? CONFLICT_PATIENCE_MS : PATIENCE_MS;
        if (failure === 'refused' || !isSafe || performance.now() - begun + pauseMs > patienceMs)
          throw toUnavailable(withoutData(error));
      } finally {
        pool.release(connection);
      }
      await sleep(pauseMs);
    }
  }
}

async function inTransaction<T>(sql: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
  await sql`BEGIN`;
  try {
    const result = await work(sql);
    await sql`COMMIT`;
    return result;
  } catch (error) {
    // Where the connection is not kept, the server does it by itself.
    if (!isConnectionLost(failureOf(error))) await sql`ROLLBACK`;
    throw error;
  }
}

/** The connection cannot be used any more, or is to a server that is no primary. */
function isConnectionLost(failure: Failure): boolean {
  return failure === 'lost' || failure === 'not-begun';
}

function toUnavailable(error: unknown): AppError {
  return codeOf(error) === 'UNAVAILABLE' ? (error as AppError) : unavailable(error);
}
