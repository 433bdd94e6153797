// The head of a request: its path, its host, and IDs that callers pass on so that one request can be followed through several programs.
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';

/** Returns the path without the query. The request line may have an absolute URL. */
export function pathOf({ raw }: FastifyRequest): string {
  const url = raw.url!;
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  return upTo('#', upTo('?', target));
}

function upTo(mark: string, text: string): string {
  const end = text.indexOf(mark);
  return end < 0 ? text : text.slice(0, end);
}

/** Whether it is a probe of load balancers and supervisors: never refused by limits, served while the service starts. */
export function isHealthPath(path: string): boolean {
  return path === '/health' || path === '/live' || path === '/ready'; // a Set would have to hash every path
}

/** Throws BAD_REQUEST unless there is one Host: with two, a proxy and the service might mean different hosts (RFC 9112, 3.2). */
export function requireOneHost({ raw, headers }: FastifyRequest): void {
  const { rawHeaders } = raw; // node:http keeps only the first in `headers`
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw new AppError('BAD_REQUEST', 'The request is not valid HTTP: it has two Host headers.');
  if (headers.host === undefined && raw.httpVersion === '1.1')
    throw new AppError('BAD_REQUEST', 'The request is not valid HTTP: it has no Host header.');
}

/** Long enough for a UUID or a ULID with a prefix. Nothing that would need escaping in a log line. */
const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/;

/** The request ID that the sender gave, if it is a plain one. To be used only if the sender is trusted. */
export function findRequestId({ headers }: IncomingMessage): string | undefined {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : undefined;
}

/** Version, trace ID, ID of the caller's step, flags; a later version may add more. */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** The trace ID of a valid `traceparent` (https://www.w3.org/TR/trace-context/). Anybody may send one. */
export function findTraceId({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers;
  if (traceparent === undefined) return undefined;
  const [, traceId, more] = TRACE_PARENT.exec(String(traceparent)) ?? [];
  // Version 00 has exactly four parts.
  return more !== undefined && String(traceparent).startsWith('00') ? undefined : traceId;
}
