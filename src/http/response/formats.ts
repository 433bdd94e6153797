// In which form an event or a page of events is sent: by `format`, otherwise by Accept, and as JSON unless another form is
// asked for by its name. How each looks is in domain/formats/.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodePage } from '../../domain/event-page.ts';
import { encodeFeature, joinFeatures } from '../../domain/formats/geojson.ts';
import { encodeComponent, joinCalendar } from '../../domain/formats/icalendar.ts';
import { encodeLinkedEvent, encodeLinkedPart, joinGraph } from '../../domain/formats/json-ld.ts';
import type { Wire } from '../../domain/wire.ts';

export const FORMATS = ['json', 'geojson', 'ics', 'jsonld'] as const;
export type Format = (typeof FORMATS)[number];

interface Form {
  readonly contentType: string;
  /** A single event. */
  readonly encodeEvent: (event: Wire) => Wire;
  /** An event of a page; none: it is right as it is. */
  readonly encodeItem?: (event: Wire) => Wire;
  readonly joinPage: (items: readonly Wire[], total: number, cursor: string | undefined) => Wire;
}

export const FORMS: Readonly<Record<Format, Form>> = {
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
    encodeEvent: (event) => joinCalendar([encodeComponent(event)]),
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

/** After so many bytes of events others get their turn: to write a page of the longest ones takes a tenth of a second. */
const BYTES_PER_TURN = 262_144;

/** Encodes the events of a page, some at a time. */
export async function encodeItems(
  events: readonly Wire[],
  encodeItem: (event: Wire) => Wire,
): Promise<readonly Wire[]> {
  const items: Wire[] = [];
  let bytes = 0;
  for (const event of events) {
    if (bytes > BYTES_PER_TURN) {
      bytes = 0;
      await nextTurn();
    }
    bytes += event.length;
    items.push(encodeItem(event));
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
 * The form that Accept prefers: of those that it names, the one of the greatest quality, the first of several. Wildcards stand
 * for JSON, and JSON wins where it is wanted as much. There is no 406: what asks for nothing that there is gets JSON.
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

/** Each media range with its quality, in order. One whose quality is none is left out, as if it was not sent. */
function readQualities(accept: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const item of splitOutsideQuotes(accept, ',')) {
    const [range = '', ...parameters] = splitOutsideQuotes(item, ';');
    const weight = parameters.find((parameter) => /^\s*q\s*=/i.test(parameter)) ?? 'q=1';
    const quality = QUALITY.exec(weight)?.[1];
    if (quality !== undefined && !qualities.has(range.trim().toLowerCase())) {
      qualities.set(range.trim().toLowerCase(), Number(quality));
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
