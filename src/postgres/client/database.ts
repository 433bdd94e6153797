// Statements on the primary: each waits for a connection, is retried if that is safe, and throws errors in our terms.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingQuery } from 'postgres';
import { AppError } from '../../domain/errors.ts';
import { Operations } from '../../domain/operations.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { OnMigrated } from '../../migrations.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import type { Session, Sql } from './driver.ts';
import { codeOf, type Failure, failureOf, unavailable, withoutData } from './errors.ts';
import { type OnPrimary, Primary } from './primary.ts';
import { withTimeout } from './timeout.ts';
import { addressesOf } from './url.ts';

export interface DatabaseOptions extends Session {
  /** One or several hosts. */
  readonly url: string;
  readonly poolSize: number;
  /** Maximum time that a statement waits for a connection. */
  readonly poolTimeoutMs: number;
  readonly metrics?: Metrics | undefined;
  readonly onPrimary?: OnPrimary | undefined;
  readonly onMigrated?: OnMigrated | undefined;
}

/** Maximum time for retries, and for waiting for a new primary. */
export const PATIENCE_MS = 1_500;
export const FIRST_PAUSE_MS = 20;

/** The same for conflicts. Longer, because PostgreSQL needs a second to detect a deadlock. */
const CONFLICT_PATIENCE_MS = 5_000;

/** Part of the connections that writes never use. */
const KEPT_FOR_READS = 0.25;

/** Maximum time for accepted operations to finish when the database is closed. */
const CLOSE_TIMEOUT_MS = 4_000;

/** Added to the statement timeout. A server that waits for a standby does not respond even after the statement timeout. */
const RESPONSE_MARGIN_MS = 1_000;

/** Part of the statement timeout after which a search is given up: it can be narrowed, other statements cannot. */
const SEARCH_PART = 0.8;

/**
 * Whether the work may run twice: reads may; writes only if running them again changes nothing. Writes to agents and events may
 * wait for locks, and have fewer connections than reads. A search has less time than other reads.
 */
export type Repeat = 'search' | 'repeatable' | 'repeatable write' | 'once';

export interface Statements {
  /** Throws UNAVAILABLE if the database does not respond. Other errors of a statement are thrown unchanged. */
  run<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T>;
  /** The same in one transaction. */
  transaction<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T>;
}

/** A connection for one user, outside the limits of the pool. */
export interface OwnConnection {
  readonly sql: Sql;
  /** Whether its host is still the primary, as far as this process knows. */
  readonly isCurrent: boolean;
  /** Running statements fail. */
  drop(): void;
}

/** `run` and `transaction` are operations of their own; `operation` groups several of them into one. */
export class Database implements Statements {
  readonly #options: DatabaseOptions;
  readonly #primary: Primary;
  readonly #limit: ConcurrencyLimit;
  /** Lower than that of all statements: writes that are stuck leave connections to reads. */
  readonly #writeLimit: ConcurrencyLimit;
  readonly #operations = new Operations();
  /** Runs the statements of accepted operations, even while the database is closing. */
  readonly accepted: Statements = {
    run: (repeat, work) =>
      repeat === 'repeatable' || repeat === 'search'
        ? this.#runWithinLimit(repeat, work)
        : this.#write(repeat, work),
    transaction: (repeat, work) => this.#write(repeat, (sql) => inTransaction(sql, work)),
  };

  private constructor(primary: Primary, options: DatabaseOptions) {
    this.#primary = primary;
    this.#options = options;
    const { poolSize, poolTimeoutMs, metrics } = options;
    this.#limit = new ConcurrencyLimit(poolSize, poolTimeoutMs, 'connections', metrics);
    const keptForReads = Math.ceil(poolSize * KEPT_FOR_READS);
    const forWrites = Math.max(1, poolSize - keptForReads);
    this.#writeLimit = new ConcurrencyLimit(forWrites, poolTimeoutMs, 'write_connections', metrics);
  }

  /** Without the URL, which has the password. */
  get limits(): Pick<DatabaseOptions, 'poolSize' | 'poolTimeoutMs' | 'metrics'> {
    const { poolSize, poolTimeoutMs, metrics } = this.#options;
    return { poolSize, poolTimeoutMs, metrics };
  }

  /** Throws the driver's error if no host is the primary. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const primary = new Primary(addressesOf(options.url) ?? [], options, options.metrics, options.onPrimary);
    await primary.open();
    return new Database(primary, options);
  }

  /** Rejects new operations, waits for accepted ones, then runs `last`. */
  async close(last?: (statements: Statements) => Promise<void>): Promise<void> {
    const timeout = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    const finished = this.#operations.close().then(() => last?.(this.accepted));
    await Promise.race([finished, timeout]);
    await this.#primary.close();
  }

  /** Throws UNAVAILABLE unless the primary responds now. Does not wait in the queue for a connection. */
  check(): Promise<void> {
    return this.#operations.run(() => this.#primary.check());
  }

  run<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.operation((statements) => statements.run(repeat, work));
  }

  transaction<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.operation((statements) => statements.transaction(repeat, work));
  }

  /** Runs several statements as one operation: `close` waits for all of them. Throws UNAVAILABLE once `close` was called. */
  operation<T>(work: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#operations.run(() => work(this.accepted));
  }

  /** Yields the rows of one snapshot in batches. Uses a connection until the last row is read. */
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
      connection.drop(); // it may still have unread rows
      pool.release(connection);
    }
  }

  /**
   * Opens a connection of its own, with these settings besides those of all. It is dropped when its host is no longer the
   * primary. Waits for a primary as a statement does that began at `beginMs`. Throws UNAVAILABLE if there is none.
   */
  async connect(session: Partial<Session>, beginMs = performance.now()): Promise<OwnConnection> {
    const pool = await this.#primary.pool(beginMs, PATIENCE_MS);
    const { statementTimeoutMs, applicationName } = this.#options;
    const connection = pool.open({
      statementTimeoutMs,
      ...(applicationName === undefined ? {} : { applicationName }),
      ...session,
    });
    return {
      sql: connection.sql,
      get isCurrent() {
        return !pool.isClosed && connection.isUsable;
      },
      drop: () => pool.discard(connection),
    };
  }

  /** Checks the primary at once, because a connection failed. */
  suspect(): void {
    this.#primary.suspect();
  }

  async #write<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    await this.#writeLimit.acquire();
    return this.#runWithinLimit(repeat, work, () => this.#writeLimit.release());
  }

  async #runWithinLimit<T>(
    repeat: Repeat,
    work: (sql: Sql) => Promise<T>,
    onEnd: () => void = () => {},
  ): Promise<T> {
    const startedMs = performance.now();
    await this.#limit.acquire().catch((error: unknown) => {
      onEnd();
      throw error;
    });
    // Release the slot when the work ends, not at the timeout: until then the work uses a connection.
    const done = this.#runWithRetries(startedMs, repeat, work).finally(() => {
      this.#limit.release();
      onEnd();
    });
    const { statementTimeoutMs } = this.#options;
    if (statementTimeoutMs === 0) return done;
    return repeat === 'search'
      ? withTimeout(done, statementTimeoutMs * SEARCH_PART, slowSearch)
      : withTimeout(done, statementTimeoutMs + RESPONSE_MARGIN_MS);
  }

  async #runWithRetries<T>(startedMs: number, repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      const pool = await this.#primary.pool(startedMs, PATIENCE_MS);
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
        const isSafe = failure === 'conflict' || failure === 'not-begun' || repeat !== 'once';
        const patienceMs = failure === 'conflict' ? CONFLICT_PATIENCE_MS : PATIENCE_MS;
        if (failure === 'refused' || !isSafe || performance.now() - startedMs + pauseMs > patienceMs)
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
    // If the connection is lost, the server rolls back automatically.
    if (!isConnectionLost(failureOf(error))) await sql`ROLLBACK`;
    throw error;
  }
}

/** Whether the connection is no longer usable, or its server is not the primary. */
function isConnectionLost(failure: Failure): boolean {
  return failure === 'lost' || failure === 'not-begun';
}

function slowSearch(): AppError {
  return new AppError('UNAVAILABLE', 'The search takes too long. Retry, or search a smaller area or time.');
}

function toUnavailable(error: unknown): AppError {
  return codeOf(error) === 'UNAVAILABLE' ? (error as AppError) : unavailable(error);
}
