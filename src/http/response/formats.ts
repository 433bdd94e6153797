// Formats of an event or a page of events: content types, encoders, the choice by the Accept header, and entity tags. The `format`
// parameter, which overrides Accept, is read in routes/event-formats.ts; the formats themselves are in domain/events/formats/.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodePage } from '../../domain/events/event-page.ts';
import { encodeFeature, joinFeatures } from '../../domain/events/formats/geojson.ts';
import { encodeComponent, joinCalendar } from '../../domain/events/formats/icalendar.ts';
import { encodeLinkedEvent, encodeLinkedPart, joinGraph } from '../../domain/events/formats/json-ld.ts';
import type { LastChange } from '../../domain/store.ts';
import type { Wire } from '../../domain/wire.ts';
import type { KnownVersions } from '../../usecases/events.ts';

export const FORMATS = ['json', 'geojson', 'ics', 'jsonld'] as const;
export type Format = (typeof FORMATS)[number];

export interface FormatEncoder {
  readonly contentType: string;
  /** Encodes a whole response with a single event. */
  readonly encodeEvent: (event: Wire, change: LastChange) => Wire;
  /** Encodes one event of a page; absent if the stored JSON is sent unchanged. */
  readonly encodeItem?: (event: Wire, change: LastChange) => Wire;
  readonly joinPage: (items: readonly Wire[], total: number, cursor: string | undefined) => Wire;
}

export const ENCODERS: Readonly<Record<Format, FormatEncoder>> = {
  json: {
    contentType: 'application/json; charset=utf-8',
    encodeEvent: (event) => event,
    joinPage: encodePage,
  },
  geojson: {
    contentType: 'application/geo+json',
    encodeEvent: encodeFeature,
    encodeItem: encodeFeature,
    joinPage: joinFeatures,
  },
  ics: {
    contentType: 'text/calendar; charset=utf-8',
    encodeEvent: (event, change) => joinCalendar([encodeComponent(event, change)]),
    encodeItem: encodeComponent,
    joinPage: joinCalendar,
  },
  jsonld: {
    contentType: 'application/ld+json',
    encodeEvent: encodeLinkedEvent,
    encodeItem: encodeLinkedPart,
    joinPage: joinGraph,
  },
};

/** Bytes to encode before yielding to other requests: about 1 ms. */
const BYTES_PER_TURN = 65_536;

/** Encodes the events of a page, yielding to the event loop after every BYTES_PER_TURN. Stops if the client leaves. */
export async function encodeItems(
  events: readonly Wire[],
  encodeItem: (event: Wire, at: number) => Wire,
  client: { isGone(): boolean },
): Promise<readonly Wire[]> {
  const items: Wire[] = [];
  let bytes = 0;
  for (const [at, event] of events.entries()) {
    if (bytes > BYTES_PER_TURN) {
      bytes = 0;
      await nextTurn();
      if (client.isGone()) break;
    }
    bytes += event.length;
    items.push(encodeItem(event, at));
  }
  return items;
}

const NAMED: ReadonlyMap<string, Format> = new Map([
  ['application/geo+json', 'geojson'],
  ['text/calendar', 'ics'],
  ['application/ld+json', 'jsonld'],
]);
const NAMES_ANOTHER = /geo\+json|calendar|ld\+json/i;

/**
 * Chooses the named format with the highest quality in Accept; the first one wins a tie. Wildcards mean JSON, and JSON wins
 * a tie with any other format. Never 406: falls back to JSON.
 */
export function acceptedFormat(accept: string | undefined): Format {
  if (accept === undefined || !NAMES_ANOTHER.test(accept)) return 'json';
  const qualities = readQualities(accept);
  let best: Format = 'json';
  let quality =
    qualities.get('application/json') ?? qualities.get('application/*') ?? qualities.get('*/*') ?? 0;
  for (const [range, wanted] of qualities) {
    const format = NAMED.get(range);
    if (format === undefined || wanted <= quality) continue;
    best = format;
    quality = wanted;
  }
  return best;
}

const QUALITY = /^\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i;

/**
 * Parses a list with qualities (RFC 9110), such as Accept or Accept-Encoding: items in lower case with their qualities, in the order sent.
 * An item with an invalid quality is ignored.
 */
export function readQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const item of splitOutsideQuotes(header, ',')) {
    const [name = '', ...parameters] = splitOutsideQuotes(item, ';');
    const weight = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter)) ?? 'q=1';
    const quality = QUALITY.exec(weight)?.[1];
    if (quality !== undefined && !qualities.has(name.trim().toLowerCase())) {
      qualities.set(name.trim().toLowerCase(), Number(quality));
    }
  }
  return qualities;
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted && character === '\\') at++;
    else if (!isQuoted && character === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

/** The entity tag (RFC 9110) of an event: its version and, except for JSON, the format. */
export function etagOf(version: number, format: Format): string {
  return format === 'json' ? `"${version}"` : `"${version}-${format}"`;
}

const LIST = /^[\t ,]*(?:W\/)?"[^"]*"(?:[\t ]*,[\t ,]*(?:W\/)?"[^"]*")*[\t ,]*$/;
const TAG = /(W\/)?"([^"]*)"/g;
const OUR_TAG = /^([1-9]\d{0,14})(?:-(?:geojson|ics|jsonld))?$/;

/** Parses a list of entity tags. An invalid list gives no tags. */
function tagsIn(header: string): { readonly isWeak: boolean; readonly tag: string }[] {
  if (!LIST.test(header)) return [];
  return [...header.matchAll(TAG)].map(([, weak, tag]) => ({ isWeak: weak !== undefined, tag: tag! }));
}

/** Tells whether If-None-Match matches the tag. The comparison is weak, because a cache on the way may have weakened it. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return tagsIn(ifNoneMatch).some(({ tag }) => `"${tag}"` === etag);
}

/**
 * Returns the versions that If-Match names, in any format; undefined if any version will do. The comparison is strong, so
 * weak tags name none. An invalid list names none either: a condition that cannot be parsed must not count as met.
 */
export function knownVersions(ifMatch: string | undefined): KnownVersions {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const strong = tagsIn(ifMatch).filter(({ isWeak }) => !isWeak);
  return strong.flatMap(({ tag }) => OUR_TAG.exec(tag)?.[1] ?? []).map(Number);
}
