// Time of the last request of each agent, or with each key: collected in memory, and written to the database every few seconds.
import type { AgentRecord } from '../domain/agent.ts';
import type { Statements } from './client/database.ts';

/** Half of the 10 seconds to which last uses must be accurate. */
const WRITE_INTERVAL_MS = 5_000;

export class LastUses {
  readonly #database: Statements;
  readonly #timer: NodeJS.Timeout;
  readonly #statement: string;
  /** Not yet written, or being written. */
  readonly #used = new Map<string, number>();
  /** The last batch written. A read that runs now may have seen the rows before that write. */
  #written: ReadonlyMap<string, number> = new Map();
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Statements, table: 'agents' | 'keys' = 'agents') {
    this.#database = database;
    this.#statement = statementFor(table);
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  note(id: string, nowMs: number): void {
    this.#used.set(id, nowMs);
  }

  /** The last use, even if it was not yet written when `storedMs` was read. */
  latest(id: string, storedMs: number | null): number | null {
    const usedMs = this.#used.get(id) ?? this.#written.get(id);
    return usedMs === undefined || usedMs < (storedMs ?? 0) ? storedMs : usedMs;
  }

  /** The agent with its last use. */
  apply(agent: AgentRecord): AgentRecord {
    return { ...agent, last_used_ms: this.latest(agent.agent_id, agent.last_used_ms) };
  }

  forget(id: string): void {
    this.#used.delete(id);
  }

  async close(statements: Statements): Promise<void> {
    clearInterval(this.#timer);
    await this.write(statements);
  }

  /** Writes run one after the other, so that #written is the latest. After a failure, the next write retries. */
  write(statements: Statements = this.#database): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeAll(statements)).catch(() => {});
    return this.#writing;
  }

  async #writeAll(statements: Statements): Promise<void> {
    if (this.#used.size === 0) return;
    const noted = [...this.#used];
    const rows = JSON.stringify(noted.map(([id, used_ms]) => ({ id, used_ms })));
    const found = await statements.run('repeatable write', (sql) =>
      sql.unsafe<{ id: string; is_done: boolean }[]>(this.#statement, [rows], { prepare: true }),
    );
    const isDone = new Map(found.map(({ id, is_done }) => [id, is_done]));
    this.#written = new Map(noted.filter(([id]) => isDone.get(id)));
    // What no longer exists is dropped.
    for (const [id, usedMs] of noted) {
      if (isDone.get(id) !== false && this.#used.get(id) === usedMs) this.#used.delete(id);
    }
  }
}

/** Rows locked by another transaction are skipped until the next time: waiting for one would delay all others. */
function statementFor(table: 'agents' | 'keys'): string {
  const [id, type] = table === 'agents' ? ['agent_id', 'uuid'] : ['key_hash', 'text COLLATE "C"'];
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
