// The table event_order, which makes lists of agents with many events fast: adds agents and new events. Either all events of
// an agent are in it, or none; without it, a list reads all events. Triggers of the schema follow changes and deletes.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ASSUMED_DURATION_MS } from '../domain/events/event.ts';
import { type ColumnValues, orderOf } from './columns.ts';

/** Agents with this many events are added. An index of all events would make every create slower, by 8 %. */
export const MANY_EVENTS = 2_000;

/** Twice what an event takes in the table and its index (190 bytes, more if ends are in another order): first it is in the write-ahead log. */
const BYTES_PER_EVENT = 500;
/** What a start needs besides. */
const SPARE_BYTES = 2_097_152;
const SQLITE_FULL = 13;

/** An agent without its place in the table that has more events than this waits for the next start: adding it takes long. */
const MAX_ADDED = 2 * MANY_EVENTS;

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
    if ((count < MANY_EVENTS || count > MAX_ADDED) && this.#absent.has(agentId)) return;
    if (this.#findAgent.get(agentId)) this.#addEvent.run(...order);
    else if (count >= MANY_EVENTS && count <= MAX_ADDED) {
      this.#absent.delete(agentId);
      this.#addAgent.run(agentId);
    } else {
      if (this.#absent.size === MAX_KNOWN) this.#absent.clear();
      this.#absent.add(agentId);
    }
  }

  /** For bulk writes, which are faster without the table. The end of an import, or the next start, adds the agent again. */
  removeAgent(agentId: string): void {
    this.#removeAgent.run(agentId);
  }
}

const MISSING = `FROM agents WHERE event_count >= ${MANY_EVENTS}
  AND NOT EXISTS (SELECT 1 FROM event_order WHERE event_order.agent_id = agents.agent_id)`;

/**
 * Adds the agents that are missing, after an import or a move. Without enough room on the disk it adds none.
 */
export function orderEvents(database: DatabaseSync, freeBytes: number): void {
  const { count } = database.prepare(`SELECT coalesce(sum(event_count), 0) AS count ${MISSING}`).get() as {
    count: number;
  };
  if (count === 0 || roomToOrder(count) + SPARE_BYTES > freeBytes) return;
  // The plus sign makes SQLite read the events in file order.
  database.exec(
    `${INSERT} WHERE +agent_id IN (SELECT agent_id ${MISSING}) ORDER BY agent_id, start_ms, event_id`,
  );
}

/** The same at a start, which does not fail if the disk is full all the same. */
export function orderEventsAtStart(database: DatabaseSync, freeBytes: number): void {
  try {
    orderEvents(database, freeBytes);
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_FULL) throw error;
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
}

/** Bytes that the disk needs to add agents with this many events. */
export function roomToOrder(events: number): number {
  return events >= MANY_EVENTS ? events * BYTES_PER_EVENT : 0;
}
