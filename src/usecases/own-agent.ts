// An agent's operations on itself: register, read its summary and its events, rotate its key, revoke its key. Only the response to a
// registration or rotation contains the new key; the store keeps its hash.
import type { Static } from 'typebox';
import { describeStored, type OwnLimits } from '../domain/administration/agent-details.ts';
import type { EventListQuery } from '../domain/administration/list.ts';
import {
  type AgentRow,
  describeNewKey,
  type RegisterRequest,
  type RegisterResponse,
} from '../domain/agent.ts';
import { fingerprint, newApiKey } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import { describeOwnAgent, type OwnAgentResponse, type Rotation } from '../domain/own-agent.ts';
import type { ListedEvent, ListPage } from '../domain/store.ts';
import { type AgentCaller, type KeyHolder, requireQuota, spendRegistration } from './access.ts';
import type { Context } from './context.ts';

/** `api_key` is a new key. Throws RATE_LIMITED. */
export async function register(
  context: Context,
  network: string,
  { email, agent_name }: Static<typeof RegisterRequest>,
  api_key = newApiKey(context.random),
): Promise<Static<typeof RegisterResponse>> {
  requireQuota(await spendRegistration(context, network, 1), 'quota registrations');
  const { store, clock, random, policy } = context;
  const nowMs = clock();
  const tier = policy.registrationTier;
  const key = fingerprint(api_key);
  const agent_id = newUuid(nowMs, random);
  await store.addAgent({ agent_id, email, agent_name, tier, is_active: true, created_ms: nowMs }, key);
  return describeNewKey({ api_key, key_prefix: key.prefix, tier }, policy.tierLimits, nowMs);
}

/** Throws INVALID_API_KEY if the key ended meanwhile. */
export async function getOwnAgent(
  context: Context,
  caller: KeyHolder,
): Promise<Static<typeof OwnAgentResponse>> {
  const { agent, key = keyEnded(), words } = await findOwnDetails(context, caller);
  return describeOwnAgent(agent, key, caller.quota, words) as Static<typeof OwnAgentResponse>;
}

/** The same, with what it has stored of what it may, also for a caller without a key. Throws INVALID_API_KEY if its key ended meanwhile. */
export async function getOwnLimits(context: Context, caller: AgentCaller): Promise<Static<typeof OwnLimits>> {
  const details = await findOwnDetails(context, caller);
  const key = details.key ?? (caller.keyHash === undefined ? undefined : keyEnded());
  const own = describeOwnAgent(details.agent, key, caller.quota, details.words);
  return { ...own, limits: describeStored(details, context.policy) };
}

/** The caller's details and its key. */
async function findOwnDetails({ store, clock }: Context, { agent, keyHash }: AgentCaller) {
  const details = (await store.findAgentDetails(agent.agent_id, clock())) ?? keyEnded();
  return { ...details, key: details.keys.find(({ key_hash }) => key_hash === keyHash) };
}

export function findOwnEvents(
  { store, clock }: Context,
  { agent_id }: AgentRow,
  query: EventListQuery,
): Promise<ListPage<ListedEvent>> {
  return store.agentEventPage(agent_id, query, clock());
}

/**
 * Creates a new key, which only the response contains. The calling key keeps working for `overlapMs`, and the grants go on unless
 * `endGrants`. Throws INVALID_API_KEY if the calling key ended meanwhile.
 */
export async function rotateKey(
  { store, clock, random, policy }: Context,
  { agent: { agent_id, tier }, keyHash }: KeyHolder,
  { overlapMs, endGrants }: Rotation,
): Promise<Static<typeof RegisterResponse>> {
  const nowMs = clock();
  const api_key = newApiKey(random);
  const key = fingerprint(api_key);
  if (!(await store.rotateKey(agent_id, keyHash, key, nowMs, nowMs + overlapMs, endGrants))) keyEnded();
  return describeNewKey({ api_key, key_prefix: key.prefix, tier }, policy.tierLimits, nowMs);
}

/** Ends the calling key and its grants, even if the agent has no other. */
export function revokeKey({ store }: Context, { keyHash }: KeyHolder): Promise<void> {
  return store.revokeKey(keyHash);
}

function keyEnded(): never {
  throw new AppError(
    'INVALID_API_KEY',
    'The key was revoked or replaced during this request. Use the current key.',
  );
}
