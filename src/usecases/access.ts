// Who is calling, how often, and whether they may: keys, quotas, tiers and administrators' tokens.
import { type Identity, isAdministrator } from '../domain/admin.ts';
import { type AgentRow, mayWrite } from '../domain/agent.ts';
import { findKeyHash } from '../domain/api-key.ts';
import { AppError } from '../domain/errors.ts';
import type { Quota } from '../domain/store.ts';
import type { Context } from './context.ts';

/** A quota of one hour as it stands after the request. */
export interface Spent extends Quota {
  readonly limit: number;
  readonly resetSeconds: number;
}

/** A caller with the key that it used, for what concerns the key itself. */
export interface KeyHolder {
  readonly agent: AgentRow;
  readonly keyHash: string;
  /** After the request; undefined where there is no limit. */
  readonly quota: Spent | undefined;
}

/** Finds the agent that holds the key. Throws MISSING_API_KEY or INVALID_API_KEY. */
export async function authenticateAgent(
  context: Context,
  key: string | undefined,
): Promise<Pick<KeyHolder, 'agent' | 'keyHash'>> {
  if (!key) {
    throw new AppError(
      'MISSING_API_KEY',
      'Send your key in the X-API-Key header. POST /v1/auth/register gives you one.',
    );
  }
  const keyHash = findKeyHash(key);
  if (keyHash === undefined) {
    throw new AppError('INVALID_API_KEY', 'This is not a key of this service: check it for typing errors.');
  }
  const nowMs = context.clock();
  const agent = await context.store.findAgentByKey(keyHash, nowMs);
  if (!agent) {
    throw new AppError('INVALID_API_KEY', 'The key is not active: it was revoked, or never issued here.');
  }
  context.store.noteUse(agent.agent_id, nowMs);
  return { agent, keyHash };
}

/** Counts one request of the agent. Undefined where there is no limit. */
export function spendRequest(context: Context, agent: AgentRow): Promise<Spent | undefined> {
  return spend(context, agent.agent_id, context.policy.tierLimits[agent.tier], 1);
}

/** Looks at (0) or takes (1) a registration of the client's network. Undefined where there is no limit. */
export function spendRegistration(
  context: Context,
  network: string,
  cost: 0 | 1,
): Promise<Spent | undefined> {
  return spend(context, `network ${network}`, context.policy.registrationsPerHour, cost);
}

/** Throws RATE_LIMITED unless what was spent was still there. */
export function requireQuota(spent: Spent | undefined): void {
  if (!spent || spent.allowed) return;
  throw new AppError(
    'RATE_LIMITED',
    `The quota of ${spent.limit} an hour is used up. Try again in ${spent.resetSeconds} s.`,
    { retryAfterSeconds: spent.resetSeconds },
  );
}

async function spend(
  { store, clock }: Context,
  bucket: string,
  limit: number,
  cost: 0 | 1,
): Promise<Spent | undefined> {
  if (limit === 0) return undefined;
  const nowMs = clock();
  const quota = await store.spend(bucket, limit, cost, nowMs);
  const { allowed, remaining, resetMs } = quota;
  return {
    allowed,
    remaining,
    resetMs,
    limit,
    resetSeconds: Math.max(1, Math.ceil((resetMs - nowMs) / 1000)),
  };
}

/** Throws INSUFFICIENT_TIER unless the agent may create, change and delete events. */
export function requireWriter(agent: AgentRow): void {
  if (mayWrite(agent.tier)) return;
  throw new AppError(
    'INSUFFICIENT_TIER',
    `This needs the tier readwrite; the tier of your key is ${agent.tier}.`,
  );
}

/** The administrator that the token names. Throws MISSING_TOKEN, INVALID_TOKEN or NOT_AN_ADMIN. */
export async function authenticateAdministrator(
  context: Context,
  token: string | undefined,
): Promise<Identity> {
  if (!token)
    throw new AppError('MISSING_TOKEN', 'Send a token as "Authorization: Bearer …", or sign in at /admin.');
  const { identity } = await context.verifyToken(token);
  return requireAdministrator(context, identity);
}

/** The same identity. Throws NOT_AN_ADMIN. */
export function requireAdministrator({ policy }: Context, identity: Identity): Identity {
  if (isAdministrator(identity, policy.administrators)) return identity;
  throw new AppError('NOT_AN_ADMIN', 'You are signed in, but not one of the administrators of this service.');
}
