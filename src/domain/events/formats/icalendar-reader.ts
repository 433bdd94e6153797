// Converts iCalendar VEVENTs (RFC 5545) to create bodies. This service's own X- properties are more exact than the standard
// ones. They apply only if they agree with the standard property, so that edits made in a calendar program are kept.
import { isTimezone, parseDateTime } from '../../datetime.ts';
import { type Issue, invalid } from '../../errors.ts';
import { ASSUMED_DURATION_MS, EVENT_TYPES } from '../event.ts';
import { addDuration, nextDay, PropertyValueError, readTime, writeTime } from './calendar-time.ts';
import { OWN_PREFIX as OWN, type Property, plainText, unescapeList, unescapeText } from './content-line.ts';
import { applyDefaults, type DefaultFields, type Draft } from './default-fields.ts';

/** Calendar properties that apply to all its events. */
export interface CalendarContext {
  /** IANA names by TZID. */
  readonly zones: ReadonlyMap<string, string>;
  /** X-WR-TIMEZONE */
  timezone?: string;
  /** METHOD */
  method?: string;
}

/** Properties that may appear only once. */
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
/** Coordinates in Apple's calendars, which have no GEO. */
const APPLE_LOCATION = 'X-APPLE-STRUCTURED-LOCATION';
const RECURRENCE = ['RRULE', 'RDATE', 'EXRULE', 'RECURRENCE-ID'];

/** Whether the reader uses properties with this name. */
export function isUsedProperty(name: string): boolean {
  return USED_PROPERTIES.has(name) || name.startsWith(OWN);
}
const USED_PROPERTIES = new Set([...SINGLE, ...RECURRENCE, 'CATEGORIES', APPLE_LOCATION]);

/** Throws VALIDATION_ERROR with every property that cannot be converted. */
export function readCalendarEvent(
  properties: readonly Property[],
  calendar: CalendarContext,
  defaults: DefaultFields,
): Draft {
  const issues: Issue[] = [];
  const refuse = (name: string, msg: string) =>
    void issues.push({ loc: ['body', name], msg, type: 'value_error' });
  const attempt = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof PropertyValueError)) throw error;
      refuse(name, error.message);
      return undefined;
    }
  };
  const all = Map.groupBy(properties, ({ name }) => name);
  for (const [name, found] of all) {
    if (found.length > 1 && (SINGLE.includes(name) || name.startsWith(OWN)))
      refuse(name, 'must not appear twice');
    if (RECURRENCE.includes(name)) {
      refuse(name, 'recurring events are not expanded; write each occurrence as a separate event');
    }
  }
  const get = (name: string) => all.get(name)?.[0];
  const nonBlank = (name: string) => {
    const value = get(name)?.value;
    return value?.trim() ? value : undefined;
  };
  const text = (name: string) => {
    const property = get(name);
    return property && unescapeText(property.value);
  };
  const isCancelled = text('STATUS')?.trim().toUpperCase() === 'CANCELLED' || calendar.method === 'CANCEL';
  if (/^(?:PRIVATE|CONFIDENTIAL)$/i.test(text('CLASS') ?? '')) refuse('CLASS', 'the event is not public');

  const dtstart = get('DTSTART');
  const startTime = dtstart && attempt('DTSTART', () => readTime(dtstart, calendar.zones));
  if (!dtstart) refuse('DTSTART', 'is required');
  const startTimezone = startTime?.timezone;
  // This service writes DTSTART in UTC. Any other timezone was set in a calendar program, and wins.
  const usesOwn = startTimezone === undefined || startTimezone === 'UTC';
  const ownTimezone = usesOwn ? text(`${OWN}TIMEZONE`) : undefined;
  const timezone = ownTimezone ?? startTimezone ?? calendar.timezone ?? defaults.timezone;
  const startAt = startTime && attempt('DTSTART', () => writeTime(startTime, timezone));
  const readEnd = (): string | undefined => {
    const [dtend, duration] = [get('DTEND'), get('DURATION')];
    if (dtend) return attempt('DTEND', () => writeTime(readTime(dtend, calendar.zones), timezone));
    if (!startTime) return undefined;
    const clockZone =
      startTime.zone ?? (timezone !== undefined && isTimezone(timezone) ? timezone : undefined);
    // Without a timezone the event is refused anyway.
    if (duration) {
      return clockZone && attempt('DURATION', () => addDuration(startTime, duration.value, clockZone));
    }
    return startTime.isDate ? nextDay(startTime) : undefined;
  };
  const standardEnd = readEnd();
  const hasNoEnd = text(`${OWN}END-ASSUMED`) !== undefined && isAssumedEnd(startAt, standardEnd);
  const endAt = hasNoEnd ? undefined : standardEnd;
  const geo = nonBlank('GEO');
  const place = geo ? attempt('GEO', () => readGeo(geo)) : readGeoUri(nonBlank(APPLE_LOCATION));
  const exact = attempt(`${OWN}EXACT`, () => readExact(text(`${OWN}EXACT`))) ?? {};
  if (issues.length > 0) throw invalid(issues);

  const draft: Draft = {
    title: text('SUMMARY'),
    description: text('DESCRIPTION'),
    start_at: exactTime(text(`${OWN}START`), startAt) ?? startAt,
    end_at: exactTime(text(`${OWN}END`), endAt ?? startAt) ?? endAt,
    timezone,
    ...locationOf(text('LOCATION'), text(`${OWN}LOCATION-NAME`), text(`${OWN}ADDRESS`)),
    ...exactPlace(text(`${OWN}GEO`), place),
    url: nonBlank('URL') ?? text(`${OWN}URL`),
    cost: text(`${OWN}COST`),
    audience: text(`${OWN}AUDIENCE`),
    event_type: typeOf(all.get('CATEGORIES') ?? []),
    status: isCancelled ? 'cancelled' : undefined,
  };
  for (const [name, value] of Object.entries(exact))
    if (plainText(value) === draft[name]) draft[name] = value;
  return applyDefaults(draft, defaults);
}

/** First category that is an event type. */
function typeOf(categories: readonly Property[]): string | undefined {
  const named = categories.flatMap(({ value }) => unescapeList(value.toLowerCase()));
  return named.find((name) => (EVENT_TYPES as readonly string[]).includes(name));
}

/** Uses our own name and address only if LOCATION is absent or still equals the two joined. */
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
    throw new PropertyValueError('must be latitude and longitude such as 52.5264;13.3955');
  }
  return { lat: Number(parts[0]), lng: Number(parts[1]) };
}

/** Reads geo:52.5264,13.3955 (RFC 5870); undefined for anything else. */
function readGeoUri(uri: string | undefined): { lat: number; lng: number } | undefined {
  const [, lat, lng] = /^geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)(?:[,;]|$)/i.exec(uri?.trim() ?? '') ?? [];
  return lat === undefined ? undefined : { lat: Number(lat), lng: Number(lng) };
}

/** Above the rounding error of GEO, which has 12 decimal places for numbers close to zero. */
const SAME_PLACE_DEGREES = 1e-11;

function exactPlace(own: string | undefined, place: { lat: number; lng: number } | undefined): Draft {
  const [lat = Number.NaN, lng = Number.NaN] = (own ?? '').split(';').map(Number);
  const isSame =
    place && Math.abs(lat - place.lat) < SAME_PLACE_DEGREES && Math.abs(lng - place.lng) < SAME_PLACE_DEGREES;
  return isSame ? { lat, lng } : { ...place };
}

/** Whether the end is the one that this service writes for an event without an end. */
function isAssumedEnd(start: string | undefined, end: string | undefined): boolean {
  const [fromMs, toMs] = [start, end].map((text) => {
    const time = text === undefined ? undefined : parseDateTime(text);
    if (!time) return Number.NaN;
    return 'ms' in time ? time.ms : Date.parse(`${time.local}Z`);
  });
  return toMs! - fromMs! === ASSUMED_DURATION_MS;
}

/** Our own time, if it differs from the standard one only by a fraction of a second. */
function exactTime(own: string | undefined, standard: string | undefined): string | undefined {
  const time = own === undefined ? undefined : parseDateTime(own);
  const rounded = standard === undefined ? undefined : parseDateTime(standard);
  if (!time || !rounded || !('ms' in time) || !('ms' in rounded)) return undefined;
  return Math.floor(time.ms / 1000) === Math.floor(rounded.ms / 1000) ? own : undefined;
}

/** Original strings, by field, that TEXT cannot represent. Throws PropertyValueError. */
function readExact(json: string | undefined): Record<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(json ?? '{}');
  } catch {
    throw new PropertyValueError('must be valid JSON');
  }
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, text]) => typeof text === 'string'));
}
