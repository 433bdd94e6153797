// Undoes deletes by administrators, in steps of one transaction each, and removes what was deleted too long ago for that.
import type { AuditEntry, AuditRecord } from '../domain/administration/audit.ts';
import {
  detailOfUndo,
  EVENTS_PER_STEP,
  refusalOf,
  type SkippedEvent,
  type UndoOutcome,
  type UndoStep,
} from '../domain/administration/undo.ts';
import { textsOf, WORDS_VERSION } from '../domain/events/words.ts';
import { ROWS_PER_SLICE } from '../domain/store.ts';
import { DELETED_COLUMNS, record } from './admin.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import { lockDeletesOf } from './events.ts';
import { forgetAccess, restoreAccess } from './kept-access.ts';
import { DELETED_AGENT_COLUMNS } from './list-statements.ts';
import { takeRemovalLock } from './removals.ts';
import { tokenizer, wordsFrom, wordsText } from './words.ts';

interface DeletedRow {
  readonly event_id: string;
  readonly json: string;
}

/** Undoes one step. The caller provides the transaction. */
export async function undoDelete(
  sql: Sql,
  { auditId, deletedAfterMs, after, into }: UndoStep,
  audit: AuditEntry,
): Promise<UndoOutcome> {
  // Whoever changes the deleted rows of an entry locks the entry first.
  const [entry] = await sql<AuditRecord[]>`SELECT * FROM audit WHERE audit_id = ${auditId} FOR UPDATE`;
  const refusal = refusalOf(entry, deletedAfterMs);
  if (!entry || refusal) return { kind: refusal ?? 'no-entry' };
  const hasAgent = await undoAgent(sql, auditId);
  const deleted = await sql<DeletedRow[]>`
    SELECT event_id, json FROM deleted_events WHERE audit_id = ${auditId} AND event_id > ${after}
    ORDER BY event_id LIMIT ${EVENTS_PER_STEP}`;
  const skipped = deleted.length === 0 ? [] : await undoEvents(sql, deleted);
  const restored = deleted.length - skipped.length;
  const last = deleted.length === EVENTS_PER_STEP ? deleted.at(-1)!.event_id : undefined;
  if (!hasAgent && restored === 0) return { kind: 'restored', restored, skipped, last, into };
  await sql`
    UPDATE audit SET restored_ms = ${audit.at_ms}, undo = CASE
      WHEN EXISTS (SELECT 1 FROM deleted_events WHERE deleted_events.audit_id = ${auditId}) THEN undo ELSE 'restored' END
    WHERE audit_id = ${auditId}`;
  const written = await recordUndo(sql, audit, entry, restored, into);
  return { kind: 'restored', restored, skipped, last, into: written };
}

/** Brings the agent, its keys and its grants back. False if the entry deleted no agent, or it is back already. */
async function undoAgent(sql: Sql, auditId: number): Promise<boolean> {
  const [agent] = await sql<{ agent_id: string }[]>`
    WITH gone AS (DELETE FROM deleted_agents WHERE audit_id = ${auditId} RETURNING *)
    INSERT INTO agents (${sql.unsafe(DELETED_AGENT_COLUMNS)})
    SELECT ${sql.unsafe(DELETED_AGENT_COLUMNS)} FROM gone RETURNING agent_id`;
  if (!agent) return false;
  await restoreAccess(sql, { audit_id: auditId, agent_id: agent.agent_id });
  return true;
}

/**
 * Who may run at the same time: reads, writes of other agents' events, and imports. Other undos of the entry wait for its row, which the
 * caller has locked; creates, changes and deletes of these agents' events wait for `lockDeletesOf`.
 * Why it is right: that lock is a statement of its own, so this one sees all that it waited for. `owners` cannot be deleted before the counts
 * are added. An import may have inserted the same event: ON CONFLICT DO NOTHING waits for it and leaves the event out. Only what
 * the statement returns is counted, and taken from deleted_events; the rest can come back later.
 * Events come before counts, as in a create: otherwise an import that has inserted an equal event and waits for the agent could deadlock
 * with this. Rejected: all steps in one transaction, which would hold up other writes for seconds.
 */
const UNDO_EVENTS = `WITH wanted AS (
    SELECT * FROM json_to_recordset($1::text::json) AS wanted (event_id text, found_words text)
  ),
  owners AS MATERIALIZED (
    SELECT agent_id FROM agents WHERE agent_id IN (SELECT agent_id FROM deleted_events JOIN wanted USING (event_id))
    FOR KEY SHARE
  )
  INSERT INTO events (${DELETED_COLUMNS}, words, words_by)
  SELECT ${DELETED_COLUMNS}, ${wordsFrom('found_words')}, ${WORDS_VERSION} FROM deleted_events JOIN wanted USING (event_id) WHERE agent_id IN (SELECT agent_id FROM owners)
  ORDER BY event_id
  ON CONFLICT DO NOTHING RETURNING event_id, agent_id, octet_length(json) AS bytes`;

/** Brings the events back. Returns those that it could not restore. */
async function undoEvents(sql: Sql, deleted: readonly DeletedRow[]): Promise<SkippedEvent[]> {
  const eventIds = deleted.map(({ event_id }) => event_id);
  const wanted = JSON.stringify(await withWords(deleted));
  await lockDeletesOf(sql, eventIds, 'deleted_events');
  const restored = await sql.unsafe<{ event_id: string; agent_id: string; bytes: number }[]>(UNDO_EVENTS, [
    wanted,
  ]);
  const byAgent = Map.groupBy(restored, ({ agent_id }) => agent_id);
  for (const [agentId, events] of [...byAgent].sort()) {
    const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
    await sql`
      UPDATE agents SET event_count = event_count + ${events.length}, event_bytes = event_bytes + ${bytes}
      WHERE agent_id = ${agentId}`;
  }
  const found = new Set(restored.map(({ event_id }) => event_id));
  await sql`
    DELETE FROM deleted_events
    WHERE event_id IN (SELECT value FROM json_array_elements_text(${JSON.stringify([...found])}::text::json) AS value)`;
  const others = eventIds.filter((eventId) => !found.has(eventId));
  if (others.length === 0) return [];
  return sql<SkippedEvent[]>`
    SELECT event_id, title, CASE
        WHEN NOT EXISTS (SELECT 1 FROM agents WHERE agents.agent_id = deleted.agent_id) THEN 'agent_deleted'
        WHEN EXISTS (SELECT 1 FROM events WHERE events.event_id = deleted.event_id) THEN 'exists'
        ELSE 'duplicate' END AS reason
    FROM deleted_events AS deleted
    WHERE event_id IN (SELECT value FROM json_array_elements_text(${JSON.stringify(others)}::text::json) AS value)
    ORDER BY event_id`;
}

/** Finds the words again: a delete does not copy them, because that would take longer. */
async function withWords(deleted: readonly DeletedRow[]) {
  const found: { event_id: string; found_words: string }[] = [];
  for (const { event_id, json } of deleted) {
    found.push({ event_id, found_words: wordsText(await tokenizer.wordsOf(textsOf(json))) });
  }
  return found;
}

/** Writes the audit entry of the undo, or adds to that of an earlier step. Returns its ID. */
async function recordUndo(
  sql: Sql,
  audit: AuditEntry,
  entry: AuditRecord,
  count: number,
  into: number | undefined,
): Promise<number> {
  const { target, target_name } = entry;
  const detail = detailOfUndo(entry);
  if (into !== undefined) {
    const { count: found } = await sql`
      UPDATE audit SET count = count + ${count}
      WHERE audit_id = ${into} AND action = ${audit.action} AND actor_subject = ${audit.actor_subject} AND detail = ${detail}`;
    if (found === 1) return into;
  }
  return record(sql, audit, { target, target_name, detail, count });
}

export async function* removeDeleted(database: Database, deletedByMs: number): AsyncGenerator<number> {
  for (;;) {
    const removed = await database.transaction('repeatable', (sql) => removeSlice(sql, deletedByMs));
    if (removed === undefined) return;
    yield removed;
  }
}

/** Undefined if there is nothing to remove, or another node is removing. */
async function removeSlice(sql: Sql, deletedByMs: number): Promise<number | undefined> {
  if (!(await takeRemovalLock(sql))) return undefined;
  await sql`UPDATE audit SET undo = 'expiring' WHERE undo = 'kept' AND at_ms <= ${deletedByMs}`;
  const [entry] = await sql<
    { audit_id: number }[]
  >`SELECT audit_id FROM audit WHERE undo = 'expiring' LIMIT 1`;
  if (!entry) return undefined;
  const { audit_id } = entry;
  const { count } = await sql`
    DELETE FROM deleted_events WHERE event_id IN (
      SELECT event_id FROM deleted_events WHERE audit_id = ${audit_id} LIMIT ${ROWS_PER_SLICE})`;
  if (count < ROWS_PER_SLICE) {
    await sql`DELETE FROM deleted_agents WHERE audit_id = ${audit_id}`;
    await forgetAccess(sql, audit_id);
    await sql`UPDATE audit SET undo = 'expired' WHERE audit_id = ${audit_id}`;
  }
  return count;
}
