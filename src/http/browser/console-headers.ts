// Headers of everything under /admin, errors included: kept nowhere, shown in no frame, read by no other origin, and no
// address of it told to anybody else. Pages that need more say so themselves.
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
