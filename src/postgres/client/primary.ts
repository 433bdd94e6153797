// Knows which host is the primary, and notices when it no longer answers. One small question every half second decides:
// while it is answered, slow statements are left alone; when it is not, every connection is given up and all hosts are
// asked until one of them is a primary.
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Session, Sql } from './driver.ts';
import { failureOf, unavailable } from './errors.ts';
import { Pool } from './pool.ts';
import { withTimeout } from './timeout.ts';

/** From one answer to the next question. */
const HEARTBEAT_MS = 500;

/** An answer may take this long; with what callers wait below, they hear within 2 seconds that there is none. */
const ANSWER_MS = 1_000;

/** Between two rounds of asking all hosts. */
const SEARCH_MS = 200;

export class Primary {
  readonly #addresses: readonly string[];
  readonly #session: Session;
  #pool: Pool | undefined;
  #probe: Connection | undefined;
  #answeredAt = performance.now();
  #isClosed = false;
  /** Why no primary was found the last time. */
  #reason: unknown;
  #wake = Promise.withResolvers<void>();
  #found = Promise.withResolvers<void>();
  #watching: Promise<void> = Promise.resolve();

  constructor(addresses: readonly string[], session: Session) {
    this.#addresses = addresses;
    this.#session = session;
  }

  /** Finds the primary and watches it from then on. Throws the error of the last host if there is none. */
  async open(): Promise<void> {
    await this.#search();
    this.#watching = this.#watch();
  }

  /**
   * Lines to the primary. Where there is none, one is awaited until this time; but not where it has not answered for so
   * long already. Throws UNAVAILABLE.
   */
  async pool(beginMs: number, patienceMs: number): Promise<Pool> {
    while (!this.#pool) {
      const leftMs = Math.min(beginMs, this.#answeredAt) + patienceMs - performance.now();
      if (leftMs <= 0 || this.#isClosed) throw unavailable(this.#reason);
      await withTimeout(this.#found.promise, leftMs);
    }
    return this.#pool;
  }

  /** Throws UNAVAILABLE unless the primary answers now, however much it has to do. */
  async check(): Promise<void> {
    if (this.#probe && (await isPrimary(this.#probe.sql).catch(() => false))) return;
    this.suspect();
    throw unavailable();
  }

  /** Asks at once instead of at the next beat: something went wrong with a connection. */
  suspect(): void {
    this.#wake.resolve();
  }

  /** Gives up what is still under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake.resolve();
    await this.#watching;
    this.#giveUp();
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      await Promise.race([this.#wake.promise, sleep(HEARTBEAT_MS, undefined, { ref: false })]);
      this.#wake = Promise.withResolvers();
      if (this.#isClosed) return;
      if (this.#probe && (await isPrimary(this.#probe.sql).catch(() => false))) {
        this.#answeredAt = performance.now();
        continue;
      }
      this.#giveUp();
      while (!this.#isClosed && !this.#pool) {
        await this.#search().catch((error: unknown) => {
          this.#reason = error;
          return sleep(SEARCH_MS);
        });
      }
    }
  }

  #giveUp(): void {
    this.#pool?.close();
    this.#probe?.drop();
    this.#pool = this.#probe = undefined;
    this.#found = Promise.withResolvers();
  }

  async #search(): Promise<void> {
    try {
      await Promise.any(this.#addresses.map((address) => this.#ask(address)));
    } catch (error) {
      const { errors } = error as AggregateError;
      // One that refused us says more than one that is not there.
      throw errors.find((reason) => failureOf(reason) === 'refused') ?? errors.at(-1);
    }
  }

  async #ask(address: string): Promise<void> {
    const probe = new Connection(address, this.#session);
    try {
      if (!(await isPrimary(probe.sql))) throw new NoPrimary('the server is a standby, or read-only');
    } catch (error) {
      probe.drop();
      throw error;
    }
    if (this.#pool || this.#isClosed) return probe.drop();
    this.#probe = probe;
    this.#pool = new Pool(address, this.#session);
    this.#answeredAt = performance.now();
    this.#found.resolve();
  }
}

class NoPrimary extends Error {
  readonly code = '25006';
}

async function isPrimary(sql: Sql): Promise<boolean> {
  const asked = sql`SELECT current_setting('transaction_read_only') = 'off' AS writable`;
  const [row] = await withTimeout(asked, ANSWER_MS);
  return row?.writable === true;
}
