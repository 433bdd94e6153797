// Access checks of an endpoint, in order: key, quota, tier; or the quota of a network; or an administrator's token or session. The rules themselves
// are in usecases/access.ts.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Identity } from '../../domain/administration/admin.ts';
import type { AgentRow } from '../../domain/agent.ts';
import {
  authenticateAdministrator,
  authenticateAgent,
  type KeyHolder,
  type PublicQuota,
  requireFewFailures,
  requirePublicRead,
  requireQuota,
  requireWriter,
  type Spent,
  spendFailedRegistration,
  spendPublicRead,
  spendRegistration,
  spendRequest,
} from '../../usecases/access.ts';
import type { Context } from '../../usecases/context.ts';
import { authenticateSession } from '../../usecases/sessions.ts';
import type { Admission } from '../admission/admission.ts';
import { addVary, replaceHeader } from '../response/headers.ts';
import { clientNetwork } from './client-network.ts';
import { readCookie } from './cookies.ts';
import { requireSameOrigin } from './same-origin.ts';

/** The type of the caller for each kind of access. */
export interface Callers {
  /** No key needed. The caller is the client's network; forwarded addresses count only from trusted proxies. */
  registration: string;
  read: AgentRow;
  /** Like `read`, but without a key, too, if the operator allows it. A key that is sent must be valid. */
  public: AgentRow | undefined;
  /** Like `read`, but the endpoint also learns which key was used. */
  key: KeyHolder;
  readwrite: AgentRow;
  administrator: Identity;
}
export type Access = keyof Callers;

/** What an endpoint demands of its callers. */
export interface Demands<A extends Access = Access> {
  readonly access: A;
  /** If false, the request counts against the quota but is allowed when the quota is exhausted. */
  readonly needsQuota?: boolean;
}

/** What the access check needs. */
export interface Gate {
  /** Only when the service is ready. */
  readonly context: () => Context;
  readonly admission: Admission;
  /** Finds the quota of a client without a key, by its address. Undefined: everybody needs a key. */
  readonly publicQuotaOf?: ((address: string) => PublicQuota) | undefined;
  readonly publicUrl?: string | undefined;
}

/** Returns the caller to pass to the endpoint. Throws the errors of usecases/access.ts. */
export async function authenticate(
  gate: Gate,
  { access, needsQuota = true }: Demands,
  reply: FastifyReply,
): Promise<unknown> {
  const { request } = reply;
  const context = gate.context();
  if (access === 'administrator') return findAdministrator(context, request, gate.publicUrl);
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
  if (access === 'public' && gate.publicQuotaOf) {
    addVary(reply, 'X-API-Key');
    if (request.headers['x-api-key'] === undefined) return admitReader(gate, gate.publicQuotaOf, reply);
  }
  const { agent, keyHash } = await authenticateAgent(context, request.headers['x-api-key'] as string);
  gate.admission.enterAgent(request.client, agent.agent_id);
  const quota = await spendRequest(context, agent);
  setQuotaHeaders(reply, quota);
  if (needsQuota) requireQuota(quota);
  if (access === 'readwrite') requireWriter(agent);
  return access === 'key' ? { agent, keyHash, quota } : agent;
}

/** Counts the request of a client without a key. Throws RATE_LIMITED. */
async function admitReader(
  { admission, context }: Gate,
  quotaOf: (address: string) => PublicQuota,
  reply: FastifyReply,
): Promise<undefined> {
  const { client, ip } = reply.request;
  admission.enterReader(client);
  const spent = await spendPublicRead(context(), quotaOf(ip));
  setQuotaHeaders(reply, spent);
  requirePublicRead(spent);
}

/**
 * Counts a registration that passed the access check and is then refused for what the client sent. Call it before the
 * response is sent, so that the client's next request sees the count.
 */
export async function countFailedRegistration(
  gate: Gate,
  { caller }: FastifyRequest,
  { statusCode }: FastifyReply,
): Promise<void> {
  if (caller === undefined || statusCode < 400 || statusCode === 429 || statusCode >= 500) return;
  // Without the store nobody can register, so a count that fails does not matter.
  await spendFailedRegistration(gate.context(), caller as string, 1).catch(() => {});
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

/** Sets the quota headers of the IETF httpapi draft; neither if there is no limit. `policy` is the name of the quota. */
export function setQuotaHeaders(reply: FastifyReply, spent: Spent | undefined, policy = 'default'): void {
  if (!spent) return;
  replaceHeader(reply, 'ratelimit-policy', `"${policy}";q=${spent.limit};w=3600`);
  replaceHeader(reply, 'ratelimit', `"${policy}";r=${spent.remaining};t=${spent.resetSeconds}`);
}
