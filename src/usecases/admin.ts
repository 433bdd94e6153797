// What administrators see and do. Each change leaves an entry in the audit log, written in the same step.
import type { AuditEntry, Identity } from '../domain/admin.ts';
import { type AgentRecord, type AgentUpdate, summarise } from '../domain/agent.ts';
import { AppError } from '../domain/errors.ts';
import { isUlid } from '../domain/ids.ts';
import { joinWire, toWire, type Wire } from '../domain/wire.ts';
import type { Context } from './context.ts';

export async function listAgents({ store }: Context) {
  const agents = (await store.listAgents()).map(summarise);
  return { agents, total: agents.length };
}

/** The agent with its events, piece by piece: all together may be longer than memory. Throws NOT_FOUND. */
export async function listAgentEvents({ store }: Context, agentId: string): Promise<AsyncIterable<Wire>> {
  const agent = await store.findAgent(agentId);
  return agent ? encodeAgentEvents(agent, store.listAgentEvents(agentId)) : noAgent(agentId);
}

async function* encodeAgentEvents(agent: AgentRecord, pages: AsyncIterable<readonly Wire[]>) {
  yield joinWire('{"agent":', [toWire(JSON.stringify(summarise(agent)))], ',"events":[');
  let separator = '';
  for await (const page of pages) {
    yield joinWire(separator, page, '');
    separator = ',';
  }
  yield toWire(']}');
}

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
  return agent ? summarise(agent) : noAgent(agentId);
}

/** The agent, its keys and its events, in one step. Throws NOT_FOUND. */
export async function deleteAgent(context: Context, administrator: Identity, agentId: string): Promise<void> {
  const audit = entry(context, administrator, 'delete_agent', agentId);
  if (!(await context.store.deleteAgent(agentId, audit))) noAgent(agentId);
}

/** Throws NOT_FOUND. */
export async function deleteAgentEvents(
  context: Context,
  administrator: Identity,
  agentId: string,
): Promise<void> {
  const audit = entry(context, administrator, 'delete_agent_events', agentId);
  if (!(await context.store.deleteAgentEvents(agentId, audit))) noAgent(agentId);
}

/** Throws NOT_FOUND. */
export async function deleteAnyEvent(
  context: Context,
  administrator: Identity,
  eventId: string,
): Promise<void> {
  const audit = entry(context, administrator, 'delete_event', eventId);
  if (!isUlid(eventId) || !(await context.store.deleteEventAsAdmin(eventId, audit))) {
    throw new AppError('NOT_FOUND', 'There is no event with this identifier.');
  }
}

function entry(
  { clock }: Context,
  { subject, email = '' }: Identity,
  action: AuditEntry['action'],
  target: string,
  detail = '',
): AuditEntry {
  return { at_ms: clock(), actor_subject: subject, actor_email: email, action, target, detail };
}

function noAgent(agentId: string): never {
  throw new AppError('NOT_FOUND', `There is no agent ${agentId}.`);
}
