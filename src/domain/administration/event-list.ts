// The list of all events, for administrators: its parameters and responses. The stores find the events.

import { instant, instantsIn } from '../datetime.ts';
import { type Issue, refuse } from '../errors.ts';
import { EVENT_EXAMPLE, EVENT_TYPES, Event, type EventType } from '../events/event.ts';
import { NEXT_CURSOR } from '../events/event-page.ts';
import { splitIncludes } from '../events/include.ts';
import { SEARCHED_STATUSES, type SearchedStatus } from '../events/nearby.ts';
import { readTerms, type Term, WORDS_DESCRIPTION } from '../events/word-query.ts';
import { isUlid } from '../ids.ts';
import Type from '../schema.ts';
import { compile, oneOf } from '../shape.ts';
import { joinWire, toWire, type Wire } from '../wire.ts';
import { encodeListCursor, type ListPosition } from './cursor.ts';
import { encodeSort, readListCursor, type Sort, sortedPage, sortOf, WHENS, type When } from './list.ts';

export const ALL_EVENT_SORTS = ['start_at', 'created_at'] as const;
export type AllEventSort = (typeof ALL_EVENT_SORTS)[number];

const both = ALL_EVENT_SORTS.flatMap((key) => [key, `-${key}`] as const);

export const AllEventsParameters = Type.Object({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: `The event_id of one event, or: ${WORDS_DESCRIPTION}`,
    }),
  ),
  agent_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Only events of this agent; in upper or lower case.' }),
  ),
  event_type: Type.Optional(
    Type.Array(oneOf(EVENT_TYPES), {
      description: 'Repeat it for several values. Without it, all types match.',
    }),
  ),
  created_after: instant('Inclusive: created_at >= value.'),
  updated_after: instant(
    'Inclusive: updated_at >= value; of an event that never changed, that is created_at.',
  ),
  status: Type.Optional(
    oneOf(SEARCHED_STATUSES, {
      default: 'any',
      description: 'scheduled: leaves out cancelled events; cancelled: only those; any: both.',
    }),
  ),
  lat: Type.Optional(
    Type.Number({ minimum: -90, maximum: 90, description: 'Latitude of the centre. With lng and radius.' }),
  ),
  lng: Type.Optional(
    Type.Number({
      minimum: -180,
      maximum: 180,
      description: 'Longitude of the centre. With lat and radius.',
    }),
  ),
  radius: Type.Optional(
    Type.Number({ minimum: 0.1, maximum: 100, description: 'Miles, inclusive. With lat and lng.' }),
  ),
  when: Type.Optional(
    oneOf(WHENS, { default: 'all', description: 'upcoming: not ended; past: ended; all: both.' }),
  ),
  sort: Type.Optional(
    oneOf(both, {
      default: '-created_at',
      description: 'Field to sort by; a leading minus sorts in descending order.',
    }),
  ),
  ...sortedPage('Events'),
  include: Type.Optional(
    Type.Array(oneOf(['agent_count']), {
      description: '`agent_count` adds of how many agents the matching events are.',
    }),
  ),
});

export const OwnedEvent = Type.Object(
  {
    ...Event.properties,
    agent_name: Type.String({ description: 'Name of the agent that owns the event.' }),
  },
  { examples: [{ ...EVENT_EXAMPLE, agent_name: 'Berlin jazz calendar' }] },
);

export const AllEventsResponse = Type.Object({
  events: Type.Array(OwnedEvent, {
    description: 'Events of all agents, ended and cancelled ones included, in the order of sort.',
  }),
  total: Type.Integer({
    minimum: 0,
    description: 'Matching events on all pages.',
    examples: [1],
  }),
  agent_count: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Number of agents that own the matching events, on all pages. Only with include=agent_count.',
      examples: [1],
    }),
  ),
  next_cursor: NEXT_CURSOR,
});

/** All conditions must hold. */
export interface AllEventsQuery {
  readonly eventId: string | undefined;
  /** Terms of `q`, all of which must match. */
  readonly terms: readonly Term[] | undefined;
  readonly agentId: string | undefined;
  readonly types: readonly EventType[] | undefined;
  /** Events that were created at this time or later. */
  readonly createdFromMs: number | undefined;
  /** Events that last changed, or were created, at this time or later. */
  readonly updatedFromMs: number | undefined;
  readonly status: SearchedStatus;
  readonly circle: Circle | undefined;
  readonly when: When;
  readonly sort: Sort<AllEventSort>;
  readonly after: ListPosition | undefined;
  readonly limit: number;
  /** Whether to count the agents that own the matching events. */
  readonly countsAgents: boolean;
}

/** Places at most this far from the centre. */
export interface Circle {
  readonly lat: number;
  readonly lng: number;
  readonly radiusMiles: number;
}

const check = compile(AllEventsParameters);

/** Throws VALIDATION_ERROR naming every failing parameter. */
export function readAllEvents(parameters: object): AllEventsQuery {
  const { value, issues } = check(splitIncludes(parameters), 'query');
  const { cursor, sort } = value;
  const text = value.q?.trim() ?? '';
  const eventId = isUlid(text) ? text : undefined;
  const words = eventId === undefined ? value.q : undefined;
  const terms = words === undefined ? undefined : readTerms(words, ['query', 'q'], issues);
  const readInstant = instantsIn(value, 'query', issues);
  const createdFromMs = readInstant('created_after');
  const updatedFromMs = readInstant('updated_after');
  const circle = readCircle(parameters, value, issues);
  const after = readListCursor(cursor, 'all_events', sort, issues);
  refuse(issues);
  return {
    eventId,
    terms,
    agentId: value.agent_id?.toLowerCase(),
    types: value.event_type,
    createdFromMs,
    updatedFromMs,
    status: value.status!,
    circle,
    when: value.when!,
    sort: sortOf<AllEventSort>(sort!),
    after,
    limit: value.limit!,
    countsAgents: value.include?.includes('agent_count') === true,
  };
}

const CENTRE = ['lat', 'lng', 'radius'] as const;

/** Undefined if none of its parameters was sent. */
function readCircle(
  sent: object,
  { lat, lng, radius }: { readonly [Name in (typeof CENTRE)[number]]?: number },
  issues: Issue[],
): Circle | undefined {
  const missing = CENTRE.filter((name) => !(name in sent));
  if (missing.length === CENTRE.length) return undefined;
  for (const name of missing)
    issues.push({
      loc: ['query', name],
      msg: 'lat, lng and radius belong together: send all three',
      type: 'missing',
    });
  const isWhole = lat !== undefined && lng !== undefined && radius !== undefined;
  return isWhole ? { lat, lng, radiusMiles: radius } : undefined;
}

/** The JSON of an event, with the name of its agent. */
export function addAgentName(event: Wire, agentName: string): Wire {
  return `${event.slice(0, -1)},"agent_name":${toWire(JSON.stringify(agentName))}}` as Wire;
}

/** A page of the list; `Item` is its JSON, or that with the name of the agent. */
export interface AllEventsPage<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  /** Number of agents that own the matching events. Undefined unless the query asks for it. */
  readonly agentCount: number | undefined;
  /** Position of the last event, if more follow. */
  readonly next: ListPosition | undefined;
}

/** The JSON of an event, and the name of its agent. */
export interface OwnedWire {
  readonly json: Wire;
  readonly agentName: string;
}

/** The JSON of a page. */
export function encodeAllEvents(
  { items, total, agentCount, next }: AllEventsPage<OwnedWire>,
  sort: Sort<AllEventSort>,
): Wire {
  const cursor = next ? `"${encodeListCursor('all_events', encodeSort(sort), next)}"` : 'null';
  const agents = agentCount === undefined ? '' : `,"agent_count":${agentCount}`;
  const events = items.map(({ json, agentName }) => addAgentName(json, agentName));
  return joinWire('{"events":[', events, `],"total":${total}${agents},"next_cursor":${cursor}}`);
}
