// Changes by administrators. Each leaves an entry in the audit log, written in the same transaction.
import type { Identity } from '../domain/admin.ts';
import { type AgentUpdate, summarise } from '../domain/agent.ts';
import type { AuditEntry } from '../domain/audit.ts';
import { AppError } from '../domain/errors.ts';
import { isUlid } from '../domain/ids.ts';
import type { Context } from './context.ts';

/** Throws NOT_FOUND. */
export async function updateAgent(
  context: Context,
  administrator: Identity,
  agentId: string,
  update: AgentUpdate,
) {
  const agent =
    Object.keys(update).length === 0
      ? await context.store.findAgent(agentId)
      : await context.store.updateAgent(
          agentId,
          update,
          entry(context, administrator, 'update_agent', agentId, JSON.stringify(update)),
        );
  return agent ? summarise(agent) : agentNotFound(agentId);
}

/** Deletes the agent, its keys and its events in one transaction. Throws NOT_FOUND. */
export async function deleteAgent(context: Context, administrator: Identity, agentId: string): Promise<void> {
  const audit = entry(context, administrator, 'delete_agent', agentId);
  if (!(await context.store.deleteAgent(agentId, audit))) agentNotFound(agentId);
}

/** Throws NOT_FOUND. */
export async function deleteAgentEvents(
  context: Context,
  administrator: Identity,
  agentId: string,
): Promise<void> {
  const audit = entry(context, administrator, 'delete_agent_events', agentId);
  if (!(await context.store.deleteAgentEvents(agentId, audit))) agentNotFound(agentId);
}

/** Deletes the events that belong to the agent, and ignores other IDs. Throws NOT_FOUND if the agent does not exist. */
export async function deleteSelectedEvents(
  context: Context,
  administrator: Identity,
  agentId: string,
  eventIds: readonly string[],
): Promise<{ deleted: number }> {
  const audit = entry(context, administrator, 'delete_selected_events', agentId);
  const known = eventIds.filter(isUlid);
  const deleted = await context.store.deleteSelectedEvents(agentId, known, audit);
  return deleted === undefined ? agentNotFound(agentId) : { deleted };
}

/** Throws NOT_FOUND. */
export async function deleteAnyEvent(
  context: Context,
  administrator: Identity,
  eventId: string,
): Promise<void> {
  const audit = entry(context, administrator, 'delete_event', eventId);
  if (!isUlid(eventId) || !(await context.store.deleteEventAsAdmin(eventId, audit))) {
    throw new AppError('NOT_FOUND', 'There is no event with this ID.');
  }
}

function entry(
  { clock }: Context,
  { subject, email = '', emailVerified }: Identity,
  action: AuditEntry['action'],
  target: string,
  detail = '',
): AuditEntry {
  // An unverified e-mail could be anybody's.
  const actor_email = emailVerified ? email : '';
  return { at_ms: clock(), actor_subject: subject, actor_email, action, target, detail };
}

/** Throws NOT_FOUND. */
export function agentNotFound(agentId: string): never {
  throw new AppError('NOT_FOUND', `There is no agent ${agentId}.`);
}
