// Knows which host is the primary, and notices when it no longer answers. One small question every half second decides:
// while it is answered, slow statements are left alone; when it is not, every connection is given up and all hosts are
// asked until one of them is a primary.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectOptions, connect, type Sql } from './connect.ts';
import { unavailable } from './failures.ts';

/** From one answer to the next question. */
const HEARTBEAT_MS = 500;

/** An answer may take this long; with what callers wait below, they hear within 2 seconds that there is none. */
const ANSWER_MS = 1_000;

/** Between two rounds of asking all hosts. */
const SEARCH_MS = 200;

export class Primary {
  readonly #addresses: readonly string[];
  readonly #options: ConnectOptions;
  #pool: Sql | undefined;
  #probe: Sql | undefined;
  #lostAt = performance.now();
  #isClosed = false;
  #wake = Promise.withResolvers<void>();
  #found = Promise.withResolvers<void>();
  #watching: Promise<void> = Promise.resolve();

  constructor(addresses: readonly string[], options: ConnectOptions) {
    this.#addresses = addresses;
    this.#options = options;
  }

  /** Finds the primary and watches it from then on. Throws the error of the last host if there is none. */
  async open(): Promise<void> {
    await this.#search();
    this.#watching = this.#watch();
  }

  /**
   * Connections to the primary. Where there is none, one is awaited until this time; but not where it has been away for so
   * long already. Throws UNAVAILABLE.
   */
  async connections(beginMs: number, patienceMs: number): Promise<Sql> {
    while (!this.#pool) {
      const leftMs = Math.min(beginMs, this.#lostAt) + patienceMs - performance.now();
      if (leftMs <= 0 || this.#isClosed) throw unavailable();
      await Promise.race([this.#found.promise, sleep(leftMs, undefined, { ref: false })]);
    }
    return this.#pool;
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
    await Promise.all([this.#pool?.end({ timeout: 0 }), this.#probe?.end({ timeout: 0 })]);
    this.#pool = undefined;
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      await Promise.race([this.#wake.promise, sleep(HEARTBEAT_MS, undefined, { ref: false })]);
      this.#wake = Promise.withResolvers();
      if (this.#isClosed) return;
      if (this.#probe && (await isPrimary(this.#probe).catch(() => false))) continue;
      this.#giveUp();
      while (!this.#isClosed && !this.#pool) {
        await this.#search().catch(() => sleep(SEARCH_MS, undefined, { ref: false }));
      }
    }
  }

  #giveUp(): void {
    this.#lostAt = performance.now();
    this.#found = Promise.withResolvers();
    for (const sql of [this.#pool, this.#probe]) void sql?.end({ timeout: 0 }).catch(() => {});
    this.#pool = this.#probe = undefined;
  }

  async #search(): Promise<void> {
    try {
      await Promise.any(this.#addresses.map((address) => this.#ask(address)));
    } catch (error) {
      throw (error as AggregateError).errors.at(-1);
    }
  }

  async #ask(address: string): Promise<void> {
    const probe = connect(address, { ...this.#options, poolSize: 1 });
    try {
      if (!(await isPrimary(probe))) throw new NoPrimary('the server is a standby, or read-only');
    } catch (error) {
      void probe.end({ timeout: 0 }).catch(() => {});
      throw error;
    }
    if (this.#pool || this.#isClosed) return void probe.end({ timeout: 0 }).catch(() => {});
    this.#probe = probe;
    this.#pool = connect(address, this.#options);
    this.#found.resolve();
  }
}

class NoPrimary extends Error {
  readonly code = '25006';
}

async function isPrimary(sql: Sql): Promise<boolean> {
  const asked = sql`SELECT current_setting('transaction_read_only') = 'off' AS writable`;
  const late = sleep(ANSWER_MS, undefined, { ref: false }).then(() => {
    throw unavailable();
  });
  const [row] = await Promise.race([asked, late]);
  return row?.writable === true;
}
