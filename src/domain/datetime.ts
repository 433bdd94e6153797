// Date-times on the wire (RFC 3339, with or without an offset) and timezones. Instants inside are epoch milliseconds.

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))?$/;

/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what a four-digit year can say. */
export const EARLIEST_MS = -62_135_596_800_000;
export const LATEST_MS = 253_402_300_799_999;

const MS_IN_400_YEARS = 146_097 * 86_400_000;

/** A date-time as read: a moment, or a clock time that still needs a timezone. */
export type DateTime = { readonly ms: number } | { readonly local: string };

/** Reads RFC 3339 with upper-case T and Z; fractions are cut to the millisecond. Undefined if it is none. */
export function parseDateTime(text: string): DateTime | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const millisecond = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const sign = match[8];
  if (sign === undefined && !text.endsWith('Z')) {
    return { local: `${text.slice(0, 19)}.${String(millisecond).padStart(3, '0')}` };
  }
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  if (offsetHour > 23 || offsetMinute > 59) return undefined;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; the calendar repeats after 400 years.
  const utc = Date.UTC(year + 400, month - 1, day, hour, minute, second, millisecond) - MS_IN_400_YEARS;
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000;
  return { ms: sign === '-' ? utc + offsetMs : utc - offsetMs };
}

type Six = [number, number, number, number, number, number];

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The moment of a clock time in a timezone; a gap or overlap at a clock change resolves as Temporal's `compatible`. */
export function resolveLocal(local: string, timezone: string): number {
  return Temporal.PlainDateTime.from(local).toZonedDateTime(timezone, { disambiguation: 'compatible' })
    .epochMilliseconds;
}

/** Whether the instant lies in the years that four digits can say. */
export function isWithinYears(ms: number): boolean {
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

/** The message and type of the issue when it does not. */
export const OUTSIDE_YEARS = { msg: 'must lie within the years 0001 to 9999 UTC', type: 'datetime_parsing' };

/** UTC with milliseconds and Z. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Whether the runtime knows this IANA name, links included. Fixed offsets such as +05:30 are not names. Temporal is asked
 * because it resolves the clock times: Intl also takes abbreviations such as PST that are no IANA names.
 */
export function isTimezone(name: string): boolean {
  if (knownTimezones.has(name)) return true;
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Temporal.ZonedDateTime(0n, name);
  } catch {
    return false;
  }
  if (knownTimezones.size < MAX_KNOWN_TIMEZONES) knownTimezones.add(name);
  return true;
}

// Asking costs some microseconds. There are about 600 names, in whatever case they are sent.
const knownTimezones = new Set<string>();
const MAX_KNOWN_TIMEZONES = 2_000;
