// Removal of ended events and unused agents, in slices: one small transaction each, so that other writes run in between. An
// advisory lock lets one node at a time do it.
import { ROWS_PER_SLICE } from '../domain/store.ts';
import { changeCount, lockDeletes } from './admin.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';

/** Number of our advisory lock. */
const LOCK = 7_305_914_227;

interface Ended {
  readonly event_id: string;
  readonly agent_id: string;
  readonly start_ms: number;
}

export async function* removeEnded(database: Database, endedByMs: number): AsyncGenerator<number> {
  let after: Pick<Ended, 'start_ms' | 'event_id'> = { start_ms: Number.MIN_SAFE_INTEGER, event_id: '' };
  for (;;) {
    // Along the index by start, from where the last slice ended: an event that has ended has started, too.
    const { start_ms, event_id } = after;
    const ended: Ended[] = await database.run(
      'repeatable',
      (sql) => sql<Ended[]>`
        SELECT event_id, agent_id, start_ms FROM events
        WHERE (start_ms, event_id) > (${start_ms}, ${event_id}) AND start_ms <= ${endedByMs} AND ends_ms <= ${endedByMs}
        ORDER BY start_ms, event_id LIMIT ${ROWS_PER_SLICE}`,
    );
    const last = ended.at(-1);
    if (!last) return;
    for (const [agentId, events] of Map.groupBy(ended, ({ agent_id }) => agent_id)) {
      const ids = events.map((event) => event.event_id);
      const removed = await database.transaction('repeatable', (sql) =>
        removeOf(sql, agentId, ids, endedByMs),
      );
      if (removed === undefined) return;
      yield removed;
    }
    after = last;
  }
}

/** Undefined if another node is at it. */
async function removeOf(
  sql: Sql,
  agentId: string,
  eventIds: readonly string[],
  endedByMs: number,
): Promise<number | undefined> {
  if (!(await takeRemovalLock(sql))) return undefined;
  await lockDeletes(sql, agentId);
  const { count } = await sql`
    DELETE FROM events WHERE agent_id = ${agentId} AND ends_ms <= ${endedByMs}
      AND event_id IN (SELECT value FROM json_array_elements_text(${JSON.stringify(eventIds)}::text::json) AS value)`;
  if (count > 0) await changeCount(sql, agentId, count);
  return count;
}

export async function* removeUnusedAgents(
  database: Database,
  registeredByMs: number,
): AsyncGenerator<number> {
  for (let count = ROWS_PER_SLICE; count === ROWS_PER_SLICE; ) {
    const removed = await database.transaction('repeatable', async (sql) => {
      if (!(await takeRemovalLock(sql))) return undefined;
      // Skips agents whose deleted events can be restored, for which an event is being created, or whose last use is being written.
      const deleted = await sql`
        DELETE FROM agents WHERE agent_id IN (
          SELECT agent_id FROM agents WHERE last_used_ms IS NULL AND event_count = 0 AND created_ms <= ${registeredByMs}
            AND NOT EXISTS (SELECT 1 FROM deleted_events WHERE deleted_events.agent_id = agents.agent_id)
          ORDER BY created_ms LIMIT ${ROWS_PER_SLICE} FOR UPDATE SKIP LOCKED)`;
      return deleted.count;
    });
    if (removed === undefined) return;
    count = removed;
    yield count;
  }
}

/** Until the end of the transaction. False if another node has it. */
export async function takeRemovalLock(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ is_taken: boolean }]>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS is_taken`;
  return row.is_taken;
}
