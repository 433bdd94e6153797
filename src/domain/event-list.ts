// The list of all events, for administrators: its parameters and responses. The stores find the events.
import { isWithinYears, OUTSIDE_YEARS, parseDateTime } from './datetime.ts';
import { refuse } from './errors.ts';
import { EVENT_EXAMPLE, EVENT_TYPES, Event, type EventType } from './event.ts';
import { isUlid } from './ids.ts';
import { encodeSort, type Sort, WHENS, type When } from './list.ts';
import { decodeListCursor, encodeListCursor, type ListPosition } from './list-cursor.ts';
import Type from './schema.ts';
import { compile, nullableString, oneOf } from './shape.ts';
import { joinWire, toWire, type Wire } from './wire.ts';
import { readTerms, type Term, WORDS_DESCRIPTION } from './word-query.ts';

export const ALL_EVENT_SORTS = ['start_at', 'created_at'] as const;
export type AllEventSort = (typeof ALL_EVENT_SORTS)[number];

/** Totals are exact up to this number; an engine may stop counting above it. */
export const EXACT_TOTAL = 10_000;

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
  created_after: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Inclusive: created_at >= value. Without an offset, it is UTC. Write the + of an offset as %2B.',
    }),
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
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'Events per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the previous page, with the same sort; omit it for the first page.',
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
    description: `Matching events on all pages. Exact up to ${EXACT_TOTAL.toLocaleString('en')}.`,
    examples: [1],
  }),
  total_is_at_least: Type.Optional(
    Type.Boolean({ description: 'Only if true: more events match than total says.' }),
  ),
  next_cursor: nullableString({
    description: 'Pass it as cursor for the next page; null on the last page.',
    examples: [null],
  }),
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
  readonly when: When;
  readonly sort: Sort<AllEventSort>;
  readonly after: ListPosition | undefined;
  readonly limit: number;
}

const check = compile(AllEventsParameters);

/** Throws VALIDATION_ERROR naming every failing parameter. */
export function readAllEvents(parameters: object): AllEventsQuery {
  const { value, issues } = check(parameters, 'query');
  const { cursor, sort = '' } = value;
  const text = value.q?.trim() ?? '';
  const eventId = isUlid(text) ? text : undefined;
  const words = eventId === undefined ? value.q : undefined;
  const terms = words === undefined ? undefined : readTerms(words, ['query', 'q'], issues);
  let createdFromMs: number | undefined;
  if (value.created_after !== undefined) {
    const time = parseDateTime(value.created_after)!;
    createdFromMs = 'ms' in time ? time.ms : Date.parse(`${time.local}Z`);
    if (!isWithinYears(createdFromMs)) issues.push({ loc: ['query', 'created_after'], ...OUTSIDE_YEARS });
  }
  let after: ListPosition | undefined;
  if (cursor !== undefined && sort !== '') {
    after = decodeListCursor(cursor, 'all_events', sort);
    if (!after) {
      const msg = 'must be a next_cursor of this list with the same sort; leave it out for the first page';
      issues.push({ loc: ['query', 'cursor'], msg, type: 'value_error' });
    }
  }
  refuse(issues);
  const descending = sort.startsWith('-');
  return {
    eventId,
    terms,
    agentId: value.agent_id?.toLowerCase(),
    types: value.event_type,
    createdFromMs,
    when: value.when!,
    sort: { key: sort.replace('-', '') as AllEventSort, descending },
    after,
    limit: value.limit!,
  };
}

/** The JSON of an event, with the name of its agent. */
export function addAgentName(event: Wire, agentName: string): Wire {
  return `${event.slice(0, -1)},"agent_name":${toWire(JSON.stringify(agentName))}}` as Wire;
}

/** The JSON of a page. */
export function encodeAllEvents(
  events: readonly Wire[],
  total: number,
  isAtLeast: boolean,
  sort: Sort<AllEventSort>,
  next: ListPosition | undefined,
): Wire {
  const cursor = next ? `"${encodeListCursor('all_events', encodeSort(sort), next)}"` : 'null';
  const mark = isAtLeast ? ',"total_is_at_least":true' : '';
  return joinWire('{"events":[', events, `],"total":${total}${mark},"next_cursor":${cursor}}`);
}
