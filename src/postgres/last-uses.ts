// Time of each agent's last request: collected in memory, and written to the database every few seconds.
import type { AgentRecord } from '../domain/agent.ts';
import type { Statements } from './client/database.ts';

/** Half of the 10 seconds to which last uses must be accurate. */
const WRITE_INTERVAL_MS = 5_000;

export class LastUses {
  readonly #database: Statements;
  readonly #timer: NodeJS.Timeout;
  /** Not yet written, or being written. */
  readonly #used = new Map<string, number>();
  /** The last batch written. A read that runs now may have seen the rows before that write. */
  #written: ReadonlyMap<string, number> = new Map();
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Statements) {
    this.#database = database;
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  note(agentId: string, nowMs: number): void {
    this.#used.set(agentId, nowMs);
  }

  /** The agent with its last use, even if that was not yet written when the agent was read. */
  apply(agent: AgentRecord): AgentRecord {
    const usedMs = this.#used.get(agent.agent_id) ?? this.#written.get(agent.agent_id);
    if (usedMs === undefined || usedMs < (agent.last_used_ms ?? 0)) return agent;
    return { ...agent, last_used_ms: usedMs };
  }

  forget(agentId: string): void {
    this.#used.delete(agentId);
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
    const rows = JSON.stringify(noted.map(([agent_id, used_ms]) => ({ agent_id, used_ms })));
    // Agents locked by another transaction are skipped until the next time: waiting for one would delay all others.
    const done = await statements.run(
      'repeatable',
      (sql) => sql<{ agent_id: string }[]>`
        UPDATE agents SET last_used_ms = greatest(agents.last_used_ms, used.used_ms)
        FROM (
          SELECT agents.agent_id, used_ms FROM json_to_recordset(${rows}::text::json) AS sent (agent_id uuid, used_ms bigint)
          JOIN agents USING (agent_id) ORDER BY agents.agent_id FOR NO KEY UPDATE OF agents SKIP LOCKED
        ) AS used
        WHERE agents.agent_id = used.agent_id RETURNING agents.agent_id`,
    );
    const changed = new Set(done.map(({ agent_id }) => agent_id));
    this.#written = new Map(noted.filter(([agentId]) => changed.has(agentId)));
    for (const [agentId, usedMs] of this.#written) {
      if (this.#used.get(agentId) === usedMs) this.#used.delete(agentId);
    }
  }
}
