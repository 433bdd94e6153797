// Security headers of everything under /admin, including errors. They forbid loading other content, framing, reading by other
// origins, and sending the URL to other sites as Referer. Pages that need more set their own headers.
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
