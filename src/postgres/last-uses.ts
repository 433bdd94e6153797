// The last use of each agent, written together every few seconds.
import type { AgentRecord } from '../domain/agent.ts';
import type { Statements } from './client/database.ts';

/** Half of what last uses may be inexact. */
const WRITE_INTERVAL_MS = 5_000;

export class LastUses {
  readonly #database: Statements;
  readonly #timer: NodeJS.Timeout;
  /** Not written yet, or being written. */
  readonly #used = new Map<string, number>();
  /** What was written last: an agent that is being read now may have been read before that. */
  #written: ReadonlyMap<string, number> = new Map();
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Statements) {
    this.#database = database;
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  note(agentId: string, nowMs: number): void {
    this.#used.set(agentId, nowMs);
  }

  /** The agent with what was not written yet when it was read. */
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

  /** One after the other, so that the last written are the latest. What cannot be written is written the next time. */
  write(statements: Statements = this.#database): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeAll(statements)).catch(() => {});
    return this.#writing;
  }

  async #writeAll(statements: Statements): Promise<void> {
    if (this.#used.size === 0) return;
    const noted = [...this.#used];
    const rows = JSON.stringify(noted.map(([agent_id, used_ms]) => ({ agent_id, used_ms })));
    // An agent that somebody else is changing is left for the next time: waiting for one would hold up all the others.
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
