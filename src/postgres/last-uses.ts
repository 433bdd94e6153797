// The last use of each agent, written together every few seconds; the same timer clears away quotas that are over.
import type { AgentRecord } from '../domain/agent.ts';
import type { Database } from './database.ts';
import type { QuotaLeases } from './quota-leases.ts';

/** Half of what last uses may be inexact. */
const WRITE_INTERVAL_MS = 5_000;

/** Of the time that requests bring with them. */
const CLEAN_INTERVAL_MS = 600_000;

export class LastUses {
  readonly #database: Database;
  readonly #quotas: QuotaLeases;
  readonly #timer: NodeJS.Timeout;
  /** Not written yet, or being written. */
  readonly #used = new Map<string, number>();
  /** What was written last: an agent that is being read now may have been read before that. */
  #written: ReadonlyMap<string, number> = new Map();
  #writing: Promise<void> = Promise.resolve();
  #cleanedMs = Number.NEGATIVE_INFINITY;
  #seenMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database, quotas: QuotaLeases) {
    this.#database = database;
    this.#quotas = quotas;
    this.#timer = setInterval(() => void this.#write().catch(() => {}), WRITE_INTERVAL_MS).unref();
  }

  note(agentId: string, nowMs: number): void {
    this.#used.set(agentId, nowMs);
    this.#seenMs = nowMs;
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

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write().catch(() => {});
  }

  /** One after the other, so that the last written are the latest. */
  #write(): Promise<void> {
    const write = () => this.#writeAll();
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    if (this.#used.size === 0) return;
    const written = [...this.#used];
    const rows = JSON.stringify(written.map(([agent_id, used_ms]) => ({ agent_id, used_ms })));
    // Locked in the order of identifiers, so that two nodes never wait for each other.
    await this.#database.run(
      'repeatable',
      (sql) => sql`
        UPDATE agents SET last_used_ms = greatest(agents.last_used_ms, used.used_ms)
        FROM (
          SELECT agents.agent_id, used_ms FROM json_to_recordset(${rows}::text::json) AS sent (agent_id uuid, used_ms bigint)
          JOIN agents USING (agent_id) ORDER BY agents.agent_id FOR NO KEY UPDATE OF agents
        ) AS used
        WHERE agents.agent_id = used.agent_id`,
    );
    this.#written = new Map(written);
    for (const [agentId, usedMs] of written) {
      if (this.#used.get(agentId) === usedMs) this.#used.delete(agentId);
    }
    if (this.#seenMs - this.#cleanedMs < CLEAN_INTERVAL_MS) return;
    this.#cleanedMs = this.#seenMs;
    await this.#quotas.forget(this.#seenMs);
  }
}
