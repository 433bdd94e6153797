// Quota headers: RateLimit and RateLimit-Policy of the IETF httpapi draft.
import type { FastifyReply } from 'fastify';
import type { Spent } from '../../usecases/access.ts';
import { replaceHeader } from '../response/headers.ts';

/** Sets both headers; neither if there is no limit. `policy` is the name of the quota. */
export function setQuotaHeaders(reply: FastifyReply, spent: Spent | undefined, policy = 'default'): void {
  if (!spent) return;
  replaceHeader(reply, 'ratelimit-policy', `"${policy}";q=${spent.limit};w=3600`);
  replaceHeader(reply, 'ratelimit', `"${policy}";r=${spent.remaining};t=${spent.resetSeconds}`);
}
