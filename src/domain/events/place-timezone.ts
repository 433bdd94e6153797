// Whether an event's timezone fits its place: a wrong one, or latitude and longitude swapped, moves local times by hours. The table of
// places is @photostructure/tz-lookup's; it is coarse near borders, so only clocks are compared, never names.
import timezoneAt from '@photostructure/tz-lookup';
import { isTimezone } from '../datetime.ts';
import type { Event, EventFields } from './event.ts';

/** What an event looks wrong for, as a header names it. */
export const TIMEZONE_MISMATCH = 'timezone_mismatch';

type Placed = Pick<EventFields, 'lat' | 'lng' | 'timezone' | 'start_ms'>;

/** The timezone of the event's place if its clock differs from that of the event's timezone when the event starts. */
export function otherTimezoneAt({ lat, lng, timezone, start_ms }: Placed): string | undefined {
  const there = timezoneAt(lat, lng);
  // A newer or older runtime may know other names.
  if (there === timezone || !isTimezone(there) || !isTimezone(timezone)) return undefined;
  return offsetAt(there, start_ms) === offsetAt(timezone, start_ms) ? undefined : there;
}

/** The same for an event in a response. */
export function otherTimezoneOf({ lat, lng, timezone, start_at }: Event): string | undefined {
  return otherTimezoneAt({ lat, lng, timezone, start_ms: Date.parse(start_at) });
}

/** A period in which the clock of a timezone is not changed. */
interface Period {
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly offset: number;
}

/** Asking Temporal takes some microseconds, which every create would pay; starts are in few of these periods. */
const known = new Map<string, Period[]>();
const MAX_PERIODS_PER_TIMEZONE = 8;

/** Offset from UTC in nanoseconds. */
function offsetAt(timezone: string, ms: number): number {
  let periods = known.get(timezone);
  if (periods === undefined) {
    periods = [];
    known.set(timezone, periods);
  }
  for (const { fromMs, beforeMs, offset } of periods) if (ms >= fromMs && ms < beforeMs) return offset;
  const period = periodAt(timezone, ms);
  if (periods.length === MAX_PERIODS_PER_TIMEZONE) periods.shift();
  periods.push(period);
  return period.offset;
}

function periodAt(timezone: string, ms: number): Period {
  const at = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
  const next = at.getTimeZoneTransition('next');
  // "previous" is strictly before, and a change may be at this very instant.
  const begin = at.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  return {
    fromMs: begin?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    beforeMs: next?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offset: at.offsetNanoseconds,
  };
}
