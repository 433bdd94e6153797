// Requests to URLs that others chose. Each purpose has its rules for URLs and addresses. The address is checked when the
// connection is made, because DNS may return another one each time. What may be shown of a response is left to the caller.
import { lookup, Resolver } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Allowance, type AllowedPurpose, includesAddress } from './allowance.ts';
import { isPublicAddress } from './public-address.ts';

export type Purpose = AllowedPurpose | 'picture';

/** Why there is no response, in words that continue "could not be fetched: ". They say nothing about private networks. */
export const FAILURES = {
  url: 'its URL must use https on port 443, without a user name or password',
  host: 'its host has no public IP address',
  connection: 'its host does not respond as expected',
  certificate: 'the TLS certificate of its host is not valid',
  redirect: 'its URL redirects to another one',
  encoding: 'its host compresses it without being asked to',
  size: 'it is too large',
  timeout: 'its host takes too long',
} as const;
export type FailureReason = keyof typeof FAILURES;

export type Fetched =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly headers: IncomingMessage['headers'];
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason };

export interface Limits {
  /** For everything: DNS, all redirects, and the whole body. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** The media types to ask for. */
  readonly accept: string;
  /** How many redirects to follow; each URL is checked like the first. Default: 0. */
  readonly redirects?: number;
}

/** All IP addresses of a host name. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface OutboundOptions {
  /** Issuer of the identity provider, from which pictures may come in any way; undefined if there is no provider. */
  readonly issuer: string | undefined;
  readonly allow: readonly Allowance[];
  /** Default: DNS queries. */
  readonly resolve?: Resolve;
  /** Default: isPublicAddress. */
  readonly isPublic?: (address: string) => boolean;
}

/** Where a URL may lead. */
interface Route {
  readonly mayConnect: (address: string) => boolean;
  readonly resolve: Resolve;
}

const HTTPS_PORT = 443;

class Failure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason) {
    super(FAILURES[reason]);
    this.reason = reason;
  }
}

export class Outbound {
  readonly #issuerOrigin: string | undefined;
  readonly #allow: readonly Allowance[];
  readonly #resolve: Resolve;
  readonly #isPublic: (address: string) => boolean;

  constructor({ issuer, allow, resolve = dnsQueries(), isPublic = isPublicAddress }: OutboundOptions) {
    this.#issuerOrigin = issuer === undefined ? undefined : new URL(issuer).origin;
    this.#allow = allow;
    this.#resolve = resolve;
    this.#isPublic = isPublic;
  }

  /** Whether `get` would look for the host of this URL at all. */
  mayGet(purpose: Purpose, url: string): boolean {
    return this.#routeOf(purpose, URL.parse(url)) !== undefined;
  }

  /** Never rejects. A redirect that is not followed is a failure; any other status is a response. */
  async get(purpose: Purpose, url: string, limits: Limits): Promise<Fetched> {
    const signal = AbortSignal.timeout(limits.timeoutMs);
    try {
      let next = URL.parse(url);
      for (let redirects = limits.redirects ?? 0; ; redirects--) {
        const route = this.#routeOf(purpose, next);
        if (!next || !route) throw new Failure('url');
        const response = await request(next, route, limits.accept, signal);
        const location = readLocation(response);
        if (location === undefined) return await readResponse(response, limits.maxBytes);
        response.destroy();
        if (redirects === 0) throw new Failure('redirect');
        next = URL.parse(location, next.href);
      }
    } catch (error) {
      if (signal.aborted) return { kind: 'failed', reason: 'timeout' };
      return { kind: 'failed', reason: error instanceof Failure ? error.reason : 'connection' };
    }
  }

  /** Undefined if the purpose may not use the URL, whatever its host's addresses are. */
  #routeOf(purpose: Purpose, url: URL | null): Route | undefined {
    if (!url) return undefined;
    if (purpose === 'picture') return this.#pictureRoute(url);
    const port = Number(url.port || HTTPS_PORT);
    const allow = this.#allow.filter((allowance) => allowance.purpose === purpose && allowance.port === port);
    if (url.protocol !== 'https:' || url.username || url.password) return undefined;
    if (port !== HTTPS_PORT && allow.length === 0) return undefined;
    if (allow.some(({ target }) => target === url.hostname)) return ANYWHERE;
    return {
      resolve: this.#resolve,
      mayConnect: (address) =>
        (port === HTTPS_PORT && this.#isPublic(address)) ||
        allow.some((allowance) => includesAddress(allowance, address)),
    };
  }

  #pictureRoute({ origin, protocol }: URL): Route | undefined {
    if (origin === this.#issuerOrigin) return ANYWHERE;
    return protocol === 'https:' ? { resolve: askSystem, mayConnect: this.#isPublic } : undefined;
  }
}

/** To hosts that the operator named. */
const ANYWHERE: Route = { resolve: askSystem, mayConnect: () => true };

/** Also knows /etc/hosts. Each call occupies one of a few threads until it ends, so strangers' names must not come here. */
async function askSystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Asks DNS servers; by default those of the system. */
export function dnsQueries(servers?: readonly string[]): Resolve {
  return async (name, signal) => {
    const resolver = new Resolver();
    if (servers) resolver.setServers(servers);
    signal.addEventListener('abort', () => resolver.cancel());
    const queries = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return queries.flatMap((query) => (query.status === 'fulfilled' ? query.value : []));
  };
}

/** Connects to the same IP address that was checked. */
async function request(
  url: URL,
  { resolve, mayConnect }: Route,
  accept: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // For an IP address nothing is looked up.
  if (isIP(host) !== 0 && !mayConnect(host)) throw new Failure('host');
  const lookupChecked: LookupFunction = (name, options, done) => {
    const use = (found: readonly string[]) => {
      const allowed = found.filter(mayConnect).map((address) => ({ address, family: isIP(address) }));
      if (allowed.length === 0) done(new Failure('host'), []);
      else if (options.all) done(null, allowed);
      else done(null, allowed[0]!.address, allowed[0]!.family);
    };
    resolve(name, signal).then(use, () => use([]));
  };
  const { promise, resolve: settle, reject } = Promise.withResolvers<IncomingMessage>();
  // Loaded when needed: it takes a tenth of the start.
  const http = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const headers = { accept, 'accept-encoding': 'identity' };
  const sent = http.request(url, { agent: false, headers, lookup: lookupChecked, signal }, settle);
  sent.on('error', (error) => {
    const { authorizationError } = (sent.socket ?? {}) as Partial<TLSSocket>;
    reject(authorizationError ? new Failure('certificate') : error);
  });
  sent.on('close', () => reject(new Error('no response'))); // e.g. 101 Switching Protocols emits no 'response'
  sent.end();
  return promise;
}

function readLocation({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return statusCode >= 300 && statusCode < 400 ? headers.location : undefined;
}

async function readResponse(response: IncomingMessage, maxBytes: number): Promise<Fetched> {
  const { statusCode: status = 0, headers } = response;
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new Failure('encoding');
    for await (const piece of response as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > maxBytes) throw new Failure('size');
      pieces.push(piece);
    }
    return { kind: 'response', status, headers, bytes: Buffer.concat(pieces) };
  } finally {
    response.destroy();
  }
}
