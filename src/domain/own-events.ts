// An agent's own events, a page at a time: the parameters, and the answer. Finding them is the stores' work.
import Type from 'typebox';
import { refuse } from './errors.ts';
import { Event } from './event.ts';
import { type EventListQuery, nameOf } from './list.ts';
import { decodeListCursor, encodeListCursor, type ListPosition } from './list-cursor.ts';
import { compile, nullableString } from './shape.ts';
import { joinWire, type Wire } from './wire.ts';

export const OwnEventsParameters = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'Events per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'next_cursor of the page before; leave it out for the first page.' }),
  ),
  include_ended: Type.Optional(
    Type.Boolean({ default: false, description: 'true: also those that are over.' }),
  ),
});

export const OwnEventsResponse = Type.Object({
  events: Type.Array(Event, { description: 'The caller’s own, ordered by start_at, then event_id.' }),
  count: Type.Integer({ minimum: 0, description: 'Events in this response.', examples: [1] }),
  total: Type.Integer({
    minimum: 0,
    description: 'Events of the caller, on all pages together; exact.',
    examples: [1],
  }),
  next_cursor: nullableString({
    description: 'Pass it as cursor for the next page; null: there is none.',
    examples: [null],
  }),
});

const SORT = { key: 'start_at', descending: false } as const;

const check = compile(OwnEventsParameters);

/** `at` begins every `loc`. Throws VALIDATION_ERROR naming every failing parameter. */
export function readOwnEvents(parameters: unknown, at: string): EventListQuery {
  const { value, issues } = check(parameters, at);
  let after: ListPosition | undefined;
  if (value.cursor !== undefined) {
    after = decodeListCursor(value.cursor, 'own_events', nameOf(SORT));
    if (!after) {
      const msg = 'must be a next_cursor of this list; leave it out for the first page';
      issues.push({ loc: [at, 'cursor'], msg, type: 'value_error' });
    }
  }
  refuse(issues);
  return { q: '', sort: SORT, after, limit: value.limit!, when: value.include_ended ? 'all' : 'upcoming' };
}

/** Joined from events that are encoded already. */
export function encodeOwnEvents(
  events: readonly Wire[],
  total: number,
  next: ListPosition | undefined,
): Wire {
  const cursor = next ? `"${encodeListCursor('own_events', nameOf(SORT), next)}"` : 'null';
  return joinWire(
    '{"events":[',
    events,
    `],"count":${events.length},"total":${total},"next_cursor":${cursor}}`,
  );
}
