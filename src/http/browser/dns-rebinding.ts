// Against DNS rebinding: a site can point a name of its own at this machine, and a browser then takes our answers for those
// of that site. The name in Host and the Origin of the page give it away. Whose key it is, is left to the access check.
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import type { CorsOrigins } from './cors.ts';

export interface AllowedHosts {
  readonly publicUrl: string | undefined;
  readonly corsOrigins: CorsOrigins;
}

/**
 * Throws ORIGIN_NOT_ALLOWED. On a connection to the machine itself, Host must be known to be ours. Elsewhere that is asked
 * of browsers only: a network has many names for us, and other clients cannot be led astray. Host is taken as it was sent,
 * never from X-Forwarded-Host, which a page can set.
 */
export function requireAllowedHost({ publicUrl, corsOrigins }: AllowedHosts, request: FastifyRequest): void {
  const { host, origin } = request.headers;
  const called = URL.parse(`http://${host}`);
  const isOurs = called !== null && isKnown(called.hostname, publicUrl);
  if (!isOurs && isLoopback(request.raw.socket.localAddress)) throw refusal(UNKNOWN_HOST);
  if (origin === undefined || (corsOrigins !== '*' && corsOrigins.includes(origin))) return;
  if (!isOurs) throw refusal(UNKNOWN_HOST);
  if (corsOrigins === '*' || isOwnPage(origin, called.host, publicUrl)) return;
  throw refusal(
    'Pages of this origin may not call this address. The operator lists those that may in CORS_ORIGINS.',
  );
}

/** Whether nobody else's DNS can point this name at us: an IP address, this machine's own name, or the operator's. */
function isKnown(hostname: string, publicUrl: string | undefined): boolean {
  const name = hostname.replace(/\.$/, '');
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) return true;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return publicUrl !== undefined && URL.parse(publicUrl)?.hostname === name;
}

function isOwnPage(origin: string, calledHost: string, publicUrl: string | undefined): boolean {
  const page = URL.parse(origin);
  if (page === null) return false;
  return page.host === calledHost || page.host === URL.parse(publicUrl ?? '')?.host;
}

function isLoopback(address: string | undefined): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address ?? '');
}

const UNKNOWN_HOST =
  'The name in the Host header is not known to be this service’s. Call it as localhost, by its IP address, or by the name in PUBLIC_URL, which the operator sets.';

function refusal(message: string): AppError {
  return new AppError('ORIGIN_NOT_ALLOWED', message);
}
