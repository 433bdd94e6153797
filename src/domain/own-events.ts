// An agent's own events, a page at a time: the parameters and how they are read. Finding them is the stores' work.
import Type from 'typebox';
import { refuse } from './errors.ts';
import { decodeListCursor, type ListPosition } from './list-cursor.ts';
import { compile } from './shape.ts';

export const OWN_EVENTS_SORT = 'start_at';

export const OwnEventsParameters = Type.Object({
  include_ended: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether events that are over are listed, too.' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'Events per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'next_cursor of the page before; leave it out for the first page.' }),
  ),
});

export interface OwnEventsQuery {
  readonly includeEnded: boolean;
  readonly after: ListPosition | undefined;
  readonly limit: number;
}

const check = compile(OwnEventsParameters);

/** `at` begins every `loc`. Throws VALIDATION_ERROR naming every failing one. */
export function readOwnEvents(parameters: unknown, at: string): OwnEventsQuery {
  const { value, issues } = check(parameters, at);
  const { cursor } = value;
  const after = cursor === undefined ? undefined : decodeListCursor(cursor, 'events', OWN_EVENTS_SORT);
  if (cursor !== undefined && !after) {
    const msg = 'must be a next_cursor of this list; leave it out for the first page';
    issues.push({ loc: [at, 'cursor'], msg, type: 'value_error' });
  }
  refuse(issues);
  return { includeEnded: value.include_ended!, after, limit: value.limit! };
}
