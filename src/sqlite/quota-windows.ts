// Rate limits with fixed windows of one hour, counted in memory: a single process need not share them.
import { latestResetMs, QUOTA_WINDOW_MS, type Quota } from '../domain/store.ts';

/** Maximum number of buckets; the oldest is dropped first. Clients can use many IP addresses, so a limit is needed. */
const MAX_BUCKETS = 200_000;

interface Window {
  readonly resetMs: number;
  used: number;
}

export class QuotaWindows {
  // A Map keeps insertion order, and all windows have the same length, so the first entries end first.
  readonly #windows = new Map<string, Window>();

  /** Takes `cost` from the bucket if anything is left. Cost 0 only reads the current state. */
  spend(bucket: string, limit: number, cost: number, nowMs: number): Quota {
    const window = this.#current(bucket, cost, nowMs);
    const allowed = window.used < limit;
    if (allowed) window.used += cost;
    return { allowed, remaining: Math.max(0, limit - window.used), resetMs: window.resetMs };
  }

  #current(bucket: string, cost: number, nowMs: number): Window {
    const found = this.#windows.get(bucket);
    if (found && found.resetMs > nowMs && found.resetMs <= latestResetMs(nowMs)) return found;
    const window = { resetMs: nowMs + QUOTA_WINDOW_MS, used: 0 };
    if (cost === 0) return window;
    this.#windows.delete(bucket);
    for (const [name, { resetMs }] of this.#windows) {
      if (resetMs > nowMs && this.#windows.size < MAX_BUCKETS) break;
      this.#windows.delete(name);
    }
    this.#windows.set(bucket, window);
    return window;
  }
}
