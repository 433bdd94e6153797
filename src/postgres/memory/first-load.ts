// Whether a node that has started should still leave requests to others: it may answer searches by SQL already, but slower than a node
// that has all events in memory. As long as it should, it is not ready; once it is ready, it stays so.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../client/database.ts';
import { APPLICATION } from '../client/driver.ts';

/** Application names of connections, by which nodes know each other. Each node adds an ID to the first. */
const LOADING = `${APPLICATION} loading `;
export const IN_MEMORY = `${APPLICATION} in memory`;

const LOOK_EVERY_MS = 250;

/** A node polls at least every one and a half seconds. One that has not for so long, and is not waiting for a poll, may be gone. */
const HEARD_WITHIN_MS = 5_000;

/** A node that starts together with others waits this long, if none of them has the events either. */
const TOGETHER_MS = 30_000;

/** A node that still fails to load after this time serves by SQL, like the nodes that cannot load. */
const FAILING_MS = 60_000;

export interface FirstLoadOptions {
  readonly togetherMs?: number | undefined;
  readonly failingMs?: number | undefined;
}

export class FirstLoad {
  readonly #database: Database;
  readonly #options: { readonly togetherMs: number; readonly failingMs: number };
  readonly #startedMs = performance.now();
  #name: string | undefined;
  /** The first failure since the last progress. */
  #failingSinceMs: number | undefined;
  #isFailing = false;
  #isOver = false;
  #isWarm = false;

  constructor(
    database: Database,
    signal: AbortSignal,
    { togetherMs = TOGETHER_MS, failingMs = FAILING_MS }: FirstLoadOptions = {},
  ) {
    this.#database = database;
    this.#options = { togetherMs, failingMs };
    void this.#watch(signal);
  }

  /** Application name of connections that load, and of those that poll until all words are in memory. */
  async nameOfLoading(): Promise<string> {
    if (this.#name === undefined) {
      const [found] = await this.#database.accepted.run(
        'repeatable',
        (sql) => sql<[{ id: string }]>`SELECT right(gen_random_uuid()::text, 12) AS id`,
      );
      this.#name = LOADING + found.id;
    }
    return this.#name;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** All events and their words are in memory, or cannot be. */
  end(): void {
    this.#isOver = true;
  }

  /** Part of the work is done. */
  noteProgress(): void {
    this.#failingSinceMs = undefined;
    this.#isFailing = false;
  }

  /** Loading has failed, and is tried again. An attempt that takes long has not failed: only the next failure shows that it goes on. */
  noteFailure(): void {
    const nowMs = performance.now();
    this.#failingSinceMs ??= nowMs;
    this.#isFailing = nowMs - this.#failingSinceMs > this.#options.failingMs;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!this.#isOver && !signal.aborted) {
      // Without a primary, the node is not ready in any case.
      if (await this.#isNeeded().catch(() => false)) this.end();
      else await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #isNeeded(): Promise<boolean> {
    const nowMs = performance.now();
    const others = await this.#findOthers();
    if (others === 'in memory' && !this.#isWarm) this.#openConnections();
    if (others === 'in memory') return this.#isFailing;
    return others === 'none' || nowMs - this.#startedMs > this.#options.togetherMs;
  }

  /**
   * Opens all connections of the pool. Another node is about to be restarted: all requests then come at once, to a database that is busy
   * with them and with loads, where opening a connection takes long.
   */
  #openConnections(): void {
    this.#isWarm = true;
    for (let count = 0; count < this.#database.limits.poolSize; count++)
      this.#database.run('repeatable', (sql) => sql`SELECT 1`).catch(() => {}); // then a request opens it
  }

  async #findOthers(): Promise<'in memory' | 'loading' | 'none'> {
    const [found] = await this.#database.run(
      'repeatable',
      (sql) => sql<[{ loading: number; in_memory: number }]>`
        SELECT count(*) FILTER (WHERE starts_with(application_name, ${LOADING}) AND application_name <> ${this.#name ?? ''}) AS loading,
          count(*) FILTER (
            WHERE application_name = ${IN_MEMORY} AND (state = 'active' OR state_change > now() - make_interval(secs => ${HEARD_WITHIN_MS / 1_000}))
          ) AS in_memory
        FROM pg_stat_activity WHERE datname = current_database()`,
    );
    if (found.in_memory > 0) return 'in memory';
    return found.loading > 0 ? 'loading' : 'none';
  }
}
