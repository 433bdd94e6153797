// One quota for all nodes without a write per request: a node takes requests from the database in small lots and gives
// them out itself. Below 400 a lot is one request, and the quota exact.
import { QUOTA_WINDOW_MS, type Quota } from '../domain/store.ts';
import type { Database, Statements } from './client/database.ts';

/** Two nodes leave at most 1 % of a quota unused: a lot each, taken and not given out. */
const LOTS = 200;

/** Buckets remembered at most; strangers choose their addresses, so the number needs a bound. */
const MAX_BUCKETS = 200_000;

/** Windows that are over are removed this often. */
const FORGET_INTERVAL_MS = 600_000;

/** Of the window, whatever the limit: that changes with the agent's tier. */
interface Lease {
  readonly resetMs: number;
  /** Taken by all nodes at the time of the last lot. */
  taken: number;
  /** Ours to give out. */
  left: number;
}

interface Taken {
  readonly reset_ms: number;
  readonly used: number;
  readonly granted: number;
}

export class QuotaLeases {
  readonly #database: Database;
  readonly #leases = new Map<string, Lease>();
  readonly #taking = new Map<string, Promise<Lease>>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database) {
    this.#database = database;
  }

  spend(bucket: string, limit: number, cost: 0 | 1, nowMs: number): Promise<Quota> {
    return this.#database.operation((statements) =>
      cost === 0
        ? this.#look(statements, bucket, limit, nowMs)
        : this.#spendOne(statements, bucket, limit, nowMs),
    );
  }

  async #spendOne(statements: Statements, bucket: string, limit: number, nowMs: number): Promise<Quota> {
    for (;;) {
      const lease = this.#current(bucket, nowMs);
      // All of it is used, or taken. What other nodes hold of it they give out themselves.
      if (lease && lease.taken - lease.left >= limit) return quotaOf(lease, limit, false);
      if (lease && lease.left > 0) {
        lease.left--;
        return quotaOf(lease, limit, true);
      }
      await (this.#taking.get(bucket) ?? this.#take(statements, bucket, limit, nowMs));
    }
  }

  /** Removes windows that ended before this time. */
  async forget(nowMs: number): Promise<void> {
    for (const [bucket, { resetMs }] of this.#leases) if (resetMs <= nowMs) this.#leases.delete(bucket);
    await this.#database.run('repeatable', (sql) => sql`DELETE FROM quotas WHERE reset_ms <= ${nowMs}`);
  }

  #current(bucket: string, nowMs: number): Lease | undefined {
    const lease = this.#leases.get(bucket);
    return lease && lease.resetMs > nowMs ? lease : undefined;
  }

  async #look(statements: Statements, bucket: string, limit: number, nowMs: number): Promise<Quota> {
    const known = this.#current(bucket, nowMs);
    const isUsed = known !== undefined && known.taken - known.left >= limit;
    if (known && (isUsed || known.left > 0)) return quotaOf(known, limit, !isUsed);
    const [row] = await statements.run(
      'repeatable',
      (sql) =>
        sql<Taken[]>`SELECT reset_ms, used FROM quotas WHERE bucket = ${bucket} AND reset_ms > ${nowMs}`,
    );
    const used = row?.used ?? 0;
    const remaining = Math.max(0, limit - used);
    return { allowed: remaining > 0, remaining, resetMs: row?.reset_ms ?? nowMs + QUOTA_WINDOW_MS };
  }

  #take(statements: Statements, bucket: string, limit: number, nowMs: number): Promise<Lease> {
    const taking = this.#takeLot(statements, bucket, limit, nowMs).finally(() => this.#taking.delete(bucket));
    this.#taking.set(bucket, taking);
    return taking;
  }

  async #takeLot(statements: Statements, bucket: string, limit: number, nowMs: number): Promise<Lease> {
    if (nowMs - this.#forgotMs >= FORGET_INTERVAL_MS) {
      this.#forgotMs = nowMs;
      void this.forget(nowMs).catch(() => {}); // the next time, then
    }
    const lot = Math.max(1, Math.floor(limit / LOTS));
    const resetMs = nowMs + QUOTA_WINDOW_MS;
    // A lot that is taken twice, because an answer was lost, is one lot less to give out.
    const [row] = await statements.run(
      'repeatable',
      (sql) => sql<Taken[]>`
        INSERT INTO quotas AS q (bucket, reset_ms, used, granted)
          VALUES (${bucket}, ${resetMs}, least(${lot}::integer, ${limit}::integer), least(${lot}::integer, ${limit}::integer))
        ON CONFLICT (bucket) DO UPDATE SET (reset_ms, used, granted) = (
          SELECT CASE WHEN is_over THEN ${resetMs}::bigint ELSE q.reset_ms END, before + more, more FROM (
            SELECT before, is_over, greatest(0, least(${lot}::integer, ${limit}::integer - before)) AS more FROM (
              SELECT q.reset_ms <= ${nowMs}::bigint AS is_over,
                CASE WHEN q.reset_ms <= ${nowMs}::bigint THEN 0 ELSE q.used END AS before
            ) AS found
          ) AS next
        )
        RETURNING reset_ms, used, granted`,
    );
    const { reset_ms, used, granted } = row!;
    const lease = { resetMs: reset_ms, taken: used, left: granted };
    this.#keep(bucket, lease, nowMs);
    return lease;
  }

  #keep(bucket: string, lease: Lease, nowMs: number): void {
    this.#leases.delete(bucket);
    // In the order of their last lot; every window lasts as long, so the first ones end first, more or less.
    for (const [name, { resetMs }] of this.#leases) {
      if (resetMs > nowMs && this.#leases.size < MAX_BUCKETS) break;
      this.#leases.delete(name);
    }
    this.#leases.set(bucket, lease);
  }
}

function quotaOf({ taken, left, resetMs }: Lease, limit: number, allowed: boolean): Quota {
  return { allowed, remaining: Math.max(0, limit - taken + left), resetMs };
}
