// Converts events to an iCalendar object (RFC 5545): times in UTC, lines folded, and X- properties for everything that the
// standard cannot hold, so that an import creates equal events.
import { EVENT_EXAMPLE, type Event, parseEvent } from '../event.ts';
import { fromWire, toWire, type Wire } from '../wire.ts';
import { escapeText, fitsText, OWN_PREFIX, plainText } from './content-line.ts';
import { isWebUrl } from './web-url.ts';

const BEGIN = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//local-events//local-events//EN'];
const END = 'END:VCALENDAR';
/** Follows the event_id, so that an event has the same UID wherever it is served. */
const UID_SUFFIX = '@local-events';

/** The event as a component of a calendar (VEVENT). */
export function encodeComponent(event: Wire): Wire {
  return write(componentOf(parseEvent(event)));
}

/** Joins components to a calendar. It may be empty: RFC 5545 does not allow that, but every program reads it. */
export function joinCalendar(components: readonly Wire[]): Wire {
  return `${write(BEGIN)}${components.join('')}${write([END])}` as Wire;
}

/** Encodes and folds the lines. They are encoded in one step, which is safe because no line contains a line feed. */
function write(lines: readonly string[]): Wire {
  const folded = toWire(lines.join('\n')).split('\n').map(fold);
  return `${folded.join('\r\n')}\r\n` as Wire;
}

function componentOf(event: Event): string[] {
  const { title, description, start_at, end_at, location_name, address, lat, lng, url, cost } = event;
  const lines = [
    'BEGIN:VEVENT',
    `UID:${event.event_id}${UID_SUFFIX}`,
    `DTSTAMP:${utc(event.created_at)}`,
    `DTSTART:${utc(start_at)}`,
  ];
  const own = (name: string, value: string) => lines.push(`${OWN_PREFIX}${name}:${escapeText(value)}`);
  // RFC 5545 requires DTEND to be later than DTSTART.
  const hasEnd = typeof end_at === 'string' && utc(end_at) > utc(start_at);
  if (hasEnd) lines.push(`DTEND:${utc(end_at)}`);
  lines.push(`SUMMARY:${escapeText(title)}`);
  if (typeof description === 'string') lines.push(`DESCRIPTION:${escapeText(description)}`);
  // An address of only control characters would leave nothing after the comma.
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
  if (isShortened(lat) || isShortened(lng)) own('GEO', `${lat};${lng}`);
  const exact = exactTexts({ title, description, location_name, address, url, cost });
  if (exact !== undefined) own('EXACT', exact);
  lines.push('END:VEVENT');
  return lines;
}

/** 2031-05-01T16:00:00.000Z as 20310501T160000Z. */
function utc(instant: string): string {
  return `${instant.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

function hasFraction(instant: string): boolean {
  return !instant.endsWith('.000Z');
}

/** Without an exponent, which GEO does not allow. Only numbers near zero have one. */
function decimal(degrees: number): string {
  return isShortened(degrees) ? degrees.toFixed(12) : String(degrees);
}

function isShortened(degrees: number): boolean {
  return String(degrees).includes('e');
}

/** The texts that TEXT cannot hold unchanged, as JSON, which can; undefined if there are none. */
function exactTexts(texts: Record<string, string | null | undefined>): string | undefined {
  const lossy = Object.entries(texts).filter(([, text]) => typeof text === 'string' && !fitsText(text));
  if (lossy.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(lossy)).replaceAll('\x7f', '\\u007f');
}

/** Maximum bytes of a line without its line break. A continuation line includes its leading space. */
const MAX_LINE_BYTES = 75;

/** Folds a long line between characters, never inside one. */
function fold(line: string): string {
  if (line.length <= MAX_LINE_BYTES) return line;
  const pieces: string[] = [];
  let from = 0;
  let room = MAX_LINE_BYTES;
  while (line.length - from > room) {
    let end = from + room;
    while ((line.charCodeAt(end) & 0xc0) === 0x80) end--; // inside a character
    pieces.push(line.slice(from, end));
    from = end;
    room = MAX_LINE_BYTES - 1;
  }
  pieces.push(line.slice(from));
  return pieces.join('\r\n ');
}

export const CALENDAR_EXAMPLE = fromWire(
  joinCalendar([encodeComponent(toWire(JSON.stringify(EVENT_EXAMPLE)))]),
);
