// Encodes events as iCalendar (RFC 5545): times in UTC, lines folded. X- properties carry what the standard has no property
// for, so that an import restores equal events. icalendar-reader.ts decodes it.
import { formatInstant, isWithinYears } from '../../datetime.ts';
import type { LastChange } from '../../store.ts';
import { fromWire, toWire, type Wire } from '../../wire.ts';
import { ASSUMED_DURATION_MS, EVENT_EXAMPLE, type Event, parseEvent } from '../event.ts';
import { escapeText, fitsText, OWN_PREFIX, plainText } from './content-line.ts';
import { isWebUrl } from './web-url.ts';

const BEGIN = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//local-events//local-events//EN',
  'X-WR-CALNAME:Local events',
  // How often a program that subscribes to it should ask again (RFC 7986).
  'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
];
const END = 'END:VCALENDAR';
/** Follows the event_id. Constant, so that an event has the same UID on every server. */
const UID_SUFFIX = '@local-events';

/** Encodes an event as a VEVENT. */
export function encodeComponent(event: Wire, change: LastChange): Wire {
  return write(componentOf(parseEvent(event), change));
}

/** Joins encoded VEVENTs to a calendar. RFC 5545 requires at least one, but programs also read a calendar without any. */
export function joinCalendar(components: readonly Wire[]): Wire {
  return `${write(BEGIN)}${components.join('')}${write([END])}` as Wire;
}

/** Folds and ends the lines. Encodes them in one call, which is safe because no line contains a line feed. */
function write(lines: readonly string[]): Wire {
  const folded = toWire(lines.join('\n')).split('\n').map(fold);
  return `${folded.join('\r\n')}\r\n` as Wire;
}

function componentOf(event: Event, { version, updatedMs }: LastChange): string[] {
  const { title, description, start_at, end_at, location_name, address, lat, lng, url, cost } = event;
  const updated = utc(formatInstant(updatedMs));
  const lines = [
    'BEGIN:VEVENT',
    `UID:${event.event_id}${UID_SUFFIX}`,
    `DTSTAMP:${updated}`,
    `LAST-MODIFIED:${updated}`,
    `SEQUENCE:${version - 1}`,
    `STATUS:${event.status === 'cancelled' ? 'CANCELLED' : 'CONFIRMED'}`,
    `DTSTART:${utc(start_at)}`,
  ];
  const own = (name: string, value: string) => lines.push(`${OWN_PREFIX}${name}:${escapeText(value)}`);
  // RFC 5545 requires DTEND to be later than DTSTART.
  const hasEnd = typeof end_at === 'string' && utc(end_at) > utc(start_at);
  const assumedEnd = typeof end_at === 'string' ? undefined : findAssumedEnd(start_at);
  if (hasEnd) lines.push(`DTEND:${utc(end_at)}`);
  else if (assumedEnd !== undefined) lines.push(`DTEND:${utc(assumedEnd)}`);
  lines.push(`SUMMARY:${escapeText(title)}`);
  if (typeof description === 'string') lines.push(`DESCRIPTION:${escapeText(description)}`);
  // An address of only control characters is empty as TEXT: leave out the comma.
  const place = plainText(address ?? '') ? `${location_name}, ${address}` : location_name;
  lines.push(`LOCATION:${escapeText(place)}`);
  lines.push(`GEO:${decimal(lat)};${decimal(lng)}`);
  const hasUrl = typeof url === 'string' && isWebUrl(url);
  if (hasUrl) lines.push(`URL:${url}`);
  lines.push(`CATEGORIES:${event.event_type}`);

  own('TIMEZONE', event.timezone);
  own('AUDIENCE', event.audience);
  own('LOCATION-NAME', location_name);
  if (typeof address === 'string') own('ADDRESS', address);
  if (typeof cost === 'string') own('COST', cost);
  if (typeof url === 'string' && !hasUrl) own('URL', url);
  if (hasFraction(start_at)) own('START', start_at);
  if (typeof end_at === 'string' && (!hasEnd || hasFraction(end_at))) own('END', end_at);
  if (assumedEnd !== undefined) own('END-ASSUMED', 'TRUE');
  if (hasExponent(lat) || hasExponent(lng)) own('GEO', `${lat};${lng}`);
  const exact = exactTexts({ title, description, location_name, address, url, cost });
  if (exact !== undefined) own('EXACT', exact);
  lines.push('END:VEVENT');
  return lines;
}

/** When an event without an end counts as ended: many programs show one without DTEND as a moment, or not at all. */
function findAssumedEnd(startAt: string): string | undefined {
  const ms = Date.parse(startAt) + ASSUMED_DURATION_MS;
  return isWithinYears(ms) ? formatInstant(ms) : undefined;
}

/** 2031-05-01T16:00:00.000Z as 20310501T160000Z. */
function utc(instant: string): string {
  return `${instant.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

function hasFraction(instant: string): boolean {
  return !instant.endsWith('.000Z');
}

/** Decimal notation: GEO allows no exponent. JavaScript writes one only for numbers close to zero. */
function decimal(degrees: number): string {
  return hasExponent(degrees) ? degrees.toFixed(12) : String(degrees);
}

function hasExponent(degrees: number): boolean {
  return String(degrees).includes('e');
}

/** JSON object of the strings that TEXT cannot represent without loss; undefined if there are none. */
function exactTexts(texts: Record<string, string | null | undefined>): string | undefined {
  const lossy = Object.entries(texts).filter(([, text]) => typeof text === 'string' && !fitsText(text));
  if (lossy.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(lossy)).replaceAll('\x7f', '\\u007f');
}

/** Maximum bytes of a line without its CRLF. A continuation line includes its leading space. */
const MAX_LINE_BYTES = 75;

/** Folds a long line between characters, never inside one. The line holds one UTF-8 byte per character. */
function fold(line: string): string {
  if (line.length <= MAX_LINE_BYTES) return line;
  const pieces: string[] = [];
  let from = 0;
  let room = MAX_LINE_BYTES;
  while (line.length - from > room) {
    let end = from + room;
    while ((line.charCodeAt(end) & 0xc0) === 0x80) end--; // continuation byte of a character
    pieces.push(line.slice(from, end));
    from = end;
    room = MAX_LINE_BYTES - 1;
  }
  pieces.push(line.slice(from));
  return pieces.join('\r\n ');
}

export const CALENDAR_EXAMPLE = fromWire(
  joinCalendar([
    encodeComponent(toWire(JSON.stringify(EVENT_EXAMPLE)), {
      version: 1,
      updatedMs: Date.parse(EVENT_EXAMPLE.created_at),
    }),
  ]),
);
