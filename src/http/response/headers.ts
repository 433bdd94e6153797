// Headers that are known before the answer is: kept as the flat list that node:http takes, because most answers are sent
// past the framework. Where the framework sends one, it is told of them first.
import type { FastifyReply } from 'fastify';

declare module 'fastify' {
  interface FastifyReply {
    /** Names and values in turn. */
    standingHeaders: string[];
  }
}

/** What every answer has. */
export function beginHeaders(reply: FastifyReply, requestId: string): void {
  reply.standingHeaders = ['x-request-id', requestId, 'x-content-type-options', 'nosniff'];
  reply.standingHeaders.push('cache-control', 'no-store');
}

export function addHeader(reply: FastifyReply, name: string, value: string): void {
  reply.standingHeaders.push(name, value);
}

/** In place of the one that was there. */
export function replaceHeader(reply: FastifyReply, name: string, value: string): void {
  const headers = reply.standingHeaders;
  const at = headers.indexOf(name);
  if (at < 0) headers.push(name, value);
  else headers[at + 1] = value;
}

/** Adds to what the answer depends on. */
export function addVary(reply: FastifyReply, name: string): void {
  const headers = reply.standingHeaders;
  const at = headers.indexOf('vary');
  if (at < 0) headers.push('vary', name);
  else headers[at + 1] += `, ${name}`;
}

export function hasHeader(reply: FastifyReply, name: string): boolean {
  return reply.standingHeaders.includes(name);
}

/** Hands them to the framework; what an answer has set itself stays. */
export function tellFramework(reply: FastifyReply): void {
  const headers = reply.standingHeaders;
  for (let at = 0; at < headers.length; at += 2) {
    if (!reply.hasHeader(headers[at]!)) reply.header(headers[at]!, headers[at + 1]);
  }
}
