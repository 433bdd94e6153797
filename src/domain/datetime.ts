// Date-times on the wire (RFC 3339, with or without an offset) and timezones. Internally, instants are epoch milliseconds.
import { DAY_MS } from './clock-and-random.ts';
import type { Issue } from './errors.ts';
import Type from './schema.ts';

/**
 * A date-time with or without seconds and an offset. The format `date-time` of JSON Schema would refuse those without. Browsers' inputs
 * and models omit seconds.
 */
export const DATE_TIME_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:\\d{2})?$';

const DATE_TIME = new RegExp(DATE_TIME_PATTERN);

/** 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: the range of four-digit years. */
export const EARLIEST_MS = -62_135_596_800_000;
export const LATEST_MS = 253_402_300_799_999;

const MS_IN_400_YEARS = 146_097 * DAY_MS;

/** A parsed date-time: an instant, or a local time that still needs a timezone. */
export type DateTime = { readonly ms: number } | { readonly local: string };

/** Parses RFC 3339 with upper-case T and Z; seconds may be omitted, fractions are cut to the millisecond. Undefined if the text is invalid. */
export function parseDateTime(text: string): DateTime | undefined {
  if (!DATE_TIME.test(text)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const hasSeconds = text.charCodeAt(16) === COLON;
  const second = hasSeconds ? digits(text, 17, 2) : 0;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const millisecond = text.charCodeAt(19) === POINT ? readMilliseconds(text) : 0;
  let offsetMinutes = 0;
  if (!text.endsWith('Z')) {
    const sign = text.at(-6);
    if (sign !== '+' && sign !== '-') {
      const seconds = hasSeconds ? text.slice(16, 19) : ':00';
      return { local: `${text.slice(0, 16)}${seconds}.${String(millisecond).padStart(3, '0')}` };
    }
    const offsetHour = digits(text, text.length - 5, 2);
    const offsetMinute = digits(text, text.length - 2, 2);
    if (offsetHour > 23 || offsetMinute > 59) return undefined;
    offsetMinutes = (offsetHour * 60 + offsetMinute) * (sign === '-' ? -1 : 1);
  }
  // Date.UTC reads the years 0 to 99 as 1900 to 1999, so shift by 400 years: the calendar repeats after them.
  const utc = Date.UTC(year + 400, month - 1, day, hour, minute, second, millisecond) - MS_IN_400_YEARS;
  return { ms: utc - offsetMinutes * 60_000 };
}

/** The number formed by `count` digits, starting at `from`. */
function digits(text: string, from: number, count: number): number {
  let number = 0;
  for (let at = from; at < from + count; at++) number = 10 * number + text.charCodeAt(at) - ZERO;
  return number;
}

/** The first three digits of the fraction after the point, padded with zeros. */
function readMilliseconds(text: string): number {
  let number = 0;
  let at = 20;
  for (let factor = 100; factor >= 1; factor /= 10) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    number += factor * digit;
    at++;
  }
  return number;
}

const ZERO = 48;
const POINT = 46;
const COLON = 58;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The instant of a local time in a timezone. A gap or overlap at a clock change resolves as in Temporal's `compatible`. */
export function resolveLocal(local: string, timezone: string): number {
  return Temporal.PlainDateTime.from(local).toZonedDateTime(timezone, { disambiguation: 'compatible' })
    .epochMilliseconds;
}

/** Whether the instant is in the years 0001 to 9999 UTC. */
export function isWithinYears(ms: number): boolean {
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

/** Message and type of the issue for an instant outside of these years. */
export const OUTSIDE_YEARS = { msg: 'must lie within the years 0001 to 9999 UTC', type: 'datetime_parsing' };

/** UTC with milliseconds and Z. Dates are cached: many events share a day, and formatting it costs more than a look-up. */
export function formatInstant(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  let date = knownDates.get(day);
  if (date === undefined) {
    date = new Date(day * DAY_MS).toISOString().slice(0, 11);
    if (knownDates.size === MAX_KNOWN_DATES) knownDates.clear();
    knownDates.set(day, date);
  }
  const rest = ms - day * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${date}${clock}.${THREE_DIGITS[rest % 1000]}Z`;
}

/**
 * The same instant as local time with its offset, fractions only if they are not zero. Offsets have whole minutes, as RFC 3339
 * wants: those of the 19th century are rounded. UTC where the local year would not have four digits.
 */
export function formatLocal(ms: number, timezone: string): string {
  const { offsetNanoseconds } = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
  const offset = Math.round(offsetNanoseconds / 6e10);
  const localMs = ms + offset * 60_000;
  if (!isWithinYears(localMs)) return formatInstant(ms);
  const minutes = Math.abs(offset);
  const clock = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}`;
  const text = formatInstant(localMs);
  const fraction = text.slice(19, 23);
  const local = `${text.slice(0, 19)}${fraction === '.000' ? '' : fraction}`;
  return `${local}${offset < 0 ? '-' : '+'}${clock}`;
}

const knownDates = new Map<number, string>();
const MAX_KNOWN_DATES = 2_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'));

/**
 * IANA's spelling of a timezone's name, which may be in any mix of upper and lower case; undefined if the runtime does not
 * know it. Links stay what they are. Fixed offsets such as +05:30 are not names. Uses Temporal, which also resolves the local
 * times: Intl accepts abbreviations such as PST that are not IANA names.
 */
export function ianaName(name: string): string | undefined {
  const known = knownTimezones.get(name);
  if (known !== undefined || !/^[A-Za-z]/.test(name)) return known;
  let spelling: string;
  try {
    spelling = new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return undefined;
  }
  if (knownTimezones.size < MAX_KNOWN_TIMEZONES) knownTimezones.set(name, spelling);
  return spelling;
}

export function isTimezone(name: string): boolean {
  return ianaName(name) !== undefined;
}

// Cache: a check with Temporal takes some microseconds. There are about 600 names, in any mix of upper and lower case.
const knownTimezones = new Map<string, string>();
const MAX_KNOWN_TIMEZONES = 2_000;

/**
 * The shape of a query parameter that is an instant; `meaning` ends with a full stop. Date-times in bodies are read in event-input.ts, because
 * they depend on the event's timezone.
 */
export function instant(meaning: string) {
  const description = `${meaning} Without an offset, it is UTC. Write the + of an offset as %2B.`;
  return Type.Optional(Type.String({ format: 'date-time', description }));
}

/** Returns the reader of these parameters, by name. It adds an issue for an instant outside of the years that the service knows. */
export function instantsIn<T extends object>(
  parameters: T,
  at: string,
  issues: Issue[],
): (name: keyof T & string) => number | undefined {
  return (name) => {
    const text = parameters[name] as string | undefined;
    const time = text === undefined ? undefined : parseDateTime(text);
    if (!time) return undefined;
    const ms = 'ms' in time ? time.ms : Date.parse(`${time.local}Z`);
    if (!isWithinYears(ms)) issues.push({ loc: [at, name], ...OUTSIDE_YEARS });
    return ms;
  };
}
