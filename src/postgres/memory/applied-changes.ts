// The changes that a node applied last. After a failover or a crash they tell which of them the server still has: what was lost is
// always the end of the history.
import type { Change } from './changes.ts';

/** Changes are kept for this long, */
const KEPT_MS = 300_000;
/** but at least this many, so that a quiet service has some, */
export const MIN_KEPT = 1_000;
/** and at most this many: about 6 MB. */
const MAX_KEPT = 50_000;

/**
 * If the server has every change of this time after the oldest one, it has all older ones. Longer than the time between the
 * write and the visibility of a commit: in that time, two commits may become visible in another order than they were written.
 */
const WITNESS_MS = 10_000;

interface AppliedChange extends Change {
  readonly atMs: number;
}

export class AppliedChanges {
  readonly #witnessMs: number;
  #changes: AppliedChange[] = [];

  constructor(witnessMs = WITNESS_MS) {
    this.#witnessMs = witnessMs;
  }

  /** `nowMs` is of any clock that never goes back. */
  add(changes: Iterable<Change>, nowMs: number): void {
    for (const { xid, eventId, stamp } of changes) this.#changes.push({ xid, eventId, stamp, atMs: nowMs });
    this.#trim(nowMs);
  }

  /** Changes that the server must still have. */
  witnesses(): readonly Change[] {
    const [oldest] = this.#changes;
    if (!oldest) return [];
    return this.#changes.filter(({ atMs }) => atMs <= oldest.atMs + this.#witnessMs);
  }

  all(): readonly Change[] {
    return this.#changes;
  }

  /** Replaces all changes by those that the server has. Those of transactions that were known keep their time. */
  replace(changes: readonly Change[], nowMs: number): void {
    const times = new Map(this.#changes.map(({ stamp, atMs }) => [stamp, atMs]));
    // By a stamp, because IDs of transactions are used again; for all of them, because changes of a large delete share one.
    const known = changes.filter(({ stamp }) => times.has(stamp));
    const timesByXid = new Map(known.map(({ xid, stamp }) => [xid, times.get(stamp)!]));
    this.#changes = changes
      .map(({ xid, eventId, stamp }) => ({ xid, eventId, stamp, atMs: timesByXid.get(xid) ?? nowMs }))
      .sort((a, b) => a.atMs - b.atMs);
    this.#trim(nowMs);
  }

  /** Forgets changes that the log no longer has. */
  forgetBefore(xid: bigint): void {
    if (this.#changes.some((change) => change.xid < xid))
      this.#changes = this.#changes.filter((change) => change.xid >= xid);
  }

  #trim(nowMs: number): void {
    const { length } = this.#changes;
    if (length <= MIN_KEPT) return;
    let from = Math.max(0, length - MAX_KEPT);
    while (from < length - MIN_KEPT && this.#changes[from]!.atMs < nowMs - KEPT_MS) from++;
    // In larger steps, because the rest is copied.
    if (from > length / 10) this.#changes = this.#changes.slice(from);
  }
}
