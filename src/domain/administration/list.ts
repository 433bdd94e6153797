// Paged lists for administrators: the parameters for sorting, searching and paging. The stores find the matching items.

import { type Issue, readTogether, refuse } from '../errors.ts';
import { pageLimit } from '../events/event-page.ts';
import { splitIncludes } from '../events/include.ts';
import Type from '../schema.ts';
import { type Check, compile, oneOf } from '../shape.ts';
import { AUDIT_FILTERS, type AuditFilters, readAuditFilters } from './audit-filters.ts';
import { decodeListCursor, type ListName, type ListPosition } from './cursor.ts';

export const AGENT_SORTS = [
  'agent_name',
  'email',
  'tier',
  'is_active',
  'event_count',
  'created_at',
  'last_used_at',
  'events_24h',
  'events_7d',
  'requests_1h',
  'refusals_1h',
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
  /** Text to find literally, ignoring case. The empty text matches everything. */
  readonly q: string;
  readonly sort: Sort<Key>;
  readonly after: ListPosition | undefined;
  readonly limit: number;
}

export interface AgentListQuery extends ListQuery<AgentSort> {
  /** Whether to add events_24h and events_7d to each agent. */
  readonly activity?: boolean;
  /** Whether to add requests_1h and refusals_1h to each agent. */
  readonly requests?: boolean;
}

export interface EventListQuery extends ListQuery<EventSort> {
  /** Events that have not ended, that have ended, or both. */
  readonly when: When;
}

/** Newest first. */
export interface AuditQuery {
  readonly after: number | undefined;
  readonly limit: number;
  /** Undefined: all entries. */
  readonly filters?: AuditFilters | undefined;
  /** Whether to add titles, restorable_until and restored_at to each entry. */
  readonly details?: boolean;
}

/**
 * Folds case, for comparisons in lists. Both lower-case sigmas become one: which of them a capital becomes depends on the
 * next letter, and a search text may end in the middle of a word.
 */
export function foldText(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}

/** Characters that JSON may escape: a search in its text would miss them. */
export const ESCAPED_IN_JSON = /["\\\p{Cc}]/u;

/** Parameters of a page of a list that can be sorted. */
export function sortedPage(items: string) {
  const description = 'next_cursor of the previous page, with the same sort; omit it for the first page.';
  return { limit: pageLimit(items), cursor: Type.Optional(Type.String({ description })) };
}

const page = sortedPage('Entries');

function sortBy<Key extends string>(keys: readonly Key[], fallback: Key) {
  const both = [...keys, ...keys.map((key) => `-${key}` as const)];
  const description = 'Field to sort by; a leading minus sorts in descending order.';
  return Type.Optional(oneOf(both, { default: fallback, description }));
}

function search(where: string) {
  const description = `Text to find literally, anywhere in ${where}, ignoring case. The empty text matches everything.`;
  return Type.Optional(Type.String({ maxLength: 200, default: '', description }));
}

export const AgentListParameters = Type.Object({
  ...page,
  q: search('agent_name, email or id'),
  sort: sortBy(AGENT_SORTS, 'created_at'),
  include: Type.Optional(
    Type.Array(oneOf(['activity', 'requests']), {
      description:
        '`activity` adds events_24h and events_7d: how many of the agent’s events were created in the last 24 hours and 7 days. `requests` adds requests_1h and refusals_1h: how many requests it made in the last hour, and how many of them a limit or quota refused.',
    }),
  ),
});

export const EventListParameters = Type.Object({
  ...page,
  q: search('title, location_name, address or event_id'),
  sort: sortBy(EVENT_SORTS, 'start_at'),
  when: Type.Optional(
    oneOf(WHENS, { default: 'all', description: 'upcoming: not ended; past: ended; all: both.' }),
  ),
});

export const AuditParameters = Type.Object({
  ...page,
  ...AUDIT_FILTERS,
  include: Type.Optional(
    oneOf(['details'], {
      description: 'details: adds titles, restorable_until and restored_at to each entry.',
    }),
  ),
});

const checkAgentList = compile(AgentListParameters);
const checkEventList = compile(EventListParameters);
const checkAudit = compile(AuditParameters);

/** Undefined if no parameter was sent: the request is for the whole list. Throws VALIDATION_ERROR. */
export function readAgentList(parameters: object): AgentListQuery | undefined {
  if (Object.keys(parameters).length === 0) return undefined;
  const { value, after } = read(checkAgentList, splitIncludes(parameters), 'agents', (sent) => sent.sort);
  const query = { q: value.q!, sort: sortOf<AgentSort>(value.sort!), after, limit: value.limit! };
  const has = (name: 'activity' | 'requests') => value.include?.includes(name) && { [name]: true };
  return { ...query, ...has('activity'), ...has('requests') };
}

/** Undefined if no parameter was sent: the request is for the whole list. Throws VALIDATION_ERROR. */
export function readEventList(parameters: object): EventListQuery | undefined {
  if (Object.keys(parameters).length === 0) return undefined;
  const { value, after } = read(checkEventList, parameters, 'events', (sent) => sent.sort);
  return { q: value.q!, sort: sortOf<EventSort>(value.sort!), after, limit: value.limit!, when: value.when! };
}

/** Throws VALIDATION_ERROR. */
export function readAuditQuery(parameters: object): AuditQuery {
  const [{ value, after }, filters] = readTogether(
    () => read(checkAudit, parameters, 'audit', () => AUDIT_SORT),
    () => readAuditFilters(parameters),
  );
  const details = value.include === 'details';
  const page = { after: after && Number(after.id), limit: value.limit!, ...(details && { details }) };
  return filters ? { ...page, filters } : page;
}

/** The only sort of the audit log. Its cursors contain this name. */
export const AUDIT_SORT = '-at';

function read<T extends { cursor?: string }>(
  check: Check<T>,
  parameters: object,
  list: ListName,
  sortIn: (value: T) => string | undefined,
): { value: T; after: ListPosition | undefined } {
  const { value, issues } = check(parameters, 'query');
  const sort = sortIn(value);
  const after = readListCursor(value.cursor, list, sort, issues);
  refuse(issues);
  return { value, after };
}

/** The position after which the page begins. If the sort is invalid, the cursor is not checked: it depends on the sort. */
export function readListCursor(
  cursor: string | undefined,
  list: ListName,
  sort: string | undefined,
  issues: Issue[],
): ListPosition | undefined {
  if (cursor === undefined || sort === undefined) return undefined;
  const after = decodeListCursor(cursor, list, sort);
  if (after) return after;
  const msg = 'must be a next_cursor of this list with the same sort; leave it out for the first page';
  issues.push({ loc: ['query', 'cursor'], msg, type: 'value_error' });
  return undefined;
}

export function sortOf<Key extends string>(text: string): Sort<Key> {
  const descending = text.startsWith('-');
  return { key: (descending ? text.slice(1) : text) as Key, descending };
}

/** The sort as a parameter value. */
export function encodeSort({ key, descending }: Sort<string>): string {
  return descending ? `-${key}` : key;
}
