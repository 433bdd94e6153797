// The two cookies of the console, and that of the page on which people connect clients. On https their names have the prefix __Host-: browsers then guarantee that only this host
// set them, for all of its paths, over TLS.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { serviceOrigin } from './same-origin.ts';

const NAMES = {
  session: 'local_events_session',
  signIn: 'local_events_signin',
  agent: 'local_events_agent',
} as const;
export const SESSION_COOKIE = `__Host-${NAMES.session}`;

const VALUE = /^[A-Za-z0-9._-]{1,4096}$/;

type Which = keyof typeof NAMES;

/** Returns the cookie's value; undefined if it is absent, sent twice, or not in the format that we set. */
export function readCookie(
  publicUrl: string | undefined,
  request: FastifyRequest,
  which: Which,
): string | undefined {
  const header = request.headers.cookie ?? '';
  const name = nameOf(publicUrl, request, which);
  let value: string | undefined;
  for (let from = 0; from < header.length; ) {
    const mark = header.indexOf(';', from);
    const end = mark < 0 ? header.length : mark;
    while (header[from] === ' ') from++;
    if (header.startsWith(name, from) && header[from + name.length] === '=') {
      if (value !== undefined) return undefined;
      value = header.slice(from + name.length + 1, end);
    }
    from = end + 1;
  }
  return value !== undefined && VALUE.test(value) ? value : undefined;
}

export function setCookie(
  publicUrl: string | undefined,
  reply: FastifyReply,
  which: Which,
  value: string,
  maxAgeMs: number,
): void {
  const { request } = reply;
  const attributes = `Path=/; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; SameSite=Lax`;
  const secure = isSecure(publicUrl, request) ? '; Secure' : '';
  // Fastify appends: a response may have several Set-Cookie headers.
  reply.header('set-cookie', `${nameOf(publicUrl, request, which)}=${value}; ${attributes}${secure}`);
}

export function clearCookie(publicUrl: string | undefined, reply: FastifyReply, which: Which): void {
  setCookie(publicUrl, reply, which, '', 0);
}

function nameOf(publicUrl: string | undefined, request: FastifyRequest, which: Which): string {
  return isSecure(publicUrl, request) ? `__Host-${NAMES[which]}` : NAMES[which];
}

function isSecure(publicUrl: string | undefined, request: FastifyRequest): boolean {
  return serviceOrigin(publicUrl, request)?.startsWith('https:') === true;
}
