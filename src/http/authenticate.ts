// The check of an endpoint's access: key, then quota, then tier; or the token of an administrator.
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  authenticateAdministrator,
  authenticateAgent,
  requireWriter,
  spendRegistration,
  spendRequest,
} from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import { clientNetwork } from './client-network.ts';
import type { Access } from './endpoint.ts';
import { applyQuota } from './rate-limit.ts';

/** The caller that the endpoint gets. Throws what use cases of access throw. */
export async function authenticate(
  context: Context,
  access: Access,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  if (access === 'administrator') return authenticateAdministrator(context, bearerToken(request));
  if (access === 'registration') {
    const network = clientNetwork(request.ip);
    // Nothing is spent yet, so what is left is of interest only where that is nothing.
    const spent = await spendRegistration(context, network, 0);
    if (!spent?.allowed) applyQuota(reply, spent);
    return network;
  }
  const agent = await authenticateAgent(context, request.headers['x-api-key'] as string | undefined);
  applyQuota(reply, await spendRequest(context, agent));
  if (access === 'readwrite') requireWriter(agent);
  return agent;
}

function bearerToken(request: FastifyRequest): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}
