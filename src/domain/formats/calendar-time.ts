// Converts times of iCalendar (RFC 5545: DATE, DATE-TIME, DURATION) to those of a create: with Z if the instant is known,
// otherwise local time in the event's timezone.
import { formatInstant, isWithinYears, parseDateTime, resolveLocal } from '../datetime.ts';
import { findTimezone, KNOWN_TIMEZONES, MAX_TZID_LENGTH } from './calendar-timezone.ts';
import type { Property } from './content-line.ts';

/** A clock time and its zone, which is undefined for floating times and dates. */
export interface CalendarTime {
  /** 2031-05-01T18:00:00 */
  readonly clock: string;
  readonly zone: string | undefined;
  /** IANA name of the TZID. Z does not count: it fixes the instant, but not the timezone of the event. */
  readonly timezone: string | undefined;
  readonly isDate: boolean;
}

/** A property that cannot be converted; the message says what it must be. */
export class CalendarError extends Error {}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;

/**
 * `zones`: IANA names of the timezones that the calendar defines, by TZID. Throws CalendarError for a value that is neither
 * a date nor a date-time, and for an unknown timezone.
 */
export function readTime({ value, parameters }: Property, zones: ReadonlyMap<string, string>): CalendarTime {
  const match = TIME.exec(value.trim());
  if (!match) throw new CalendarError('must be one date or date-time such as 20310501T180000Z');
  const [, year, month, day, hour, minute, second, utc] = match;
  const isDate = hour === undefined;
  const clock = `${year}-${month}-${day}T${isDate ? '00:00:00' : `${hour}:${minute}:${second}`}`;
  if (!parseDateTime(clock)) throw new CalendarError('must be a valid date and time');
  const tzid = parameters.get('TZID');
  const timezone = tzid === undefined ? undefined : (zones.get(tzid) ?? findTimezone(tzid));
  if (isDate) return { clock, zone: undefined, timezone, isDate };
  if (utc) return { clock, zone: 'UTC', timezone, isDate };
  if (tzid !== undefined && timezone === undefined) {
    const named = tzid.length > MAX_TZID_LENGTH ? `a TZID of ${tzid.length} characters` : `"${tzid}"`;
    throw new CalendarError(`must be in a known timezone, not ${named}; use ${KNOWN_TIMEZONES}`);
  }
  return { clock, zone: timezone, timezone, isDate };
}

/** Formats the time for a create with this timezone. */
export function writeTime({ clock, zone }: CalendarTime, timezone: string | undefined): string {
  if (zone === 'UTC') return `${clock}Z`;
  if (zone === undefined || zone === timezone) return clock;
  return writeInstant(resolveLocal(clock, zone));
}

function writeInstant(ms: number): string {
  if (!isWithinYears(ms)) throw new CalendarError('must lie within the years 0001 to 9999 UTC');
  return formatInstant(ms);
}

/** Midnight after the date: an event with a date and no end lasts the whole day. */
export function nextDay({ clock }: CalendarTime): string {
  return Temporal.PlainDate.from(clock.slice(0, 10)).add({ days: 1 }).toString().concat('T00:00:00');
}

const DURATION = /^\+?P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/;

/** The end of the event. Days are calendar days, hours are exact hours. Throws CalendarError. */
export function addDuration(start: CalendarTime, duration: string, timezone: string): string {
  const match = DURATION.exec(duration.trim());
  if (!match || !/\d/.test(duration)) throw new CalendarError('must be a duration such as PT1H30M');
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  try {
    const begin = Temporal.PlainDateTime.from(start.clock).toZonedDateTime(start.zone ?? timezone);
    return writeInstant(begin.add({ weeks, days, hours, minutes, seconds }).epochMilliseconds);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new CalendarError('must end within the years 0001 to 9999 UTC');
  }
}
