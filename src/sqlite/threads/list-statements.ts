// SQL of the lists for administrators. One statement returns a page and its exact total, from one snapshot. It needs two
// functions on the connection: fold(text), and is_found(…), which tells whether a text contains the search text.
import { ASSUMED_DURATION_MS } from '../../domain/event.ts';
import type { AgentListQuery, AgentSort, EventListQuery, EventSort, ListQuery } from '../../domain/list.ts';
import { NEVER_USED } from '../../domain/list-cursor.ts';
import { AGENT_COLUMNS } from '../columns.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

const AGENT_VALUES: Readonly<Record<AgentSort, string>> = {
  agent_name: 'fold(agent_name)',
  email: 'fold(email)',
  tier: 'tier',
  is_active: 'is_active',
  event_count: 'event_count',
  created_at: 'created_ms',
  last_used_at: `coalesce(last_used_ms, ${NEVER_USED})`,
};

const EVENT_VALUES: Readonly<Record<EventSort, string>> = {
  start_at: 'start_ms',
  title: 'fold(title)',
  event_type: 'event_type',
  created_at: 'event_id', // a ULID begins with its creation time
};

const HAS_ENDED = `coalesce(end_ms, start_ms + ${ASSUMED_DURATION_MS}) <=`;

/** Rows consist of the total, the position's value and ID, and AGENT_COLUMNS. */
export function agentPageStatement(query: AgentListQuery): Statement {
  const filters = query.q === '' ? [] : ['is_found(agent_name, email, agent_id)'];
  const value = AGENT_VALUES[query.sort.key];
  const agents = { table: 'agents', key: 'agent_id', id: 'agent_id', columns: AGENT_COLUMNS };
  return pageStatement({ ...agents, scope: 'true', walk: 'true', filters, value }, query, new Values());
}

/** Rows consist of the total, the position's value and ID, and the JSON. */
export function eventPageStatement(agentId: string, query: EventListQuery, nowMs: number): Statement {
  const values = new Values();
  const scope = `agent_id = ${values.put(agentId)}`;
  const filters: string[] = [];
  if (query.when !== 'all') {
    const hasEnded = `${HAS_ENDED} ${values.put(nowMs)}`;
    filters.push(query.when === 'past' ? hasEnded : `NOT ${hasEnded}`);
  }
  if (query.q !== '')
    filters.push("is_found(title, event_id, json ->> '$.location_name', json ->> '$.address')");
  // The index returns events by start. If all of them must be read anyway, file order (row_id) is cheaper.
  const isByIndex = filters.length === 0 && query.sort.key === 'start_at';
  const walk = isByIndex ? scope : `row_id IN (SELECT row_id FROM events WHERE ${scope})`;
  const value = EVENT_VALUES[query.sort.key];
  const events = { table: 'events', key: 'row_id', id: 'event_id', columns: 'json' };
  return pageStatement({ ...events, scope, walk, filters, value }, query, values);
}

class Values {
  readonly all: (string | number)[] = [];

  put(value: string | number): string {
    return `?${this.all.push(value)}`;
  }
}

interface List {
  readonly table: string;
  /** Primary key of the table. */
  readonly key: string;
  readonly id: string;
  /** Sort expression. */
  readonly value: string;
  readonly columns: string;
  /** Condition for the rows of the list, used for counting. */
  readonly scope: string;
  /** The same condition, written for reading the rows. */
  readonly walk: string;
  readonly filters: readonly string[];
}

/** Returns one row more than the page if more follow. If the page is empty, a single row has only the total. */
function pageStatement(list: List, query: ListQuery<string>, values: Values): Statement {
  const { table, key, id, value, columns, scope, walk, filters } = list;
  const { after, limit, sort } = query;
  const [isAfter, direction] = sort.descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const afterClause = after
    ? `WHERE (value, id) ${isAfter} (${values.put(after.value)}, ${values.put(after.id)})`
    : '';
  const order = `ORDER BY page.value ${direction}, page.id ${direction}`;
  // Expensive conditions are evaluated once. Otherwise the page may use one index, and the total another.
  const isExpensive = filters.length > 0 || typeof after?.value === 'string';
  const text = `WITH matching AS ${isExpensive ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (
      SELECT ${key} AS key, ${id} AS id, ${value} AS value FROM ${table} WHERE ${[walk, ...filters].join(' AND ')}
    ),
    page AS (
      SELECT key, id, value FROM matching AS page ${afterClause} ${order} LIMIT ${values.put(limit + 1)}
    )
    SELECT total, page.value, page.id, ${columns}
    FROM (SELECT count(*) AS total FROM ${filters.length > 0 ? 'matching' : `${table} WHERE ${scope}`})
    LEFT JOIN (page JOIN ${table} ON ${table}.${key} = page.key) ON true ${order}`;
  return { text, values: values.all };
}
