// An agent as administrators see it, and the end of one of its keys.
import type { Static } from 'typebox';
import type { Identity } from '../domain/admin.ts';
import { type AgentDetailsResponse, describeAgentDetails } from '../domain/agent-details.ts';
import { isKeyPrefix } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { agentNotFound, auditEntry } from './admin.ts';
import type { Context } from './context.ts';

/** Throws NOT_FOUND. */
export async function getAgentDetails(
  { store, clock, policy }: Context,
  agentId: string,
): Promise<Static<typeof AgentDetailsResponse>> {
  const nowMs = clock();
  const found = await store.findAgentDetails(agentId, nowMs);
  if (!found) return agentNotFound(agentId);
  const limit = policy.tierLimits[found.agent.tier];
  const window = limit === 0 ? undefined : await store.readQuota(agentId, limit, nowMs);
  const limits = { maxEvents: policy.maxEventsPerAgent, maxBytes: policy.maxBytesPerAgent };
  return describeAgentDetails(found, window && { ...window, limit }, limits);
}

/** Ends the key at once; other nodes may accept it for up to one second more. Throws NOT_FOUND. */
export async function revokeAgentKey(
  context: Context,
  administrator: Identity,
  agentId: string,
  prefix: string,
): Promise<void> {
  const detail = JSON.stringify({ key_prefix: prefix });
  const audit = auditEntry(context, administrator, 'revoke_key', agentId, detail);
  if (isKeyPrefix(prefix) && (await context.store.revokeAgentKey(agentId, prefix, audit))) return;
  throw new AppError('NOT_FOUND', 'There is no such agent, or it has no key with this prefix.');
}
