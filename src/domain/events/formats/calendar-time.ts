// Converts iCalendar times (RFC 5545: DATE, DATE-TIME, DURATION) to the times of a create body: with Z if the instant is known,
// otherwise local to the event's timezone. Maps names of timezones to IANA's by tables, which do not depend on the machine.
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { formatInstant, isTimezone, isWithinYears, parseDateTime, resolveLocal } from '../../datetime.ts';
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

/** CLDR's territory code for the default mapping of a Windows name. */
const DEFAULT_TERRITORY = '001';

/** IANA names by lower-case Windows name, from CLDR's table. */
const IANA_BY_WINDOWS_NAME: ReadonlyMap<string, string> = new Map([
  ...WINDOWS_TO_IANA_MAP.filter(({ territory }) => territory === DEFAULT_TERRITORY).map(
    ({ windowsName, iana }): [string, string] => [windowsName.toLowerCase(), iana[0]!],
  ),
  // Newer CLDR data: Chihuahua (2022) and Almaty (2024) changed their clocks, Windows did not.
  ['mountain standard time (mexico)', 'America/Mazatlan'],
  ['central asia standard time', 'Asia/Bishkek'],
  ['tzone://microsoft/utc', 'UTC'], // Exchange's name for UTC
]);

/** Longer than any name in use. Longer values are never looked up. */
export const MAX_TZID_LENGTH = 100;

/** IANA name for a TZID such as Europe/Berlin, /example.org/Europe/Berlin or W. Europe Standard Time. */
export function findTimezone(tzid: string): string | undefined {
  if (tzid.length > MAX_TZID_LENGTH) return undefined;
  const name = tzid.trim();
  return candidateNames(name).find(isTimezone) ?? IANA_BY_WINDOWS_NAME.get(name.toLowerCase());
}

/** After an issuer prefix, the IANA name is the last two or three parts. */
function candidateNames(name: string): string[] {
  if (!name.startsWith('/')) return [name];
  const parts = name.split('/');
  return [parts.slice(-3).join('/'), parts.slice(-2).join('/')];
}

/** List of supported names, for error messages. */
export const KNOWN_TIMEZONES =
  'an IANA name such as Europe/Berlin, a Windows name such as W. Europe Standard Time, ' +
  'or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION';
