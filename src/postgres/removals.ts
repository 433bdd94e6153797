// Removal of ended events and unused agents, in slices: one small transaction each, so that other writes run in between. An
// advisory lock lets one node at a time do it. What is removed is copied for an undo if the entry says so.
import type { AuditEntry } from '../domain/administration/audit.ts';
import { type BulkDeleted, ROWS_PER_SLICE } from '../domain/store.ts';
import { deleteEvents } from './admin.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { keepAccess } from './kept-access.ts';
import { DELETED_AGENT_COLUMNS } from './list-statements.ts';

/** Number of our advisory lock. */
const LOCK = 7_305_914_227;

interface Ended {
  readonly event_id: string;
  readonly start_ms: number;
}

/**
 * Who may run at the same time: everything but removals of other nodes, which find the advisory lock taken and stop.
 * Why it is right: the IDs of a slice are read before its transaction, so an event may have changed since then. `deleteEvents` tests the end
 * again, on rows that it has locked: an event that was moved to a later time stays.
 * Rejected: one transaction for all. Whoever changes one of these events would wait for all of them, and every node would have to
 * follow one large delete.
 */
export async function* removeEnded(
  database: Database,
  endedByMs: number,
  audit: AuditEntry,
  into: number | undefined,
): AsyncGenerator<BulkDeleted> {
  let entry = into;
  let after: Pick<Ended, 'start_ms' | 'event_id'> = { start_ms: Number.MIN_SAFE_INTEGER, event_id: '' };
  for (;;) {
    // Reads the index by start, from where the last slice ended: an event that has ended has started, too.
    const { start_ms, event_id } = after;
    const ended: Ended[] = await database.run(
      'repeatable',
      (sql) => sql<Ended[]>`
        SELECT event_id, start_ms FROM events
        WHERE (start_ms, event_id) > (${start_ms}, ${event_id}) AND start_ms <= ${endedByMs} AND ends_ms <= ${endedByMs}
        ORDER BY start_ms, event_id LIMIT ${ROWS_PER_SLICE}`,
    );
    const last = ended.at(-1);
    if (!last) return;
    const ids = ended.map((event) => event.event_id);
    const removed = await database.transaction('repeatable', async (sql) => {
      if (!(await takeRemovalLock(sql))) return undefined;
      const outcome = await deleteEvents(sql, ids, audit, { into: entry, endedByMs });
      // Nothing may be added to the entry: it is too old, or was undone in part. This writes a new one.
      if (outcome === 'wrong-entry')
        return (await deleteEvents(sql, ids, audit, { endedByMs })) as BulkDeleted;
      return outcome as BulkDeleted;
    });
    if (removed === undefined) return; // another node removes events
    entry = removed.audit_id ?? undefined;
    yield removed;
    after = last;
  }
}

export async function* removeUnusedAgents(
  database: Database,
  registeredByMs: number,
  audit: AuditEntry,
): AsyncGenerator<number> {
  for (let count = ROWS_PER_SLICE; count === ROWS_PER_SLICE; ) {
    const removed = await database.transaction('repeatable', async (sql) =>
      (await takeRemovalLock(sql)) ? removeUnusedSlice(sql, registeredByMs, audit) : undefined,
    );
    if (removed === undefined) return;
    count = removed;
    yield count;
  }
}

/**
 * Removes a slice of the agents, and returns their number.
 *
 * Who may run at the same time: everything but removals of other nodes, which find the advisory lock taken.
 * Why it is right: the agents' rows are locked, and their conditions tested on the newest version. An agent whose row somebody else has
 * locked is about to be used, so it is skipped and not waited for. Once a row is locked, the agent gets nothing new: a create or a new key
 * waits for the row, and then finds no agent. A last use that a node has not written yet is missed; it is at most 10 seconds old.
 */
async function removeUnusedSlice(
  sql: Sql,
  registeredByMs: number,
  { at_ms, actor_subject, actor_email, action, detail, undo }: AuditEntry,
): Promise<number> {
  const isUndoable = undo === 'kept';
  // Skips agents whose deleted events can come back, for which an event is being created, or whose last use is being written.
  const unused = await sql<{ agent_id: string }[]>`
    SELECT agent_id FROM agents WHERE last_used_ms IS NULL AND event_count = 0 AND created_ms <= ${registeredByMs}
      AND NOT EXISTS (SELECT 1 FROM deleted_events WHERE deleted_events.agent_id = agents.agent_id)
    ORDER BY created_ms LIMIT ${ROWS_PER_SLICE} FOR UPDATE SKIP LOCKED`;
  if (unused.length === 0) return 0;
  const ids = JSON.stringify(unused.map(({ agent_id }) => agent_id));
  const isListed = sql`agent_id IN (SELECT value::uuid FROM json_array_elements_text(${ids}::text::json) AS value)`;
  const entries = await sql<{ audit_id: number; agent_id: string }[]>`
    INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, target_name, detail, count, undo)
    SELECT ${at_ms}::bigint, ${actor_subject}, ${actor_email}, ${action}, agent_id::text, CASE WHEN ${isUndoable} THEN agent_name ELSE '' END,
      ${detail}, 0, ${undo ?? null}
    FROM agents WHERE ${isListed} RETURNING audit_id, target AS agent_id`;
  if (isUndoable) {
    await sql`
      INSERT INTO deleted_agents (audit_id, ${sql.unsafe(DELETED_AGENT_COLUMNS)})
      SELECT audit_id, ${sql.unsafe(DELETED_AGENT_COLUMNS)}
      FROM agents JOIN json_to_recordset(${JSON.stringify(entries)}::text::json) AS entries (audit_id bigint, agent_id uuid)
        USING (agent_id)`;
    await keepAccess(sql, entries);
  }
  await sql`DELETE FROM agents WHERE ${isListed}`;
  return unused.length;
}

/** Takes the lock until the end of the transaction. False if another node has it. */
export async function takeRemovalLock(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ is_taken: boolean }]>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS is_taken`;
  return row.is_taken;
}
