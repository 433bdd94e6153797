// Profile pictures, fetched from the URL in the provider's token, so that browsers contact no third party. Only images of
// limited size, and only from public IP addresses or from the provider itself.
import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { Picture, Pictures } from '../domain/administration/session.ts';
import { TIMEOUT_MS } from './provider.ts';
import { isPublicAddress } from './public-address.ts';

const MAX_BYTES = 524_288;
const MAX_REDIRECTS = 3;
const TYPES = /^image\/(?:png|jpeg|webp|gif)$/;

/** `issuer` is undefined if there is no provider. */
export function profilePictures(issuer: string | undefined, isAllowed = isPublicAddress): Pictures {
  const issuerOrigin = issuer === undefined ? undefined : new URL(issuer).origin;
  const mayFetch = (url: string): boolean => {
    const { protocol, origin } = URL.parse(url) ?? {};
    return protocol === 'https:' || (origin !== undefined && origin === issuerOrigin);
  };
  return {
    mayFetch,
    fetch: async (pictureUrl) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      try {
        let next = pictureUrl;
        for (let redirects = 0; redirects <= MAX_REDIRECTS && mayFetch(next); redirects++) {
          const url = new URL(next);
          const response = await sendRequest(
            url,
            signal,
            url.origin === issuerOrigin ? () => true : isAllowed,
          );
          const location = readLocation(response);
          if (location === undefined) return await readPicture(response);
          response.destroy();
          next = URL.parse(location, url)?.href ?? '';
        }
        return undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Connects to the same IP address that was checked: a second DNS lookup could return another. */
async function sendRequest(
  url: URL,
  signal: AbortSignal,
  isAllowed: (address: string) => boolean,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowed(host)) throw new Error('not a public address');
  const lookupAllowed: LookupFunction = (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      const allowed = error ? [] : found.filter(({ address }) => isAllowed(address));
      if (allowed.length === 0) done(error ?? new Error('not a public address'), []);
      else if (options.all) done(null, allowed);
      else done(null, allowed[0]!.address, allowed[0]!.family);
    });
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Loaded when needed: it takes a tenth of the start.
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const headers = { accept: 'image/png, image/jpeg, image/webp, image/gif', 'accept-encoding': 'identity' };
  request(url, { agent: false, headers, lookup: lookupAllowed, signal }, resolve)
    .on('error', reject)
    .on('close', () => reject(new Error('no response'))) // e.g. 101 Switching Protocols emits no 'response'
    .end();
  return promise;
}

function readLocation({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? headers.location : undefined;
}

/** Undefined if the response is not an image, or is too large. */
async function readPicture(response: IncomingMessage): Promise<Picture | undefined> {
  const type = /^[^;\s]*/.exec(response.headers['content-type'] ?? '')![0].toLowerCase();
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (response.statusCode !== 200 || !TYPES.test(type) || encoding !== 'identity') {
    response.destroy();
    return undefined;
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MAX_BYTES) return undefined; // leaving the loop closes the connection
    pieces.push(piece);
  }
  return { type, bytes: Buffer.concat(pieces) };
}
