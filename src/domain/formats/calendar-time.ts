// Times of iCalendar (RFC 5545: DATE, DATE-TIME, DURATION) into those of a create: with Z where the moment is known, otherwise a
// clock time in the event's timezone.
import { formatInstant, isWithinYears, parseDateTime, resolveLocal } from '../datetime.ts';
import { findTimezone, KNOWN_TIMEZONES, MAX_TZID_LENGTH } from './calendar-timezone.ts';
import type { Property } from './content-line.ts';

/** A clock time, and where the clock is: undefined for floating times and dates. */
export interface CalendarTime {
  /** 2031-05-01T18:00:00 */
  readonly clock: string;
  readonly zone: string | undefined;
  /** The IANA name for its TZID. Z is not one: it says when, not where. */
  readonly timezone: string | undefined;
  readonly isDate: boolean;
}

/** What is wrong with a property. */
export class CalendarProblem extends Error {}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;

/**
 * `zones`: IANA names of the timezones that the calendar defines, by TZID. Throws CalendarProblem for a value that is no date and no
 * date-time, and for a timezone that nobody knows.
 */
export function readTime({ value, parameters }: Property, zones: ReadonlyMap<string, string>): CalendarTime {
  const match = TIME.exec(value.trim());
  if (!match) throw new CalendarProblem('must be one date or date-time such as 20310501T180000Z');
  const [, year, month, day, hour, minute, second, utc] = match;
  const isDate = hour === undefined;
  const clock = `${year}-${month}-${day}T${isDate ? '00:00:00' : `${hour}:${minute}:${second}`}`;
  if (!parseDateTime(clock)) throw new CalendarProblem('must be a time that exists');
  const tzid = parameters.get('TZID');
  const timezone = tzid === undefined ? undefined : (zones.get(tzid) ?? findTimezone(tzid));
  if (isDate) return { clock, zone: undefined, timezone, isDate };
  if (utc) return { clock, zone: 'UTC', timezone, isDate };
  if (tzid !== undefined && timezone === undefined) {
    const named = tzid.length > MAX_TZID_LENGTH ? `a TZID of ${tzid.length} characters` : `"${tzid}"`;
    throw new CalendarProblem(`must be in a timezone that is known, not ${named}: ${KNOWN_TIMEZONES}`);
  }
  return { clock, zone: timezone, timezone, isDate };
}

/** In the words of a create whose timezone is this. */
export function writeTime({ clock, zone }: CalendarTime, timezone: string | undefined): string {
  if (zone === 'UTC') return `${clock}Z`;
  if (zone === undefined || zone === timezone) return clock;
  return writeInstant(resolveLocal(clock, zone));
}

function writeInstant(ms: number): string {
  if (!isWithinYears(ms)) throw new CalendarProblem('must lie within the years 0001 to 9999 UTC');
  return formatInstant(ms);
}

/** The date after, at midnight: an event of a date and no end lasts that day. */
export function nextDay({ clock }: CalendarTime): string {
  return Temporal.PlainDate.from(clock.slice(0, 10)).add({ days: 1 }).toString().concat('T00:00:00');
}

const DURATION = /^\+?P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/;

/** When it ends: days are days of the calendar, hours are hours. Throws CalendarProblem. */
export function addDuration(start: CalendarTime, duration: string, timezone: string): string {
  const match = DURATION.exec(duration.trim());
  if (!match || !/\d/.test(duration)) throw new CalendarProblem('must be a duration such as PT1H30M');
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  try {
    const begin = Temporal.PlainDateTime.from(start.clock).toZonedDateTime(start.zone ?? timezone);
    return writeInstant(begin.add({ weeks, days, hours, minutes, seconds }).epochMilliseconds);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new CalendarProblem('must end within the years 0001 to 9999 UTC');
  }
}
