// An agent as administrators see it, the end of one of its keys, and a new key in place of all.
import type { Static } from 'typebox';
import type { Identity } from '../domain/administration/admin.ts';
import { type AgentDetailsResponse, describeAgentDetails } from '../domain/administration/agent-details.ts';
import { describeNewKey, type RegisterResponse } from '../domain/agent.ts';
import { fingerprint, isKeyPrefix, newApiKey } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { agentNotFound, auditEntry } from './admin.ts';
import type { AgentContext, Context } from './context.ts';

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
  return describeAgentDetails(found, window && { ...window, limit }, policy);
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

/**
 * Creates a key, which only the response contains, and ends all other keys of the agent at once; other nodes may accept them
 * for up to one second more. Throws NOT_FOUND.
 */
export async function replaceAgentKeys(
  context: AgentContext,
  administrator: Identity,
  agentId: string,
): Promise<Static<typeof RegisterResponse>> {
  const { store, random, policy } = context;
  const api_key = newApiKey(random);
  const key = fingerprint(api_key);
  const detail = JSON.stringify({ key_prefix: key.prefix });
  const audit = auditEntry(context, administrator, 'new_key', agentId, detail);
  const tier = await store.replaceAgentKeys(agentId, key, audit);
  if (!tier) return agentNotFound(agentId);
  return describeNewKey({ api_key, key_prefix: key.prefix, tier }, policy.tierLimits, audit.at_ms);
}
