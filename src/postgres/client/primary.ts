// Finds the host that is the primary, and detects when it fails. A small query every half second is the heartbeat: while
// it succeeds, slow statements may continue. When it fails, all connections are dropped, and all hosts are queried until
// one of them is the primary.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Count, Metrics } from '../../metrics/metrics.ts';
import { Connection } from './connection.ts';
import type { Session, Sql } from './driver.ts';
import { codeOf, failureOf, unavailable } from './errors.ts';
import { Pool } from './pool.ts';
import { withTimeout } from './timeout.ts';
import { describeAddress } from './url.ts';

/** Time between a heartbeat's response and the next heartbeat. */
const HEARTBEAT_MS = 500;

/** Timeout of a heartbeat. Together with `patienceMs` of `pool`, callers get an error within 2 seconds. */
const HEARTBEAT_TIMEOUT_MS = 1_000;

/** How long a start repeats its question to a server that does not respond in time: it may be busy. */
const START_PATIENCE_MS = 5_000;

/** Pause between two rounds of querying all hosts. */
const SEARCH_PAUSE_MS = 200;

/** Called with the address of the primary that is used from now on; with undefined when it is lost. */
export type OnPrimary = (address: string | undefined) => void;

export class Primary {
  readonly #onPrimary: OnPrimary;
  readonly #hostUrls: readonly string[];
  readonly #session: Session;
  #pool: Pool | undefined;
  #probe: Connection | undefined;
  #respondedAt = performance.now();
  #isClosed = false;
  readonly #changes: Count;
  #hasBeenFound = false;
  /** Error of the last search that found no primary. */
  #reason: unknown;
  #wake = Promise.withResolvers<void>();
  #found = Promise.withResolvers<void>();
  #watching: Promise<void> = Promise.resolve();

  constructor(
    hostUrls: readonly string[],
    session: Session,
    metrics = new Metrics(),
    onPrimary: OnPrimary = () => {},
  ) {
    this.#onPrimary = onPrimary;
    this.#hostUrls = hostUrls;
    this.#session = session;
    this.#changes = metrics.counter(
      'local_events_database_primary_changes_total',
      'Times that a primary was found after the one before was lost, on another host or on the same.',
    );
    for (const state of ['idle', 'busy'] as const) {
      const help = 'Connections to the primary, without the one that checks it.';
      metrics.gauge('local_events_database_connections', help, () => this.#pool?.[state] ?? 0, { state });
    }
  }

  /** Finds the primary and starts the heartbeat. Throws a host's error if no host is the primary. */
  async open(): Promise<void> {
    await this.#searchUntil(performance.now() + START_PATIENCE_MS);
    this.#watching = this.#watch();
  }

  /**
   * Pool of connections to the primary. Waits for a primary until `patienceMs` after `beginMs`, or after the last successful
   * heartbeat if that is earlier; then throws UNAVAILABLE.
   */
  async pool(beginMs: number, patienceMs: number): Promise<Pool> {
    while (!this.#pool) {
      const leftMs = Math.min(beginMs, this.#respondedAt) + patienceMs - performance.now();
      if (leftMs <= 0 || this.#isClosed) throw unavailable(this.#reason);
      await withTimeout(this.#found.promise, leftMs);
    }
    return this.#pool;
  }

  /** Throws UNAVAILABLE unless the primary responds now, even if it is busy. */
  async check(): Promise<void> {
    if (this.#probe && (await isPrimary(this.#probe.sql).catch(() => false))) return;
    this.suspect();
    throw unavailable();
  }

  /** Sends the next heartbeat at once, because a connection failed. */
  suspect(): void {
    this.#wake.resolve();
  }

  /** Running statements fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake.resolve();
    await this.#watching;
    this.#dropAll();
  }

  async #watch(): Promise<void> {
    while (!this.#isClosed) {
      await Promise.race([this.#wake.promise, sleep(HEARTBEAT_MS, undefined, { ref: false })]);
      this.#wake = Promise.withResolvers();
      if (this.#isClosed) return;
      if (this.#probe && (await isPrimary(this.#probe.sql).catch(() => false))) {
        this.#respondedAt = performance.now();
        continue;
      }
      this.#dropAll();
      if (!this.#isClosed) this.#onPrimary(undefined);
      while (!this.#isClosed && !this.#pool) {
        await this.#search().catch((error: unknown) => {
          this.#reason = error;
          return sleep(SEARCH_PAUSE_MS);
        });
      }
    }
  }

  #dropAll(): void {
    this.#pool?.close();
    this.#probe?.drop();
    this.#pool = this.#probe = undefined;
    this.#found = Promise.withResolvers();
  }

  /** Searches again while a host takes too long to respond. */
  #searchUntil(untilMs: number): Promise<void> {
    return this.#search().catch((error: unknown) => {
      if (!isTimeout(error) || performance.now() > untilMs) throw error;
      return this.#searchUntil(untilMs);
    });
  }

  async #search(): Promise<void> {
    try {
      await Promise.any(this.#hostUrls.map((hostUrl) => this.#tryHost(hostUrl)));
    } catch (error) {
      const { errors } = error as AggregateError;
      // The error of a server that rejected us says more than that of an unreachable host. One that is slow may be the primary.
      const isRefusal = (reason: unknown) => failureOf(reason) === 'refused';
      throw errors.find(isRefusal) ?? errors.find(isTimeout) ?? errors.at(-1);
    }
  }

  async #tryHost(hostUrl: string): Promise<void> {
    const probe = new Connection(hostUrl, this.#session);
    try {
      if (!(await isPrimary(probe.sql))) throw new NotPrimary('the server is a standby, or read-only');
    } catch (error) {
      probe.drop();
      throw error;
    }
    if (this.#pool || this.#isClosed) return probe.drop();
    this.#probe = probe;
    this.#pool = new Pool(hostUrl, this.#session);
    if (this.#hasBeenFound) this.#changes.value++;
    this.#hasBeenFound = true;
    this.#respondedAt = performance.now();
    this.#found.resolve();
    this.#onPrimary(describeAddress(hostUrl));
  }
}

class NotPrimary extends Error {
  readonly code = '25006';
}

/** Whether the server took too long to accept a connection, or to respond. */
function isTimeout(error: unknown): boolean {
  return ['CONNECT_TIMEOUT', 'UNAVAILABLE'].includes(codeOf(error));
}

async function isPrimary(sql: Sql): Promise<boolean> {
  const query = sql`SELECT current_setting('transaction_read_only') = 'off' AS writable`;
  const [row] = await withTimeout(query, HEARTBEAT_TIMEOUT_MS);
  return row?.writable === true;
}
