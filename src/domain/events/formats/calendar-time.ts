// Converts iCalendar times (RFC 5545: DATE, DATE-TIME, DURATION) to the times of a create body: with Z if the instant is known,
// otherwise local to the event's timezone.
import { formatInstant, isWithinYears, parseDateTime, resolveLocal } from '../../datetime.ts';
import { findTimezone, KNOWN_TIMEZONES, MAX_TZID_LENGTH } from './calendar-timezone.ts';
import type { Property } from './content-line.ts';

export interface CalendarTime {
  /** Local time, such as 2031-05-01T18:00:00. */
  readonly clock: string;
  /** Timezone of the local time; undefined for floating times and dates. */
  readonly zone: string | undefined;
  /** IANA name for the TZID. A Z sets none: it fixes the instant, not the place. */
  readonly timezone: string | undefined;
  readonly isDate: boolean;
}

/** Invalid property value. The message continues a sentence that starts with the property's name. */
export class PropertyValueError extends Error {}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;

/**
 * Reads a DATE or DATE-TIME. `zones` maps each TZID that the calendar defines to an IANA name.
 * Throws PropertyValueError for any other value, and for an unknown timezone.
 */
export function readTime({ value, parameters }: Property, zones: ReadonlyMap<string, string>): CalendarTime {
  const match = TIME.exec(value.trim());
  if (!match) throw new PropertyValueError('must be one date or date-time such as 20310501T180000Z');
  const [, year, month, day, hour, minute, second, utc] = match;
  const isDate = hour === undefined;
  const clock = `${year}-${month}-${day}T${isDate ? '00:00:00' : `${hour}:${minute}:${second}`}`;
  if (!parseDateTime(clock)) throw new PropertyValueError('must be a valid date and time');
  const tzid = parameters.get('TZID');
  const timezone = tzid === undefined ? undefined : (zones.get(tzid) ?? findTimezone(tzid));
  if (isDate) return { clock, zone: undefined, timezone, isDate };
  if (utc) return { clock, zone: 'UTC', timezone, isDate };
  if (tzid !== undefined && timezone === undefined) {
    const named = tzid.length > MAX_TZID_LENGTH ? `a TZID of ${tzid.length} characters` : `"${tzid}"`;
    throw new PropertyValueError(`must be in a known timezone, not ${named}: use ${KNOWN_TIMEZONES}`);
  }
  return { clock, zone: timezone, timezone, isDate };
}

/** Formats a time for a create body with this `timezone`. Throws PropertyValueError outside the years 0001 to 9999. */
export function writeTime({ clock, zone }: CalendarTime, timezone: string | undefined): string {
  if (zone === 'UTC') return `${clock}Z`;
  if (zone === undefined || zone === timezone) return clock;
  return writeInstant(resolveLocal(clock, zone));
}

function writeInstant(ms: number): string {
  if (!isWithinYears(ms)) throw new PropertyValueError('must lie within the years 0001 to 9999 UTC');
  return formatInstant(ms);
}

/** Midnight at the end of the day: a DATE without an end lasts the whole day. */
export function nextDay({ clock }: CalendarTime): string {
  return Temporal.PlainDate.from(clock.slice(0, 10)).add({ days: 1 }).toString().concat('T00:00:00');
}

const DURATION = /^\+?P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?)$/;

/** End of an event: weeks and days are calendar days, hours are elapsed hours. Throws PropertyValueError. */
export function addDuration(start: CalendarTime, duration: string, timezone: string): string {
  const match = DURATION.exec(duration.trim());
  if (!match || !/\d/.test(duration)) throw new PropertyValueError('must be a duration such as PT1H30M');
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  try {
    const begin = Temporal.PlainDateTime.from(start.clock).toZonedDateTime(start.zone ?? timezone);
    return writeInstant(begin.add({ weeks, days, hours, minutes, seconds }).epochMilliseconds);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new PropertyValueError('must end within the years 0001 to 9999 UTC');
  }
}
