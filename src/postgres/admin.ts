// Changes made by administrators, each with an audit log entry. The caller provides the transaction.
import type { AgentRecord, AgentUpdate } from '../domain/agent.ts';
import { type AuditEntry, detailOfDeleted, detailOfOwner } from '../domain/audit.ts';
import type { Sql } from './client/driver.ts';
import { deletesLock } from './events.ts';
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
  if (agent) await record(sql, audit, agent.agent_name, 1);
  return agent;
}

export async function deleteAgent(sql: Sql, agentId: string, audit: AuditEntry): Promise<boolean> {
  await lockDeletes(sql, agentId);
  // Waits for creates under way, and prevents new events from here on.
  const [agent] = await sql`SELECT agent_name FROM agents WHERE agent_id = ${agentId} FOR UPDATE`;
  if (!agent) return false;
  const removed = await removeEvents(sql, agentId);
  await sql`DELETE FROM agents WHERE agent_id = ${agentId}`;
  await record(sql, audit, agent.agent_name, removed);
  return true;
}

export async function deleteAgentEvents(sql: Sql, agentId: string, audit: AuditEntry): Promise<boolean> {
  await lockDeletes(sql, agentId);
  const removed = await removeEvents(sql, agentId);
  const name = await changeCount(sql, agentId, removed);
  if (name !== undefined) await record(sql, audit, name, removed);
  return name !== undefined;
}

/** Returns the number of deleted events; undefined if the agent does not exist. */
export async function deleteSelectedEvents(
  sql: Sql,
  agentId: string,
  eventIds: readonly string[],
  audit: AuditEntry,
): Promise<number | undefined> {
  await lockDeletes(sql, agentId);
  const deleted = await sql<{ event_id: string }[]>`
    DELETE FROM events WHERE agent_id = ${agentId}
      AND event_id IN (SELECT value FROM json_array_elements_text(${JSON.stringify(eventIds)}::text::json) AS value)
    RETURNING event_id`;
  if (deleted.length === 0) {
    const found = await sql`SELECT 1 FROM agents WHERE agent_id = ${agentId}`;
    return found.length > 0 ? 0 : undefined;
  }
  const name = (await changeCount(sql, agentId, deleted.length))!; // an agent with events cannot be deleted
  const ids = new Set(deleted.map(({ event_id }) => event_id));
  const inOrder = [...new Set(eventIds)].filter((eventId) => ids.has(eventId));
  await record(sql, audit, name, deleted.length, detailOfDeleted(inOrder));
  return deleted.length;
}

export async function deleteAnyEvent(sql: Sql, eventId: string, audit: AuditEntry): Promise<boolean> {
  const [event] = await sql<{ agent_id: string }[]>`SELECT agent_id FROM events WHERE event_id = ${eventId}`;
  if (!event) return false;
  await lockDeletes(sql, event.agent_id);
  const [deleted] = await sql<{ title: string; agent_id: string; agent_name: string }[]>`
    WITH gone AS (DELETE FROM events WHERE event_id = ${eventId} RETURNING agent_id, title)
    UPDATE agents SET event_count = event_count - 1 FROM gone WHERE agents.agent_id = gone.agent_id
    RETURNING gone.title, agents.agent_id, agents.agent_name`;
  if (deleted) await record(sql, audit, deleted.title, 1, detailOfOwner(deleted));
  return deleted !== undefined;
}

/** Lets this transaction delete or change events of the agent. */
export async function lockDeletes(sql: Sql, agentId: string): Promise<void> {
  await sql`SELECT ${deletesLock(sql, agentId)}`;
}

/** Returns the number of deleted events. */
async function removeEvents(sql: Sql, agentId: string): Promise<number> {
  const { count } = await sql`DELETE FROM events WHERE agent_id = ${agentId}`;
  return count;
}

/** Subtracts removed events. Returns the agent's name; undefined if the agent does not exist. */
export async function changeCount(sql: Sql, agentId: string, removed: number): Promise<string | undefined> {
  const [agent] = await sql<{ agent_name: string }[]>`
    UPDATE agents SET event_count = event_count - ${removed} WHERE agent_id = ${agentId} RETURNING agent_name`;
  return agent?.agent_name;
}

async function record(
  sql: Sql,
  audit: AuditEntry,
  name: string,
  count: number,
  detail = audit.detail,
): Promise<void> {
  const { at_ms, actor_subject, actor_email, action, target } = audit;
  await sql`
    INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, target_name, detail, count)
    VALUES (${at_ms}, ${actor_subject}, ${actor_email}, ${action}, ${target}, ${name}, ${detail}, ${count})`;
}
