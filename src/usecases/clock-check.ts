// Compares the clock of this machine with the database's, or with what the data says, without noting anything.
import type { Store } from '../domain/store.ts';
import { ClockTrust, describeDoubt } from './clock-trust.ts';

/** Clocks of nodes may differ by this much: quotas allow for it. */
const MAX_SKEW_MS = 60_000;

export type TimeSource = Pick<Store, 'findSetting' | 'referenceTime'>;

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
