// The search: its parameters and its response. The stores find the matching events.
import type { Static } from 'typebox';

import { instant, instantsIn } from '../datetime.ts';
import { type Issue, readTogether, refuse } from '../errors.ts';
import { PlaceName } from '../places.ts';
import Type, { nameShapes } from '../schema.ts';
import { compile, oneOf } from '../shape.ts';
import type { Wire } from '../wire.ts';
import {
  decodeCursor,
  decodeDistanceCursor,
  encodeCursor,
  encodeDistanceCursor,
  type Position,
} from './cursor.ts';
import {
  AUDIENCES,
  type Audience,
  EVENT_EXAMPLE,
  EVENT_TYPES,
  Event,
  type EventType,
  STATUSES,
} from './event.ts';
import { PAGE_PARAMETERS, pageFields } from './event-page.ts';
import { chordSquared, milesBetween, type Place, unitVector } from './geo.ts';
import { INCLUDED } from './include.ts';
import { WHENS, type When } from './when.ts';
import { readTerms, type Term, WordsParameter } from './word-query.ts';

export const SORTS = ['start', 'distance'] as const;
export type Sort = (typeof SORTS)[number];

/** Statuses that a search looks for. */
export type SearchedStatus = (typeof SEARCHED_STATUSES)[number];
export const SEARCHED_STATUSES = [...STATUSES, 'any'] as const;

/** The parameters of the interface. */
export const InterfaceParameters = Type.Object({
  lat: Type.Number({ minimum: -90, maximum: 90, description: 'Latitude of the centre.', examples: [52.52] }),
  lng: Type.Number({
    minimum: -180,
    maximum: 180,
    description: 'Longitude of the centre.',
    examples: [13.405],
  }),
  radius: Type.Optional(
    Type.Number({
      minimum: 0.1,
      maximum: 100,
      description: 'Miles, inclusive. Without it, events at any distance match.',
      examples: [10],
    }),
  ),
  event_type: Type.Optional(
    Type.Array(oneOf(EVENT_TYPES), {
      description: 'Repeat it for several values. Without it, all types match.',
    }),
  ),
  audience: Type.Optional(
    Type.Array(oneOf(AUDIENCES), {
      description:
        'Repeat it for several values. Matches exactly: `all`, the default of events, is a value and not a wildcard. Send kids and all for everything that children can go to.',
    }),
  ),
  starts_after: instant('Inclusive: start_at >= value.'),
  starts_before: instant('Exclusive: start_at < value.'),
  ...PAGE_PARAMETERS,
});

/** Filters and orders beyond the interface. */
export const FILTERS = {
  q: WordsParameter,
  active_after: instant(
    'Events that are on at this time or later, also if they began before: their end > value. Without end_at, an event ends 3 hours after its start.',
  ),
  active_before: instant(
    'Events that are on before this time: start_at < value. With active_after: events that are on at some moment in between.',
  ),
  when: Type.Optional(
    oneOf(WHENS, {
      description:
        'Events that are on at some moment of this period, also if they began before, judged by the clock in the timezone of each event. now: this instant. today and tomorrow: calendar days. tonight: 17:00 to 04:00; before 04:00, the night that is still going on. this_weekend: Saturday and Sunday; on these days the current weekend, otherwise the next. next_7_days: 168 hours from now. Not together with active_after or active_before.',
    }),
  ),
  sort: Type.Optional(
    oneOf(SORTS, {
      default: 'start',
      description: 'Order of the events. distance: the nearest first, also without a radius.',
    }),
  ),
  status: Type.Optional(
    oneOf(SEARCHED_STATUSES, {
      default: 'scheduled',
      description: 'scheduled: leaves out cancelled events; cancelled: only those; any: both.',
    }),
  ),
};

/** The parameters of the interface in a search that may have the name of a place instead of coordinates. */
export const CentredParameters = Type.Object({
  ...InterfaceParameters.properties,
  lat: Type.Optional(InterfaceParameters.properties.lat),
  lng: Type.Optional(InterfaceParameters.properties.lng),
});

export const PLACE = { place: Type.Optional(PlaceName) };

export const NearbyParameters = Type.Object({ ...InterfaceParameters.properties, ...FILTERS });

/** An event in the response of a search. */
export const FoundEvent = Type.Object(
  {
    ...Event.properties,
    ...INCLUDED,
    distance_miles: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'Great-circle distance from the centre of the search. Only with include=distance.',
      }),
    ),
  },
  { examples: [EVENT_EXAMPLE] },
);

export const EventsNearbyResponse = Type.Object({
  events: Type.Array(FoundEvent, {
    description: 'Ordered by start_at, then event_id; with sort=distance by distance first.',
  }),
  ...pageFields('Matching events'),
});

nameShapes({ FoundEvent, EventsNearbyResponse });

/** A search for the stores. The time window is startMs >= startsFromMs and startMs < startsBeforeMs. */
export interface NearbyQuery {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly audiences: readonly Audience[] | undefined;
  readonly startsFromMs: number | undefined;
  readonly startsBeforeMs: number | undefined;
  readonly status: SearchedStatus;
  /** Terms of `q`, all of which must match. */
  readonly terms: readonly Term[] | undefined;
  /** On at some moment of [activeFromMs, activeBeforeMs); an event without length is on at its start. */
  readonly activeFromMs: number | undefined;
  readonly activeBeforeMs: number | undefined;
  /** The same for the interval that the word names in the timezone of each event. */
  readonly when: When | undefined;
  readonly sort: Sort;
  /** Has a chord if the order is by distance. */
  readonly after: Position | undefined;
  readonly limit: number;
  /** Whether the page includes the details of its events. */
  readonly details: boolean;
}

/** A search that matches every event that is not cancelled. */
export const ALL_EVENTS: NearbyQuery = {
  lat: 0,
  lng: 0,
  radiusMiles: undefined,
  types: undefined,
  audiences: undefined,
  startsFromMs: undefined,
  startsBeforeMs: undefined,
  status: 'scheduled',
  terms: undefined,
  activeFromMs: undefined,
  activeBeforeMs: undefined,
  when: undefined,
  sort: 'start',
  after: undefined,
  limit: 1,
  details: false,
};

const check = compile(NearbyParameters);

/** `at` is the first step of every `loc`. Throws VALIDATION_ERROR naming every failing parameter. */
export function readNearby(parameters: unknown, at: string): NearbyQuery {
  const { value, issues } = check(parameters, at);
  return readChecked(value, at, issues, 'lat and lng');
}

/** A search around a place that is given by its name. */
export interface PlaceSearch {
  readonly name: string;
  /** The search, once it is known where the place is. Throws VALIDATION_ERROR for a cursor that belongs to another place. */
  around(centre: Place): NearbyQuery;
}

const DEFAULT_RADIUS_MILES = 10;

const checkNamed = compile(Type.Object({ place: PlaceName }));

/** Reads a search with `place` instead of coordinates. Throws VALIDATION_ERROR naming every failing parameter. */
export function readPlaceSearch(parameters: object, at: string): PlaceSearch {
  const { place, lat, lng, ...others } = parameters as Record<string, unknown>;
  const around = (centre: Place) => {
    const { value, issues } = check({ radius: DEFAULT_RADIUS_MILES, ...others, ...centre }, at);
    return readChecked(value, at, issues, 'place');
  };
  const { value, issues } = checkNamed({ place }, at);
  if (lat !== undefined || lng !== undefined)
    issues.push({
      loc: [at, 'place'],
      msg: 'cannot be combined with lat and lng: send either',
      type: 'value_error',
    });
  // Every centre reports the same, except that a cursor may belong to another one.
  const centre = decodeDistanceCursor(String(others.cursor ?? ''))?.centre ?? { lat: 0, lng: 0 };
  readTogether(
    () => refuse(issues),
    () => around(centre),
  );
  return { name: value.place, around };
}

/** `issues` are those found so far; `centred` is what must not change between pages. */
function readChecked(
  value: Static<typeof NearbyParameters>,
  at: string,
  issues: Issue[],
  centred: string,
): NearbyQuery {
  const after = readCursor(value, at, issues, centred);
  const readInstant = instantsIn(value, at, issues);
  const startsFromMs = readInstant('starts_after');
  const startsBeforeMs = readInstant('starts_before');
  const terms = value.q === undefined ? undefined : readTerms(value.q, [at, 'q'], issues);
  const activeFromMs = readInstant('active_after');
  const activeBeforeMs = readInstant('active_before');
  if (activeFromMs !== undefined && activeBeforeMs !== undefined && activeBeforeMs <= activeFromMs)
    issues.push({ loc: [at, 'active_before'], msg: 'must be after active_after', type: 'value_error' });
  if (value.when !== undefined && (value.active_after ?? value.active_before) !== undefined) {
    const msg = 'cannot be combined with active_after or active_before: send either';
    issues.push({ loc: [at, 'when'], msg, type: 'value_error' });
  }
  refuse(issues);
  return {
    lat: value.lat + 0,
    lng: value.lng + 0,
    radiusMiles: value.radius,
    types: value.event_type,
    audiences: value.audience,
    startsFromMs,
    startsBeforeMs,
    status: value.status!,
    terms,
    activeFromMs,
    activeBeforeMs,
    when: value.when,
    sort: value.sort!,
    after,
    limit: value.limit!,
    details: false,
  };
}

/** The position that a cursor names. Adds an issue if it belongs to another order or centre, or is none of ours. */
function readCursor(
  { cursor, sort, lat, lng }: { cursor?: string; sort?: Sort; lat: number; lng: number },
  at: string,
  issues: Issue[],
  centred: string,
): Position | undefined {
  if (cursor === undefined) return undefined;
  const refused = (msg: string): undefined => {
    issues.push({ loc: [at, 'cursor'], msg, type: 'value_error' });
  };
  const byStart = decodeCursor(cursor);
  const byDistance = byStart ? undefined : decodeDistanceCursor(cursor);
  if (!byStart && !byDistance)
    return refused('must be a next_cursor of this service; leave it out for the first page');
  if (byDistance && sort === 'start')
    return refused(
      'belongs to sort=distance; send the same sort, or leave the cursor out for the first page',
    );
  if (byStart && sort === 'distance')
    return refused('belongs to sort=start; send the same sort, or leave the cursor out for the first page');
  if (!byDistance) return byStart;
  const { centre, ...position } = byDistance;
  if (centre.lat !== lat || centre.lng !== lng)
    return refused(
      `belongs to another centre; send the same ${centred}, or leave the cursor out for the first page`,
    );
  return position;
}

/** The cursor of the page after this event. In the order by distance it needs the chord or the place. */
export function nextCursor(query: NearbyQuery, position: Position & Partial<Place>): string {
  const { startMs, id, lat, lng } = position;
  if (query.sort === 'start') return encodeCursor({ startMs, id });
  const chord = position.chord ?? chordBetween(query, { lat: lat!, lng: lng! });
  return encodeDistanceCursor({ startMs, id, chord, centre: { lat: query.lat, lng: query.lng } });
}

/** What the order by distance compares first. */
export function chordBetween(centre: Place, place: Place): number {
  return chordSquared(unitVector(place.lat, place.lng), unitVector(centre.lat, centre.lng));
}

/** Adds to each event its distance from the centre, as the last member. */
export function addDistances(events: readonly Wire[], places: readonly Place[], centre: Place): Wire[] {
  const from = unitVector(centre.lat, centre.lng);
  return events.map((wire, at) => {
    const { lat, lng } = places[at]!;
    const miles = milesBetween(from, unitVector(lat, lng));
    const rounded = Math.round(miles * DISTANCE_STEPS_PER_MILE) / DISTANCE_STEPS_PER_MILE;
    return `${wire.slice(0, -1)},"distance_miles":${rounded}}` as Wire;
  });
}

/** Six decimals, which is about two millimetres. */
const DISTANCE_STEPS_PER_MILE = 1e6;
