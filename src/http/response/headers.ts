// Pending headers: response headers collected before the response itself is known. Most responses bypass Fastify, so they
// are kept as the flat list that node:http takes; before Fastify sends a response, they are handed over to it.
import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyReply {
    /** Names and values, alternating; names in lower case. */
    pendingHeaders: string[];
  }
}

/** Starts the list with the headers of every response. */
export function initHeaders(reply: FastifyReply, requestId: string): void {
  reply.pendingHeaders = ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
  reply.pendingHeaders.push('cache-control', 'no-store');
}

export function addHeader(reply: FastifyReply, name: string, value: string): void {
  reply.pendingHeaders.push(name, value);
}

/** Sets a header, replacing any earlier value. */
export function replaceHeader(reply: FastifyReply, name: string, value: string): void {
  const headers = reply.pendingHeaders;
  const at = headers.indexOf(name);
  if (at < 0) headers.push(name, value);
  else headers[at + 1] = value;
}

/** Adds a name to Vary. */
export function addVary(reply: FastifyReply, name: string): void {
  const headers = reply.pendingHeaders;
  const at = headers.indexOf('vary');
  if (at < 0) headers.push('vary', name);
  else headers[at + 1] += `, ${name}`;
}

export function hasHeader(reply: FastifyReply, name: string): boolean {
  return reply.pendingHeaders.includes(name);
}

/** Copies the pending headers to Fastify's reply. Headers already set on the reply keep their values. */
export function handOverHeaders(reply: FastifyReply): void {
  const headers = reply.pendingHeaders;
  for (let at = 0; at < headers.length; at += 2) {
    if (!reply.hasHeader(headers[at]!)) reply.header(headers[at]!, headers[at + 1]);
  }
}
