// Grants that an agent has given, for itself and for administrators: list and end. How they are given is in oauth/.
import type { Static } from 'typebox';
import type { Identity } from '../domain/administration/admin.ts';
import type { AgentRow } from '../domain/agent.ts';
import { AppError } from '../domain/errors.ts';
import { describeGrant, type GrantsResponse } from '../domain/grants.ts';
import { agentNotFound, auditEntry } from './admin.ts';
import type { Context } from './context.ts';

export async function listGrants(
  { store, clock }: Context,
  agentId: string,
): Promise<Static<typeof GrantsResponse>> {
  return { grants: (await store.listGrants(agentId, clock())).map(describeGrant) };
}

/** Ends the agent's grant at once; other nodes may accept its access tokens for up to one second more. Throws NOT_FOUND. */
export async function endOwnGrant({ store }: Context, { agent_id }: AgentRow, grantId: string) {
  if (await store.endGrants(agent_id, grantId)) return;
  throw new AppError('NOT_FOUND', 'You have no grant with this ID.');
}

/** The same for all its grants, however many. */
export async function endOwnGrants({ store }: Context, { agent_id }: AgentRow): Promise<void> {
  await store.endGrants(agent_id);
}

/** Throws NOT_FOUND. */
export async function listAgentGrants(context: Context, agentId: string) {
  const { store, clock } = context;
  if (!(await store.findAgentDetails(agentId, clock()))) return agentNotFound(agentId);
  return listGrants(context, agentId);
}

/** Like `endOwnGrant`, with an audit entry. */
export async function endAgentGrant(
  context: Context,
  administrator: Identity,
  agentId: string,
  grantId: string,
): Promise<void> {
  const detail = JSON.stringify({ grant_id: grantId });
  const audit = auditEntry(context, administrator, 'end_grant', agentId, detail);
  if (await context.store.endGrants(agentId, grantId, audit)) return;
  throw new AppError('NOT_FOUND', 'There is no such agent, or it has no grant with this ID.');
}
