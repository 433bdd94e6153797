// The clock of the stream. It moves in small and large steps, to the moments at which events end and quota windows reset,
// and sometimes hardly at all, so that quotas are used up.
import type { Chance } from '../support/random.ts';
import type { Known } from './known.ts';
import type { Answer } from './operation.ts';
import { DAY_MS, HOUR_MS } from './values.ts';

export class PassingTime {
  readonly #chance: Chance;
  readonly #known: Known;
  #nowMs: number;
  #made = 0;
  /** Time hardly passes before this many operations. */
  #busyUntil = 0;
  /** When the quota that was spent last resets. */
  #resetMs = 0;
  #isEndNear = false;

  constructor(chance: Chance, known: Known, nowMs: number) {
    this.#chance = chance;
    this.#known = known;
    this.#nowMs = nowMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Whether an event ends about now. */
  get isEndNear(): boolean {
    return this.#isEndNear;
  }

  /** Milliseconds that pass before the next operation; mostly 0. */
  pass(): number {
    this.#made++;
    this.#isEndNear = false;
    const ms = this.#chance.chance(0.05) ? this.#step() : 0;
    this.#nowMs += ms;
    return ms;
  }

  learn({ headers }: Answer): void {
    const seconds = /;t=(\d+)/.exec(headers.ratelimit ?? '')?.[1];
    if (seconds !== undefined) this.#resetMs = this.#nowMs + Number(seconds) * 1000;
  }

  #step(): number {
    const chance = this.#chance;
    if (this.#made > this.#busyUntil && chance.chance(0.1))
      this.#busyUntil = this.#made + chance.pick([100, 400, 2_000]);
    const isBusy = this.#made < this.#busyUntil;
    const kind = chance.next();
    if (kind < 0.35) return this.#untilSomeEnd(isBusy ? HOUR_MS / 4 : 3 * DAY_MS);
    if (isBusy || kind < 0.5) return chance.pick([1, 10, 999, 1_000, 30_000]);
    if (kind < 0.65) return chance.integer(1, HOUR_MS / 2);
    if (kind < 0.8) return HOUR_MS;
    if (kind < 0.9) return Math.max(0, this.#resetMs - this.#nowMs - chance.integer(0, 1));
    return chance.integer(1, chance.pick([6 * HOUR_MS, DAY_MS, 4 * DAY_MS]));
  }

  /** The time until an event ends, or close to it, if that is soon. */
  #untilSomeEnd(withinMs: number): number {
    const ends: number[] = [];
    for (let tries = 0; tries < 30; tries++) {
      const { start_at, end_at } = this.#known.event()?.fields ?? {};
      const endMs = end_at ? Date.parse(String(end_at)) : Date.parse(String(start_at)) + 3 * HOUR_MS;
      if (endMs > this.#nowMs + 1) ends.push(endMs);
    }
    const next = Math.min(...ends) + this.#chance.integer(-1, 1);
    if (next > this.#nowMs + withinMs) return 1;
    this.#isEndNear = true;
    return next - this.#nowMs;
  }
}
