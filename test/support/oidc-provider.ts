// A real OpenID Connect provider on this machine. People sign in by naming an account: on a page for browsers, through
// answer() with the URL that an application redirects to, or through idToken(). Consent is given in advance, and may be
// refused on the page. Knows nothing of the service under test.
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { base, Prompt } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import { Provider, type ProviderContext } from 'oidc-provider/lib/provider.js';

/** A person at the provider, and their claims in its tokens. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  /** A path is on the provider itself; the option `picture` responds to /picture. */
  readonly picture?: string;
  readonly hd?: string;
}

export interface ProviderOptions {
  readonly accounts: readonly Account[];
  /** idToken() uses the first; nothing needs to listen there. More can be added. */
  readonly redirectUris?: readonly string[];
  /** Default: a free port. */
  readonly port?: number;
  /** Whether ID tokens hold all claims. If not, only the userinfo endpoint returns more than `sub`. */
  readonly claimsInIdToken?: boolean;
  /** Responds to requests for /picture. */
  readonly picture?: (response: ServerResponse) => void;
}

export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** What the environment of a service says about this provider. */
  readonly env: Record<string, string>;
  /** The public half of the current signing key. */
  readonly publicKey: JWK;
  /** The paths requested so far. */
  readonly requests: readonly string[];
  /** Adds a redirect URI for every application. Drops sign-ins that are under way. */
  addRedirectUri(uri: string): void;
  /** Signs the account in over the protocol (code with PKCE) and returns the ID token. */
  idToken(sub: string, clientId?: string): Promise<string>;
  /** Signs in as a browser would at the URL that an application redirected to; returns the URL that leads back to it. */
  answer(address: string, person: { readonly sub: string } | 'refuses'): Promise<string>;
  /** Signs any claims with the provider's own key, also a token that it would never issue. */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Replaces the signing key. The old one is no longer published. */
  rotateKeys(): Promise<void>;
  close(): Promise<void>;
}

export const CLIENT_ID = 'local-events-console';
/** Another application of the same provider. */
export const OTHER_CLIENT_ID = 'another-application';
/** An application without a secret. */
export const PUBLIC_CLIENT_ID = 'an-application-without-a-secret';

export const CLIENT_SECRET = 'a-secret-that-only-tests-know-0123456789';
const SCOPE = 'openid email profile';
const ALGORITHM = 'RS256';
const SIGN_IN = '/sign-in/';
const REFUSE = 'refuse';

export async function startOidcProvider(options: ProviderOptions): Promise<TestProvider> {
  const { accounts, port = 0 } = options;
  const redirectUris = [...(options.redirectUris ?? ['http://127.0.0.1:9/callback'])];
  const requests: string[] = [];
  firstKey ??= newKey();
  let key: JWK = await firstKey;
  let provider: Provider;
  let handle: ReturnType<Provider['callback']>;
  const server = createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    requests.push(path);
    if (path === '/picture' && options.picture) return options.picture(response);
    const answer = path.startsWith(SIGN_IN) ? signIn(provider, accounts, request, response) : undefined;
    (answer ?? handle(request, response)).catch((error: Error) => response.writeHead(500).end(error.stack));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const useKey = (next: JWK) => {
    key = next;
    provider = createProvider(issuer, redirectUris, options, key);
    handle = provider.callback();
  };
  useKey(key);

  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET },
    get publicKey() {
      return toPublic(key);
    },
    requests,
    addRedirectUri: (uri) => {
      redirectUris.push(uri);
      useKey(key);
    },
    idToken: (sub, clientId = CLIENT_ID) => getIdToken(issuer, clientId, redirectUris[0]!, sub),
    answer: (address, person) => signInAs(address, person === 'refuses' ? REFUSE : person.sub),
    sign: async (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, kid: key.kid!, ...header })
        .sign(await importJWK(key, ALGORITHM), { crit: { extension: true } }),
    rotateKeys: async () => useKey(await newKey()),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

let keysMade = 0;

/** The same for all providers of a process: making one takes a quarter of a second. */
let firstKey: Promise<JWK> | undefined;

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: `key-${++keysMade}`, alg: ALGORITHM, use: 'sig' };
}

function toPublic({ kty, n, e, kid, alg, use }: JWK): JWK {
  return { kty, n, e, kid, alg, use } as JWK;
}

function createProvider(
  issuer: string,
  redirectUris: readonly string[],
  { accounts, claimsInIdToken = true }: ProviderOptions,
  key: JWK,
): Provider {
  const open = { redirect_uris: redirectUris };
  const client = { ...open, client_secret: CLIENT_SECRET };
  const policy = base();
  // As at the large providers: asks for the account even if somebody is signed in.
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 0);
  return new Provider(issuer, {
    adapter: createMemoryAdapter(),
    clients: [
      ...[CLIENT_ID, OTHER_CLIENT_ID].map((client_id) => ({ client_id, ...client })),
      { client_id: PUBLIC_CLIENT_ID, ...open, token_endpoint_auth_method: 'none' },
    ],
    jwks: { keys: [key] },
    // If true, e-mail, name and picture stay out of the ID token.
    conformIdTokenClaims: !claimsInIdToken,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture', 'hd'] },
    findAccount: (_context: ProviderContext, sub: string) => {
      const account = accounts.find((one) => one.sub === sub);
      const picture = account?.picture?.startsWith('/') ? issuer + account.picture : account?.picture;
      return account && { accountId: sub, claims: () => ({ ...account, picture }) };
    },
    loadExistingGrant: giveConsent,
    interactions: { policy, url: (_context: unknown, { uid }: { uid: string }) => SIGN_IN + uid },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    ttl: {
      IdToken: 3600,
      AccessToken: 3600,
      AuthorizationCode: 60,
      Grant: 3600,
      Interaction: 600,
      Session: 3600,
    },
  });
}

async function giveConsent({ oidc }: ProviderContext) {
  const grant = new oidc.provider.Grant({
    accountId: oidc.account.accountId,
    clientId: oidc.client.clientId,
  });
  grant.addOIDCScope(SCOPE);
  await grant.save();
  return grant;
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Identity provider</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; --line: light-dark(#e6e8ec, #2c3038); --second: light-dark(#4d5461, #adb3bf); --accent: light-dark(#3f49cc, #9aa3ff); }
  * { box-sizing: border-box; }
  body { display: grid; place-items: center; min-height: 100dvh; margin: 0; padding: 16px; background: light-dark(#f4f5f8, #0e1014); color: light-dark(#15171c, #eceef2); font: 15px/1.5 system-ui, sans-serif; }
  main { width: min(420px, 100%); padding: 32px; border: 1px solid var(--line); border-radius: 14px; background: light-dark(#fff, #15171c); box-shadow: 0 8px 30px light-dark(rgb(16 20 30 / .07), rgb(0 0 0 / .4)); }
  h1 { margin: 0; font-size: 22px; font-weight: 600; line-height: 1.25; letter-spacing: -.015em; }
  p { margin: 8px 0 24px; color: var(--second); }
  button { display: flex; align-items: center; gap: 14px; width: 100%; margin: 0 0 10px; padding: 12px 14px; border: 1px solid light-dark(#868d9a, #6f7683); border-radius: 10px; background: none; color: inherit; font: inherit; text-align: left; overflow-wrap: anywhere; cursor: pointer; }
  button:hover { background: light-dark(#f4f5f8, #1c1f26); }
  button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .initial { display: grid; flex: none; place-items: center; width: 38px; height: 38px; border-radius: 50%; background: light-dark(#eef0fe, #20233c); color: var(--accent); font-weight: 600; }
  b { display: block; font-weight: 600; }
  small { color: var(--second); font-size: 13.5px; }
  .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .refuse { display: block; width: auto; margin: 14px auto 0; border-color: transparent; color: var(--second); text-align: center; }
</style>
</head>
<body>
<main>
<h1>Who are you?</h1>
<p>This identity provider is for trying things out: it takes your word for it. No password is needed.</p>
<form method="post">
<!-- accounts -->
<button class="refuse" name="account" value="${REFUSE}">Refuse</button>
</form>
</main>
</body>
</html>`;

/** The sign-in page: one button per account. */
async function signIn(
  provider: Provider,
  accounts: readonly Account[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'POST') {
    const accountId = new URLSearchParams(await text(request)).get('account')!;
    const refusal = { error: 'access_denied', error_description: '<b>words of the provider</b>' };
    const result = accountId === REFUSE ? refusal : { login: { accountId }, select_account: {} };
    return provider.interactionFinished(request, response, result);
  }
  const buttons = accounts.map(
    ({ sub, name = sub, email = '' }) =>
      `<button name="account" value="${sub}"><span class="initial" aria-hidden="true">${name.slice(0, 1)}</span><span><span class="unseen">Sign in as ${sub} </span><b>${name}</b> <small>${email}</small></span></button>`,
  );
  response
    .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    .end(PAGE.replace('<!-- accounts -->', buttons.join('\n')));
}

/** Runs the code flow in place of a browser and an application. */
async function getIdToken(
  issuer: string,
  clientId: string,
  redirectUri: string,
  sub: string,
): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const ask = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: SCOPE,
    code_challenge: hash('sha256', verifier, 'base64url'),
    code_challenge_method: 'S256',
  });
  const back = new URL(await signInAs(`${issuer}/auth?${ask}`, sub));
  const code = back.searchParams.get('code');
  assert.ok(code, `no code for ${sub}: ${back}`);
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${CLIENT_SECRET}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }),
  });
  const tokens = (await response.json()) as { id_token?: string };
  assert.ok(tokens.id_token, JSON.stringify(tokens));
  return tokens.id_token;
}

/** Signs in as a person would in a fresh browser. */
async function signInAs(address: string, account: string): Promise<string> {
  const browser = newBrowser();
  const page = await browser(address);
  const resume = await browser(page, { method: 'POST', body: new URLSearchParams({ account }) });
  return browser(resume);
}

/** Requests that share cookies; each returns the URL that it is redirected to. */
function newBrowser(): (address: string, init?: RequestInit) => Promise<string> {
  const cookies = new Map<string, string>();
  return async (address, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { ...init, headers: { cookie }, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    assert.ok(location, `${address} returned ${response.status}: ${await response.text()}`);
    return new URL(location, address).href;
  };
}
