// Reads lists and statistics for administrators. These statements are rare and varied, so none is prepared.
import type { AgentRecord } from '../domain/agent.ts';
import type { AuditRecord } from '../domain/audit.ts';
import type { AgentListQuery, AuditQuery, EventListQuery } from '../domain/list.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { ALL_EVENTS } from '../domain/nearby.ts';
import type { ListedEvent, ListPage, Stats } from '../domain/store.ts';
import type { Statements } from './client/database.ts';
import { agentPageStatement, eventPageStatement } from './list-statements.ts';
import { wireOf } from './records.ts';
import { searchStatement } from './search.ts';

type AgentRow = AgentRecord & { readonly total: number; readonly value: ListPosition['value'] };

export async function readAgentPage(
  statements: Statements,
  query: AgentListQuery,
): Promise<ListPage<AgentRecord>> {
  const { text, values } = agentPageStatement(query);
  const rows = await statements.run('repeatable', (sql) => sql.unsafe<AgentRow[]>(text, [...values]));
  const page = rows.slice(0, query.limit).filter(({ agent_id }) => agent_id !== null);
  const last = rows.length > query.limit ? page.at(-1) : undefined;
  return {
    items: page.map(({ total: _, value: __, ...agent }) => agent),
    total: rows[0]!.total,
    next: last && { value: last.value, id: last.agent_id },
  };
}

type EventRow = readonly [total: Buffer, value: Buffer, id: Buffer | null, json: Buffer];

export async function readEventPage(
  statements: Statements,
  agentId: string,
  query: EventListQuery,
  nowMs: number,
): Promise<ListPage<ListedEvent>> {
  const { text, values } = eventPageStatement(agentId, query, nowMs);
  const found = await statements.run('repeatable', (sql) => sql.unsafe(text, [...values]).raw());
  const rows = found as unknown as readonly EventRow[];
  const page = rows.slice(0, query.limit).filter(([, , id]) => id !== null);
  const last = rows.length > query.limit ? page.at(-1) : undefined;
  const toValue = query.sort.key === 'start_at' ? Number : String;
  const positionOf = ([, value, id]: EventRow) => ({ value: toValue(value.toString()), id: id!.toString() });
  return {
    items: page.map((row) => ({ json: wireOf(row[3]), position: positionOf(row) })),
    total: Number(rows[0]![0].toString()),
    next: last && positionOf(last),
  };
}

type AuditRow = AuditRecord & { readonly total: number };

export async function readAuditPage(
  statements: Statements,
  { after = Number.MAX_SAFE_INTEGER, limit }: AuditQuery,
): Promise<ListPage<AuditRecord, number>> {
  const rows = await statements.run(
    'repeatable',
    (sql) => sql<AuditRow[]>`
      SELECT counted.total, page.* FROM (SELECT count(*) AS total FROM audit) AS counted
      LEFT JOIN (SELECT * FROM audit WHERE audit_id < ${after} ORDER BY audit_id DESC LIMIT ${limit + 1}) AS page ON true
      ORDER BY page.audit_id DESC`,
  );
  const page = rows.slice(0, limit).filter(({ audit_id }) => audit_id !== null);
  return {
    items: page.map(({ total: _, ...entry }) => entry),
    total: rows[0]!.total,
    next: rows.length > limit ? page.at(-1)!.audit_id : undefined,
  };
}

/** Counts of agents and events, from one snapshot. */
export async function readStats(statements: Statements, nowMs: number, usedFromMs: number): Promise<Stats> {
  const { text, values } = searchStatement(ALL_EVENTS, nowMs);
  const statement = `SELECT count(*) AS agents,
      count(*) FILTER (WHERE last_used_ms >= $${values.length + 1}::bigint) AS agents_active_today,
      coalesce(sum(event_count), 0)::bigint AS events,
      (SELECT total FROM (${text}) AS found LIMIT 1) AS events_upcoming
    FROM agents`;
  const [row] = await statements.run('repeatable', (sql) =>
    sql.unsafe<[Stats]>(statement, [...values, usedFromMs]),
  );
  return row;
}
