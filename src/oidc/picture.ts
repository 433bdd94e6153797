// Pictures of people, fetched from where the provider says that they are, so that a browser need not ask anybody else and
// nobody else learns who looks. Only pictures, only small ones, and only from public addresses or from the provider itself.
import { lookup } from 'node:dns';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Picture, Pictures } from '../domain/session.ts';
import { TIMEOUT_MS } from './provider.ts';
import { isPublicAddress } from './public-address.ts';

const MAX_BYTES = 524_288;
const MAX_REDIRECTS = 3;
const TYPES = /^image\/(?:png|jpeg|webp|gif)$/;

/** `issuer`: undefined where there is no provider. */
export function peoplesPictures(issuer: string | undefined, isAllowed = isPublicAddress): Pictures {
  const home = issuer === undefined ? undefined : new URL(issuer).origin;
  const mayFetch = (address: string): boolean => {
    const { protocol, origin } = URL.parse(address) ?? {};
    return protocol === 'https:' || (origin !== undefined && origin === home);
  };
  return {
    mayFetch,
    fetch: async (address) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      try {
        let next = address;
        for (let asked = 0; asked <= MAX_REDIRECTS && mayFetch(next); asked++) {
          const url = new URL(next);
          const answer = await ask(url, signal, url.origin === home ? () => true : isAllowed);
          const location = readLocation(answer);
          if (location === undefined) return await readPicture(answer);
          answer.destroy();
          next = URL.parse(location, url)?.href ?? '';
        }
        return undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** The address that is connected to is the one that was checked: a name could mean another a moment later. */
function ask(
  url: URL,
  signal: AbortSignal,
  isAllowed: (address: string) => boolean,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowed(host)) return Promise.reject(new Error('not a public address'));
  const lookupAllowed: LookupFunction = (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      const allowed = error ? [] : found.filter(({ address }) => isAllowed(address));
      if (allowed.length === 0) done(error ?? new Error('not a public address'), []);
      else if (options.all) done(null, allowed);
      else done(null, allowed[0]!.address, allowed[0]!.family);
    });
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = { accept: 'image/png, image/jpeg, image/webp, image/gif', 'accept-encoding': 'identity' };
  request(url, { agent: false, headers, lookup: lookupAllowed, signal }, resolve)
    .on('error', reject)
    .on('close', () => reject(new Error('no answer'))) // to one that switches protocols there is none
    .end();
  return promise;
}

function readLocation({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? headers.location : undefined;
}

/** Undefined for what is no picture, or too large. */
async function readPicture(answer: IncomingMessage): Promise<Picture | undefined> {
  const type = /^[^;\s]*/.exec(answer.headers['content-type'] ?? '')![0].toLowerCase();
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (answer.statusCode !== 200 || !TYPES.test(type) || encoding !== 'identity') {
    answer.destroy();
    return undefined;
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MAX_BYTES) return undefined; // leaving the loop hangs up
    pieces.push(piece);
  }
  return { type, bytes: Buffer.concat(pieces) };
}
