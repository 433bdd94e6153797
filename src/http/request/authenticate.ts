// The check of an endpoint's access: key, then quota, then tier; or the token or session of an administrator.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Identity } from '../../domain/admin.ts';
import type { AgentRow } from '../../domain/agent.ts';
import { AppError } from '../../domain/errors.ts';
import {
  authenticateAdministrator,
  authenticateAgent,
  type KeyHolder,
  requireQuota,
  requireWriter,
  type Spent,
  spendRegistration,
  spendRequest,
} from '../../usecases/access.ts';
import type { Context } from '../../usecases/context.ts';
import { authenticateSession } from '../../usecases/sessions.ts';
import { readCookie } from '../browser/cookies.ts';
import { isFromOwnPage } from '../browser/same-origin.ts';
import type { Endpoint } from '../endpoint.ts';
import { announceQuota } from '../response/rate-limit.ts';
import { clientNetwork } from './client-network.ts';

/** The caller that the endpoint gets. Throws what use cases of access throw. */
export async function authenticate(
  context: Context,
  { access, needsQuota = true }: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string | undefined,
): Promise<unknown> {
  if (access === 'administrator') return findAdministrator(context, request, publicUrl);
  if (access === 'registration') {
    const network = clientNetwork(request.ip);
    // Peek only: send quota headers only when the quota is exhausted.
    const spent = await spendRegistration(context, network, 0);
    if (spent?.allowed === false) announceQuota(reply, spent);
    requireQuota(spent);
    return network;
  }
  const holder = await admitAgent(context, request.headers['x-api-key'] as string, reply, needsQuota);
  if (access === 'readwrite') requireWriter(holder.agent);
  return access === 'key' ? holder : holder.agent;
}

/**
 * Admits the holder of an API key: checks the key, counts the request and announces the quota. Throws MISSING_API_KEY,
 * INVALID_API_KEY or, unless no quota is needed, RATE_LIMITED.
 */
export async function admitAgent(
  context: Context,
  key: string | undefined,
  reply: FastifyReply,
  needsQuota = true,
): Promise<KeyHolder> {
  const { agent, keyHash } = await authenticateAgent(context, key);
  const quota = await countRequest(context, agent, reply);
  if (needsQuota) requireQuota(quota);
  return { agent, keyHash, quota };
}

/** Counts one request of the agent and announces what is left. */
export async function countRequest(
  context: Context,
  agent: AgentRow,
  reply: FastifyReply,
): Promise<Spent | undefined> {
  const quota = await spendRequest(context, agent);
  announceQuota(reply, quota);
  return quota;
}

/** By the token where one is sent, however bad; otherwise by the session. */
async function findAdministrator(
  context: Context,
  request: FastifyRequest,
  publicUrl: string | undefined,
): Promise<Identity> {
  const { authorization = '' } = request.headers;
  const sealed = /^bearer(?: |$)/i.test(authorization)
    ? undefined
    : readCookie(publicUrl, request, 'session');
  if (sealed === undefined) {
    return authenticateAdministrator(context, /^bearer +(\S+)$/i.exec(authorization)?.[1]);
  }
  requireOwnPage(publicUrl, request);
  return authenticateSession(context, sealed);
}

/** Throws MISSING_TOKEN: what a page of another site does in the name of someone signed in does not count. */
export function requireOwnPage(publicUrl: string | undefined, request: FastifyRequest): void {
  if (isFromOwnPage(publicUrl, request)) return;
  throw new AppError(
    'MISSING_TOKEN',
    'A session counts only for requests from the pages of the console themselves. Send a token as "Authorization: Bearer …".',
  );
}
