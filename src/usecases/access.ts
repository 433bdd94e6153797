// Access control: API keys, quotas, tiers and administrators' tokens.
import { type Identity, isAdministrator } from '../domain/administration/admin.ts';
import { type AgentRow, mayWrite } from '../domain/agent.ts';
import { findKeyHash, hashSecret, isApiKey } from '../domain/api-key.ts';
import { AppError, type RefusedBy } from '../domain/errors.ts';
import type { TokenHolder } from '../domain/grants.ts';
import type { Quota } from '../domain/store.ts';
import type { Context } from './context.ts';

/** State of an hourly quota after a request was counted. */
export interface Spent extends Quota {
  readonly limit: number;
  readonly resetSeconds: number;
}

/** An agent that calls with a key or, at /mcp/connect, with an access token. */
export interface AgentCaller {
  readonly agent: AgentRow;
  /** Undefined with an access token. */
  readonly keyHash: string | undefined;
  /** After the request; undefined if there is no limit. */
  readonly quota: Spent | undefined;
}

/** A caller and the key that it used, for operations on the key itself. */
export interface KeyHolder extends AgentCaller {
  readonly keyHash: string;
}

/** Finds the agent that holds the key. Throws MISSING_API_KEY or INVALID_API_KEY. */
export async function authenticateAgent(
  context: Context,
  key: string | undefined,
): Promise<Pick<KeyHolder, 'agent' | 'keyHash'>> {
  if (!key) {
    throw new AppError(
      'MISSING_API_KEY',
      'The API key is missing. Send it in the X-API-Key header; POST /v1/auth/register gives you one.',
    );
  }
  const keyHash = findKeyHash(key);
  if (keyHash === undefined) {
    throw new AppError('INVALID_API_KEY', 'This is not a key of this service. Check it for typing errors.');
  }
  const nowMs = context.clock();
  const agent = await context.store.findAgentByKey(keyHash, nowMs);
  if (!agent) {
    throw new AppError(
      'INVALID_API_KEY',
      'The key is not active: it was revoked or replaced, or never issued here. Check it, or register for a new one.',
    );
  }
  context.store.noteUse(agent.agent_id, nowMs, keyHash);
  return { agent, keyHash };
}

/** Finds who holds the access token. Throws MISSING_TOKEN or INVALID_TOKEN. */
export async function authenticateToken(
  { store, clock }: Context,
  token: string | undefined,
): Promise<TokenHolder> {
  if (!token) {
    throw new AppError(
      'MISSING_TOKEN',
      'The access token is missing. This URL is for clients that sign in: add it to one without a key or header. With an API key, use /mcp.',
    );
  }
  const nowMs = clock();
  const holder = ACCESS_TOKEN.test(token) ? await store.findAccessToken(hashSecret(token), nowMs) : undefined;
  if (!holder) {
    throw new AppError(
      'INVALID_TOKEN',
      isApiKey(token)
        ? 'This is an API key. Use it at /mcp; this URL takes only access tokens of clients that sign in.'
        : 'The access token has expired or was revoked. Refresh it, or sign in again.',
    );
  }
  store.noteUse(holder.agent.agent_id, nowMs);
  store.noteGrantUse(holder.grant_id, nowMs);
  return holder;
}

/** An access token as oauth/token-endpoint.ts makes it. */
const ACCESS_TOKEN = /^lea_[A-Za-z0-9_-]{43}$/;

/** Counts (1) or only reads (0) a request of the agent. Undefined if there is no limit. */
export function spendRequest(context: Context, agent: AgentRow, cost: 0 | 1 = 1): Promise<Spent | undefined> {
  return spend(context, agent.agent_id, context.policy.tierLimits[agent.tier], cost);
}

/**
 * Counts messages to /mcp that cost no request: those that call no tool, and refused calls. Cost 0 only reads. There may be as many as
 * requests. Undefined if there is no limit.
 */
export function spendMessages(context: Context, agent: AgentRow, cost: number): Promise<Spent | undefined> {
  return spend(context, `mcp ${agent.agent_id}`, context.policy.tierLimits[agent.tier], cost);
}

/** Takes (1) or only reads (0) a registration from the quota of the client's network. Undefined if there is no limit. */
export function spendRegistration(
  context: Context,
  network: string,
  cost: 0 | 1,
): Promise<Spent | undefined> {
  return spend(context, `network ${network}`, context.policy.registrationsPerHour, cost);
}

/** Counts a client that registers itself, for the client's network. Undefined if there is no limit. */
export function spendClientRegistration(context: Context, network: string): Promise<Spent | undefined> {
  return spend(context, `client-registration ${network}`, context.policy.clientRegistrationsPerHour, 1);
}

/** Counts (1) or only reads (0) the failed registrations of the client's network. Undefined if there is no limit. */
export function spendFailedRegistration(
  context: Context,
  network: string,
  cost: 0 | 1,
): Promise<Spent | undefined> {
  return spend(context, `failed-registration ${network}`, context.policy.failedRegistrationsPerHour, cost);
}

/** The quota of all who read without a key in a network, or in a larger one that the operator listed. */
export interface PublicQuota {
  readonly network: string;
  /** 0: no limit. */
  readonly readsPerHour: number;
}

/** Counts (1) or only reads (0) a request without a key. Undefined if there is no limit. */
export function spendPublicRead(
  context: Context,
  { network, readsPerHour }: PublicQuota,
  cost: 0 | 1 = 1,
): Promise<Spent | undefined> {
  return spend(context, `public ${network}`, readsPerHour, cost);
}

/** The same as `spendMessages`, for /mcp/public. */
export function spendPublicMessages(
  context: Context,
  { network, readsPerHour }: PublicQuota,
  cost: number,
): Promise<Spent | undefined> {
  return spend(context, `mcp public ${network}`, readsPerHour, cost);
}

/** Throws RATE_LIMITED if the quota was already exhausted. */
export function requireQuota(
  spent: Spent | undefined,
  quota: RefusedBy & `quota ${string}` = 'quota requests',
): void {
  if (!spent || spent.allowed) return;
  throw rateLimited(`The quota of ${spent.limit} per hour is used up.`, spent.resetSeconds, quota);
}

/** Throws RATE_LIMITED if the network has read without a key as much as it may. */
export function requirePublicRead(spent: Spent | undefined): void {
  if (!spent || spent.allowed) return;
  throw rateLimited(
    `Your network has used up its ${spent.limit} requests per hour without a key. POST /v1/auth/register gives you a key, which has a quota of its own; send it as X-API-Key, with tools to /mcp.`,
    spent.resetSeconds,
    'quota public_reads',
  );
}

/** Throws RATE_LIMITED if the agent, or the network without a key, has sent as many messages as it may. */
export function requireMessages(spent: Spent | undefined): void {
  if (!spent || spent.allowed) return;
  throw rateLimited(
    `The quota of ${spent.limit} messages to /mcp per hour is used up: refused tool calls, and messages that call no tool.`,
    spent.resetSeconds,
    'quota mcp_messages',
  );
}

/** Throws RATE_LIMITED if the network has had as many failed registrations as it may. */
export function requireFewFailures(failed: Spent | undefined): void {
  if (!failed || failed.allowed) return;
  throw rateLimited(
    `${failed.limit} registrations from your network failed within an hour, the maximum. Fix the requests.`,
    failed.resetSeconds,
    'quota failed_registrations',
  );
}

function rateLimited(reason: string, retryAfterSeconds: number, refusedBy: RefusedBy): AppError {
  return new AppError('RATE_LIMITED', `${reason} Retry in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
    refusedBy,
  });
}

async function spend(
  { store, clock }: Context,
  bucket: string,
  limit: number,
  cost: number,
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

/** Throws INSUFFICIENT_TIER unless the agent may create, update and delete events. */
export function requireWriter(agent: AgentRow): void {
  if (mayWrite(agent.tier)) return;
  throw new AppError(
    'INSUFFICIENT_TIER',
    `This needs the readwrite tier; your key has the ${agent.tier} tier.`,
  );
}

/** The administrator who holds the token. Throws MISSING_TOKEN, INVALID_TOKEN or NOT_AN_ADMIN. */
export async function authenticateAdministrator(
  context: Context,
  token: string | undefined,
): Promise<Identity> {
  if (!token)
    throw new AppError(
      'MISSING_TOKEN',
      'The token is missing. Send it as "Authorization: Bearer …", or sign in at /admin.',
    );
  const { identity } = await context.verifyToken(token);
  return requireAdministrator(context, identity);
}

/** Returns the identity. Throws NOT_AN_ADMIN if it is not an administrator's. */
export function requireAdministrator({ policy }: Context, identity: Identity): Identity {
  if (isAdministrator(identity, policy.administrators)) return identity;
  throw new AppError(
    'NOT_AN_ADMIN',
    'You are signed in, but you are not an administrator of this service. Ask its operator.',
  );
}
