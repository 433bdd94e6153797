// Fixed windows of one hour, counted in memory: with one process there is nobody to share them with.
import { QUOTA_WINDOW_MS, type Quota } from '../domain/store.ts';

/** Buckets kept at most; the oldest goes first. Strangers choose their addresses, so the number needs a bound. */
const MAX_BUCKETS = 200_000;

interface Window {
  readonly resetMs: number;
  used: number;
}

export class QuotaWindows {
  // A map keeps the order of insertion and every window lasts as long, so the first ones are the first to end.
  readonly #windows = new Map<string, Window>();

  /** Takes `cost` from the bucket if that is still within the limit. */
  spend(bucket: string, limit: number, cost: 0 | 1, nowMs: number): Quota {
    const window = this.#current(bucket, cost, nowMs);
    const allowed = window.used + cost <= limit && window.used < limit;
    if (allowed) window.used += cost;
    return { allowed, remaining: Math.max(0, limit - window.used), resetMs: window.resetMs };
  }

  #current(bucket: string, cost: 0 | 1, nowMs: number): Window {
    const found = this.#windows.get(bucket);
    if (found && found.resetMs > nowMs) return found;
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
