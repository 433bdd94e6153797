// Formats of an event or a page of events: content types, encoders, and the choice by the Accept header. The `format`
// parameter, which overrides Accept, is read in routes/event-formats.ts; the formats themselves are in domain/events/formats/.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encodePage } from '../../domain/events/event-page.ts';
import { encodeFeature, joinFeatures } from '../../domain/events/formats/geojson.ts';
import { encodeComponent, joinCalendar } from '../../domain/events/formats/icalendar.ts';
import { encodeLinkedEvent, encodeLinkedPart, joinGraph } from '../../domain/events/formats/json-ld.ts';
import type { LastChange } from '../../domain/store.ts';
import type { Wire } from '../../domain/wire.ts';
import { readQualities } from './qualities.ts';

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
