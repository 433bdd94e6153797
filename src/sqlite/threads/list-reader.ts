// Reads lists for administrators and of own events. Runs on its own thread: a search or sort reads all agents, or all events
// of one agent.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Created } from '../../domain/administration/activity.ts';
import type { AuditRecord } from '../../domain/administration/audit.ts';
import {
  type AgentListQuery,
  type AuditQuery,
  type EventListQuery,
  foldText,
} from '../../domain/administration/list.ts';
import type { ListPosition } from '../../domain/administration/list-cursor.ts';
import { type AgentRequests, NO_REQUESTS } from '../../domain/administration/recent-requests.ts';
import { cutPage } from '../../domain/page-rows.ts';
import type { ListedEvent, ListPage, Stats } from '../../domain/store.ts';
import { toWire } from '../../domain/wire.ts';
import { type AgentColumns, agentOf, type ColumnValues } from '../columns.ts';
import { ActivityReader } from './activity-reader.ts';
import { auditPageStatement } from './audit-statement.ts';
import {
  agentPageStatement,
  eventPageStatement,
  orderedPageStatement,
  type Statement,
} from './list-statements.ts';
import type { Batches, CallOf, Outcome } from './rpc-server.ts';

type AgentStats = Pick<Stats, 'agents' | 'agents_active_today'>;

export interface ListReaderCalls {
  ping(): void;
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

export class ListReader implements Batches<ListReaderCalls> {
  readonly #database: DatabaseSync;
  readonly #calls: ListReaderCalls;
  readonly #findOrdered: StatementSync;
  readonly #activity: ActivityReader;
  /** Search text of the current list, folded. */
  #searchText = '';
  /** For the current list. */
  #requests: ReadonlyMap<string, AgentRequests> = new Map();

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    this.#database.function('fold', { deterministic: true }, (text) => foldText(text as string));
    this.#database.function('is_found', { varargs: true }, (...texts) =>
      Number(texts.some((text) => text !== null && foldText(text as string).includes(this.#searchText))),
    );
    this.#database.function('requests_of', (agentId, count) => {
      const found = this.#requests.get(agentId as string);
      return found?.[count as keyof AgentRequests] ?? 0;
    });
    // While events are being removed, the table still has them.
    this.#findOrdered = this.#database.prepare(
      `SELECT 1 FROM event_order WHERE agent_id = ?1
       AND NOT EXISTS (SELECT 1 FROM removals WHERE agent_id = ?1) LIMIT 1`,
    );
    this.#activity = new ActivityReader(this.#database);
    this.#calls = {
      ping() {},
      agentPage: (query, nowMs, requests = new Map()) =>
        this.#inSnapshot(() => {
          this.#requests = requests;
          const page = ActivityReader.canSort(query)
            ? this.#activity.page(query, nowMs)
            : this.#page(agentPageStatement(query, nowMs), query, (_position, item) => agentOf(item));
          if (!query.activity && !query.requests) return page;
          const items = page.items.map((agent) => ({
            ...(query.activity ? this.#activity.addTo(agent, nowMs) : agent),
            ...(query.requests && { requests: requests.get(agent.agent_id) ?? NO_REQUESTS }),
          }));
          return { ...page, items };
        }),
      agentEventPage: (agentId, query, nowMs) =>
        this.#inSnapshot(() => {
          const isByStart = query.q === '' && query.sort.key === 'start_at';
          const isOrdered = isByStart && this.#findOrdered.get(agentId) !== undefined;
          const statement = (isOrdered ? orderedPageStatement : eventPageStatement)(agentId, query, nowMs);
          return this.#page(statement, query, (position, [json, version, updatedMs]) => ({
            json: toWire(json as string),
            version: version as number,
            updatedMs: updatedMs as number,
            position,
          }));
        }),
      auditPage: (query) => this.#auditPage(query),
      countAgents: (usedFromMs) => this.#countAgents(usedFromMs),
      countCreated: (fromMs) => this.#inSnapshot(() => this.#activity.countCreated(fromMs)),
    };
  }

  /** Each statement reads the latest commit. */
  run(batch: readonly CallOf<ListReaderCalls>[]): Outcome[] {
    return batch.map(({ name, args }) => {
      const method = this.#calls[name] as (...args: readonly unknown[]) => unknown;
      return { value: method(...args) };
    });
  }

  close(): void {
    this.#database.close();
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

  #auditPage(query: AuditQuery): ListPage<AuditRecord, number> {
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

  #countAgents(usedFromMs: number): AgentStats {
    const sql = `SELECT count(*) AS agents,
      count(*) FILTER (WHERE last_used_ms >= ?) AS agents_active_today FROM stored_agents`;
    return this.#database.prepare(sql).get(usedFromMs) as unknown as AgentStats;
  }
}
