// `when`: intervals that people name with a word, such as "tonight". Most depend on the timezone of the event.
import { DAY_MS, HOUR_MS } from '../clock-and-random.ts';
import { resolveLocal } from '../datetime.ts';

export const WHENS = ['now', 'today', 'tonight', 'tomorrow', 'this_weekend', 'next_7_days'] as const;
export type When = (typeof WHENS)[number];

/** The half-open interval [fromMs, beforeMs). It is empty unless fromMs < beforeMs, such as a day or a night that a timezone has skipped: no event is on in it. */
export interface Interval {
  readonly fromMs: number;
  readonly beforeMs: number;
}

/** Stays the same for searches before `untilMs`. */
export interface LocalInterval extends Interval {
  readonly untilMs: number;
}

/** A night is from 17:00 to 04:00. Before 04:00, `tonight` is the night that began the day before. */
const NIGHT_BEGINS = '17:00:00';
const NIGHT_ENDS = '04:00:00';
const NIGHT_ENDS_HOUR = 4;
const MIDNIGHT = '00:00:00';

/** The interval if it is the same in every timezone, otherwise undefined. */
export function commonInterval(when: When, nowMs: number): Interval | undefined {
  if (when === 'now') return { fromMs: nowMs, beforeMs: nowMs + 1 };
  if (when === 'next_7_days') return { fromMs: nowMs, beforeMs: nowMs + 7 * DAY_MS };
  return undefined;
}

/** The interval in a timezone that the runtime knows. Days are as long as the timezone's clock makes them. */
export function localInterval(when: When, nowMs: number, timezone: string): LocalInterval {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timezone);
  const today = now.toPlainDate();
  const interval = (from: Temporal.PlainDate, begin: string, before: Temporal.PlainDate, end: string) => ({
    fromMs: resolveLocal(`${from}T${begin}`, timezone),
    beforeMs: resolveLocal(`${before}T${end}`, timezone),
    untilMs: untilMs(now, when === 'tonight' ? NIGHT_ENDS_HOUR : 0),
  });
  const days = (first: Temporal.PlainDate, count: number) =>
    interval(first, MIDNIGHT, first.add({ days: count }), MIDNIGHT);
  if (when === 'tonight') {
    const evening = now.hour < NIGHT_ENDS_HOUR ? today.subtract({ days: 1 }) : today;
    return interval(evening, NIGHT_BEGINS, evening.add({ days: 1 }), NIGHT_ENDS);
  }
  if (when === 'tomorrow') return days(today.add({ days: 1 }), 1);
  if (when === 'this_weekend') {
    // On a Sunday, which is day 7, the weekend began the day before.
    return days(today.add({ days: today.dayOfWeek === 7 ? -1 : 6 - today.dayOfWeek }), 2);
  }
  return days(today, 1);
}

/** When the local clock next shows this hour, or is changed, whatever comes first. */
function untilMs(now: Temporal.ZonedDateTime, hour: number): number {
  const localMs = now.epochMilliseconds + now.offsetNanoseconds / 1e6 - hour * HOUR_MS;
  const nextMs = now.epochMilliseconds + DAY_MS - (((localMs % DAY_MS) + DAY_MS) % DAY_MS);
  const change = now.getTimeZoneTransition('next');
  return Math.min(nextMs, change?.epochMilliseconds ?? Number.POSITIVE_INFINITY);
}
