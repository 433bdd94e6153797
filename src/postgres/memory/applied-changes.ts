// The changes that a node applied last. After a failover or a crash they tell which of them the server still has: what was lost is
// always the end of the history.
import type { Change, Deletes } from './changes.ts';

/** Changes are remembered for this long, */
const REMEMBERED_MS = 300_000;
/** but at least this many, so that a quiet service has some, */
export const MIN_REMEMBERED = 1_000;
/** and at most this many, about 6 MB, besides a large delete. */
const MAX_REMEMBERED = 50_000;

/**
 * A server that has every change of this period, which begins with the oldest one, has all changes before it. Commits may become visible
 * in another order than they were written, but not this much later.
 */
const COMMON_HISTORY_MS = 10_000;

/** A change, or the events that a transaction deleted. */
interface Applied {
  readonly xid: bigint;
  readonly count: number;
  /** Separated by commas. */
  readonly eventIds: string | Buffer;
  readonly stamp: string;
  readonly atMs: number;
}

export class AppliedChanges {
  readonly #commonHistoryMs: number;
  #applied: Applied[] = [];
  #count = 0;

  constructor(commonHistoryMs = COMMON_HISTORY_MS) {
    this.#commonHistoryMs = commonHistoryMs;
  }

  /** `nowMs` is of any clock that never goes back. */
  add(changes: readonly Change[], nowMs: number): void {
    for (const change of changes) this.#applied.push(appliedOf(change, nowMs));
    this.#count += changes.length;
    this.#trim(nowMs);
  }

  addDeletes(deletes: readonly Deletes[], nowMs: number): void {
    for (const deleted of deletes) {
      this.#applied.push({ ...deleted, atMs: nowMs });
      this.#count += deleted.count;
    }
    this.#trim(nowMs);
  }

  /** The oldest changes. A server with the same history has all of them. */
  commonHistory(): readonly Pick<Change, 'xid' | 'stamp'>[] {
    const [oldest] = this.#applied;
    if (!oldest) return [];
    return this.#applied.filter(({ atMs }) => atMs <= oldest.atMs + this.#commonHistoryMs);
  }

  all(): readonly Pick<Change, 'xid' | 'eventId'>[] {
    return this.#applied.flatMap(({ xid, eventIds }) =>
      eventIds
        .toString()
        .split(',')
        .map((eventId) => ({ xid, eventId })),
    );
  }

  /** Replaces all changes by those that the server has. Those of transactions that were known keep their time. */
  replace(changes: readonly Change[], nowMs: number): void {
    const times = new Map(this.#applied.map(({ stamp, atMs }) => [stamp, atMs]));
    // A stamp says that a transaction is known: its ID may be used again. Of a large delete, one stamp is known.
    const known = changes.filter(({ stamp }) => times.has(stamp));
    const timesByXid = new Map(known.map(({ xid, stamp }) => [xid, times.get(stamp)!]));
    this.#set(
      changes
        .map((change) => appliedOf(change, timesByXid.get(change.xid) ?? nowMs))
        .sort((a, b) => a.atMs - b.atMs),
    );
    this.#trim(nowMs);
  }

  /** Forgets changes that the log no longer has. */
  forgetBefore(xid: bigint): void {
    if (this.#applied.some((change) => change.xid < xid))
      this.#set(this.#applied.filter((change) => change.xid >= xid));
  }

  #set(applied: Applied[]): void {
    this.#applied = applied;
    this.#count = applied.reduce((sum, { count }) => sum + count, 0);
  }

  #trim(nowMs: number): void {
    let left = this.#count;
    let from = 0;
    for (const { count, atMs } of this.#applied) {
      const enough = atMs < nowMs - REMEMBERED_MS ? MIN_REMEMBERED : MAX_REMEMBERED;
      if (left - count < enough) break;
      left -= count;
      from++;
    }
    // In larger steps, because the rest is copied.
    if (this.#count - left > this.#count / 10) this.#set(this.#applied.slice(from));
  }
}

function appliedOf({ xid, eventId, stamp }: Change, atMs: number): Applied {
  return { xid, count: 1, eventIds: eventId, stamp, atMs };
}
