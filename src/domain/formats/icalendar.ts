// Events as an iCalendar object (RFC 5545): times in UTC, lines folded, and X- properties with what the standard has no place
// for, so that an import can make equal events of it.
import { EVENT_EXAMPLE, type Event, parseEvent } from '../event.ts';
import { fromWire, toWire, type Wire } from '../wire.ts';
import { escapeText, fitsText, OWN_PREFIX, plainText } from './content-line.ts';
import { isWebAddress } from './web-url.ts';

const BEGIN = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//local-events//local-events//EN'];
const END = 'END:VCALENDAR';
/** Behind the event_id: the same event has the same UID wherever it is served. */
const UID_SUFFIX = '@local-events';

/** The event as a component of a calendar. */
export function encodeComponent(event: Wire): Wire {
  return write(componentOf(parseEvent(event)));
}

/** A calendar of such components. Without any it is one of no events, which RFC 5545 does not foresee and everybody reads. */
export function joinCalendar(components: readonly Wire[]): Wire {
  return `${write(BEGIN)}${components.join('')}${write([END])}` as Wire;
}

/** All at once into bytes: no line has a line feed in it. */
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
  // Not where it would equal DTSTART: RFC 5545 wants it later.
  const hasEnd = typeof end_at === 'string' && utc(end_at) > utc(start_at);
  if (hasEnd) lines.push(`DTEND:${utc(end_at)}`);
  lines.push(`SUMMARY:${escapeText(title)}`);
  if (typeof description === 'string') lines.push(`DESCRIPTION:${escapeText(description)}`);
  // An address of control characters only leaves nothing to put behind the comma.
  const place = plainText(address ?? '') ? `${location_name}, ${address}` : location_name;
  lines.push(`LOCATION:${escapeText(place)}`);
  lines.push(`GEO:${decimal(lat)};${decimal(lng)}`);
  const hasUrl = typeof url === 'string' && isWebAddress(url);
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

/** Without an exponent, which GEO does not know. Only numbers next to zero have one. */
function decimal(degrees: number): string {
  return isShortened(degrees) ? degrees.toFixed(12) : String(degrees);
}

function isShortened(degrees: number): boolean {
  return String(degrees).includes('e');
}

/** The texts that lose something by becoming TEXT, as JSON, which can say everything; undefined where none does. */
function exactTexts(texts: Record<string, string | null | undefined>): string | undefined {
  const lossy = Object.entries(texts).filter(([, text]) => typeof text === 'string' && !fitsText(text));
  if (lossy.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(lossy)).replaceAll('\x7f', '\\u007f');
}

/** Bytes of a line without its end; those of a continuation include the space that it begins with. */
const MAX_LINE_BYTES = 75;

/** Breaks a long line between characters, never inside one. */
function fold(line: string): string {
  if (line.length <= MAX_LINE_BYTES) return line;
  const pieces: string[] = [];
  let from = 0;
  let room = MAX_LINE_BYTES;
  while (line.length - from > room) {
    let end = from + room;
    while ((line.charCodeAt(end) & 0xc0) === 0x80) end--; // inside of a character
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
