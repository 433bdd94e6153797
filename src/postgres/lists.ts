// Reads lists and statistics for administrators. These statements are rare and varied, so none is prepared.
import type { AgentActivity, Created } from '../domain/administration/activity.ts';
import type { AuditRecord } from '../domain/administration/audit.ts';
import { type AuditFilters, CAN_BE_ID } from '../domain/administration/audit-filters.ts';
import type { ListPosition } from '../domain/administration/cursor.ts';
import type { AllEventsPage, AllEventsQuery, OwnedWire } from '../domain/administration/event-list.ts';
import {
  type AgentListQuery,
  type AuditQuery,
  ESCAPED_IN_JSON,
  type EventListQuery,
} from '../domain/administration/list.ts';
import type { AgentRequests } from '../domain/administration/recent-requests.ts';
import type { AgentRecord } from '../domain/agent.ts';
import { parseEvent } from '../domain/events/event.ts';
import { cutPage } from '../domain/events/event-page.ts';
import { ALL_EVENTS } from '../domain/events/nearby.ts';
import { firstUlidAt } from '../domain/ids.ts';
import type { ListedEvent, ListPage, Stats } from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import type { CancellableReads } from './cancel.ts';
import type { Statements } from './client/database.ts';
import {
  agentPageStatement,
  allEventPageStatement,
  eventPageStatement,
  isFound,
  Values,
} from './list-statements.ts';
import { numberOf, wireOf } from './records.ts';
import { type Statement, searchStatement } from './search.ts';

type AgentRow = AgentRecord &
  Partial<AgentActivity & AgentRequests> & { readonly total: number; readonly value: ListPosition['value'] };

export async function readAgentPage(
  statements: Statements,
  query: AgentListQuery,
  nowMs: number,
): Promise<ListPage<AgentRecord>> {
  const { text, values } = agentPageStatement(query, nowMs);
  const rows = await statements.run('repeatable', (sql) => sql.unsafe<AgentRow[]>(text, [...values]));
  const { page, last } = cutPage(rows, query.limit, ({ agent_id }) => agent_id !== null);
  return {
    items: page.map(({ total: _, value: __, events_24h, events_7d, requests_1h, refusals_1h, ...agent }) => ({
      ...agent,
      ...(query.activity && { activity: { events_24h: events_24h!, events_7d: events_7d! } }),
      // Null if it has made no request.
      ...(query.requests && { requests: { requests_1h: requests_1h ?? 0, refusals_1h: refusals_1h ?? 0 } }),
    })),
    total: rows[0]!.total,
    next: last && { value: last.value, id: last.agent_id },
  };
}

type EventRow = readonly [
  total: Buffer,
  value: Buffer,
  id: Buffer | null,
  json: Buffer,
  version: Buffer,
  updated: Buffer | null,
];

export async function readEventPage(
  statements: Statements,
  agentId: string,
  query: EventListQuery,
  nowMs: number,
): Promise<ListPage<ListedEvent>> {
  const { text, values } = eventPageStatement(agentId, query, nowMs);
  const found = await statements.run('repeatable', (sql) => sql.unsafe(text, [...values]).raw());
  const rows = found as unknown as readonly EventRow[];
  const { page, last } = cutPage(rows, query.limit, ([, , id]) => id !== null);
  const [total] = rows[0]!;
  return {
    items: page.map((row) => {
      const [, , , json, version, updatedMs] = row;
      return {
        json: wireOf(json),
        version: numberOf(version),
        updatedMs: numberOf(updatedMs),
        position: positionOf(row, query),
      };
    }),
    total: numberOf(total),
    next: last && positionOf(last, query),
  };
}

function positionOf(
  [, value, id]: EventRow | OwnedRow,
  { sort }: EventListQuery | AllEventsQuery,
): ListPosition {
  const toValue = sort.key === 'start_at' ? Number : String;
  return { value: toValue(value.toString()), id: id!.toString() };
}

type OwnedRow = readonly [
  total: Buffer,
  value: Buffer,
  id: Buffer | null,
  json: Buffer,
  agentName: Buffer,
  agentCount?: Buffer,
];

/** Undefined if some events lack the words that the search needs. */
export async function readAllEventPage(
  statements: Statements,
  reads: CancellableReads,
  query: AllEventsQuery,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<AllEventsPage<OwnedWire> | undefined> {
  const found = await reads.run(statements, allEventPageStatement(query, nowMs), signal);
  const rows = found as unknown as readonly OwnedRow[];
  const [total, , , , , agentCount] = rows[0]!;
  if (Number(total) < 0) return undefined;
  const { page, last } = cutPage(rows, query.limit, ([, , id]) => id !== null);
  return {
    items: page.map(([, , , json, name]) => ({ json: wireOf(json), agentName: name.toString() })),
    total: Number(total),
    agentCount: agentCount && Number(agentCount),
    next: last && positionOf(last, query),
  };
}

/** An agent that was deleted meanwhile has no name. */
export async function addAgentNames(statements: Statements, events: readonly Wire[]): Promise<OwnedWire[]> {
  const owners = events.map((json) => parseEvent(json).agent_id);
  const rows = await statements.run(
    'repeatable',
    (sql) =>
      sql<Pick<AgentRecord, 'agent_id' | 'agent_name'>[]>`
        SELECT agent_id, agent_name FROM agents WHERE agent_id = ANY (string_to_array(${[...new Set(owners)].join(',')}::text, ',')::uuid[])`,
  );
  const names = new Map(rows.map(({ agent_id, agent_name }) => [agent_id, agent_name]));
  return events.map((json, at) => ({ json, agentName: names.get(owners[at]!) ?? '' }));
}

type AuditRow = AuditRecord & { readonly total: number };

export async function readAuditPage(
  statements: Statements,
  query: AuditQuery,
): Promise<ListPage<AuditRecord, number>> {
  const { text, values } = auditPageStatement(query);
  const rows = await statements.run('repeatable', (sql) => sql.unsafe<AuditRow[]>(text, [...values]));
  const { page, last } = cutPage(rows, query.limit, ({ audit_id }) => audit_id !== null);
  return {
    items: page.map(({ total: _, ...entry }) => entry),
    total: rows[0]!.total,
    next: last?.audit_id,
  };
}

/** As in the index audit_by_agent. */
const AGENT = `coalesce(substring(detail FROM '"agent_id":"([0-9a-f-]{36})"'), target)`;

/** Rows consist of total and the columns of audit. If the page is empty, a single row has only the total. */
function auditPageStatement({ after, limit, filters = {} }: AuditQuery): Statement {
  const values = new Values();
  const conditions = conditionsOf(filters, values);
  const isAfter = after === undefined ? 'true' : `id < ${values.put(after, 'bigint')}`;
  // A search for text is expensive, so it runs once, for page and total. So does one for old entries: otherwise the page is looked
  // for from the newest entry on.
  const isOnce = filters.q !== undefined || filters.beforeMs !== undefined;
  const text = `WITH matching AS ${isOnce ? 'MATERIALIZED' : 'NOT MATERIALIZED'} (
      SELECT audit_id AS id FROM audit WHERE ${conditions.join(' AND ')}
    ),
    page AS (SELECT id FROM matching WHERE ${isAfter} ORDER BY id DESC LIMIT ${limit + 1})
    SELECT total, audit.* FROM (SELECT count(*) AS total FROM matching) AS counted
    LEFT JOIN (page JOIN audit ON audit.audit_id = page.id) ON true ORDER BY page.id DESC`;
  return { text, values: values.all };
}

function conditionsOf(filters: AuditFilters, values: Values): string[] {
  const { actor, action, agentId, fromMs, beforeMs, q } = filters;
  const conditions = ['true'];
  if (agentId !== undefined) {
    const agent = values.put(agentId, 'text');
    // The target of deletes of several agents' events is empty; their detail has the IDs of the agents.
    conditions.push(
      `${AGENT} IN (${agent}, '') AND (${AGENT} = ${agent} OR strpos(detail, '"' || ${agent} || '"') > 0)`,
    );
  }
  if (action !== undefined) conditions.push(`action = ${values.put(action, 'text')}`);
  if (fromMs !== undefined) conditions.push(`at_ms >= ${values.put(fromMs, 'bigint')}`);
  if (beforeMs !== undefined) conditions.push(`at_ms < ${values.put(beforeMs, 'bigint')}`);
  if (actor !== undefined) {
    const [subject, email] = [values.put(actor.subject, 'text'), values.put(actor.email, 'text')];
    conditions.push(`(actor_subject = ${subject} OR lower(actor_email COLLATE "C") = ${email})`);
  }
  if (q !== undefined) {
    const texts = ['target_name', 'target', 'actor_email', ...(CAN_BE_ID.test(q) ? ['detail'] : [])];
    conditions.push(`(${isFound(texts, q, values)} OR ${isFoundInTitles(q, values)})`);
  }
  return conditions;
}

/** Titles are a JSON list. A look at the whole text rules most entries out. */
function isFoundInTitles(q: string, values: Values): string {
  const isInOne = `EXISTS (SELECT 1 FROM json_array_elements_text(titles::json) AS title WHERE ${isFound(['title'], q, values)})`;
  const mayHave = ESCAPED_IN_JSON.test(q)
    ? 'titles IS NOT NULL'
    : isFound(["coalesce(titles, '')"], q, values);
  return `CASE WHEN ${mayHave} THEN ${isInOne} ELSE false END`;
}

/** By the indexes on IDs, which begin with the time, and on the creation of agents. */
export async function readCreated(
  statements: Statements,
  fromMs: readonly number[],
): Promise<readonly Created[]> {
  const toMs = [...fromMs.slice(1), Number.MAX_SAFE_INTEGER];
  const fromId = fromMs.map(firstUlidAt);
  const toId = [...fromId.slice(1), 'Z'];
  const rows = await statements.run(
    'repeatable',
    (sql) => sql<Created[]>`
      SELECT (SELECT count(*) FROM events WHERE event_id >= from_id AND event_id < to_id) AS events,
        (SELECT count(*) FROM agents WHERE created_ms >= from_ms AND created_ms < to_ms) AS agents
      FROM unnest(string_to_array(${fromMs.join()}, ',')::bigint[], string_to_array(${toMs.join()}, ',')::bigint[],
          string_to_array(${fromId.join()}, ','), string_to_array(${toId.join()}, ','))
        WITH ORDINALITY AS day (from_ms, to_ms, from_id, to_id, number) ORDER BY number`,
  );
  return rows.map(({ events, agents }) => ({ events, agents }));
}

/** `inMemory`: the counts of events, if memory has them. Counting a million upcoming events takes 0.3 s here. */
export async function readStats(
  statements: Statements,
  nowMs: number,
  usedFromMs: number,
  inMemory: Pick<Stats, 'events' | 'events_upcoming'> | undefined,
): Promise<Stats> {
  const { text, values } = searchStatement(ALL_EVENTS, nowMs);
  const counted = `, coalesce(sum(event_count), 0)::bigint AS events,
      (SELECT total FROM (${text}) AS found LIMIT 1) AS events_upcoming`;
  const sent = inMemory ? [] : values;
  const statement = `SELECT count(*) AS agents,
      count(*) FILTER (WHERE last_used_ms >= $${sent.length + 1}::bigint) AS agents_active_today
      ${inMemory ? '' : counted}
    FROM agents`;
  const [row] = await statements.run('repeatable', (sql) =>
    sql.unsafe<[Stats]>(statement, [...sent, usedFromMs]),
  );
  return { ...row, ...inMemory };
}
