// SQL of the lists for administrators. One statement returns a page and its exact total, from one snapshot.
import type { AgentListQuery, AgentSort, EventListQuery, EventSort, ListQuery } from '../domain/list.ts';
import { NEVER_USED } from '../domain/list-cursor.ts';
import type { Statement } from './search.ts';

export const AGENT_COLUMNS =
  'agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms, event_count';

/** Same as foldText: by Unicode's rules, independent of the database's locale. */
function fold(text: string): string {
  return `replace(lower((${text}) COLLATE "und-x-icu"), 'ς', 'σ')`;
}

/** Compares by bytes. */
function bytes(text: string): string {
  return `(${text}) COLLATE "C"`;
}

const AGENT_VALUES: Readonly<Record<AgentSort, string>> = {
  agent_name: bytes(fold('agent_name')),
  email: bytes(fold('email')),
  tier: bytes('tier'),
  is_active: 'is_active::integer',
  event_count: 'event_count',
  created_at: 'created_ms',
  last_used_at: `coalesce(last_used_ms, ${NEVER_USED})`,
};

const EVENT_VALUES: Readonly<Record<EventSort, string>> = {
  start_at: 'start_ms',
  title: bytes(fold('title')),
  event_type: bytes('event_type'),
  // A ULID begins with its creation time. As an expression, because the index on event_id would read other agents' events.
  created_at: bytes("event_id || ''"),
};

/** Texts that a search looks through, joined by `mark`. */
const agentText = (mark: string) => `concat_ws(${mark}, agent_name, email, agent_id)`;
const eventText = (mark: string) => `(SELECT concat_ws(${mark}, title, event_id, location_name, address)
  FROM json_to_record(json::json) AS parsed (location_name text, address text))`;

/** Rows consist of total, value and AGENT_COLUMNS. */
export function agentPageStatement(query: AgentListQuery): Statement {
  const values = new Values();
  const filters = query.q === '' ? [] : [isFound(query.q, agentText, values)];
  const agents = { table: 'agents', id: 'agent_id', idType: 'uuid', columns: AGENT_COLUMNS };
  return pageStatement(
    { ...agents, scope: 'true', filters, value: AGENT_VALUES[query.sort.key] },
    query,
    values,
  );
}

/** Rows consist of total, value, event_id and json. */
export function eventPageStatement(agentId: string, query: EventListQuery, nowMs: number): Statement {
  const values = new Values();
  const scope = `agent_id = ${values.put(agentId, 'uuid')}`;
  const filters: string[] = [];
  if (query.when !== 'all')
    filters.push(`ends_ms ${query.when === 'past' ? '<=' : '>'} ${values.put(nowMs, 'bigint')}`);
  if (query.q !== '') filters.push(isFound(query.q, eventText, values));
  const events = { table: 'events', id: 'event_id', idType: 'text', columns: 'event_id, json' };
  const isByIndex = filters.length === 0 && query.sort.key === 'start_at';
  const list = { ...events, scope, filters, value: EVENT_VALUES[query.sort.key], isByIndex };
  return pageStatement(list, query, values);
}

class Values {
  readonly all: (string | number)[] = [];

  put(value: string | number, type: string): string {
    return `$${this.all.push(value)}::${type}`;
  }
}

/** The texts are folded as one, joined by a character that `q` does not have: folding each takes twice as long. */
function isFound(q: string, textOf: (mark: string) => string, values: Values): string {
  let mark = 0xe000; // private use; `q` is too short to have all of them
  while (q.includes(String.fromCharCode(mark))) mark++;
  const text = textOf(values.put(String.fromCharCode(mark), 'text'));
  return `strpos(${fold(text)}, (SELECT ${fold(values.put(q, 'text'))})) > 0`; // q is folded once, not per row
}

interface List {
  readonly table: string;
  readonly id: string;
  readonly idType: string;
  /** Sort expression. */
  readonly value: string;
  readonly columns: string;
  /** Condition for the rows of the list. */
  readonly scope: string;
  readonly filters: readonly string[];
  /** Whether an index provides the order by value, but not by ID. */
  readonly isByIndex?: boolean;
}

/** Returns one row more than the page if more follow. If the page is empty, a single row has only the total. */
function pageStatement(list: List, query: ListQuery<string>, values: Values): Statement {
  const { table, id, idType, value, columns, scope, filters, isByIndex = false } = list;
  const { after, limit, sort } = query;
  const [isAfter, direction] = sort.descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const type = typeof after?.value === 'string' ? 'text' : 'bigint';
  const afterClause = after
    ? `WHERE (value, id) ${isAfter} (${values.put(after.value, type)}, ${values.put(after.id, idType)})`
    : '';
  const order = `ORDER BY page.value ${direction}, page.id ${direction}`;
  const maxRows = values.put(limit + 1, 'bigint');
  // Read from the index until the last equal value; otherwise all rows would be sorted by ID.
  const first = isByIndex ? `ORDER BY value ${direction} FETCH FIRST (${maxRows}) ROWS WITH TIES` : '';
  const source = `(SELECT id, value FROM matching ${afterClause} ${first})`;
  // Expensive conditions are evaluated once. Otherwise the page may use one index, and the total another.
  const isExpensive = filters.length > 0 || typeof after?.value === 'string';
  const text = `WITH matching AS ${isExpensive ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (
      SELECT ${id} AS id, ${value} AS value FROM ${table} WHERE ${[scope, ...filters].join(' AND ')}
    ),
    page AS (SELECT id, value FROM ${source} AS page ${order} LIMIT ${maxRows})
    SELECT total, value, ${columns}
    FROM (SELECT count(*) AS total FROM ${filters.length > 0 ? 'matching' : `${table} WHERE ${scope}`}) AS counted
    LEFT JOIN (page JOIN ${table} ON ${table}.${id} = page.id) ON true ${order}`;
  return { text, values: values.all };
}
