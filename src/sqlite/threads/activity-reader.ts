// Reads what was created lately. IDs of events begin with the time, so their index has them in order of creation. Runs on the
// thread of lists. Events that are being removed do not count.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type AgentActivity,
  type Created,
  firstIdOf,
  isWindow,
} from '../../domain/administration/activity.ts';
import type { AgentListQuery, AgentSort } from '../../domain/administration/list.ts';
import { firstUlidAt } from '../../domain/ids.ts';
import { cutPage } from '../../domain/page-rows.ts';
import type { ListPage } from '../../domain/store.ts';
import { AGENT_COLUMNS, type AgentColumns, agentOf, type ColumnValues } from '../columns.ts';

/**
 * New events up to which it is faster to read these than the index events_by_agent, which has all events: both take about
 * 60 ms with a million events, of which this many are new.
 */
const FEW = 30_000;

/** Sorts after every ID. */
const LAST_ID = 'Z';

/** Whether an event of the agent is stored. As the view stored_events, whose reader cannot choose an index. */
export function isStoredOf(agentId: string): string {
  return `row_id > coalesce((SELECT max(up_to_row) FROM removals WHERE removals.agent_id = ${agentId}), 0)`;
}

/** The agent's new events, from the index events_by_agent, which has the agent, the ID and the row. */
function createdBy(agentId: string, firstId: string): string {
  return `events INDEXED BY events_by_agent WHERE agent_id = ${agentId} AND event_id >= ${firstId} AND ${isStoredOf(agentId)}`;
}

/** Statement that counts the agent's events from this ID on. */
export function countCreatedBy(agentId: string, firstId: string): string {
  return `SELECT count(*) FROM ${createdBy(agentId, firstId)}`;
}

const IDLE_AGENTS = `SELECT agent_id, 0 AS value FROM stored_agents
  WHERE NOT EXISTS (SELECT 1 FROM ${createdBy('stored_agents.agent_id', '?1')})`;

/** A list without a search, by activity. */
type ActivityQuery = AgentListQuery & { readonly sort: { readonly key: keyof AgentActivity } };

type Row = [value: number, ...agent: ColumnValues];

export class ActivityReader {
  readonly #database: DatabaseSync;
  readonly #countOfAgent: StatementSync;
  readonly #countEvents: StatementSync;
  readonly #countAgents: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    const [day, week] = [countCreatedBy('?1', '?2'), countCreatedBy('?1', '?3')];
    this.#countOfAgent = database.prepare(`SELECT (${day}) AS events_24h, (${week}) AS events_7d`);
    // Those that are being removed are subtracted: there are few or none.
    this.#countEvents = database.prepare(
      `SELECT (SELECT count(*) FROM events WHERE event_id >= ?1 AND event_id < ?2) - (
        SELECT count(*) FROM (SELECT agent_id, max(up_to_row) AS up_to_row FROM removals GROUP BY agent_id) AS removed
        CROSS JOIN events INDEXED BY events_by_agent ON events.agent_id = removed.agent_id
        WHERE event_id >= ?1 AND event_id < ?2 AND row_id <= up_to_row) AS events`,
    );
    this.#countAgents = database.prepare(
      'SELECT count(*) AS agents FROM stored_agents WHERE created_ms >= ? AND created_ms < ?',
    );
  }

  static canSort(query: AgentListQuery): query is ActivityQuery {
    return query.q === '' && isWindow(query.sort.key satisfies AgentSort);
  }

  /**
   * A page by activity. Agents with new events and the others are read apart, the latter in the order of their IDs, and only as
   * many as the page needs. To call in a snapshot.
   */
  page({ sort, after, limit }: ActivityQuery, nowMs: number): ListPage<AgentColumns> {
    const firstId = firstIdOf(sort.key, nowMs);
    const [direction, isAfter] = sort.descending ? ['DESC', '<'] : ['ASC', '>'];
    const rows: Row[] = [];
    const add = (source: string, columns: string, position: readonly (string | number)[]) => {
      if (rows.length > limit) return;
      const condition =
        position.length > 0 ? `WHERE (${columns}) ${isAfter} (${position.map(() => '?').join()})` : '';
      const order = columns.replaceAll(/\w+/g, `$& ${direction}`);
      const statement = this.#database.prepare(
        `SELECT value, ${AGENT_COLUMNS} FROM (
          SELECT agent_id AS id, value FROM (${source}) ${condition} ORDER BY ${order} LIMIT ?
        ) JOIN agents ON agent_id = id ORDER BY value ${direction}, id ${direction}`,
      );
      statement.setReturnArrays(true);
      rows.push(...(statement.all(firstId, ...position, limit + 1 - rows.length) as unknown as Row[]));
    };
    const addActive = () =>
      add(this.#activeAgents(firstId), 'value, agent_id', after ? [after.value, after.id] : []);
    const addIdle = () => {
      if (after?.value === 0) add(IDLE_AGENTS, 'agent_id', [after.id]);
      else if (!after || sort.descending) add(IDLE_AGENTS, 'agent_id', []);
    };
    if (!sort.descending) addIdle();
    addActive();
    if (sort.descending) addIdle();
    const { agents } = this.#countAgents.get(0, Number.MAX_SAFE_INTEGER) as { agents: number };
    const { page, last } = cutPage(rows, limit);
    return {
      items: page.map(([, ...agent]) => agentOf(agent)),
      total: agents,
      next: last && { value: last[0], id: last[1] as string },
    };
  }

  addTo(agent: AgentColumns, nowMs: number): AgentColumns {
    const firstIds = [firstIdOf('events_24h', nowMs), firstIdOf('events_7d', nowMs)];
    const counts = this.#countOfAgent.get(agent.agent_id, ...firstIds) as unknown as AgentActivity;
    return { ...agent, activity: { ...counts } };
  }

  /** To call in a snapshot. */
  countCreated(fromMs: readonly number[]): Created[] {
    return fromMs.map((from, at) => {
      const to = fromMs[at + 1];
      const lastId = to === undefined ? LAST_ID : firstUlidAt(to);
      const { events } = this.#countEvents.get(firstUlidAt(from), lastId) as { events: number };
      const { agents } = this.#countAgents.get(from, to ?? Number.MAX_SAFE_INTEGER) as { agents: number };
      return { events, agents };
    });
  }

  /** Selects agents with new events, and how many. */
  #activeAgents(firstId: string): string {
    const found = (sql: string, ...values: string[]) =>
      this.#database.prepare(sql).get(...values) !== undefined;
    const hasMany = found(`SELECT 1 FROM events WHERE event_id >= ? LIMIT 1 OFFSET ${FEW}`, firstId);
    const index = hasMany ? 'events_by_agent' : 'sqlite_autoindex_events_1';
    // The condition costs as much as the rest; it is needed only while something is being removed.
    const isStored = found('SELECT 1 FROM removals LIMIT 1') ? isStoredOf('events.agent_id') : 'true';
    return `SELECT agent_id, count(*) AS value FROM events INDEXED BY ${index}
      WHERE event_id >= ?1 AND ${isStored} GROUP BY agent_id`;
  }
}
