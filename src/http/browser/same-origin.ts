// The origin of the service as browsers see it, and whether a request comes from one of its own pages. A cookie is sent by
// browsers whoever asks for it: only our own pages may act in the name of its holder.
import type { FastifyRequest } from 'fastify';

/** That of PUBLIC_URL; without one, what the request was sent to. Undefined where that is no host. */
export function serviceOrigin(publicUrl: string | undefined, request: FastifyRequest): string | undefined {
  const { protocol, origin } = URL.parse(publicUrl ?? `${request.protocol}://${request.host}`) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? origin : undefined;
}

/**
 * Sec-Fetch-Site decides where it is sent: no page can set it. Browsers leave it out on plain http, except to the machine
 * itself; there Origin decides, and for requests that have none, Referer. Whoever sends none of them is no page of ours.
 */
export function isSameOrigin(publicUrl: string | undefined, request: FastifyRequest): boolean {
  const { origin, referer, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  const own = serviceOrigin(publicUrl, request);
  if (own === undefined) return false;
  if (origin !== undefined) return origin === own;
  return referer !== undefined && URL.parse(referer)?.origin === own;
}
