// Reads lists for administrators and of own events. Runs on threads of their own: a search or sort reads all agents, or all events
// of one agent.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type AgentActivity, type Created, firstIdOf } from '../../domain/administration/activity.ts';
import type { AuditRecord } from '../../domain/administration/audit.ts';
import { type AuditFilters, CAN_BE_ID } from '../../domain/administration/audit-filters.ts';
import type { ListPosition } from '../../domain/administration/cursor.ts';
import {
  type AgentListQuery,
  type AuditQuery,
  ESCAPED_IN_JSON,
  type EventListQuery,
  foldText,
} from '../../domain/administration/list.ts';
import { type AgentRequests, NO_REQUESTS } from '../../domain/administration/recent-requests.ts';
import { cutPage } from '../../domain/events/event-page.ts';
import { firstUlidAt } from '../../domain/ids.ts';
import type { ListedEvent, ListPage, Stats } from '../../domain/store.ts';
import { toWire } from '../../domain/wire.ts';
import { type AgentColumns, agentOf, type ColumnValues } from '../columns.ts';
import {
  agentPageStatement,
  countCreatedBy,
  eventPageStatement,
  isFound,
  orderedPageStatement,
  type Statement,
} from './list-statements.ts';

type AgentStats = Pick<Stats, 'agents' | 'agents_active_today'>;

export interface ListReaderCalls {
  agentPage(
    query: AgentListQuery,
    nowMs: number,
    requests?: ReadonlyMap<string, AgentRequests>,
  ): ListPage<AgentColumns>;
  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): ListPage<ListedEvent>;
  auditPage(query: AuditQuery): ListPage<AuditRecord, number>;
  countAgents(usedFromMs: number): AgentStats;
  countCreated(fromMs: readonly number[]): Created[];
}

type Row = [total: number, value: ListPosition['value'], id: string | null, ...item: ColumnValues];

/** Sorts after every ID. */
const LAST_ID = 'Z';

/** Events whose IDs are in this range. Those that are being removed are subtracted: there are few or none. */
const COUNT_EVENTS = `SELECT (SELECT count(*) FROM events WHERE event_id >= ?1 AND event_id < ?2) - (
    SELECT count(*) FROM (SELECT agent_id, max(up_to_row) AS up_to_row FROM removals GROUP BY agent_id) AS removed
    CROSS JOIN events INDEXED BY events_by_agent ON events.agent_id = removed.agent_id
    WHERE event_id >= ?1 AND event_id < ?2 AND row_id <= up_to_row) AS count`;

const COUNT_AGENTS = 'SELECT count(*) AS count FROM stored_agents WHERE created_ms >= ? AND created_ms < ?';

export class ListReader implements ListReaderCalls {
  readonly #database: DatabaseSync;
  readonly #findOrdered: StatementSync;
  readonly #activityOf: StatementSync;
  /** Search text of the current list, folded. */
  #searchText = '';
  /** For the current list. */
  #requests: ReadonlyMap<string, AgentRequests> = new Map();

  /** Adds functions to the connection. */
  constructor(database: DatabaseSync) {
    this.#database = database;
    database.function('fold', { deterministic: true }, (text) => foldText(text as string));
    database.function('is_found', { varargs: true }, (...texts) =>
      Number(texts.some((text) => text !== null && foldText(text as string).includes(this.#searchText))),
    );
    database.function('requests_of', (agentId, count) => {
      const found = this.#requests.get(agentId as string);
      return found?.[count as keyof AgentRequests] ?? 0;
    });
    // While events are being removed, the table still has them.
    this.#findOrdered = database.prepare(
      `SELECT 1 FROM event_order WHERE agent_id = ?1
       AND NOT EXISTS (SELECT 1 FROM removals WHERE agent_id = ?1) LIMIT 1`,
    );
    const [day, week] = [countCreatedBy('?1', '?2'), countCreatedBy('?1', '?3')];
    this.#activityOf = database.prepare(`SELECT (${day}) AS events_24h, (${week}) AS events_7d`);
  }

  agentPage(
    query: AgentListQuery,
    nowMs: number,
    requests: ReadonlyMap<string, AgentRequests> = new Map(),
  ): ListPage<AgentColumns> {
    return this.#inSnapshot(() => {
      this.#requests = requests;
      const statement = agentPageStatement(query, nowMs);
      const page = this.#page(statement, query, (_position, item) => agentOf(item));
      if (!query.activity && !query.requests) return page;
      const items = page.items.map((agent) => ({
        ...agent,
        ...(query.activity && { activity: this.#findActivity(agent.agent_id, nowMs) }),
        ...(query.requests && { requests: requests.get(agent.agent_id) ?? NO_REQUESTS }),
      }));
      return { ...page, items };
    });
  }

  agentEventPage(agentId: string, query: EventListQuery, nowMs: number): ListPage<ListedEvent> {
    return this.#inSnapshot(() => {
      const isByStart = query.q === '' && query.sort.key === 'start_at';
      const isOrdered = isByStart && this.#findOrdered.get(agentId) !== undefined;
      const statement = (isOrdered ? orderedPageStatement : eventPageStatement)(agentId, query, nowMs);
      return this.#page(statement, query, (position, [json, version, updatedMs]) => ({
        json: toWire(json as string),
        version: version as number,
        updatedMs: updatedMs as number,
        position,
      }));
    });
  }

  auditPage(query: AuditQuery): ListPage<AuditRecord, number> {
    this.#searchText = foldText(query.filters?.q ?? '');
    const { text, values } = auditPageStatement(query);
    const rows = this.#database.prepare(text).all(...values) as unknown as (AuditRecord & {
      total: number;
    })[];
    const { page, last } = cutPage(rows, query.limit, ({ audit_id }) => audit_id !== null);
    return {
      items: page.map(({ total: _, ...entry }) => entry),
      total: rows[0]!.total,
      next: last?.audit_id,
    };
  }

  countAgents(usedFromMs: number): AgentStats {
    const sql = `SELECT count(*) AS agents,
      count(*) FILTER (WHERE last_used_ms >= ?) AS agents_active_today FROM stored_agents`;
    return this.#database.prepare(sql).get(usedFromMs) as unknown as AgentStats;
  }

  countCreated(fromMs: readonly number[]): Created[] {
    const events = this.#database.prepare(COUNT_EVENTS);
    const agents = this.#database.prepare(COUNT_AGENTS);
    return this.#inSnapshot(() =>
      fromMs.map((from, at) => {
        const to = fromMs[at + 1];
        const lastId = to === undefined ? LAST_ID : firstUlidAt(to);
        return {
          events: events.get(firstUlidAt(from), lastId)!.count as number,
          agents: agents.get(from, to ?? Number.MAX_SAFE_INTEGER)!.count as number,
        };
      }),
    );
  }

  /** Statements in `read` see the same commit. */
  #inSnapshot<T>(read: () => T): T {
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }

  #page<Item>(
    { text, values }: Statement,
    { q, limit }: { readonly q: string; readonly limit: number },
    itemOf: (position: ListPosition, values: ColumnValues) => Item,
  ): ListPage<Item> {
    this.#searchText = foldText(q);
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    const rows = statement.all(...values) as unknown as Row[];
    const { page, last } = cutPage(rows, limit, ([, , id]) => id !== null);
    return {
      items: page.map(([, value, id, ...item]) => itemOf({ value, id: id! }, item)),
      total: rows[0]![0],
      next: last && { value: last[1], id: last[2]! },
    };
  }

  #findActivity(agentId: string, nowMs: number): AgentActivity {
    const firstIds = [firstIdOf('events_24h', nowMs), firstIdOf('events_7d', nowMs)];
    return { ...(this.#activityOf.get(agentId, ...firstIds) as unknown as AgentActivity) };
  }
}

/** As in the index audit_by_agent. */
const AGENT = "CASE WHEN json_valid(detail) THEN coalesce(detail ->> '$.agent_id', target) ELSE target END";

/** Rows consist of total and the columns of audit. If the page is empty, a single row has only the total. */
function auditPageStatement({ after, limit, filters = {} }: AuditQuery): Statement {
  const values: (string | number)[] = [];
  const put = (value: string | number) => `?${values.push(value)}`;
  const conditions = conditionsOf(filters, put);
  const isAfter = after === undefined ? 'true' : `id < ${put(after)}`;
  // A search for text is expensive, so it runs once, for page and total.
  const text = `WITH matching AS ${filters.q === undefined ? 'NOT MATERIALIZED' : 'MATERIALIZED'} (
      SELECT audit_id AS id FROM audit ${indexFor(filters)} WHERE ${conditions.join(' AND ')}
    ),
    page AS (SELECT id FROM matching WHERE ${isAfter} ORDER BY id DESC LIMIT ${put(limit + 1)})
    SELECT total, audit.* FROM (SELECT (SELECT count(*) FROM matching) AS total)
    LEFT JOIN (page JOIN audit ON audit.audit_id = page.id) ON true ORDER BY page.id DESC`;
  return { text, values };
}

/** Without ANALYZE, SQLite would choose by rules of thumb. */
function indexFor({ q, agentId, ...others }: AuditFilters): string {
  if (agentId !== undefined) return 'INDEXED BY audit_by_agent';
  const isOnlyText = q !== undefined && Object.values(others).every((value) => value === undefined);
  return isOnlyText ? 'NOT INDEXED' : 'INDEXED BY audit_filters';
}

function conditionsOf(filters: AuditFilters, put: (value: string | number) => string): string[] {
  const { actor, action, agentId, fromMs, beforeMs, q } = filters;
  const conditions = ['true'];
  if (agentId !== undefined) {
    const agent = put(agentId);
    // The target of deletes of several agents' events is empty; their detail has the IDs of the agents.
    conditions.push(
      `${AGENT} IN (${agent}, '') AND (${AGENT} = ${agent} OR instr(detail, '"' || ${agent} || '"') > 0)`,
    );
  }
  if (action !== undefined) conditions.push(`action = ${put(action)}`);
  if (fromMs !== undefined) conditions.push(`at_ms >= ${put(fromMs)}`);
  if (beforeMs !== undefined) conditions.push(`at_ms < ${put(beforeMs)}`);
  if (actor !== undefined)
    conditions.push(`(actor_subject = ${put(actor.subject)} OR lower(actor_email) = ${put(actor.email)})`);
  if (q !== undefined) {
    const texts = ['target_name', 'target', 'actor_email', ...(CAN_BE_ID.test(q) ? ['detail'] : [])];
    conditions.push(`(${isFound(texts, q, put)} OR ${isFoundInTitles(q, put)})`);
  }
  return conditions;
}

/** Titles are a JSON list. A look at the whole text rules most entries out. */
function isFoundInTitles(q: string, put: (value: string) => string): string {
  const isInOne = `EXISTS (SELECT 1 FROM json_each(titles) AS title WHERE ${isFound(['title.value'], q, put)})`;
  const mayHave = ESCAPED_IN_JSON.test(q) ? 'titles IS NOT NULL' : isFound(["coalesce(titles, '')"], q, put);
  return `CASE WHEN ${mayHave} THEN ${isInOne} ELSE false END`;
}
