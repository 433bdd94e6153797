// Events: the shapes on the wire, the stored form, and the rules that turn the first into the second.
import type { Static } from 'typebox';
import Type from 'typebox';
import { formatInstant, isWithinYears, OUTSIDE_YEARS, parseDateTime, resolveLocal } from './datetime.ts';
import { type Issue, refuse } from './errors.ts';
import { compile, nullableString, oneOf } from './shape.ts';
import { fromWire, type Wire } from './wire.ts';

export const EVENT_TYPES = [
  'workshop',
  'performance',
  'festival',
  'market',
  'competition',
  'game',
  'social',
  'meetup',
  'club',
  'support',
  'talk',
  'conference',
  'exhibition',
  'tour',
  'ceremony',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const AUDIENCES = ['kids', 'adults', 'all'] as const;
export type Audience = (typeof AUDIENCES)[number];

/** With no end_at, an event counts as over this long after its start. A constant, so that nodes cannot disagree. */
export const ASSUMED_DURATION_MS = 3 * 3_600_000;

const LOCAL_TIME = 'Without an offset it is local time in `timezone`.';

const settable = {
  title: Type.String({ minLength: 1, maxLength: 200, examples: ['Lantern workshop'] }),
  description: nullableString({ maxLength: 10_000, examples: ['Bring scissors. Paper and glue are there.'] }),
  start_at: Type.String({
    format: 'date-time',
    description: `When it starts; may lie in the past. ${LOCAL_TIME}`,
    examples: ['2031-05-01T18:00:00Z'],
  }),
  end_at: nullableString({
    format: 'date-time',
    description: `When it ends: after now and not before start_at. ${LOCAL_TIME} Without it, the event counts as over 3 hours after its start.`,
    examples: ['2031-05-01T20:00:00Z'],
  }),
  timezone: Type.String({
    format: 'timezone',
    description: 'IANA timezone name.',
    examples: ['Europe/Berlin'],
  }),
  location_name: Type.String({ minLength: 1, maxLength: 200, examples: ['Kulturhaus Mitte'] }),
  address: nullableString({ maxLength: 500, examples: ['Auguststr. 21, 10117 Berlin'] }),
  lat: Type.Number({ minimum: -90, maximum: 90, examples: [52.5264] }),
  lng: Type.Number({ minimum: -180, maximum: 180, examples: [13.3955] }),
  url: nullableString({ maxLength: 2000, examples: ['https://example.com/lanterns'] }),
  cost: nullableString({ maxLength: 200, description: 'Free text.', examples: ['5 EUR'] }),
  audience: oneOf(AUDIENCES, { examples: ['all'] }),
  event_type: oneOf(EVENT_TYPES, { examples: ['workshop'] }),
};

export const EventCreate = Type.Object({
  title: settable.title,
  description: Type.Optional(settable.description),
  start_at: settable.start_at,
  end_at: Type.Optional(settable.end_at),
  timezone: settable.timezone,
  location_name: settable.location_name,
  address: Type.Optional(settable.address),
  lat: settable.lat,
  lng: settable.lng,
  url: Type.Optional(settable.url),
  cost: Type.Optional(settable.cost),
  audience: Type.Optional(oneOf(AUDIENCES, { default: 'all', examples: ['all'] })),
  event_type: settable.event_type,
});

export const EventUpdate = Type.Partial(Type.Object(settable));
export type EventUpdate = Static<typeof EventUpdate>;

/** An event that documents show. */
export const EVENT_EXAMPLE = {
  event_id: '01JZ9GX4T0QW3N1V8R5Y7K2MHD',
  agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90',
  title: 'Lantern workshop',
  description: 'Bring scissors. Paper and glue are there.',
  start_at: '2031-05-01T18:00:00.000Z',
  end_at: '2031-05-01T20:00:00.000Z',
  timezone: 'Europe/Berlin',
  location_name: 'Kulturhaus Mitte',
  address: 'Auguststr. 21, 10117 Berlin',
  lat: 52.5264,
  lng: 13.3955,
  url: 'https://example.com/lanterns',
  cost: '5 EUR',
  audience: 'all',
  event_type: 'workshop',
  created_at: '2026-11-15T09:30:00.000Z',
};

export const Event = Type.Object(
  {
    event_id: Type.String({ description: 'ULID.' }),
    agent_id: Type.String({ format: 'uuid', description: 'The agent that owns the event.' }),
    title: Type.String(),
    description: Type.Optional(nullableString()),
    start_at: Type.String({ format: 'date-time' }),
    end_at: Type.Optional(nullableString({ format: 'date-time' })),
    timezone: Type.String(),
    location_name: Type.String(),
    address: Type.Optional(nullableString()),
    lat: Type.Number(),
    lng: Type.Number(),
    url: Type.Optional(nullableString()),
    cost: Type.Optional(nullableString()),
    audience: oneOf(AUDIENCES),
    event_type: oneOf(EVENT_TYPES),
    created_at: Type.String({ format: 'date-time' }),
  },
  { examples: [EVENT_EXAMPLE] },
);
export type Event = Static<typeof Event>;

/** What an agent decides about an event, as stored. */
export interface EventFields {
  readonly title: string;
  readonly description: string | null;
  readonly start_ms: number;
  readonly end_ms: number | null;
  readonly timezone: string;
  readonly location_name: string;
  readonly address: string | null;
  readonly lat: number;
  readonly lng: number;
  readonly url: string | null;
  readonly cost: string | null;
  readonly audience: Audience;
  readonly event_type: EventType;
}

/** An event with all that is known of it. */
export interface EventRow extends EventFields {
  readonly event_id: string;
  readonly agent_id: string;
  /** 1 when created, one more with every change. */
  readonly version: number;
  readonly created_ms: number;
}

/** The instant from which the event is left out of searches. */
export function endsMs(row: Pick<EventRow, 'start_ms' | 'end_ms'>): number {
  return row.end_ms ?? row.start_ms + ASSUMED_DURATION_MS;
}

/**
 * The event as JSON, in the form of the contract. Both engines store it: what is read is sent as it is. So the order of the
 * names is stored, too; lists on PostgreSQL find location_name and address by what comes after them.
 */
export function encodeEvent(row: EventRow): string {
  const { event_id, agent_id, created_ms } = row;
  return JSON.stringify({ event_id, agent_id, ...wireFields(row), created_at: formatInstant(created_ms) });
}

/** The event as it goes over the wire, taken apart. */
export function parseEvent(wire: Wire): Event {
  return JSON.parse(fromWire(wire)) as Event;
}

/** The event of such JSON, to change it. */
export function decodeEvent(json: string, version: number): EventRow {
  const { start_at, end_at, created_at, ...same } = JSON.parse(json) as Event;
  const times = {
    start_ms: Date.parse(start_at),
    end_ms: end_at ? Date.parse(end_at) : null,
    created_ms: Date.parse(created_at),
  };
  return { ...same, ...times, version } as EventRow;
}

/** The body of the create that makes this event. */
export function encodeEventCreate(row: EventFields): string {
  return JSON.stringify(wireFields(row));
}

function wireFields(row: EventFields) {
  return {
    title: row.title,
    description: row.description,
    start_at: formatInstant(row.start_ms),
    end_at: row.end_ms === null ? null : formatInstant(row.end_ms),
    timezone: row.timezone,
    location_name: row.location_name,
    address: row.address,
    lat: row.lat,
    lng: row.lng,
    url: row.url,
    cost: row.cost,
    audience: row.audience,
    event_type: row.event_type,
  };
}

const checkCreate = compile(EventCreate);
const checkUpdate = compile(EventUpdate);

/** Reads the body of a create. Throws VALIDATION_ERROR naming every failing field. */
export function readEventCreate(body: unknown, nowMs: number): EventFields {
  const { value, issues } = checkCreate(body, 'body');
  const times = resolveTimes(value, nowMs, undefined);
  refuse([...issues, ...times.issues]);
  return {
    title: value.title,
    description: value.description ?? null,
    start_ms: times.start_ms!,
    end_ms: times.end_ms ?? null,
    timezone: value.timezone,
    location_name: value.location_name,
    address: value.address ?? null,
    lat: value.lat + 0, // -0 becomes 0
    lng: value.lng + 0,
    url: value.url ?? null,
    cost: value.cost ?? null,
    audience: value.audience!,
    event_type: value.event_type,
  };
}

/** Reads the body of an update as far as it can be judged alone. Throws VALIDATION_ERROR naming every failing field. */
export function readEventUpdate(body: unknown, nowMs: number): EventUpdate {
  const { value, issues } = checkUpdate(body, 'body');
  refuse([...issues, ...resolveTimes(value, nowMs, undefined).issues]);
  return value;
}

/** The stored event with the update applied. Throws VALIDATION_ERROR for what is wrong only together with the stored one. */
export function applyEventUpdate(stored: EventRow, update: EventUpdate, nowMs: number): EventRow {
  const { start_at, end_at, ...plain } = update;
  const { issues, ...times } = resolveTimes(update, nowMs, stored);
  refuse(issues);
  const next = { ...stored, ...plain, ...times, version: stored.version + 1 };
  return { ...next, lat: next.lat + 0, lng: next.lng + 0 };
}

interface SentTimes {
  start_at?: string;
  end_at?: string | null;
  timezone?: string;
}

interface ResolvedTimes {
  start_ms?: number;
  end_ms?: number | null;
  issues: Issue[];
}

/**
 * Turns what was sent into instants and applies the rules about them. A clock time stays unresolved, and its rules
 * unapplied, while neither the request nor a stored event gives its timezone.
 */
function resolveTimes(sent: SentTimes, nowMs: number, stored: EventRow | undefined): ResolvedTimes {
  const issues: Issue[] = [];
  const result: ResolvedTimes = { issues };
  const timezone = sent.timezone ?? stored?.timezone;
  const resolve = (field: 'start_at' | 'end_at', text: string): number | undefined => {
    const time = parseDateTime(text)!;
    if (!('ms' in time) && timezone === undefined) return undefined;
    const ms = 'ms' in time ? time.ms : resolveLocal(time.local, timezone!);
    if (isWithinYears(ms)) return ms;
    issues.push({ loc: ['body', field], ...OUTSIDE_YEARS });
    return undefined;
  };
  if (sent.start_at !== undefined) {
    const ms = resolve('start_at', sent.start_at);
    if (ms !== undefined) result.start_ms = ms;
  }
  if (sent.end_at === null) result.end_ms = null;
  else if (sent.end_at !== undefined) {
    const ms = resolve('end_at', sent.end_at);
    if (ms !== undefined) result.end_ms = ms;
    if (ms !== undefined && ms <= nowMs) {
      issues.push({ loc: ['body', 'end_at'], msg: 'must lie in the future', type: 'value_error' });
      return result;
    }
  }
  const start = result.start_ms ?? (sent.start_at === undefined ? stored?.start_ms : undefined);
  const end = result.end_ms ?? (sent.end_at === undefined ? stored?.end_ms : undefined);
  const touched = sent.start_at !== undefined || typeof sent.end_at === 'string';
  if (touched && start !== undefined && typeof end === 'number' && end < start) {
    if (typeof sent.end_at === 'string') {
      issues.push({ loc: ['body', 'end_at'], msg: 'must not lie before start_at', type: 'value_error' });
    } else {
      issues.push({ loc: ['body', 'start_at'], msg: 'must not lie after end_at', type: 'value_error' });
    }
  }
  return result;
}
