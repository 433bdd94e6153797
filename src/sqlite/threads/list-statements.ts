// SQL of the lists for administrators and of own events. One statement returns a page and its exact total, from one snapshot. It needs
// functions on the connection: fold(text), is_found(…), which tells whether a text contains the search text, and requests_of(agent, count).
import { type AgentActivity, firstIdOf, isWindow } from '../../domain/administration/activity.ts';
import { NEVER_USED } from '../../domain/administration/cursor.ts';
import {
  type AgentListQuery,
  type AgentSort,
  type EventListQuery,
  type EventSort,
  foldText,
  type ListQuery,
} from '../../domain/administration/list.ts';
import { ASSUMED_DURATION_MS } from '../../domain/events/event.ts';
import { AGENT_COLUMNS } from '../columns.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

const AGENT_VALUES: Readonly<Record<Exclude<AgentSort, keyof AgentActivity>, string>> = {
  agent_name: folded('agent_name'),
  email: folded('email'),
  tier: 'tier',
  is_active: 'is_active',
  event_count: 'event_count',
  created_at: 'created_ms',
  last_used_at: `coalesce(last_used_ms, ${NEVER_USED})`,
  requests_1h: "requests_of(agent_id, 'requests_1h')",
  refusals_1h: "requests_of(agent_id, 'refusals_1h')",
};

const EVENT_VALUES: Readonly<Record<EventSort, string>> = {
  start_at: 'start_ms',
  title: folded('title'),
  event_type: 'event_type',
  created_at: 'event_id', // a ULID begins with its creation time
};

const ENDS_MS = `coalesce(end_ms, start_ms + ${ASSUMED_DURATION_MS})`;

const EVENT_COLUMNS = 'json, version, updated_ms';

/** SQLite folds only ASCII, but far faster than a function of ours. */
function isAscii(text: string): string {
  return `octet_length(${text}) = length(${text})`;
}

function folded(text: string): string {
  return `CASE WHEN ${isAscii(text)} THEN lower(${text}) ELSE fold(${text}) END`;
}

/** Whether one of the columns has the search text. LIKE folds ASCII. */
export function isFound(columns: readonly string[], q: string, put: (value: string) => string): string {
  const pattern = put(`%${foldText(q).replaceAll(/[\\%_]/g, '\\$&')}%`);
  const found = columns.map(
    (column) => `${column} LIKE ${pattern} ESCAPE '\\' OR (NOT ${isAscii(column)} AND is_found(${column}))`,
  );
  return `(${found.join(' OR ')})`;
}

const COUNT_MATCHING = 'SELECT count(*) FROM matching';

/** Rows consist of the total, the position's value and ID, and AGENT_COLUMNS. */
export function agentPageStatement(query: AgentListQuery, nowMs: number): Statement {
  const values = new Values();
  const isSearch = query.q !== '';
  const { key } = query.sort;
  // Counts for every agent: 80 ms for 20,000. Reading those with new events apart from the others took 50 ms, and a second sort.
  const value = isWindow(key)
    ? `(${countCreatedBy('stored_agents.agent_id', values.put(firstIdOf(key, nowMs)))})`
    : AGENT_VALUES[key];
  const list = {
    ...{ table: 'agents', key: 'agent_id', columns: AGENT_COLUMNS },
    matching: `SELECT agent_id AS key, agent_id AS id, ${value} AS value FROM stored_agents
      ${isSearch ? `WHERE ${isFound(['agent_name', 'email', 'agent_id'], query.q, values.put)}` : ''}`,
    total: isSearch ? COUNT_MATCHING : 'SELECT count(*) FROM stored_agents',
    isExpensive: isSearch || isWindow(key),
  };
  return pageStatement(list, pagingOf(query, values), values);
}

/** Rows consist of the total, the position's value and ID, the JSON, version and updated_ms. */
export function eventPageStatement(agentId: string, query: EventListQuery, nowMs: number): Statement {
  const { q, when, sort } = query;
  const values = new Values();
  const agent = values.put(agentId);
  const owned = `agent_id = ${agent}`;
  const scope = `${owned} AND ${isStoredOf(agent)}`;
  const filters: string[] = [];
  if (when !== 'all') filters.push(`${ENDS_MS} ${when === 'past' ? '<=' : '>'} ${values.put(nowMs)}`);
  if (q !== '') {
    const place = "is_found(json ->> '$.location_name', json ->> '$.address')";
    filters.push(`(${isFound(['title', 'event_id'], q, values.put)} OR ${place})`);
  }
  // The index returns events by start. If all of them must be read anyway, file order (row_id) is cheaper.
  const isByIndex = filters.length === 0 && sort.key === 'start_at';
  const walk = isByIndex ? scope : `row_id IN (SELECT row_id FROM events WHERE ${scope})`;
  const list = {
    ...{ table: 'events', key: 'row_id', columns: EVENT_COLUMNS },
    matching: `SELECT row_id AS key, event_id AS id, ${EVENT_VALUES[sort.key]} AS value FROM events
      WHERE ${[walk, ...filters].join(' AND ')}`,
    total: filters.length === 0 ? countAll(owned) : COUNT_MATCHING,
    isExpensive: filters.length > 0,
  };
  return pageStatement(list, pagingOf(query, values), values);
}

/** Entries of event_order that are read to find out which way reads less: half a millisecond. */
const FEW = 5_000;

/** The same for an agent in the table event_order, by start and without a search, while none of its events is being removed. */
export function orderedPageStatement(agentId: string, query: EventListQuery, nowMs: number): Statement {
  const values = new Values();
  const scope = `agent_id = ${values.put(agentId)}`;
  const now = values.put(nowMs);
  const paging = pagingOf(query, values);
  const { direction, maxRows, isAfter } = paging;
  const columns = 'event_id AS key, event_id AS id, start_ms AS value';
  const select = `SELECT ${columns} FROM event_order WHERE ${scope}`;
  const countFew = (condition: string) =>
    `SELECT count(*) FROM (SELECT 1 FROM event_order WHERE ${scope} AND ${condition} LIMIT ${FEW + 1})`;
  // The outer loop over one row makes SQLite skip the whole statement if the condition is false.
  const inProgress = (index: string, isChosen: string) => `SELECT ${columns}
    FROM (SELECT (${countFew(`start_ms <= ${now}`)}) AS started) CROSS JOIN event_order INDEXED BY ${index}
    WHERE ${isChosen} AND ${scope} AND start_ms <= ${now} AND ends_ms > ${now}`;
  const toStart = `${select} AND start_ms > ${now} AND ${isAfter('start_ms', 'event_id')}
    ORDER BY start_ms ${direction}, event_id ${direction} LIMIT ${maxRows}`;
  const countPast = `SELECT count(*) FROM event_order WHERE ${scope} AND ends_ms <= ${now}`;
  const lists = {
    all: { matching: select, total: countAll(scope) },
    // An event that has ended has started: a descending page does not read the others. The plus sign keeps the order by start.
    past: { matching: `${select} AND start_ms <= ${now} AND +ends_ms <= ${now}`, total: countPast },
    // Events in progress, then those to start. The ones in progress are found among those that have started if these are few,
    // otherwise among those that have not ended.
    upcoming: {
      matching: `${inProgress('sqlite_autoindex_event_order_1', `started <= ${FEW}`)}
        UNION ALL ${inProgress('event_order_by_end', `started > ${FEW}`)}
        UNION ALL SELECT * FROM (${toStart})`,
      total: `SELECT CASE WHEN few <= ${FEW} THEN few ELSE (${countAll(scope)}) - (${countPast}) END
        FROM (SELECT (${countFew(`ends_ms > ${now}`)}) AS few)`,
    },
  };
  const list = { table: 'events', key: 'event_id', columns: EVENT_COLUMNS, ...lists[query.when] };
  return pageStatement(list, paging, values);
}

/** Whether an event of the agent is stored. As the view stored_events, whose reader cannot choose an index. */
function isStoredOf(agentId: string): string {
  return `row_id > coalesce((SELECT max(up_to_row) FROM removals WHERE removals.agent_id = ${agentId}), 0)`;
}

/** Counts the agent's events from this ID on, in the index events_by_agent, which has the agent, the ID and the row. */
export function countCreatedBy(agentId: string, firstId: string): string {
  return `SELECT count(*) FROM events INDEXED BY events_by_agent
    WHERE agent_id = ${agentId} AND event_id >= ${firstId} AND ${isStoredOf(agentId)}`;
}

/** The agent's own count, which is exact. */
function countAll(scope: string): string {
  return `SELECT coalesce((SELECT event_count FROM agents WHERE ${scope}), 0)`;
}

class Values {
  readonly all: (string | number)[] = [];

  readonly put = (value: string | number): string => `?${this.all.push(value)}`;
}

/** Order and limits of a page, as SQL. */
interface Paging {
  readonly direction: 'ASC' | 'DESC';
  /** One row more than the page, if more follow. */
  readonly maxRows: string;
  /** Condition for the rows after the previous page. */
  readonly isAfter: (value: string, id: string) => string;
  /** Whether that condition compares texts, which are expensive to fold. */
  readonly isAfterText: boolean;
}

function pagingOf({ after, limit, sort }: ListQuery<string>, values: Values): Paging {
  const last = after && `(${values.put(after.value)}, ${values.put(after.id)})`;
  return {
    direction: sort.descending ? 'DESC' : 'ASC',
    maxRows: values.put(limit + 1),
    isAfter: (value, id) => (last ? `(${value}, ${id}) ${sort.descending ? '<' : '>'} ${last}` : 'true'),
    isAfterText: typeof after?.value === 'string',
  };
}

interface List {
  readonly table: string;
  readonly columns: string;
  /** Unique column of the table. */
  readonly key: string;
  /** Statement that selects key, ID and sort value of the rows of the list. */
  readonly matching: string;
  /** Statement that counts them. */
  readonly total: string;
  /** Whether `matching` is evaluated only once. Otherwise page and total may use different indexes. */
  readonly isExpensive?: boolean;
}

/** Returns one row more than the page if more follow. If the page is empty, a single row has only the total. */
function pageStatement(list: List, paging: Paging, values: Values): Statement {
  const { table, columns, key, matching, total, isExpensive = false } = list;
  const { direction, maxRows, isAfter, isAfterText } = paging;
  const order = `ORDER BY page.value ${direction}, page.id ${direction}`;
  const text = `WITH matching AS ${isExpensive || isAfterText ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (${matching}),
    page AS (
      SELECT key, id, value FROM matching AS page WHERE ${isAfter('value', 'id')} ${order} LIMIT ${maxRows}
    )
    SELECT total, page.value, page.id, ${columns} FROM (SELECT (${total}) AS total)
    LEFT JOIN (page JOIN ${table} ON ${table}.${key} = page.key) ON true ${order}`;
  return { text, values: values.all };
}
