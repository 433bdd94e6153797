// The table event_order, which makes lists of agents with many events fast: adds agents and new events. Either all events of
// an agent are in it, or none; without it, a list reads all events. Triggers of the schema follow changes and deletes.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ASSUMED_DURATION_MS } from '../domain/event.ts';
import { type ColumnValues, orderOf } from './columns.ts';

/** Agents with this many events are added. An index of all events would make every create slower, by 8 %. */
export const MANY_EVENTS = 2_000;

/** Agents that are known to have few events; above this, all are forgotten. */
const MAX_KNOWN = 10_000;

const endsMs = (start: string, end: string) => `coalesce(${end}, ${start} + ${ASSUMED_DURATION_MS})`;
const INSERT = `INSERT INTO event_order SELECT agent_id, start_ms, event_id, ${endsMs('start_ms', 'end_ms')} FROM events`;

export class EventOrder {
  readonly #findAgent: StatementSync;
  readonly #addAgent: StatementSync;
  readonly #addEvent: StatementSync;
  readonly #removeAgent: StatementSync;
  /** Agents that are not in the table. Only `add` adds agents, so that it need not look for these again. */
  readonly #absent = new Set<string>();

  constructor(database: DatabaseSync) {
    this.#findAgent = database.prepare('SELECT 1 FROM event_order WHERE agent_id = ? LIMIT 1');
    this.#addAgent = database.prepare(`${INSERT} WHERE agent_id = ?`);
    this.#addEvent = database.prepare(`INSERT INTO event_order VALUES (?1, ?2, ?3, ${endsMs('?2', '?4')})`);
    this.#removeAgent = database.prepare('DELETE FROM event_order WHERE agent_id = ?');
  }

  /** To be called for every new event; `count` is the number of the agent's events with it. */
  add(event: ColumnValues, count: number): void {
    const order = orderOf(event);
    const [agentId] = order;
    if (count < MANY_EVENTS && this.#absent.has(agentId)) return;
    if (this.#findAgent.get(agentId)) this.#addEvent.run(...order);
    else if (count >= MANY_EVENTS) {
      this.#absent.delete(agentId);
      this.#addAgent.run(agentId);
    } else {
      if (this.#absent.size === MAX_KNOWN) this.#absent.clear();
      this.#absent.add(agentId);
    }
  }

  /** For bulk writes, which are faster without the table. The next start or create adds the agent again. */
  removeAgent(agentId: string): void {
    this.#removeAgent.run(agentId);
  }
}

/** Adds the agents that are missing, after an import, a move, or an upgrade from a version without the table. */
export function orderEvents(database: DatabaseSync): void {
  const missing = `SELECT agent_id FROM agents WHERE event_count >= ${MANY_EVENTS}
    AND NOT EXISTS (SELECT 1 FROM event_order WHERE event_order.agent_id = agents.agent_id)`;
  if (!database.prepare(missing).get()) return;
  // The plus sign makes SQLite read the events in file order.
  database.exec(`${INSERT} WHERE +agent_id IN (${missing}) ORDER BY agent_id, start_ms, event_id`);
}
