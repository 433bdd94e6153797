// Profile pictures, fetched from the URL in the provider's token, so that browsers contact no third party. Only images of
// limited size, and only from public IP addresses or from the provider itself.
import { lookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { Picture, Pictures } from '../domain/administration/session.ts';
import { TIMEOUT_MS } from './provider.ts';

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

/** Networks that are local, reserved, or translate to IPv4 addresses (RFC 6890 and its registries). */
const NOT_PUBLIC = {
  ipv4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
  ],
  // Everything outside 2000::/3, and within it Teredo, ORCHID, benchmarks, documentation and 6to4.
  ipv6: ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
} as const;

// One list per family: in a list of both, an IPv4 address would also match as its IPv4-mapped IPv6 address.
const blocked = { ipv4: toList('ipv4'), ipv6: toList('ipv6') };

function toList(family: keyof typeof NOT_PUBLIC): BlockList {
  const list = new BlockList();
  for (const network of NOT_PUBLIC[family]) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Also false for text that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  return !blocked[family].check(address, family);
}
