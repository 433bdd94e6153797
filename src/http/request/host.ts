// The Host header. A request has exactly one: with two, a proxy and the service might mean different hosts.
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../domain/errors.ts';

/** Throws BAD_REQUEST, as RFC 9112 (3.2) demands. */
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
