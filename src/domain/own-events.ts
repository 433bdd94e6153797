// Pages of an agent's own events: the parameters and the response. The stores find the events.

import { decodeListCursor, encodeListCursor, type ListPosition } from './administration/cursor.ts';
import { type EventListQuery, encodeSort } from './administration/list.ts';
import { refuse } from './errors.ts';
import { PAGE_PARAMETERS, pageFields } from './events/event-page.ts';
import { ReadEvent } from './events/include.ts';
import Type, { nameShapes } from './schema.ts';
import { compile } from './shape.ts';

export const OwnEventsParameters = Type.Object({
  ...PAGE_PARAMETERS,
  include_ended: Type.Optional(Type.Boolean({ default: false, description: 'true: includes ended events.' })),
});

export const OwnEventsResponse = Type.Object({
  events: Type.Array(ReadEvent, { description: 'Events of the caller, ordered by start_at, then event_id.' }),
  ...pageFields('Events of the caller'),
});

nameShapes({ OwnEventsResponse });

const SORT = { key: 'start_at', descending: false } as const;

const check = compile(OwnEventsParameters);

/** `at` is the first step of every `loc`. Throws VALIDATION_ERROR naming every failing parameter. */
export function readOwnEvents(parameters: unknown, at: string): EventListQuery {
  const { value, issues } = check(parameters, at);
  let after: ListPosition | undefined;
  if (value.cursor !== undefined) {
    after = decodeListCursor(value.cursor, 'own_events', encodeSort(SORT));
    if (!after) {
      const msg = 'must be a next_cursor of this list; leave it out for the first page';
      issues.push({ loc: [at, 'cursor'], msg, type: 'value_error' });
    }
  }
  refuse(issues);
  return { q: '', sort: SORT, after, limit: value.limit!, when: value.include_ended ? 'all' : 'upcoming' };
}

export function encodeOwnCursor(position: ListPosition): string {
  return encodeListCursor('own_events', encodeSort(SORT), position);
}
