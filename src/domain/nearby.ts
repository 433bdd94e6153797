// The search: its parameters and its response. The stores find the matching events.
import Type from 'typebox';
import { decodeCursor, type Position } from './cursor.ts';
import { isWithinYears, OUTSIDE_YEARS, parseDateTime } from './datetime.ts';
import { refuse } from './errors.ts';
import { AUDIENCES, type Audience, EVENT_EXAMPLE, EVENT_TYPES, Event, type EventType } from './event.ts';
import { PAGE_PARAMETERS, pageFields } from './event-page.ts';
import { milesBetween, type Place, unitVector } from './geo.ts';
import { compile, oneOf } from './shape.ts';
import type { Wire } from './wire.ts';

export const NearbyParameters = Type.Object({
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
      description: 'Repeat it for several values. Matches exactly: `all` is a value, not a wildcard.',
    }),
  ),
  starts_after: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Inclusive: start_at >= value. Without an offset, it is UTC. Write the + of an offset as %2B.',
    }),
  ),
  starts_before: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Exclusive: start_at < value. Without an offset, it is UTC. Write the + of an offset as %2B.',
    }),
  ),
  ...PAGE_PARAMETERS,
});

/** An event in the response of a search. */
export const FoundEvent = Type.Object(
  {
    ...Event.properties,
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
  events: Type.Array(FoundEvent, { description: 'Ordered by start_at, then event_id.' }),
  ...pageFields('Matching events'),
});

/** A search for the stores. The time window is startMs >= startsFromMs and startMs < startsBeforeMs. */
export interface NearbyQuery {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly audiences: readonly Audience[] | undefined;
  readonly startsFromMs: number | undefined;
  readonly startsBeforeMs: number | undefined;
  readonly after: Position | undefined;
  readonly limit: number;
  /** Whether the page includes the details of its events. */
  readonly details: boolean;
}

/** A search that matches every event. */
export const ALL_EVENTS: NearbyQuery = {
  lat: 0,
  lng: 0,
  radiusMiles: undefined,
  types: undefined,
  audiences: undefined,
  startsFromMs: undefined,
  startsBeforeMs: undefined,
  after: undefined,
  limit: 1,
  details: false,
};

const check = compile(NearbyParameters);

/** `at` is the first step of every `loc`. Throws VALIDATION_ERROR naming every failing parameter. */
export function readNearby(parameters: unknown, at: string): NearbyQuery {
  const { value, issues } = check(parameters, at);
  const after = value.cursor === undefined ? undefined : decodeCursor(value.cursor);
  if (value.cursor !== undefined && !after) {
    const msg = 'must be a next_cursor of this service; leave it out for the first page';
    issues.push({ loc: [at, 'cursor'], msg, type: 'value_error' });
  }
  const readInstant = (field: 'starts_after' | 'starts_before'): number | undefined => {
    const text = value[field];
    if (text === undefined) return undefined;
    const time = parseDateTime(text)!;
    const ms = 'ms' in time ? time.ms : Date.parse(`${time.local}Z`);
    if (!isWithinYears(ms)) issues.push({ loc: [at, field], ...OUTSIDE_YEARS });
    return ms;
  };
  const startsFromMs = readInstant('starts_after');
  const startsBeforeMs = readInstant('starts_before');
  refuse(issues);
  return {
    lat: value.lat + 0,
    lng: value.lng + 0,
    radiusMiles: value.radius,
    types: value.event_type,
    audiences: value.audience,
    startsFromMs,
    startsBeforeMs,
    after,
    limit: value.limit!,
    details: false,
  };
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
