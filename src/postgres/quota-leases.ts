// Quotas shared by all nodes, without a write per request: a node reserves requests in the database in small lots, and then
// counts them down itself. If many requests wait for a lot, it is larger. Below a limit of 400 a lot is never more than what waits for
// it, so the quota is exact.
import { latestResetMs, QUOTA_WINDOW_MS, type Quota } from '../domain/store.ts';
import type { Database, Statements } from './client/database.ts';

/** Lots per quota. Two nodes leave at most 1 % of a quota unused: one lot each, reserved and not spent. */
const LOTS = 200;

/** Part of a quota that a lot may have if many requests wait for it: a lot whose response is lost is never spent. */
const MAX_LOT = 1 / 20;

/** Maximum number of buckets in memory. Clients can use many IP addresses, so a limit is needed. */
const MAX_BUCKETS = 200_000;

/** Interval for removing windows that have ended. */
const FORGET_INTERVAL_MS = 600_000;

/** Window of a bucket as this node knows it. Does not contain the limit, which changes with the agent's tier. */
interface Lease {
  readonly resetMs: number;
  /** Requests reserved by all nodes, as of the last lot. */
  taken: number;
  /** Requests that this node can still spend; negative if the last one cost more than was left. */
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
  /** By bucket, what requests that wait for a lot will spend. */
  readonly #waiting = new Map<string, number>();
  #forgotMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database) {
    this.#database = database;
  }

  spend(bucket: string, limit: number, cost: number, nowMs: number): Promise<Quota> {
    return this.#database.operation((statements) =>
      cost === 0
        ? this.#peek(statements, bucket, limit, nowMs)
        : this.#spend(statements, bucket, limit, cost, nowMs),
    );
  }

  async #spend(
    statements: Statements,
    bucket: string,
    limit: number,
    cost: number,
    nowMs: number,
  ): Promise<Quota> {
    for (;;) {
      const lease = this.#current(bucket, nowMs);
      // The quota is used up or reserved. Other nodes can only spend their own lots.
      if (lease && lease.taken - lease.left >= limit) return quotaOf(lease, limit, false);
      if (lease && lease.left > 0) {
        lease.left -= cost;
        return quotaOf(lease, limit, true);
      }
      this.#countWaiting(bucket, cost);
      try {
        await (this.#taking.get(bucket) ?? this.#take(statements, bucket, limit, nowMs));
      } finally {
        this.#countWaiting(bucket, -cost);
      }
    }
  }

  #countWaiting(bucket: string, cost: number): void {
    const waiting = (this.#waiting.get(bucket) ?? 0) + cost;
    if (waiting === 0) this.#waiting.delete(bucket);
    else this.#waiting.set(bucket, waiting);
  }

  /** What all nodes have reserved, except what this one has left. */
  read(bucket: string, limit: number, nowMs: number): Promise<Quota> {
    return this.#database.operation(async (statements) => {
      const own = Math.max(0, this.#current(bucket, nowMs)?.left ?? 0);
      const { remaining, resetMs } = await this.#readTaken(statements, bucket, limit + own, nowMs);
      return { allowed: remaining > 0, remaining: Math.min(limit, remaining), resetMs };
    });
  }

  /** Removes windows that ended by this time; from the database, those that ended an hour before. */
  async forget(nowMs: number): Promise<void> {
    for (const [bucket, { resetMs }] of this.#leases) if (resetMs <= nowMs) this.#leases.delete(bucket);
    // For a node whose clock is behind, a window that has just ended still counts.
    const endedMs = nowMs - QUOTA_WINDOW_MS;
    await this.#database.run('repeatable', (sql) => sql`DELETE FROM quotas WHERE reset_ms <= ${endedMs}`);
  }

  #current(bucket: string, nowMs: number): Lease | undefined {
    const lease = this.#leases.get(bucket);
    return lease && lease.resetMs > nowMs && lease.resetMs <= latestResetMs(nowMs) ? lease : undefined;
  }

  async #peek(statements: Statements, bucket: string, limit: number, nowMs: number): Promise<Quota> {
    const known = this.#current(bucket, nowMs);
    const isUsed = known !== undefined && known.taken - known.left >= limit;
    if (known && (isUsed || known.left > 0)) return quotaOf(known, limit, !isUsed);
    return this.#readTaken(statements, bucket, limit, nowMs);
  }

  async #readTaken(statements: Statements, bucket: string, limit: number, nowMs: number): Promise<Quota> {
    const [row] = await statements.run(
      'repeatable',
      (sql) =>
        sql<Taken[]>`SELECT reset_ms, used FROM quotas
          WHERE bucket = ${bucket} AND reset_ms > ${nowMs} AND reset_ms <= ${latestResetMs(nowMs)}`,
    );
    // What this node has overdrawn is in the database only with its next lot.
    const known = this.#current(bucket, nowMs);
    const overdrawn = known && known.resetMs === row?.reset_ms ? Math.max(0, -known.left) : 0;
    const used = (row?.used ?? 0) + overdrawn;
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
      void this.forget(nowMs).catch(() => {}); // retried at the next interval
    }
    const before = this.#current(bucket, nowMs);
    const overdrawn = Math.max(0, -(before?.left ?? 0));
    const waiting = Math.min(this.#waiting.get(bucket)!, Math.max(1, Math.floor(limit * MAX_LOT)));
    const lot = Math.max(Math.floor(limit / LOTS), waiting) + overdrawn;
    const resetMs = nowMs + QUOTA_WINDOW_MS;
    // A retry after a lost response may reserve a second lot; the first one is then never spent.
    const [row] = await statements.run(
      'repeatable',
      (sql) => sql<Taken[]>`
        INSERT INTO quotas AS q (bucket, reset_ms, used, granted)
          VALUES (${bucket}, ${resetMs}, least(${lot}::integer, ${limit}::integer), least(${lot}::integer, ${limit}::integer))
        ON CONFLICT (bucket) DO UPDATE SET (reset_ms, used, granted) = (
          SELECT CASE WHEN is_over THEN ${resetMs}::bigint ELSE q.reset_ms END, before + more, more FROM (
            SELECT before, is_over, greatest(0, least(${lot}::integer, ${limit}::integer - before)) AS more FROM (
              SELECT is_over, CASE WHEN is_over THEN 0 ELSE q.used END AS before FROM (
                SELECT q.reset_ms <= ${nowMs}::bigint OR q.reset_ms > ${latestResetMs(nowMs)}::bigint AS is_over
              ) AS time
            ) AS found
          ) AS next
        )
        RETURNING reset_ms, used, granted`,
    );
    const { reset_ms, used, granted } = row!;
    const isSameWindow = before?.resetMs === reset_ms;
    const lease = { resetMs: reset_ms, taken: used, left: isSameWindow ? granted - overdrawn : granted };
    this.#keep(bucket, lease, nowMs);
    return lease;
  }

  #keep(bucket: string, lease: Lease, nowMs: number): void {
    this.#leases.delete(bucket);
    // Ordered by time of the last lot. All windows have the same length, so the first entries end first, roughly.
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
