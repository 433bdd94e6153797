// Deletes old entries of the log of changes, so that it does not grow for ever. Every node tries; one at a time does it.
import type { Database } from '../client/database.ts';
import { INCARNATION } from './changes.ts';

/** Number of our advisory lock. */
const LOCK = 7_305_914_229;

const INTERVAL_MS = 60_000;

/** Entries stay in the log for this long: a node that was cut off for less need not load all events again. */
const LOGGED_MS = 600_000;

/** The newest entries stay however old they are: nodes recognise the history by them after a failover. */
const LOGGED_CHANGES = 10_000;

/** All transactions below `xmin` had ended at that time. */
interface Sample {
  readonly atMs: number;
  readonly xmin: string;
  readonly incarnation: string;
}

export interface TrimOptions {
  readonly intervalMs?: number;
  readonly loggedMs?: number;
  readonly loggedChanges?: number;
}

export class LogTrimming {
  readonly #database: Database;
  readonly #loggedMs: number;
  readonly #loggedChanges: number;
  readonly #timer: NodeJS.Timeout;
  #samples: Sample[] = [];

  constructor(database: Database, options: TrimOptions = {}) {
    this.#database = database;
    this.#loggedMs = options.loggedMs ?? LOGGED_MS;
    this.#loggedChanges = options.loggedChanges ?? LOGGED_CHANGES;
    // After a failure, for example without a primary, the next attempt deletes the same and more.
    const attempt = () => void this.step().catch(() => {});
    this.#timer = setInterval(attempt, options.intervalMs ?? INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Returns the number of deleted entries. */
  async step(): Promise<number> {
    const sample = await this.#sample();
    if (!sample) return 0;
    // After a failover, IDs of transactions are used again.
    const current = this.#samples.filter(({ incarnation }) => incarnation === sample.incarnation);
    const old = current.filter(({ atMs }) => atMs <= sample.atMs - this.#loggedMs);
    this.#samples = [...current.slice(Math.max(0, old.length - 1)), sample];
    const newestOld = this.#loggedMs === 0 ? sample : old.at(-1);
    return newestOld ? this.#trim(newestOld) : 0;
  }

  async #sample(): Promise<Sample | undefined> {
    const atMs = performance.now();
    const [row] = await this.#database.run('repeatable', (sql) =>
      sql.unsafe<{ xmin: string; incarnation: string | null }[]>(
        `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, ${INCARNATION} AS incarnation`,
      ),
    );
    const { xmin, incarnation } = row!;
    return incarnation === null ? undefined : { atMs, xmin, incarnation };
  }

  /** The horizon and the entries change together. It never passes a transaction that has not ended. */
  #trim({ xmin, incarnation }: Sample): Promise<number> {
    return this.#database.transaction('repeatable', async (sql) => {
      const [lock] = await sql<
        [{ is_taken: boolean }]
      >`SELECT pg_try_advisory_xact_lock(${LOCK}) AS is_taken`;
      if (!lock.is_taken) return 0;
      const [horizon] = await sql<{ xid: string }[]>`
        INSERT INTO event_changes_horizon (xid)
        SELECT least(${xmin}::text::xid8, pg_snapshot_xmin(pg_current_snapshot()), oldest_logged.xid)
        FROM (SELECT xid FROM event_changes ORDER BY event_changes.xid DESC OFFSET ${this.#loggedChanges} LIMIT 1) AS oldest_logged
        WHERE ${sql.unsafe(INCARNATION)} = ${incarnation}
        ON CONFLICT (only_row) DO UPDATE SET xid = greatest(event_changes_horizon.xid, excluded.xid) RETURNING xid::text`;
      if (!horizon) return 0;
      const { count } = await sql`DELETE FROM event_changes WHERE xid < ${horizon.xid}::text::xid8`;
      return count;
    });
  }
}
