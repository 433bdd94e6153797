// From which site's page a request comes. Against CSRF: browsers send a cookie whichever site makes the request, so a session is valid
// only for requests from the service's own pages. Against DNS rebinding: a site can point its own host name at this machine, and
// browsers then treat our responses as those of that site. The Host and Origin headers reveal it.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';

/** Returns the origin of PUBLIC_URL or, if that is not set, of the request's own URL; undefined if its host is not valid. */
export function serviceOrigin(publicUrl: string | undefined, request: FastifyRequest): string | undefined {
  const { protocol, origin } = URL.parse(publicUrl ?? `${request.protocol}://${request.host}`) ?? {};
  return protocol === 'http:' || protocol === 'https:' ? origin : undefined;
}

/** The same. Throws BAD_REQUEST if the host is not valid. */
export function requireServiceOrigin(publicUrl: string | undefined, request: FastifyRequest): string {
  const origin = serviceOrigin(publicUrl, request);
  if (origin !== undefined) return origin;
  throw new AppError('BAD_REQUEST', 'The Host header is not valid.');
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

/** Origins whose pages may call the API. */
export type CorsOrigins = '*' | readonly string[];

export interface AllowedHosts {
  readonly publicUrl?: string | undefined;
  readonly corsOrigins: CorsOrigins;
}

/**
 * Protects against DNS rebinding: throws ORIGIN_NOT_ALLOWED. On a loopback connection, Host must be a trusted name. On others, only
 * browsers (requests with Origin) need one: a network may have many names for us, and other clients are not exposed to rebinding. Reads
 * Host as sent, never X-Forwarded-Host, because a page can set that.
 */
export function requireAllowedHost({ publicUrl, corsOrigins }: AllowedHosts, request: FastifyRequest): void {
  const { host, origin } = request.headers;
  const target = URL.parse(`http://${host}`);
  const isTrusted = target !== null && isTrustedName(target.hostname, publicUrl);
  if (!isTrusted && isLoopback(request.raw.socket.localAddress)) throw refusal(UNKNOWN_HOST);
  if (origin === undefined || (corsOrigins !== '*' && corsOrigins.includes(origin))) return;
  if (!isTrusted) throw refusal(UNKNOWN_HOST);
  if (corsOrigins === '*' || isOwnPage(origin, target.host, publicUrl)) return;
  throw refusal(
    'Pages of this origin may not call this URL. The operator lists the allowed origins in CORS_ORIGINS.',
  );
}

/** Tells whether the name is out of reach of an attacker's DNS: an IP address, localhost, or the host of PUBLIC_URL. */
function isTrustedName(hostname: string, publicUrl: string | undefined): boolean {
  const name = hostname.replace(/\.$/, '');
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return publicUrl !== undefined && URL.parse(publicUrl)?.hostname === name;
}

function isOwnPage(origin: string, targetHost: string, publicUrl: string | undefined): boolean {
  const page = URL.parse(origin);
  if (page === null) return false;
  return page.host === targetHost || page.host === URL.parse(publicUrl ?? '')?.host;
}

function isLoopback(address: string | undefined): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address ?? '');
}

const UNKNOWN_HOST =
  'The Host header has a name that this service does not know. Use localhost, the IP address, or the host name in PUBLIC_URL, which the operator sets.';

function refusal(message: string): AppError {
  return new AppError('ORIGIN_NOT_ALLOWED', message);
}
