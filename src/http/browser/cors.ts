// Cross-origin requests (CORS). Browsers do not send API keys automatically, so the keyed API is open to all origins unless
// the operator lists some. Administrators' paths are never open.
import { unescape as decode } from 'node:querystring';
import type { FastifyReply } from 'fastify';
import { AUTHORIZE_PATH, isOpenPath } from '../../oauth/metadata.ts';
import type { CorsOrigins } from '../access/same-origin.ts';
import { addHeader, addVary, hasHeader } from '../response/headers.ts';

const EXPOSED =
  'RateLimit, RateLimit-Policy, Retry-After, ETag, Link, X-Request-Id, X-Unknown-Parameters, X-Unknown-Fields, Idempotent-Replayed, Preference-Applied, Event-Warnings';
/** Only requests with `place` get its header, so the others keep the list that they have had before. */
const PLACE = /[?&]place=/;
const ALLOWED_HEADERS = 'Content-Type, X-API-Key, If-Match, If-None-Match, Prefer';
/** Further headers that clients of the Model Context Protocol send. */
const MCP_HEADERS =
  'Authorization, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID';
const PREFLIGHT_SECONDS = '86400';

/** Decodes the path first, as the router does, so that escapes cannot hide it. */
export function isAdminPath(path: string): boolean {
  return /^\/(?:v1\/)?admin(?:\/|$)/.test(decode(path));
}

/** Adds the headers that let the requesting page read the response. */
export function allowOrigin(origins: CorsOrigins, path: string, reply: FastifyReply): void {
  const { origin } = reply.request.headers;
  if (origin === undefined || isAdminPath(path) || decode(path) === AUTHORIZE_PATH) return;
  if (origins === '*') addHeader(reply, 'access-control-allow-origin', '*');
  else {
    addVary(reply, 'Origin');
    if (!origins.includes(origin)) return;
    addHeader(reply, 'access-control-allow-origin', origin);
  }
  const exposed = [EXPOSED];
  if (isOpenPath(path) || path.startsWith('/mcp/')) exposed.push('WWW-Authenticate');
  if (PLACE.test(reply.request.url)) exposed.push('Resolved-Place');
  addHeader(reply, 'access-control-expose-headers', exposed.join(', '));
}

/** Responds to a preflight request (OPTIONS). */
export function sendPreflight(reply: FastifyReply, path: string, methods: string): FastifyReply {
  reply.header('allow', methods);
  if (hasHeader(reply, 'access-control-allow-origin')) {
    reply
      .header('access-control-allow-methods', methods)
      .header(
        'access-control-allow-headers',
        path.startsWith('/mcp') || isOpenPath(path) ? `${ALLOWED_HEADERS}, ${MCP_HEADERS}` : ALLOWED_HEADERS,
      )
      .header('access-control-max-age', PREFLIGHT_SECONDS);
  }
  return reply.code(204).send();
}
