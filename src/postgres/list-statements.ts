// SQL of the lists for administrators and of an agent's own events. One statement returns a page and its exact total, from one snapshot.
import { type AgentActivity, firstIdOf, isWindow } from '../domain/administration/activity.ts';
import { NEVER_USED } from '../domain/administration/cursor.ts';
import type { AllEventsQuery } from '../domain/administration/event-list.ts';
import {
  type AgentListQuery,
  type AgentSort,
  ESCAPED_IN_JSON,
  type EventListQuery,
  type EventSort,
  type ListQuery,
  type When,
} from '../domain/administration/list.ts';
import { isRequestCount } from '../domain/administration/recent-requests.ts';
import { METRES_PER_MILE } from '../domain/events/geo.ts';
import { firstUlidAt } from '../domain/ids.ts';
import { selectRequests } from './agent-requests.ts';
import { HAS_STATUS, type Statement } from './search.ts';
import { HAS_UNKNOWN_WORDS, tsqueryOf } from './words.ts';

/** Columns of an agent that deleted_agents has, too. */
export const DELETED_AGENT_COLUMNS = 'agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms';

export const AGENT_COLUMNS = `${DELETED_AGENT_COLUMNS}, event_count`;

/** Same as foldText: by Unicode's rules, independent of the database's locale. */
export function fold(text: string): string {
  return `replace(lower((${text}) COLLATE "und-x-icu"), 'ς', 'σ')`;
}

/** The same for a column. Folding only ASCII is far faster, and enough for most texts. */
export function foldColumn(name: string): string {
  return `CASE WHEN octet_length(${name}) = length(${name}) THEN lower(${name} COLLATE "C") COLLATE "und-x-icu"
    ELSE ${fold(name)} END`;
}

/** Compares by bytes. */
function bytes(text: string): string {
  return `(${text}) COLLATE "C"`;
}

const AGENT_VALUES: Readonly<Record<AgentSort, string>> = {
  agent_name: bytes(foldColumn('agent_name')),
  email: bytes(foldColumn('email')),
  tier: bytes('tier'),
  is_active: 'is_active::integer',
  event_count: 'event_count',
  created_at: 'created_ms',
  last_used_at: `coalesce(last_used_ms, ${NEVER_USED})`,
  events_24h: 'coalesce(created, 0)',
  events_7d: 'coalesce(created, 0)',
  requests_1h: 'coalesce(requests_1h, 0)',
  refusals_1h: 'coalesce(refusals_1h, 0)',
};

const EVENT_VALUES: Readonly<Record<EventSort, string>> = {
  start_at: 'start_ms',
  title: bytes(foldColumn('title')),
  event_type: bytes('event_type'),
  // A ULID begins with its creation time. As an expression, because the index on event_id would read other agents' events.
  created_at: bytes("event_id || ''"),
};

const COUNT_MATCHING = 'SELECT count(*) FROM matching';
const COUNT_EVENTS = 'SELECT coalesce(sum(event_count), 0)::bigint FROM agents';

/** Rows consist of total, value, AGENT_COLUMNS and, if asked for, events_24h, events_7d, requests_1h and refusals_1h. */
export function agentPageStatement(query: AgentListQuery, nowMs: number): Statement {
  const values = new Values();
  const isSearch = query.q !== '';
  const { key } = query.sort;
  const list = {
    ...{ table: 'agents', id: 'agent_id', idType: 'uuid' },
    columns: [
      AGENT_COLUMNS,
      ...(query.activity ? ['events_24h', 'events_7d'] : []),
      ...(query.requests ? ['requests_1h', 'refusals_1h'] : []),
    ].join(', '),
    details: [
      query.activity ? `CROSS JOIN LATERAL (${countLately(nowMs, values)}) AS lately` : '',
      query.requests ? `LEFT JOIN (${requestsOf(nowMs, values)}) AS requests USING (agent_id)` : '',
    ].join(' '),
    joined: joinedFor(key, nowMs, values),
    value: AGENT_VALUES[key],
    conditions: [isSearch ? isFound(agentTexts(query.q), query.q, values) : 'true'],
    total: isSearch ? COUNT_MATCHING : 'SELECT count(*) FROM agents',
    isExpensive: isSearch,
  };
  return pageStatement(list, query, values);
}

/** What agents are joined with to sort them. */
function joinedFor(key: AgentSort, nowMs: number, values: Values): string {
  if (isWindow(key)) return `LEFT JOIN (${countByAgent(key, nowMs, values)}) AS recent USING (agent_id)`;
  return isRequestCount(key) ? `LEFT JOIN (${requestsOf(nowMs, values)}) AS recent USING (agent_id)` : '';
}

function requestsOf(nowMs: number, values: Values): string {
  return selectRequests(nowMs, (value, type) => values.put(value, type));
}

/** Both counts of the agent's new events at once, because each reads all entries of the agent in the index. */
function countLately(nowMs: number, values: Values): string {
  const [dayId, weekId] = (['events_24h', 'events_7d'] as const).map((window) =>
    values.put(firstIdOf(window, nowMs), 'text'),
  );
  return `SELECT count(*) FILTER (WHERE event_id >= ${dayId}) AS events_24h, count(*) AS events_7d
    FROM events WHERE agent_id = agents.agent_id AND event_id >= ${weekId}`;
}

/** Counts the events that were created lately: their IDs begin with the time. */
function countByAgent(window: keyof AgentActivity, nowMs: number, values: Values): string {
  const firstId = values.put(firstIdOf(window, nowMs), 'text');
  return `SELECT agent_id, count(*) AS created FROM events WHERE event_id >= ${firstId} GROUP BY agent_id`;
}

/** Rows consist of total, value, event_id, json, version and updated_ms. */
export function eventPageStatement(agentId: string, query: EventListQuery, nowMs: number): Statement {
  const { q, when, sort } = query;
  const values = new Values();
  const scope = `agent_id = ${values.put(agentId, 'uuid')}`;
  const now = when === 'all' ? '' : values.put(nowMs, 'bigint'); // PostgreSQL refuses a parameter that is not used
  const filters: string[] = [];
  if (when === 'past') filters.push(hasEnded(now));
  if (when === 'upcoming') filters.push(`ends_ms > ${now}`);
  if (q !== '') filters.push(isFoundInEvent(q, values));
  // The index events_of_agent has the order by start, and what `when` needs. Other sorts and `q` must read all events of the agent.
  const isExpensive = filters.length > 0 && (q !== '' || sort.key !== 'start_at');
  const list = {
    ...{ table: 'events', id: 'event_id', idType: 'text', columns: 'event_id, json, version, updated_ms' },
    value: EVENT_VALUES[sort.key],
    conditions: [scope, ...filters],
    total: isExpensive ? COUNT_MATCHING : countEvents(when, scope, now),
    isExpensive,
    hasFew: !isExpensive && when === 'upcoming',
  };
  return pageStatement(list, query, values);
}

/**
 * Rows consist of total, value, event_id, json and agent_name, and if asked for, of agent_count. The total is -1 if some events lack
 * the words that the search needs. With a million events, counting upcoming ones takes 0.3 s, those with a status 0.6 s, and those with a
 * word that all events have 2 s. Without a filter, the total is the sum of the agents' counts.
 */
export function allEventPageStatement(query: AllEventsQuery, nowMs: number): Statement {
  const { terms, circle, sort, countsAgents } = query;
  const values = new Values();
  const filters = filtersOf(query, nowMs, values);
  const agentCount =
    '(SELECT count(*) FROM (SELECT FROM matching GROUP BY agent_id) AS owners) AS agent_count';
  const count = filters.length === 0 ? COUNT_EVENTS : COUNT_MATCHING;
  const list = {
    ...{ table: 'events', id: 'event_id', idType: 'text', alsoMatching: countsAgents ? ', agent_id' : '' },
    columns: `event_id, json, agent_name${countsAgents ? `, ${agentCount}` : ''}`,
    details: 'JOIN agents USING (agent_id)',
    value: sort.key === 'start_at' ? 'start_ms' : 'event_id',
    conditions: filters.length > 0 ? filters : ['true'],
    total: terms ? `CASE WHEN ${HAS_UNKNOWN_WORDS} THEN -1 ELSE (${count}) END` : count,
    // Reading in the order of the list might pass all events before the next match.
    isExpensive: terms !== undefined || circle !== undefined,
  };
  return pageStatement(list, query, values);
}

function filtersOf(query: AllEventsQuery, nowMs: number, values: Values): string[] {
  const { eventId, terms, agentId, types, createdFromMs, updatedFromMs, status, circle, when } = query;
  const filters: string[] = [];
  if (eventId !== undefined) filters.push(`event_id = ${values.put(eventId, 'text')}`);
  if (terms) filters.push(`words @@ ${values.put(tsqueryOf(terms), 'text')}::tsquery`);
  if (agentId !== undefined) filters.push(`agent_id = ${values.put(agentId, 'uuid')}`);
  if (types) filters.push(`event_type = ANY (string_to_array(${values.put(types.join(), 'text')}, ','))`);
  if (createdFromMs !== undefined)
    filters.push(`event_id >= ${values.put(firstUlidAt(createdFromMs), 'text')}`);
  if (updatedFromMs !== undefined) filters.push(`updated_ms >= ${values.put(updatedFromMs, 'bigint')}`);
  filters.push(...HAS_STATUS[status]);
  if (circle) {
    const [lng, lat] = [circle.lng, circle.lat].map((angle) => values.put(angle, 'double precision'));
    const metres = values.put(circle.radiusMiles * METRES_PER_MILE, 'double precision');
    filters.push(
      `st_dwithin(place, st_setsrid(st_makepoint(${lng}, ${lat}), 4326)::geography, ${metres}, false)`,
    );
  }
  if (when === 'past') filters.push(hasEnded(values.put(nowMs, 'bigint')));
  if (when === 'upcoming') filters.push(`ends_ms > ${values.put(nowMs, 'bigint')}`);
  return filters;
}

/** An event that has ended has started, which limits the part of the index to read. */
function hasEnded(now: string): string {
  return `start_ms <= ${now} AND ends_ms <= ${now}`;
}

/** Maximum number of upcoming events that are counted one by one. */
const FEW = 5_000;

/**
 * Counts in the index. PostgreSQL skips index entries quickly but is slow to count them, because it must know whether their
 * rows are visible. So of few upcoming events, which most agents have, only these are counted. Otherwise the ended ones are
 * counted and subtracted from the agent's own count, which is exact.
 */
function countEvents(when: When, scope: string, now: string): string {
  const all = `SELECT coalesce((SELECT event_count FROM agents WHERE ${scope}), 0)::bigint`;
  const past = `SELECT count(*) FROM events WHERE ${scope} AND ${hasEnded(now)}`;
  const upcoming = `SELECT CASE WHEN found <= ${FEW} THEN found ELSE (${all}) - (${past}) END
    FROM (SELECT count(*) AS found FROM few) AS counted`;
  return { all, past, upcoming }[when];
}

export class Values {
  readonly all: (string | number)[] = [];

  put(value: string | number, type: string): string {
    return `$${this.all.push(value)}::${type}`;
  }
}

/** Whether one of the texts has the search text. */
export function isFound(names: readonly string[], q: string, values: Values): string {
  const text = `regexp_replace(${fold(values.put(q, 'text'))}, '([\\\\%_])', '\\\\\\1', 'g')`;
  const pattern = `(SELECT '%' || ${text} || '%')`; // made once, not per row
  return `(${names.map((name) => `${foldColumn(name)} LIKE ${pattern}`).join(' OR ')})`;
}

/** Texts of an agent to search. The ID only if it can match: converting it to text takes as long as all the rest. */
function agentTexts(q: string): string[] {
  const canBeId = /^[\da-f-]+$/i.test(q);
  return ['agent_name', 'email', ...(canBeId ? ['agent_id::text'] : [])];
}

/** Parsing an event's JSON takes ten times as long as looking at its whole text, which rules most events out first. */
function isFoundInEvent(q: string, values: Values): string {
  const isFoundInTexts = `(SELECT ${isFound(['title', 'event_id', 'location_name', 'address'], q, values)}
    FROM json_to_record(json::json) AS parsed (location_name text, address text))`;
  if (ESCAPED_IN_JSON.test(q)) return isFoundInTexts;
  return `CASE WHEN ${isFound(['json'], q, values)} THEN ${isFoundInTexts} ELSE false END`;
}

interface List {
  readonly table: string;
  readonly id: string;
  readonly idType: string;
  /** Sort expression. */
  readonly value: string;
  readonly columns: string;
  /** Further columns of `matching`, each after a comma. */
  readonly alsoMatching?: string;
  /** What the rows of the page are joined with, for further columns. */
  readonly details?: string;
  /** What the table is joined with to sort. */
  readonly joined?: string;
  /** Conditions for the rows of the list. */
  readonly conditions: readonly string[];
  /** Statement that counts these rows. */
  readonly total: string;
  /** Whether the conditions are evaluated only once. Otherwise the page may use one index, and the total another. */
  readonly isExpensive: boolean;
  /** Whether `total` uses `few`, the first FEW rows of the list and one more. */
  readonly hasFew?: boolean;
}

/** Returns one row more than the page if more follow. If the page is empty, a single row has only the total. */
function pageStatement(
  list: List,
  query: Pick<ListQuery<string>, 'sort' | 'after' | 'limit'>,
  values: Values,
): Statement {
  const { table, id, idType, value, columns, conditions, total, isExpensive, hasFew } = list;
  const { joined = '', details = '', alsoMatching = '' } = list;
  const { after, limit, sort } = query;
  const [isAfter, direction] = sort.descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const type = typeof after?.value === 'string' ? 'text' : 'bigint';
  const afterClause = after
    ? `WHERE (value, id) ${isAfter} (${values.put(after.value, type)}, ${values.put(after.id, idType)})`
    : '';
  const order = `ORDER BY page.value ${direction}, page.id ${direction}`;
  // The limit is not a parameter: of an unknown limit, PostgreSQL assumes a tenth of all rows, and then reads the whole table.
  // A position in a sort by text is expensive, too: the text is folded to compare it and again to sort it.
  const isOnce = isExpensive || (type === 'text' && value !== id);
  const text = `WITH matching AS ${isOnce ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (
      SELECT ${id} AS id, ${value} AS value${alsoMatching} FROM ${table} ${joined} WHERE ${conditions.join(' AND ')}
    ),
    ${hasFew ? `few AS MATERIALIZED (SELECT id, value FROM matching AS page ${order} LIMIT ${FEW + 1}),` : ''}
    page AS (
      SELECT id, value FROM ${hasFew && !after ? 'few' : 'matching'} AS page ${afterClause} ${order} LIMIT ${limit + 1}
    )
    SELECT total, value, ${columns} FROM (SELECT (${total}) AS total) AS counted
    LEFT JOIN (page JOIN ${table} ON ${table}.${id} = page.id ${details}) ON true ${order}`;
  return { text, values: values.all };
}
