// Cross-origin calls from browsers. Keys are not ambient credentials, so the keyed API is open unless the operator
// names origins; the administrators' paths never are.
import { unescape as decode } from 'node:querystring';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addHeader, addVary, hasHeader } from '../response/headers.ts';

const EXPOSED = 'RateLimit, RateLimit-Policy, Retry-After, ETag, Link, X-Request-Id, X-Unknown-Parameters';
const ALLOWED_HEADERS = 'Content-Type, X-API-Key, If-Match, If-None-Match';
/** What clients of the Model Context Protocol send beside them. */
const MCP_HEADERS =
  'Authorization, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID';
const PREFLIGHT_SECONDS = '86400';

export type CorsOrigins = '*' | readonly string[];

/** However it is escaped: the router decodes a path before it looks. */
export function isAdminPath(path: string): boolean {
  return /^\/(?:v1\/)?admin(?:\/|$)/.test(decode(path));
}

/** Sets the response headers by which a browser lets the page read the answer. */
export function allowOrigin(
  origins: CorsOrigins,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { origin } = request.headers;
  if (origin === undefined || isAdminPath(path)) return;
  if (origins === '*') addHeader(reply, 'access-control-allow-origin', '*');
  else {
    addVary(reply, 'Origin');
    if (!origins.includes(origin)) return;
    addHeader(reply, 'access-control-allow-origin', origin);
  }
  addHeader(reply, 'access-control-expose-headers', EXPOSED);
}

/** Answers the question that a browser asks before a call. */
export function sendPreflight(reply: FastifyReply, path: string, methods: string): FastifyReply {
  reply.header('allow', methods);
  if (hasHeader(reply, 'access-control-allow-origin')) {
    reply
      .header('access-control-allow-methods', methods)
      .header(
        'access-control-allow-headers',
        path === '/mcp' ? `${ALLOWED_HEADERS}, ${MCP_HEADERS}` : ALLOWED_HEADERS,
      )
      .header('access-control-max-age', PREFLIGHT_SECONDS);
  }
  return reply.code(204).send();
}
