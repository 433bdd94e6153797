// Requests of an agent about itself, its keys and its events: the shapes on the wire. The stores find the events.
import type { Static } from 'typebox';
import { decodeListCursor, encodeListCursor, type ListPosition } from './administration/cursor.ts';
import { type EventListQuery, encodeSort } from './administration/list.ts';
import { type AgentRecord, AgentSummary, summarise } from './agent.ts';
import type { KeyRecord } from './api-key.ts';
import { formatInstant } from './datetime.ts';
import { refuse } from './errors.ts';
import { PAGE_PARAMETERS, pageFields } from './events/event-page.ts';
import { ReadEvent } from './events/include.ts';
import Type, { nameShapes } from './schema.ts';
import { compile, nullableString, reader } from './shape.ts';

/** Unknown fields are refused: a misspelt overlap must not keep a key alive that was meant to end. */
export const RotateRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 86_400,
        default: 3_600,
        description: 'How long the calling key keeps working; 0: it ends at once.',
        examples: [3_600],
      }),
    ),
    end_grants: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'true: all your grants end. Otherwise they belong to the new key.',
        examples: [false],
      }),
    ),
  },
  { additionalProperties: false },
);

/** No fields are allowed: what a caller names here, such as another key or an overlap, would be ignored, and the wrong keys would end. */
export const EmptyRequest = Type.Object({}, { additionalProperties: false });

export const KeySummary = Type.Object({
  prefix: Type.String({ description: 'The first 8 characters of the key.', examples: ['lev_4Zr8'] }),
  created_at: Type.String({ format: 'date-time', examples: ['2026-11-15T09:30:00.000Z'] }),
  expires_at: nullableString({
    format: 'date-time',
    description: 'The key is refused from this instant on; null: it does not expire.',
    examples: [null],
  }),
});

export const QuotaSummary = Type.Object({
  limit: Type.Integer({ minimum: 1, description: 'Requests per hour.', examples: [10_000] }),
  remaining: Type.Integer({ minimum: 0, description: 'Requests left after this one.', examples: [9_999] }),
  resets_at: Type.String({
    format: 'date-time',
    description: 'When the window ends. The next request after it starts a new window.',
    examples: ['2026-11-15T11:00:00.000Z'],
  }),
});

/** Memory for words. */
export interface WordShare {
  /** What the words of the agent's events use. */
  readonly bytes: number;
  /** What all events may use. */
  readonly limitBytes: number;
}

export const WordSummary = Type.Object({
  memory_bytes: Type.Integer({
    minimum: 0,
    description: 'Memory that the words of your events take.',
    examples: [48_300],
  }),
  share: Type.Number({
    minimum: 0,
    description:
      'The same as a part of what the index may take (INDEX_MAX_MB). Before that is used up, new words of those with the largest shares are refused.',
    examples: [0.00002],
  }),
});

export const OwnAgentResponse = Type.Object({
  agent: AgentSummary,
  key: KeySummary,
  quota: Type.Union([QuotaSummary, Type.Null()], {
    description: 'null: no limit.',
    examples: [{ limit: 10_000, remaining: 9_999, resets_at: '2026-11-15T11:00:00.000Z' }],
  }),
  words: Type.Union([WordSummary, Type.Null()], {
    description: 'null: nothing is refused for its words.',
    examples: [{ memory_bytes: 48_300, share: 0.00002 }],
  }),
});

nameShapes({ RotateRequest, KeySummary, QuotaSummary, WordSummary, OwnAgentResponse });

const readRotation = reader(RotateRequest, 'body');
const readEmpty = reader(EmptyRequest, 'body');

/** Throws VALIDATION_ERROR unless the body is missing or has no fields. */
export function requireEmptyBody(body: unknown): void {
  readEmpty(body === undefined ? {} : body);
}

export interface Rotation {
  /** How long the calling key keeps working. */
  readonly overlapMs: number;
  readonly endGrants: boolean;
}

/** A missing body counts as an empty one. Throws VALIDATION_ERROR. */
export function readRotateRequest(body: unknown): Rotation {
  const { overlap_seconds, end_grants } = readRotation(body === undefined ? {} : body);
  return { overlapMs: overlap_seconds! * 1_000, endGrants: end_grants! };
}

/** The rest of a quota, and the end of its window. */
interface QuotaLeft {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

export function describeOwnAgent(
  agent: AgentRecord,
  key: KeyRecord | undefined,
  quota: QuotaLeft | undefined,
  words: WordShare | undefined,
): Omit<Static<typeof OwnAgentResponse>, 'key'> & { key?: Static<typeof KeySummary> } {
  return {
    agent: summarise(agent),
    ...(key && {
      key: {
        prefix: key.prefix,
        created_at: formatInstant(key.created_ms),
        expires_at: key.expires_ms === null ? null : formatInstant(key.expires_ms),
      },
    }),
    quota: quota
      ? { limit: quota.limit, remaining: quota.remaining, resets_at: formatInstant(quota.resetMs) }
      : null,
    words: words
      ? { memory_bytes: words.bytes, share: Number((words.bytes / words.limitBytes).toFixed(SHARE_DIGITS)) }
      : null,
  };
}

const SHARE_DIGITS = 5;

/** Pages of the agent's own events. */
export const OwnEventsParameters = Type.Object({
  ...PAGE_PARAMETERS,
  include_ended: Type.Optional(Type.Boolean({ default: false, description: 'true: includes ended events.' })),
});

export const OwnEventsResponse = Type.Object({
  events: Type.Array(ReadEvent, { description: 'Events of the caller, ordered by start_at, then event_id.' }),
  ...pageFields('Events of the caller'),
});

nameShapes({ OwnEventsResponse });

const OWN_SORT = { key: 'start_at', descending: false } as const;

const checkOwnEvents = compile(OwnEventsParameters);

/** `at` is the first step of every `loc`. Throws VALIDATION_ERROR naming every failing parameter. */
export function readOwnEvents(parameters: unknown, at: string): EventListQuery {
  const { value, issues } = checkOwnEvents(parameters, at);
  let after: ListPosition | undefined;
  if (value.cursor !== undefined) {
    after = decodeListCursor(value.cursor, 'own_events', encodeSort(OWN_SORT));
    if (!after) {
      const msg = 'must be a next_cursor of this list; leave it out for the first page';
      issues.push({ loc: [at, 'cursor'], msg, type: 'value_error' });
    }
  }
  refuse(issues);
  return {
    q: '',
    sort: OWN_SORT,
    after,
    limit: value.limit!,
    when: value.include_ended ? 'all' : 'upcoming',
  };
}

export function encodeOwnCursor(position: ListPosition): string {
  return encodeListCursor('own_events', encodeSort(OWN_SORT), position);
}
