// Access checks of an endpoint, in order: key, quota, tier; or an administrator's token or session. The rules themselves
// are in usecases/access.ts.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Identity } from '../../domain/admin.ts';
import { AppError } from '../../domain/errors.ts';
import {
  authenticateAdministrator,
  authenticateAgent,
  type KeyHolder,
  requireFewFailures,
  requireQuota,
  requireWriter,
  spendFailedRegistration,
  spendRegistration,
  spendRequest,
} from '../../usecases/access.ts';
import type { Context } from '../../usecases/context.ts';
import { authenticateSession } from '../../usecases/sessions.ts';
import type { Admission } from '../admission/admission.ts';
import { readCookie } from '../browser/cookies.ts';
import { isSameOrigin } from '../browser/same-origin.ts';
import type { Endpoint } from '../endpoint.ts';
import { setQuotaHeaders } from '../response/rate-limit.ts';
import { clientNetwork } from './client-network.ts';

/** Returns the caller to pass to the endpoint. Throws the errors of usecases/access.ts. */
export async function authenticate(
  context: Context,
  admission: Admission,
  { access, needsQuota = true }: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string | undefined,
): Promise<unknown> {
  if (access === 'administrator') return findAdministrator(context, request, publicUrl);
  if (access === 'registration') {
    const network = clientNetwork(request.ip);
    // Peek only: send quota headers only when a quota is exhausted.
    const [spent, failed] = await Promise.all([
      spendRegistration(context, network, 0),
      spendFailedRegistration(context, network, 0),
    ]);
    const exhausted = [spent, failed].find((quota) => quota?.allowed === false);
    setQuotaHeaders(reply, exhausted);
    requireQuota(spent, 'quota registrations');
    requireFewFailures(failed);
    return network;
  }
  const holder = await admitAgent(
    context,
    admission,
    request.headers['x-api-key'] as string,
    reply,
    needsQuota,
  );
  if (access === 'readwrite') requireWriter(holder.agent);
  return access === 'key' ? holder : holder.agent;
}

/**
 * Admits the holder of an API key: checks the key, counts the request and sets the quota headers. Throws MISSING_API_KEY,
 * INVALID_API_KEY, or RATE_LIMITED if it has too many requests in progress or, if `needsQuota`, its quota is used up.
 */
export async function admitAgent(
  context: Context,
  admission: Admission,
  key: string | undefined,
  reply: FastifyReply,
  needsQuota = true,
): Promise<KeyHolder> {
  const { agent, keyHash } = await authenticateAgent(context, key);
  admission.enterAgent(reply.request.client, agent.agent_id);
  const quota = await spendRequest(context, agent);
  setQuotaHeaders(reply, quota);
  if (needsQuota) requireQuota(quota);
  return { agent, keyHash, quota };
}

/**
 * Counts a registration that passed the access check and is then refused for what the client sent. Call it before the
 * response is sent, so that the client's next request sees the count.
 */
export async function countFailedRegistration(
  context: Context,
  { caller }: FastifyRequest,
  { statusCode }: FastifyReply,
): Promise<void> {
  if (caller === undefined || statusCode < 400 || statusCode === 429 || statusCode >= 500) return;
  // Without the store nobody can register, so a count that fails does not matter.
  await spendFailedRegistration(context, caller as string, 1).catch(() => {});
}

/** Uses the bearer token if one is sent, even an invalid one; otherwise the session cookie. */
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
  requireSameOrigin(publicUrl, request);
  return authenticateSession(context, sealed);
}

/** Throws MISSING_TOKEN for requests from pages of other sites, so that they cannot use an administrator's session. */
export function requireSameOrigin(publicUrl: string | undefined, request: FastifyRequest): void {
  if (isSameOrigin(publicUrl, request)) return;
  throw new AppError(
    'MISSING_TOKEN',
    'A session is valid only for requests from the console’s own pages. Send a token as "Authorization: Bearer …".',
  );
}
