// Changes made by administrators, each with an audit log entry. The caller provides the transaction. Deleted rows are kept for a
// restore if the entry says so; restores are in restores.ts.

import {
  type AuditEntry,
  type AuditRecord,
  detailOfDeleted,
  detailOfOwner,
} from '../domain/administration/audit.ts';
import {
  addSlice,
  type DeletedWhat,
  MAX_LISTED,
  mayExtend,
  titlesOf,
} from '../domain/administration/undo.ts';
import type { AgentRecord, AgentUpdate, Tier } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import type { BulkDeleted } from '../domain/store.ts';
import type { Sql } from './client/driver.ts';
import { deletesLock, lockDeletesOf } from './events.ts';
import { keepEvents } from './kept-events.ts';
import { AGENT_COLUMNS } from './list-statements.ts';

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

export async function deleteAgent(sql: Sql, agentId: string, audit: AuditEntry): Promise<boolean> {
  await lockDeletes(sql, agentId);
  // Waits for creates under way, and prevents new events from here on.
  const [agent] = await sql`SELECT agent_name FROM agents WHERE agent_id = ${agentId} FOR UPDATE`;
  if (!agent) return false;
  const auditId = await deleteEventsOf(sql, agentId, agent.agent_name, audit, true);
  if (audit.undo === 'kept') {
    await sql`
      INSERT INTO deleted_agents (audit_id, agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms)
      SELECT ${auditId}::bigint, agent_id, email, agent_name, tier, is_active, created_ms, last_used_ms FROM agents
      WHERE agent_id = ${agentId}`;
    // Moved, not copied: a key that is being revoked must not come back.
    await sql`
      WITH gone AS (DELETE FROM keys WHERE agent_id = ${agentId} RETURNING *)
      INSERT INTO deleted_keys (audit_id, key_hash, prefix, created_ms, expires_ms, last_used_ms)
      SELECT ${auditId}::bigint, key_hash, prefix, created_ms, expires_ms, last_used_ms FROM gone`;
  }
  if (audit.undo === 'for_good') await sql`DELETE FROM deleted_events WHERE agent_id = ${agentId}`;
  await sql`DELETE FROM agents WHERE agent_id = ${agentId}`;
  return true;
}

export async function deleteAgentEvents(sql: Sql, agentId: string, audit: AuditEntry): Promise<boolean> {
  await lockDeletes(sql, agentId);
  // The agent must stay until it has its entry. This lock does not hold up creates.
  const [agent] = await sql`SELECT agent_name FROM agents WHERE agent_id = ${agentId} FOR KEY SHARE`;
  if (agent) await deleteEventsOf(sql, agentId, agent.agent_name, audit, false);
  return agent !== undefined;
}

/** Returns the number of deleted events; undefined if the agent does not exist. */
export async function deleteSelectedEvents(
  sql: Sql,
  agentId: string,
  eventIds: readonly string[],
  audit: AuditEntry,
): Promise<number | undefined> {
  await lockDeletes(sql, agentId);
  const events = (await findEvents(sql, eventIds)).filter(({ agent_id }) => agent_id === agentId);
  if (events.length === 0) {
    const found = await sql`SELECT 1 FROM agents WHERE agent_id = ${agentId}`;
    return found.length > 0 ? 0 : undefined;
  }
  const ids = events.map(({ event_id }) => event_id);
  const titles = events.map(({ title }) => title);
  const auditId = await record(sql, audit, {
    ...{ target_name: events[0]!.agent_name, count: events.length },
    ...{ detail: detailOfDeleted(ids), titles: titlesOf(titles, audit.undo) },
  });
  await removeEvents(sql, events, auditId, audit);
  return events.length;
}

export async function deleteAnyEvent(sql: Sql, eventId: string, audit: AuditEntry): Promise<boolean> {
  const [found] = await sql<{ agent_id: string }[]>`SELECT agent_id FROM events WHERE event_id = ${eventId}`;
  if (!found) return false;
  await lockDeletes(sql, found.agent_id);
  const [event] = await findEvents(sql, [eventId]);
  if (!event) return false;
  const auditId = await record(sql, audit, {
    ...{ target_name: audit.undo === 'for_good' ? '' : event.title, count: 1 },
    detail: detailOfOwner(event),
  });
  await removeEvents(sql, [event], auditId, audit);
  return true;
}

export async function deleteEvents(
  sql: Sql,
  eventIds: readonly string[],
  audit: AuditEntry,
  into: number | undefined,
  /** Deletes only those that have ended by then, and keeps no titles. */
  endedByMs?: number,
): Promise<BulkDeleted | 'wrong-entry'> {
  let earlier: AuditRecord | undefined;
  if (into !== undefined) {
    [earlier] = await sql<AuditRecord[]>`SELECT * FROM audit WHERE audit_id = ${into} FOR UPDATE`;
    if (!earlier || !mayExtend(earlier, audit)) return 'wrong-entry';
  }
  const locked = await lockDeletesOf(sql, eventIds, 'events');
  // Events that were restored since then are left alone, unless their agent was locked for another one.
  const events = (await findEvents(sql, eventIds)).filter(
    ({ agent_id, ends_ms }) => locked.has(agent_id) && (endedByMs === undefined || ends_ms <= endedByMs),
  );
  if (events.length === 0) return { deleted: 0, audit_id: into ?? null };
  const agents = [...new Map(events.map((event) => [event.agent_id, event])).values()];
  const slice = {
    eventIds: events.map(({ event_id }) => event_id),
    titles: endedByMs === undefined ? events.map(({ title }) => title) : [],
    agents,
  };
  const what = addSlice(earlier, slice, audit.undo);
  const auditId = into ?? (await record(sql, audit, what));
  if (into !== undefined) {
    const { target, target_name, detail, titles, count } = what;
    await sql`
      UPDATE audit SET target = ${target}, target_name = ${target_name}, detail = ${detail}, titles = ${titles},
        count = ${count} WHERE audit_id = ${into}`;
  }
  await removeEvents(sql, events, auditId, audit);
  return { deleted: events.length, audit_id: auditId };
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
  const { count } = await sql`
    DELETE FROM keys WHERE agent_id = ${agentId} AND prefix = ${prefix}
      AND (expires_ms IS NULL OR expires_ms > ${audit.at_ms})`;
  if (count > 0) await record(sql, audit, { target_name: agent.agent_name, count: 1 });
  return count > 0;
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
  await sql`
    INSERT INTO keys (key_hash, agent_id, prefix, created_ms)
    VALUES (${newKey.hash}, ${agentId}, ${newKey.prefix}, ${audit.at_ms})`;
  await record(sql, audit, { target_name: agent.agent_name, count: 1 });
  return agent.tier;
}

/** Lets this transaction delete or change events of the agent. */
export async function lockDeletes(sql: Sql, agentId: string): Promise<void> {
  await sql`SELECT ${deletesLock(sql, agentId)}`;
}

interface DeletedEvent {
  readonly event_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly title: string;
  readonly ends_ms: number;
}

/** In the order of the IDs, and locked. */
async function findEvents(sql: Sql, eventIds: readonly string[]): Promise<DeletedEvent[]> {
  return sql<DeletedEvent[]>`
    SELECT event_id, agent_id, agent_name, title, ends_ms
    FROM (SELECT value AS event_id, min(at) AS at
      FROM json_array_elements_text(${JSON.stringify(eventIds)}::text::json) WITH ORDINALITY AS sent (value, at)
      GROUP BY value) AS wanted
    JOIN events USING (event_id) JOIN agents USING (agent_id) ORDER BY at FOR UPDATE OF events`;
}

/** Deletes these events, and subtracts them from the counts of their agents. They are kept for the entry if it says so. */
async function removeEvents(
  sql: Sql,
  events: readonly DeletedEvent[],
  auditId: number,
  { undo }: AuditEntry,
): Promise<void> {
  const ids = JSON.stringify(events.map(({ event_id }) => event_id));
  const isListed = (at: string) =>
    `event_id IN (SELECT value FROM json_array_elements_text(${at}::text::json) AS value)`;
  if (undo === 'kept') await sql.unsafe(keepEvents(isListed('$2')), [auditId, ids]);
  await sql.unsafe(`DELETE FROM events WHERE ${isListed('$1')}`, [ids]);
  const counts = Map.groupBy(events, ({ agent_id }) => agent_id);
  for (const [agentId, { length }] of [...counts].sort()) await changeCount(sql, agentId, length);
}

/** Deletes all events of the agent, and writes the entry. Returns its ID. */
async function deleteEventsOf(
  sql: Sql,
  agentId: string,
  target_name: string,
  audit: AuditEntry,
  isWithAgent: boolean,
): Promise<number> {
  const found = await sql<{ title: string }[]>`
    SELECT title FROM events WHERE agent_id = ${agentId} ORDER BY start_ms, event_id LIMIT ${MAX_LISTED}`;
  const titles = titlesOf(
    found.map(({ title }) => title),
    audit.undo,
  );
  const auditId = await record(sql, audit, { target_name, count: 0, titles });
  // An event that is created meanwhile is neither kept nor deleted, as if it came later.
  if (audit.undo === 'kept') await sql.unsafe(keepEvents('agent_id = $2::uuid'), [auditId, agentId]);
  const { count } = await (audit.undo === 'kept'
    ? sql`
        DELETE FROM events
        WHERE agent_id = ${agentId} AND event_id IN (SELECT event_id FROM deleted_events WHERE audit_id = ${auditId})`
    : sql`DELETE FROM events WHERE agent_id = ${agentId}`);
  await changeCount(sql, agentId, count);
  // With nothing to restore, there is nothing to keep.
  await sql`
    UPDATE audit SET count = ${count}, undo = ${count > 0 || isWithAgent ? (audit.undo ?? null) : null}
    WHERE audit_id = ${auditId}`;
  return auditId;
}

/** Subtracts removed events. */
export async function changeCount(sql: Sql, agentId: string, removed: number): Promise<void> {
  await sql`UPDATE agents SET event_count = event_count - ${removed} WHERE agent_id = ${agentId}`;
}

/** Returns the ID of the entry. */
async function record(
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
