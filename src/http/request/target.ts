// What a request is for: its path and its host.
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
