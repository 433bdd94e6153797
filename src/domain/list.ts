// Lists for administrators, a page at a time: what they can be sorted and searched by, and where a page ends. Finding what
// matches is the stores' work.
import Type from 'typebox';
import { refuse } from './errors.ts';
import { decodeListCursor, type ListName, type ListPosition } from './list-cursor.ts';
import { type Check, compile, oneOf } from './shape.ts';

export const AGENT_SORTS = [
  'agent_name',
  'email',
  'tier',
  'is_active',
  'event_count',
  'created_at',
  'last_used_at',
] as const;
export type AgentSort = (typeof AGENT_SORTS)[number];

export const EVENT_SORTS = ['start_at', 'title', 'event_type', 'created_at'] as const;
export type EventSort = (typeof EVENT_SORTS)[number];

export const WHENS = ['upcoming', 'past', 'all'] as const;
export type When = (typeof WHENS)[number];

export interface Sort<Key extends string> {
  readonly key: Key;
  readonly descending: boolean;
}

export interface ListQuery<Key extends string> {
  /** To be found literally, whatever the case; everything matches the empty one. */
  readonly q: string;
  readonly sort: Sort<Key>;
  readonly after: ListPosition | undefined;
  readonly limit: number;
}

export type AgentListQuery = ListQuery<AgentSort>;

export interface EventListQuery extends ListQuery<EventSort> {
  /** Those that have not ended, those that have, or both. */
  readonly when: When;
}

/** Newest first. */
export interface AuditQuery {
  readonly after: number | undefined;
  readonly limit: number;
}

/**
 * A text as lists compare it: whatever the case. The two small sigmas are one, because which of them a capital becomes
 * depends on what follows, and what is looked for need not end where the text does.
 */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

const page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 30, description: 'Entries per page.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'next_cursor of the page before, with the same sort; leave it out for the first page.',
    }),
  ),
};

function sortBy<Key extends string>(keys: readonly Key[], fallback: Key) {
  const both = [...keys, ...keys.map((key) => `-${key}` as const)];
  const description = 'What to sort by; with a leading minus from the last to the first.';
  return Type.Optional(oneOf(both, { default: fallback, description }));
}

function search(where: string) {
  const description = `Found literally anywhere in ${where}, whatever the case. Everything matches the empty text.`;
  return Type.Optional(Type.String({ maxLength: 200, default: '', description }));
}

export const AgentListParameters = Type.Object({
  ...page,
  q: search('agent_name, email or id'),
  sort: sortBy(AGENT_SORTS, 'created_at'),
});

export const EventListParameters = Type.Object({
  ...page,
  q: search('title, location_name, address or event_id'),
  sort: sortBy(EVENT_SORTS, 'start_at'),
  when: Type.Optional(
    oneOf(WHENS, { default: 'all', description: 'upcoming: not ended; past: ended; all: both.' }),
  ),
});

export const AuditParameters = Type.Object(page);

const checkAgentList = compile(AgentListParameters);
const checkEventList = compile(EventListParameters);
const checkAudit = compile(AuditParameters);

/** Undefined where no parameter was sent: then the list is asked for as a whole. Throws VALIDATION_ERROR. */
export function readAgentList(parameters: object): AgentListQuery | undefined {
  if (Object.keys(parameters).length === 0) return undefined;
  const { value, after } = read(checkAgentList, parameters, 'agents', (sent) => sent.sort);
  return { q: value.q!, sort: sortOf<AgentSort>(value.sort!), after, limit: value.limit! };
}

/** Undefined where no parameter was sent: then the list is asked for as a whole. Throws VALIDATION_ERROR. */
export function readEventList(parameters: object): EventListQuery | undefined {
  if (Object.keys(parameters).length === 0) return undefined;
  const { value, after } = read(checkEventList, parameters, 'events', (sent) => sent.sort);
  return { q: value.q!, sort: sortOf<EventSort>(value.sort!), after, limit: value.limit!, when: value.when! };
}

/** Throws VALIDATION_ERROR. */
export function readAuditQuery(parameters: object): AuditQuery {
  const { value, after } = read(checkAudit, parameters, 'audit', () => AUDIT_SORT);
  return { after: after && Number(after.id), limit: value.limit! };
}

/** The only order of the audit log, as its cursors name it. */
export const AUDIT_SORT = '-at';

function read<T extends { cursor?: string }>(
  check: Check<T>,
  parameters: object,
  list: ListName,
  sortIn: (value: T) => string | undefined,
): { value: T; after: ListPosition | undefined } {
  const { value, issues } = check(parameters, 'query');
  const sort = sortIn(value);
  let after: ListPosition | undefined;
  // Where the sort is none, that is what is wrong.
  if (value.cursor !== undefined && sort !== undefined) {
    after = decodeListCursor(value.cursor, list, sort);
    if (!after) {
      const msg = 'must be a next_cursor of this list with the same sort; leave it out for the first page';
      issues.push({ loc: ['query', 'cursor'], msg, type: 'value_error' });
    }
  }
  refuse(issues);
  return { value, after };
}

function sortOf<Key extends string>(text: string): Sort<Key> {
  const descending = text.startsWith('-');
  return { key: (descending ? text.slice(1) : text) as Key, descending };
}

/** The sort as it is sent. */
export function nameOf({ key, descending }: Sort<string>): string {
  return descending ? `-${key}` : key;
}
