// Redirect URIs of clients: which are allowed, which count as the same, and how the consent page names them.

const MAX_LENGTH = 500;

/** A port of the own computer, on which a program listens for the redirect (RFC 8252). */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Schemes that run code, open files or start programs that no OAuth client is. Others are private schemes of apps. */
const REFUSED_SCHEME =
  /^(?:javascript|data|vbscript|file|blob|filesystem|about|view-source|intent|ms-.*|wss?|ftp):$/;

/** What RFC 3986 allows. Browsers take a backslash for a slash. */
const URI_CHARACTERS = /^[!#-;=?-[\]_a-z~]+$/;
/** Browsers ignore one that is empty. */
const USER_INFO = /^[^/?]*\/\/[^/?]*@/;

/** Plain enough for a Content-Security-Policy. */
const PLAIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/;

/** Why it is refused; undefined if it is allowed. */
export function problemOf(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri);
  if (url === null) return 'it is not a URL';
  if (redirectUri.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  if (!URI_CHARACTERS.test(redirectUri)) return 'it has characters that a URL may not have';
  if (redirectUri.includes('#')) return 'it has a fragment';
  if (url.username !== '' || url.password !== '' || USER_INFO.test(redirectUri))
    return 'it has a user name or password';
  if (REFUSED_SCHEME.test(url.protocol)) return `its scheme is ${url.protocol.slice(0, -1)}`;
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    return 'it is http, but not on the own computer';
  if (isWeb(url) && !PLAIN_HOST.test(url.host)) return 'its host has unusual characters';
  return undefined;
}

/** Whether the redirect URI of a request is one that the client has. For loopback, the port does not matter. */
export function isSame(registered: string, requested: string): boolean {
  if (registered === requested) return true;
  const [one, other] = [URL.parse(registered), URL.parse(requested)];
  if (one?.protocol !== 'http:' || other?.protocol !== 'http:' || !LOOPBACK.has(one.hostname)) return false;
  one.port = '';
  other.port = '';
  return one.href === other.href;
}

/** Where the consent leads: a web site, a program on this computer, or an app with a scheme of its own. */
export type Destination =
  /** The host in punycode. */
  | { readonly kind: 'site'; readonly host: string }
  | { readonly kind: 'computer' }
  | { readonly kind: 'app'; readonly scheme: string };

export function destinationOf(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  if (url.protocol === 'https:') return { kind: 'site', host: url.host };
  return url.protocol === 'http:' ? { kind: 'computer' } : { kind: 'app', scheme: url.protocol };
}

/** A host that a Content-Security-Policy can name: not an IPv6 address, no underscore, no dot at the end. */
const NAMABLE_HOST = /^[a-z0-9.-]*[a-z0-9-]$/;

/** Source for `form-action`: browsers apply it to the redirect after a form, too. */
export function formActionOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  return isWeb(url) && NAMABLE_HOST.test(url.hostname) ? url.origin : url.protocol;
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:';
}
