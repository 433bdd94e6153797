// Requests of agents in the last hour, of all nodes together: each node counts its own, and adds them to a table every few seconds. Also
// writes the last uses of agents, keys and grants.
import { RecentRequests, stepsOfHour } from '../domain/administration/recent-requests.ts';
import { DAY_MS } from '../domain/clock-and-random.ts';
import type { LastUses } from '../memory/last-uses.ts';
import type { Statements } from './client/database.ts';

const WRITE_INTERVAL_MS = 5_000;

export class RequestCounts {
  readonly #database: Statements;
  readonly #timer: NodeJS.Timeout;
  /** Not yet written. */
  readonly #noted = new RecentRequests();
  #nowMs = 0;
  /** The step for which older ones were removed. */
  #cleanedStep: number | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Statements) {
    this.#database = database;
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  note(agentId: string, nowMs: number): void {
    this.#nowMs = nowMs;
    this.#noted.note(agentId, nowMs);
  }

  noteRefusal(agentId: string, nowMs: number): void {
    this.#noted.noteRefusal(agentId, nowMs);
  }

  async close(statements: Statements): Promise<void> {
    clearInterval(this.#timer);
    await this.write(statements);
  }

  /** Writes run one after the other. After a failure, the next one tries again. */
  write(statements: Statements = this.#database): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeAll(statements)).catch(() => {});
    return this.#writing;
  }

  async #writeAll(statements: Statements): Promise<void> {
    const taken = this.#noted.take();
    if (taken.length === 0) return;
    try {
      await statements.run('once', (sql) => sql.unsafe(ADD, [JSON.stringify(taken)], { prepare: true }));
    } catch (error) {
      this.#noted.putBack(taken);
      throw error;
    }
    const { first, last } = stepsOfHour(this.#nowMs);
    if (last === this.#cleanedStep) return;
    // Also what a node wrote whose clock was far ahead.
    await statements.run(
      'repeatable write',
      (sql) => sql`DELETE FROM agent_requests WHERE step_ms < ${first} OR step_ms > ${last + DAY_MS}`,
    );
    this.#cleanedStep = last;
  }
}

/** In the order of the key, so that nodes wait for each other but cannot block each other. */
const ADD = `INSERT INTO agent_requests (step_ms, agent_id, requests, refusals)
  SELECT step_ms, agent_id, requests, refusals
  FROM json_to_recordset($1::text::json) AS sent (step_ms bigint, agent_id uuid, requests integer, refusals integer)
  ORDER BY step_ms, agent_id
  ON CONFLICT (step_ms, agent_id) DO UPDATE
  SET requests = agent_requests.requests + excluded.requests, refusals = agent_requests.refusals + excluded.refusals`;

/** Selects agent_id, requests_1h and refusals_1h of agents that made requests. */
export function selectRequests(nowMs: number, put: (value: number, type: string) => string): string {
  const { first, last } = stepsOfHour(nowMs);
  return `SELECT agent_id, sum(requests) AS requests_1h, sum(refusals) AS refusals_1h FROM agent_requests
    WHERE step_ms BETWEEN ${put(first, 'bigint')} AND ${put(last, 'bigint')} GROUP BY agent_id`;
}

type Write = ConstructorParameters<typeof LastUses<Statements>>[0];

/** Tables with `last_used_ms`, and their IDs. */
const ID_COLUMNS = {
  agents: ['agent_id', 'uuid'],
  keys: ['key_hash', 'text COLLATE "C"'],
  grants: ['grant_id', 'uuid'],
} as const;

type UsedTable = keyof typeof ID_COLUMNS;

/** Rows that no longer exist count as written. */
export function writerOf(database: Statements, table: UsedTable): Write {
  const statement = statementFor(table);
  return async (used, statements = database) => {
    const rows = JSON.stringify([...used].map(([id, used_ms]) => ({ id, used_ms })));
    const found = await statements.run('repeatable write', (sql) =>
      sql.unsafe<{ id: string; is_done: boolean }[]>(statement, [rows], { prepare: true }),
    );
    return new Set(found.filter(({ is_done }) => !is_done).map(({ id }) => id));
  };
}

/** Rows locked by another transaction are skipped until the next time: waiting for one would delay all others. */
function statementFor(table: UsedTable): string {
  const [id, type] = ID_COLUMNS[table];
  return `WITH sent AS (
      SELECT ${id}, used_ms FROM json_to_recordset($1::text::json) AS sent (id ${type}, used_ms bigint) JOIN ${table} ON ${id} = id
    ),
    free AS (
      SELECT ${id}, used_ms FROM ${table} JOIN sent USING (${id}) ORDER BY ${id} FOR NO KEY UPDATE OF ${table} SKIP LOCKED
    ),
    done AS (
      UPDATE ${table} SET last_used_ms = greatest(${table}.last_used_ms, used_ms) FROM free
      WHERE ${table}.${id} = free.${id} RETURNING ${table}.${id}
    )
    SELECT ${id} AS id, ${id} IN (SELECT ${id} FROM done) AS is_done FROM sent`;
}
