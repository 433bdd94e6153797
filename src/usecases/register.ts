// Registration: a new agent with its first key. Only the response contains the key; the store keeps its hash.
import type { Static } from 'typebox';
import type { RegisterRequest, RegisterResponse } from '../domain/agent.ts';
import { fingerprint, newApiKey } from '../domain/api-key.ts';
import { formatInstant } from '../domain/datetime.ts';
import { newUuid } from '../domain/ids.ts';
import { requireQuota, spendRegistration } from './access.ts';
import type { Context } from './context.ts';

/** Throws RATE_LIMITED. */
export async function register(
  context: Context,
  network: string,
  { email, agent_name }: Static<typeof RegisterRequest>,
): Promise<Static<typeof RegisterResponse>> {
  requireQuota(await spendRegistration(context, network, 1), 'quota registrations');
  const { store, clock, random, policy } = context;
  const nowMs = clock();
  const tier = policy.registrationTier;
  const api_key = newApiKey(random);
  const key = fingerprint(api_key);
  const agent_id = newUuid(nowMs, random);
  await store.addAgent({ agent_id, email, agent_name, tier, is_active: true, created_ms: nowMs }, key);
  return {
    api_key,
    key_prefix: key.prefix,
    tier,
    rate_limit: policy.tierLimits[tier],
    created_at: formatInstant(nowMs),
  };
}
