// Security headers of everything under /admin, errors included: no content is loaded, no page frames it, no other origin
// reads it, and no other site gets its URL as Referer. Pages that need more set their own headers.
import { unescape as decode } from 'node:querystring';
import type { FastifyReply } from 'fastify';
import { addHeader } from '../response/headers.ts';

export function addConsoleHeaders(path: string, reply: FastifyReply): void {
  if (!path.startsWith('/admin') && !path.includes('%')) return;
  if (!/^\/admin(?:\/|$)/.test(decode(path))) return;
  addHeader(reply, 'content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  addHeader(reply, 'referrer-policy', 'same-origin');
  addHeader(reply, 'cross-origin-resource-policy', 'same-origin');
  addHeader(reply, 'x-frame-options', 'DENY');
}
