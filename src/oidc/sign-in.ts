// Signing in with the identity provider: authorization code with PKCE, state and nonce, exchanged here, so that no token
// ever reaches a browser. What an ID token says counts only after provider.ts has checked its signature too.
import * as openid from 'openid-client';
import type { Identity, VerifyToken } from '../domain/admin.ts';
import type { Clock, Random } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import { newSecret, SIGN_IN_MS, type SignIn, type SignInOutcome } from '../domain/session.ts';
import { configure, exchangeCode, isPlainHttp } from './exchange.ts';
import { spellings, TIMEOUT_MS, toIdentity } from './provider.ts';
import { newSeal } from './seal.ts';

const SCOPE = 'openid email profile';

export interface SignInOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  /** What the state of a sign-in under way is sealed with. */
  readonly secret: string;
  readonly verifyToken: VerifyToken;
  readonly clock: Clock;
  readonly random: Random;
}

/** What has to come back with the browser that was sent to the provider. */
interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnPath: string;
}

export async function providerSignIn(options: SignInOptions): Promise<SignIn> {
  const { issuer, clientId, clock, random } = options;
  const { seal, open } = await newSeal({ ...options, purpose: 'sign-in 1', binding: [issuer, clientId] });
  const metadata = discoverer(issuer, clientId);
  return {
    provider: new URL(issuer).host,
    begin: async ({ redirectUri, returnPath, chooseAccount }) => {
      const configuration = configure(await metadata().catch(unavailable), clientId);
      const begun: Begun = {
        state: newSecret(random),
        nonce: newSecret(random),
        verifier: newSecret(random),
        redirectUri,
        returnPath,
      };
      const address = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
        ...(chooseAccount && { prompt: 'select_account' }),
      });
      return { address: address.href, sealed: await seal({ ...begun }, clock() + SIGN_IN_MS) };
    },
    finish: async (query, sealed) => {
      const begun = sealed === undefined ? undefined : ((await open(sealed)) as Begun | undefined);
      const sent = new URLSearchParams(query).getAll('state');
      // Nothing of what someone else had sent here is worth a question to the provider.
      if (!begun || sent.length !== 1 || sent[0] !== begun.state) {
        return { kind: 'failed', problem: 'state', returnPath: begun?.returnPath ?? '' };
      }
      const { returnPath } = begun;
      try {
        const identity = await identify(options, await metadata(), query, begun);
        return { kind: 'signed-in', identity, returnPath };
      } catch (error) {
        return { ...judge(error), returnPath };
      }
    },
  };
}

/** What the provider says about itself: asked for once, and again after a failure. */
function discoverer(issuer: string, clientId: string): () => Promise<openid.ServerMetadata> {
  let found: Promise<openid.ServerMetadata> | undefined;
  return () => {
    found ??= discover(issuer, clientId).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

async function discover(issuer: string, clientId: string): Promise<openid.ServerMetadata> {
  const configuration = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
    timeout: TIMEOUT_MS / 1000,
    execute: isPlainHttp(issuer) ? [openid.allowInsecureRequests] : [],
  });
  const metadata = configuration.serverMetadata();
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (!URL.canParse(metadata[name] ?? '')) throw new Error(`${issuer} names no ${name}`);
  }
  return metadata;
}

async function identify(
  options: SignInOptions,
  metadata: openid.ServerMetadata,
  query: string,
  begun: Begun,
): Promise<Identity> {
  const { issuer, clientId, verifyToken } = options;
  const answer = new URL(begun.redirectUri);
  answer.search = query;
  const tokens = await exchangeCode({ ...options, metadata, issuers: spellings(issuer) }, answer, {
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    pkceCodeVerifier: begun.verifier,
  });
  const { identity } = await verifyToken(tokens.id_token!);
  if (identity.email !== undefined || metadata.userinfo_endpoint === undefined) return identity;
  const client = configure(metadata, clientId);
  const more = toIdentity(await openid.fetchUserInfo(client, tokens.access_token, identity.subject));
  return {
    ...identity,
    email: more.email,
    emailVerified: more.emailVerified,
    hostedDomain: identity.hostedDomain ?? more.hostedDomain,
    name: identity.name ?? more.name,
    picture: identity.picture ?? more.picture,
  };
}

function judge(error: unknown): Pick<SignInOutcome & { kind: 'failed' }, 'kind' | 'problem' | 'cause'> {
  const isRefusal = error instanceof openid.AuthorizationResponseError && error.error === 'access_denied';
  if (isRefusal) return { kind: 'failed', problem: 'denied' };
  return { kind: 'failed', problem: 'provider', cause: new Error(describe(error)) };
}

function unavailable(error: unknown): never {
  const cause = new Error(describe(error));
  throw new AppError('UNAVAILABLE', 'The identity provider does not answer. Try again.', { cause });
}

/**
 * For the log. The errors themselves hold what was sent and answered, codes and tokens included, and so may the words of a
 * parser: only what libraries say about it, and the provider's word for an error, are repeated.
 */
function describe(error: unknown): string {
  const said: string[] = [];
  for (let at = error; at instanceof Error && said.length < 5; at = at.cause) {
    const { code, error: word, status } = at as { code?: unknown; error?: unknown; status?: unknown };
    if (!(at instanceof SyntaxError)) said.push(at.message || String(code));
    if (typeof word === 'string' && /^\w{1,40}$/.test(word)) said.push(word);
    if (typeof status === 'number') said.push(String(status));
  }
  return said.join(': ');
}
