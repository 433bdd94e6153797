// Statements against the primary: each waits for a connection, is tried again where that is safe, and fails in our terms.
import { setTimeout as sleep } from 'node:timers/promises';
import type { PendingQuery } from 'postgres';
import type { AppError } from '../domain/errors.ts';
import type { Sql } from './connect.ts';
import { codeOf, failureOf, unavailable } from './failures.ts';
import { addressesOf } from './hosts.ts';
import { Primary } from './primary.ts';
import { Slots } from './slots.ts';

export interface DatabaseOptions {
  /** One or several hosts. */
  readonly url: string;
  readonly poolSize: number;
  /** How long a request waits for a connection. */
  readonly poolTimeoutMs: number;
  /** 0: none. */
  readonly statementTimeoutMs: number;
  readonly applicationName?: string;
}

/** For this long a request is tried again, or waits for a new primary. */
const PATIENCE_MS = 1_500;
const FIRST_PAUSE_MS = 20;

/** What was accepted gets this long when the database is closed. */
const CLOSE_TIMEOUT_MS = 4_000;

/** A statement that is not answered this long after its own timeout never will be: the server may wait for a standby. */
const ANSWER_MARGIN_MS = 1_000;

/** Whether the same work may be done twice: a read may, a write only where a second one changes nothing more. */
export type Repeat = 'repeatable' | 'once';

export class Database {
  readonly #primary: Primary;
  readonly #slots: Slots;
  /** Undefined: as long as the server answers at all. */
  readonly #answerMs: number | undefined;
  readonly #accepted = new Set<Promise<unknown>>();

  private constructor(primary: Primary, options: DatabaseOptions) {
    this.#primary = primary;
    this.#slots = new Slots(options.poolSize, options.poolTimeoutMs);
    const { statementTimeoutMs } = options;
    this.#answerMs = statementTimeoutMs > 0 ? statementTimeoutMs + ANSWER_MARGIN_MS : undefined;
  }

  /** Throws the driver's error if no host answers as a primary. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const primary = new Primary(addressesOf(options.url) ?? [], options);
    await primary.open();
    return new Database(primary, options);
  }

  /** Finishes what was accepted. */
  async close(): Promise<void> {
    const late = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.#accepted), late]);
    await this.#primary.close();
  }

  /** Throws UNAVAILABLE where the database does not answer; any other error of a statement as it is. */
  run<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    const begun = performance.now();
    const done = this.#slots.run(() => this.#runPatiently(begun, repeat, work));
    this.#accepted.add(done);
    return done.finally(() => this.#accepted.delete(done));
  }

  /** The same in one transaction. */
  transaction<T>(repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    // The driver's type of a transaction lacks what we do not use in one.
    return this.run(repeat, (sql) => sql.begin((inner) => work(inner as unknown as Sql)) as Promise<T>);
  }

  /** Rows of one moment, some at a time. They hold a connection until the last is read. */
  async *cursor<Row extends object>(
    batch: number,
    query: (sql: Sql) => PendingQuery<Row[]>,
  ): AsyncGenerator<Row[]> {
    const sql = await this.#primary.connections(performance.now(), PATIENCE_MS);
    try {
      yield* query(sql).cursor(batch) as AsyncIterable<Row[]>;
    } catch (error) {
      throw failureOf(error) === 'other' ? error : toUnavailable(error);
    }
  }

  async #runPatiently<T>(begun: number, repeat: Repeat, work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      const sql = await this.#primary.connections(begun, PATIENCE_MS);
      try {
        return await this.#inTime(work(sql));
      } catch (error) {
        const failure = failureOf(error);
        if (failure === 'other') throw error;
        if (failure === 'lost' || failure === 'not-begun') this.#primary.suspect();
        const isSafe = failure === 'conflict' || failure === 'not-begun' || repeat === 'repeatable';
        if (failure === 'refused' || !isSafe || performance.now() - begun + pauseMs > PATIENCE_MS)
          throw toUnavailable(error);
        await sleep(pauseMs);
      }
    }
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    if (this.#answerMs === undefined) return work;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable()), this.#answerMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function toUnavailable(error: unknown): AppError {
  return codeOf(error) === 'UNAVAILABLE' ? (error as AppError) : unavailable(error);
}
