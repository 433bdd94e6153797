// Same-origin check against CSRF. Browsers send a cookie whichever site makes the request, so a session is valid only for
// requests from the service's own pages.
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';

/** Returns the origin of PUBLIC_URL or, if that is not set, of the request's own URL; undefined if its host is not valid. */
export function serviceOrigin(publicUrl: string | undefined, request: FastifyRequest): string | undefined {
  const { protocol, origin } = URL.parse(publicUrl ?? `${request.protocol}://${request.host}`) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? origin : undefined;
}

/**
 * Trusts Sec-Fetch-Site if it is sent, because no page can set it. Browsers omit it on plain http, except to localhost; then
 * Origin decides and, without one, Referer. A request with none of the three does not come from our pages.
 */
export function isSameOrigin(publicUrl: string | undefined, request: FastifyRequest): boolean {
  const { origin, referer, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  const own = serviceOrigin(publicUrl, request);
  if (own === undefined) return false;
  if (origin !== undefined) return origin === own;
  return referer !== undefined && URL.parse(referer)?.origin === own;
}

/** Throws MISSING_TOKEN for requests from pages of other sites, so that they cannot use an administrator's session. */
export function requireSameOrigin(publicUrl: string | undefined, request: FastifyRequest): void {
  if (isSameOrigin(publicUrl, request)) return;
  throw new AppError(
    'MISSING_TOKEN',
    'A session is valid only for requests from the console’s own pages. Send a token as "Authorization: Bearer …".',
  );
}
