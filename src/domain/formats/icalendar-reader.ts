// Converts VEVENTs of iCalendar (RFC 5545) to bodies of creates. Our own X- properties are more exact than the standard ones.
// They count only while they agree with the standard ones, so that a change made in a calendar program is not undone.
import { isTimezone, parseDateTime } from '../datetime.ts';
import { type Issue, invalid } from '../errors.ts';
import { EVENT_TYPES } from '../event.ts';
import { addDuration, CalendarError, nextDay, readTime, writeTime } from './calendar-time.ts';
import { OWN_PREFIX as OWN, type Property, plainText, unescapeList, unescapeText } from './content-line.ts';
import { complete, type DefaultFields, type Draft } from './default-fields.ts';

/** Properties of the calendar that contains the event. */
export interface CalendarContext {
  /** IANA names by TZID. */
  readonly zones: ReadonlyMap<string, string>;
  /** X-WR-TIMEZONE */
  timezone?: string;
  /** METHOD */
  method?: string;
}

const SINGLE = [
  'SUMMARY',
  'DESCRIPTION',
  'DTSTART',
  'DTEND',
  'DURATION',
  'LOCATION',
  'GEO',
  'URL',
  'STATUS',
  'CLASS',
];
/** The place in Apple's calendar, which writes no GEO. */
const APPLE_PLACE = 'X-APPLE-STRUCTURED-LOCATION';
const RECURRENCE = ['RRULE', 'RDATE', 'EXRULE', 'RECURRENCE-ID'];

/** Whether the reader uses properties with this name. */
export function isWanted(name: string): boolean {
  return WANTED.has(name) || name.startsWith(OWN);
}
const WANTED = new Set([...SINGLE, ...RECURRENCE, 'CATEGORIES', APPLE_PLACE]);

/** Throws VALIDATION_ERROR naming every property that cannot be converted. */
export function readCalendarEvent(
  properties: readonly Property[],
  calendar: CalendarContext,
  given: DefaultFields,
): Draft {
  const issues: Issue[] = [];
  const refuse = (name: string, msg: string) =>
    void issues.push({ loc: ['body', name], msg, type: 'value_error' });
  const attempt = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CalendarError)) throw error;
      refuse(name, error.message);
      return undefined;
    }
  };
  const all = Map.groupBy(properties, ({ name }) => name);
  for (const [name, found] of all) {
    if (found.length > 1 && (SINGLE.includes(name) || name.startsWith(OWN)))
      refuse(name, 'must not occur more than once');
    if (RECURRENCE.includes(name)) {
      refuse(name, 'recurring events are not expanded; give each occurrence as an event of its own');
    }
  }
  const get = (name: string) => all.get(name)?.[0];
  const filled = (name: string) => {
    const value = get(name)?.value;
    return value?.trim() ? value : undefined;
  };
  const text = (name: string) => {
    const property = get(name);
    return property && unescapeText(property.value);
  };
  if (text('STATUS')?.toUpperCase() === 'CANCELLED' || calendar.method === 'CANCEL') {
    refuse('STATUS', 'the event is cancelled');
  }
  if (/^(?:PRIVATE|CONFIDENTIAL)$/i.test(text('CLASS') ?? '')) refuse('CLASS', 'the event is not public');

  const start = get('DTSTART');
  const begin = start && attempt('DTSTART', () => readTime(start, calendar.zones));
  if (!start) refuse('DTSTART', 'is required');
  const named = begin?.timezone;
  // We write UTC. Any other timezone in DTSTART means that a program moved the event to it.
  const own = named === undefined || named === 'UTC' ? text(`${OWN}TIMEZONE`) : undefined;
  const timezone = own ?? named ?? calendar.timezone ?? given.timezone;
  const starts = begin && attempt('DTSTART', () => writeTime(begin, timezone));
  const ends = (): string | undefined => {
    const [end, duration] = [get('DTEND'), get('DURATION')];
    if (end) return attempt('DTEND', () => writeTime(readTime(end, calendar.zones), timezone));
    if (!begin) return undefined;
    const clockZone = begin.zone ?? (timezone !== undefined && isTimezone(timezone) ? timezone : undefined);
    // Without a timezone to calculate in, the event is refused anyway.
    if (duration) {
      return clockZone && attempt('DURATION', () => addDuration(begin, duration.value, clockZone));
    }
    return begin.isDate ? nextDay(begin) : undefined;
  };
  const end = ends();
  const geo = filled('GEO');
  const place = geo ? attempt('GEO', () => readGeo(geo)) : readGeoUri(filled(APPLE_PLACE));
  const exact = attempt(`${OWN}EXACT`, () => readExact(text(`${OWN}EXACT`))) ?? {};
  if (issues.length > 0) throw invalid(issues);

  const draft: Draft = {
    title: text('SUMMARY'),
    description: text('DESCRIPTION'),
    start_at: exactTime(text(`${OWN}START`), starts) ?? starts,
    end_at: exactTime(text(`${OWN}END`), end ?? starts) ?? end,
    timezone,
    ...locationOf(text('LOCATION'), text(`${OWN}LOCATION-NAME`), text(`${OWN}ADDRESS`)),
    ...exactPlace(text(`${OWN}GEO`), place),
    url: filled('URL') ?? text(`${OWN}URL`),
    cost: text(`${OWN}COST`),
    audience: text(`${OWN}AUDIENCE`),
    event_type: typeOf(all.get('CATEGORIES') ?? []),
  };
  for (const [name, value] of Object.entries(exact))
    if (plainText(value) === draft[name]) draft[name] = value;
  return complete(draft, given);
}

/** The first category that is an event type. */
function typeOf(categories: readonly Property[]): string | undefined {
  const named = categories.flatMap(({ value }) => unescapeList(value.toLowerCase()));
  return named.find((name) => (EVENT_TYPES as readonly string[]).includes(name));
}

/** Our separate name and address, if LOCATION still equals both together; otherwise LOCATION as the name. */
function locationOf(
  location: string | undefined,
  name: string | undefined,
  address: string | undefined,
): Draft {
  const joined = address ? `${name}, ${address}` : name;
  if (name !== undefined && (location === undefined || location === joined))
    return { location_name: name, address };
  return { location_name: location || undefined };
}

const DEGREES = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

function readGeo(value: string): { lat: number; lng: number } {
  const parts = value.split(';').map((part) => part.trim());
  if (parts.length !== 2 || !parts.every((part) => DEGREES.test(part))) {
    throw new CalendarError('must be latitude and longitude such as 52.5264;13.3955');
  }
  return { lat: Number(parts[0]), lng: Number(parts[1]) };
}

/** geo:52.5264,13.3955 (RFC 5870). Ignores any other value. */
function readGeoUri(uri: string | undefined): { lat: number; lng: number } | undefined {
  const [, lat, lng] = /^geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)(?:[,;]|$)/i.exec(uri?.trim() ?? '') ?? [];
  return lat === undefined ? undefined : { lat: Number(lat), lng: Number(lng) };
}

/** Tolerance for the digits that GEO loses. */
const SAME_PLACE_DEGREES = 1e-11;

function exactPlace(own: string | undefined, place: { lat: number; lng: number } | undefined): Draft {
  const [lat = Number.NaN, lng = Number.NaN] = (own ?? '').split(';').map(Number);
  const isSame =
    place && Math.abs(lat - place.lat) < SAME_PLACE_DEGREES && Math.abs(lng - place.lng) < SAME_PLACE_DEGREES;
  return isSame ? { lat, lng } : { ...place };
}

/** Our own time, if it differs from the standard one only by a fraction of a second. */
function exactTime(own: string | undefined, standard: string | undefined): string | undefined {
  const time = own === undefined ? undefined : parseDateTime(own);
  const rounded = standard === undefined ? undefined : parseDateTime(standard);
  if (!time || !rounded || !('ms' in time) || !('ms' in rounded)) return undefined;
  return Math.floor(time.ms / 1000) === Math.floor(rounded.ms / 1000) ? own : undefined;
}

/** Original texts that TEXT cannot hold unchanged, by field. */
function readExact(json: string | undefined): Record<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(json ?? '{}');
  } catch {
    throw new CalendarError('must be valid JSON');
  }
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, text]) => typeof text === 'string'));
}
