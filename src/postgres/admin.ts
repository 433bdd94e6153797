// Changes made by administrators, each with an audit log entry. The caller provides the transaction. Deleted rows are copied
// for an undo if the entry says so; undos are in undo.ts.

import type { AuditEntry, AuditRecord } from '../domain/administration/audit.ts';
import {
  type DeletedEvent,
  type DeletedWhat,
  describeAllDeleted,
  describeDeleted,
  MAX_LISTED,
  mayExtend,
} from '../domain/administration/undo.ts';
import type { AgentRecord, AgentUpdate, Tier } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import { EVENT_COLUMNS } from '../domain/events/event.ts';
import type { BulkDeleted, DeleteOptions } from '../domain/store.ts';
import type { Sql } from './client/driver.ts';
import { deletesLock, lockDeletesOf } from './events.ts';
import { keepAccess } from './kept-access.ts';
import { endGrantsOfKey } from './keys.ts';
import { AGENT_COLUMNS, DELETED_AGENT_COLUMNS } from './list-statements.ts';

export async function updateAgent(
  sql: Sql,
  agentId: string,
  { is_active = null, tier = null }: { [Name in keyof AgentUpdate]?: AgentUpdate[Name] | null },
  audit: AuditEntry,
): Promise<AgentRecord | undefined> {
  const [agent] = await sql<AgentRecord[]>`
    UPDATE agents SET is_active = coalesce(${is_active}, is_active), tier = coalesce(${tier}, tier)
    WHERE agent_id = ${agentId} RETURNING ${sql.unsafe(AGENT_COLUMNS)}`;
  if (agent) await record(sql, audit, { target_name: agent.agent_name, count: 1 });
  return agent;
}

/**
 * Who may run at the same time: reads, writes of other agents' events, and imports. Creates, changes and deletes of these agents' events
 * wait for the agents' advisory locks, which everybody takes in the same order. Whoever adds to or undoes the same entry waits for its row.
 * Why it is right: the locks are taken first, so later statements see all that they waited for. `findEvents` locks the rows: entry, copy,
 * delete and counts are about exactly these. An undo may bring an event back after the locks were taken; then the event is deleted only if
 * its agent is locked. Without this rule, a test of random sequences lost an event.
 * Tried and rejected: one statement that deletes and copies with RETURNING. It took up to 1.7 times as long (30,000 events: 2.1 to 2.8 s
 * in two statements).
 */
export async function deleteEvents(
  sql: Sql,
  eventIds: readonly string[],
  audit: AuditEntry,
  {
    agentId,
    into,
    endedByMs = Number.MAX_SAFE_INTEGER,
  }: DeleteOptions & { readonly endedByMs?: number } = {},
): Promise<BulkDeleted | 'no-agent' | 'wrong-entry'> {
  let earlier: AuditRecord | undefined;
  if (into !== undefined) {
    [earlier] = await sql<AuditRecord[]>`SELECT * FROM audit WHERE audit_id = ${into} FOR UPDATE`;
    if (!earlier || !mayExtend(earlier, audit)) return 'wrong-entry';
  }
  if (agentId !== undefined) await lockDeletes(sql, agentId);
  const locked = agentId === undefined ? await lockDeletesOf(sql, eventIds, 'events') : new Set([agentId]);
  // The rows may have changed before the locks were taken.
  const events = (await findEvents(sql, eventIds)).filter(
    ({ agent_id, ends_ms }) => locked.has(agent_id) && ends_ms <= endedByMs,
  );
  if (events.length === 0) {
    const isKnown =
      agentId === undefined || (await sql`SELECT 1 FROM agents WHERE agent_id = ${agentId}`).length > 0;
    return isKnown ? { deleted: 0, audit_id: into ?? null } : 'no-agent';
  }
  const what = describeDeleted(audit, events, earlier);
  const auditId = into ?? (await record(sql, audit, what));
  if (into !== undefined) {
    const { target, target_name, detail, titles, count } = what;
    await sql`
      UPDATE audit SET target = ${target}, target_name = ${target_name}, detail = ${detail}, titles = ${titles},
        count = ${count} WHERE audit_id = ${into}`;
  }
  const ids = JSON.stringify(events.map(({ event_id }) => event_id));
  const isListed = (at: string) =>
    `event_id IN (SELECT value FROM json_array_elements_text(${at}::text::json) AS value)`;
  if (audit.undo === 'kept') await sql.unsafe(copyEvents(isListed('$2')), [auditId, ids]);
  await sql.unsafe(`DELETE FROM events WHERE ${isListed('$1')}`, [ids]);
  const counts = Map.groupBy(events, ({ agent_id }) => agent_id);
  for (const [id, { length }] of [...counts].sort()) await changeCount(sql, id, length);
  return { deleted: events.length, audit_id: auditId };
}

/**
 * Who may run at the same time: reads, writes of other agents' events, and without the agent also imports. Creates, changes and deletes
 * of the agent's events wait for its advisory lock.
 * Why it is right: with the agent, its row is locked, too. An import cannot add an event then, because the foreign key needs that row. So
 * the next statements find all events of the agent, and a create that waits finds no agent. Without the agent, an event stays if an
 * import adds it after the copy, or, if nothing is copied, after the delete began. The entry counts the rows that were deleted.
 * Tried and rejected: deleting events before the agent's row is locked, and once more after it. It could deadlock with creates.
 */
export async function deleteAll(
  sql: Sql,
  agentId: string,
  audit: AuditEntry,
  withAgent: boolean,
): Promise<boolean> {
  await lockDeletes(sql, agentId);
  // If the agent stays, the weaker lock is enough: nobody deletes the agent meanwhile, and imports go on.
  const lock = withAgent ? sql`FOR UPDATE` : sql`FOR KEY SHARE`;
  const [agent] = await sql<{ agent_name: string }[]>`
    SELECT agent_name FROM agents WHERE agent_id = ${agentId} ${lock}`;
  if (!agent) return false;
  const auditId = await deleteEventsOf(sql, agentId, agent.agent_name, audit, withAgent);
  if (withAgent) await deleteAgent(sql, agentId, auditId, audit);
  return true;
}

/** Deletes all events of the agent, and writes the entry. Returns its ID. */
async function deleteEventsOf(
  sql: Sql,
  agentId: string,
  agentName: string,
  audit: AuditEntry,
  withAgent: boolean,
): Promise<number> {
  const found = await sql<{ title: string }[]>`
    SELECT title FROM events WHERE agent_id = ${agentId} ORDER BY start_ms, event_id LIMIT ${MAX_LISTED}`;
  const titles = found.map(({ title }) => title);
  const describe = (count: number) => describeAllDeleted(audit, agentName, titles, count, withAgent);
  const auditId = await record(sql, audit, describe(0));
  // An event that is imported meanwhile is neither copied nor deleted, as if it came later.
  if (audit.undo === 'kept') await sql.unsafe(copyEvents('agent_id = $2::uuid'), [auditId, agentId]);
  const { count } = await (audit.undo === 'kept'
    ? sql`
        DELETE FROM events
        WHERE agent_id = ${agentId} AND event_id IN (SELECT event_id FROM deleted_events WHERE audit_id = ${auditId})`
    : sql`DELETE FROM events WHERE agent_id = ${agentId}`);
  await changeCount(sql, agentId, count);
  await sql`
    UPDATE audit SET count = ${count}, undo = ${describe(count).undo ?? null} WHERE audit_id = ${auditId}`;
  return auditId;
}

/** Deletes the agent. Its events are deleted already. */
async function deleteAgent(sql: Sql, agentId: string, auditId: number, { undo }: AuditEntry): Promise<void> {
  if (undo === 'kept') {
    await sql`
      INSERT INTO deleted_agents (audit_id, ${sql.unsafe(DELETED_AGENT_COLUMNS)})
      SELECT ${auditId}::bigint, ${sql.unsafe(DELETED_AGENT_COLUMNS)} FROM agents
      WHERE agent_id = ${agentId}`;
    await keepAccess(sql, [{ audit_id: auditId, agent_id: agentId }]);
  }
  if (undo === 'for_good') await sql`DELETE FROM deleted_events WHERE agent_id = ${agentId}`;
  await sql`DELETE FROM agents WHERE agent_id = ${agentId}`;
}

/** Locks the agent before its keys, as a rotation does. */
export async function revokeAgentKey(
  sql: Sql,
  agentId: string,
  prefix: string,
  audit: AuditEntry,
): Promise<boolean> {
  const [agent] = await sql<{ agent_name: string }[]>`
    SELECT agent_name FROM agents WHERE agent_id = ${agentId} FOR NO KEY UPDATE`;
  if (!agent) return false;
  const ended = await sql<{ key_hash: string }[]>`
    DELETE FROM keys WHERE agent_id = ${agentId} AND prefix = ${prefix}
      AND (expires_ms IS NULL OR expires_ms > ${audit.at_ms}) RETURNING key_hash`;
  for (const { key_hash } of ended) await endGrantsOfKey(sql, agentId, key_hash);
  if (ended.length > 0) await record(sql, audit, { target_name: agent.agent_name, count: 1 });
  return ended.length > 0;
}

/** Locks like `revokeAgentKey`. */
export async function replaceAgentKeys(
  sql: Sql,
  agentId: string,
  newKey: KeyFingerprint,
  audit: AuditEntry,
): Promise<Tier | undefined> {
  const [agent] = await sql<{ agent_name: string; tier: Tier }[]>`
    SELECT agent_name, tier FROM agents WHERE agent_id = ${agentId} FOR NO KEY UPDATE`;
  if (!agent) return undefined;
  await sql`DELETE FROM keys WHERE agent_id = ${agentId}`;
  await sql`DELETE FROM grants WHERE agent_id = ${agentId}`;
  await sql`
    INSERT INTO keys (key_hash, agent_id, prefix, created_ms)
    VALUES (${newKey.hash}, ${agentId}, ${newKey.prefix}, ${audit.at_ms})`;
  await record(sql, audit, { target_name: agent.agent_name, count: 1 });
  return agent.tier;
}

/** Takes the agent's advisory lock until the end of the transaction, which may then delete or change its events. */
export async function lockDeletes(sql: Sql, agentId: string): Promise<void> {
  await sql`SELECT ${deletesLock(sql, agentId)}`;
}

/** Finds the events, in the order of the IDs, and locks their rows. */
async function findEvents(
  sql: Sql,
  eventIds: readonly string[],
): Promise<(DeletedEvent & { readonly ends_ms: number })[]> {
  return sql`
    SELECT event_id, agent_id, agent_name, title, ends_ms
    FROM (SELECT value AS event_id, min(at) AS at
      FROM json_array_elements_text(${JSON.stringify(eventIds)}::text::json) WITH ORDINALITY AS sent (value, at)
      GROUP BY value) AS wanted
    JOIN events USING (event_id) JOIN agents USING (agent_id) ORDER BY at FOR UPDATE OF events`;
}

/** Columns of deleted_events besides audit_id. An undo computes the rest; finding words again takes less time than copying them. */
export const DELETED_COLUMNS = [...EVENT_COLUMNS.map(([name]) => name), 'json'].join(', ');

const UPDATES = ['audit_id', ...DELETED_COLUMNS.split(', ')].map((name) => `${name} = excluded.${name}`);

/** Copies events that match the condition to deleted_events, for the entry of the first parameter. */
function copyEvents(condition: string): string {
  return `INSERT INTO deleted_events (audit_id, ${DELETED_COLUMNS}) SELECT $1::bigint, ${DELETED_COLUMNS} FROM events WHERE ${condition}
    ON CONFLICT (event_id) DO UPDATE SET ${UPDATES.join(', ')}`;
}

/** Subtracts removed events from the agent's count. */
export async function changeCount(sql: Sql, agentId: string, removed: number): Promise<void> {
  await sql`UPDATE agents SET event_count = event_count - ${removed} WHERE agent_id = ${agentId}`;
}

/** Writes an entry of the audit log, and returns its ID. */
export async function record(
  sql: Sql,
  audit: AuditEntry,
  what: Pick<DeletedWhat, 'target_name' | 'count'> & Partial<DeletedWhat>,
): Promise<number> {
  const { at_ms, actor_subject, actor_email, action, undo = null } = audit;
  const { target = audit.target, target_name, detail = audit.detail, count, titles = null } = what;
  const [entry] = await sql<[{ audit_id: number }]>`
    INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, target_name, detail, count, titles, undo)
    VALUES (${at_ms}, ${actor_subject}, ${actor_email}, ${action}, ${target}, ${target_name}, ${detail}, ${count}, ${titles},
      ${undo})
    RETURNING audit_id`;
  return entry.audit_id;
}
