// Decides whether old data may be removed by the time of this machine: a clock that is months ahead would remove events that have not
// begun. A forward jump of more than a day stops removals until an operator confirms the date, or the service has run for 24 hours
// since that jump. A clock that is behind removes less, so it is trusted; the embedded engine notes what it says only after such a wait.
import { type Clock, DAY_MS, HOUR_MS, type Uptime } from '../domain/clock-and-random.ts';
import type { TimeSource } from '../domain/finding.ts';
import { MAX_SKEW_MS, type Store } from '../domain/store.ts';

const MAX_JUMP_MS = DAY_MS;
const WAIT_MS = DAY_MS;
const SETTING = 'retention_clock';

/** Jumps whose waits are remembered: the last ones. */
const MAX_WAITS = 8;

/** The wait for one jump. What was waited for it says nothing about another. */
interface Wait {
  /** What the clock said at the last look; with a database, by how much it was ahead. */
  readonly at: number;
  /** Running time since the jump. */
  readonly waitedMs: number;
  /** When that was noted, by the database's clock. */
  readonly notedMs?: number;
}

/** What earlier checks noted, of this process and of others. */
interface State {
  /** When a trusted clock was last seen. Not used if the database has a clock. */
  readonly lastRunMs?: number;
  /** By how much clocks may be ahead of the database's: one was, and was confirmed or has run for long enough. */
  readonly aheadMs?: number;
  readonly waits?: readonly Wait[];
}

/** Why the clock is not trusted. */
export interface Doubt {
  readonly nowMs: number;
  /** The database's time, or when the service last ran as far as its data says. */
  readonly referenceMs: number;
  readonly isDatabase: boolean;
  readonly waitedMs: number;
  /** The date that an operator confirmed. It is not today's. */
  readonly confirmed: string | undefined;
}

export interface ClockTrustOptions {
  readonly store: Pick<Store, 'findSetting' | 'setSetting' | 'referenceTime'>;
  readonly clock: Clock;
  readonly uptime: Uptime;
  /** YYYY-MM-DD, UTC. */
  readonly confirmedDate: string | undefined;
}

export class ClockTrust {
  readonly #options: ClockTrustOptions;
  /** When the last check found a jump, or a clock that is behind; undefined if it found neither. */
  #waiting: { readonly nowMs: number; readonly uptimeMs: number } | undefined;

  constructor(options: ClockTrustOptions) {
    this.#options = options;
  }

  /** Undefined if this time of the clock can be trusted. */
  async check(nowMs: number): Promise<Doubt | undefined> {
    const { store, uptime, confirmedDate } = this.#options;
    const found = await store.findSetting(SETTING);
    const state: State = found === undefined ? {} : JSON.parse(found);
    const { of, ms } = await store.referenceTime();
    const isDatabase = of === 'database';
    const referenceMs = (isDatabase ? ms : (state.lastRunMs ?? ms)) ?? nowMs;
    const jumpMs = nowMs - referenceMs;
    const aheadMs = (isDatabase && state.aheadMs) || 0;
    const uptimeMs = uptime();
    const at = isDatabase ? jumpMs : nowMs;
    const isSame = (wait: Wait) => Math.abs(wait.at - at) <= MAX_JUMP_MS;
    const { waits = [] } = state;
    const waitedMs = this.#addWaited(waits.find(isSame), nowMs, uptimeMs, isDatabase ? ms : undefined);
    const isExpected = jumpMs <= aheadMs + MAX_JUMP_MS;
    // A machine that starts in 1970 until it has found the time must not note that.
    const isBehind = !isDatabase && jumpMs < -MAX_JUMP_MS;
    if ((isExpected && !isBehind) || dateOf(nowMs) === confirmedDate || waitedMs >= WAIT_MS) {
      this.#waiting = undefined;
      const accepted = isDatabase && jumpMs > MAX_JUMP_MS ? { aheadMs: isExpected ? aheadMs : jumpMs } : {};
      await this.#note({ lastRunMs: nowMs, ...accepted });
      return undefined;
    }
    this.#waiting = { nowMs, uptimeMs };
    const wait = { at, waitedMs, ...(isDatabase && { notedMs: referenceMs }) };
    const others = waits.filter((other) => !isSame(other));
    // The first reference stays: whatever is written from now on has the time of this clock.
    await this.#note({
      ...(isDatabase ? { aheadMs } : { lastRunMs: referenceMs }),
      waits: [...others, wait].slice(-MAX_WAITS),
    });
    if (isBehind) return undefined;
    return { nowMs, referenceMs, isDatabase, waitedMs, confirmed: confirmedDate };
  }

  /** Notes the running time since the last check, so that short runs add up. */
  async close(): Promise<void> {
    if (this.#waiting) await this.check(this.#options.clock());
  }

  #addWaited(wait: Wait | undefined, nowMs: number, uptimeMs: number, databaseMs = 0): number {
    const { waitedMs, notedMs } = wait ?? { waitedMs: 0 };
    if (!this.#waiting) return waitedMs;
    const ranMs = uptimeMs - this.#waiting.uptimeMs;
    if (Math.abs(nowMs - this.#waiting.nowMs - ranMs) > MAX_JUMP_MS) return waitedMs; // it has jumped again
    // Several nodes that wait do not wait faster than one.
    const isNoted = databaseMs > 0 && notedMs !== undefined;
    return waitedMs + (isNoted ? Math.min(ranMs, Math.max(0, databaseMs - notedMs)) : ranMs);
  }

  #note(state: State): Promise<void> {
    return this.#options.store.setSetting(SETTING, JSON.stringify(state));
  }
}

/** For the log. */
export function describeDoubt({ nowMs, referenceMs, isDatabase, waitedMs, confirmed }: Doubt): string {
  const days = Math.round((nowMs - referenceMs) / DAY_MS);
  const [today, reference] = [dateOf(nowMs), dateOf(referenceMs)];
  const waited = (Math.floor(waitedMs / (HOUR_MS / 10)) / 10).toFixed(1);
  return [
    `Old data is not removed, because the clock of this machine may be wrong. It says ${today}, ${days} days after `,
    isDatabase ? `the clock of the database (${reference}). ` : `the service last ran (${reference}). `,
    confirmed === undefined ? '' : `CLOCK_CONFIRMED is ${confirmed}, which is another date. `,
    isDatabase
      ? `If the clock of this machine is wrong, correct it; if that of the database is wrong, correct that one. Or, if ${today} is right, `
      : `If it is wrong, correct it. If it is right, because the service was stopped for so long or its data comes from a backup, `,
    `start with CLOCK_CONFIRMED=${today} today, or wait until it has run for 24 hours (${waited} so far, summed over restarts).`,
  ].join('');
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** What is wrong with the clock; undefined if nothing is. */
export async function findClockProblem(
  source: TimeSource,
  nowMs: number,
  confirmedDate: string | undefined,
): Promise<string | undefined> {
  const { of, ms = nowMs } = await source.referenceTime();
  const [now, reference] = [nowMs, ms].map((time) => new Date(time).toISOString());
  if (ms - nowMs > MAX_SKEW_MS) {
    const what = of === 'database' ? 'the database says' : 'the newest write is from';
    return `The clock of this machine is behind: it says ${now}, and ${what} ${reference}. Correct the wrong one.`;
  }
  const trust = new ClockTrust({
    store: { ...source, setSetting: async () => {} },
    clock: () => nowMs,
    uptime: () => 0,
    confirmedDate,
  });
  const doubt = await trust.check(nowMs);
  if (doubt) return describeDoubt(doubt);
  if (of === 'database' && nowMs - ms > MAX_SKEW_MS)
    return `The clock of this machine is ahead: it says ${now}, and the database says ${reference}. Correct the wrong one.`;
  return undefined;
}
