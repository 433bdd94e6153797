// Sign-in with the identity provider: authorization code flow with PKCE, state and nonce. The service exchanges the code
// itself, so no token ever reaches a browser. ID tokens are trusted only after provider.ts has verified their signature.

import * as openid from 'openid-client';
import type { Identity, VerifyToken } from '../domain/administration/admin.ts';
import { SIGN_IN_MS, type SignIn, type SignInOutcome } from '../domain/administration/session.ts';
import type { Clock, Random } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import { newSecret } from '../domain/ids.ts';
import { providerFetch } from '../outbound/provider-fetch.ts';
import { configure, exchangeCode, isPlainHttp } from './exchange.ts';
import { acceptedIssuers, TIMEOUT_MS, toIdentity } from './provider.ts';
import { newSeal } from './seal.ts';

const SCOPE = 'openid email profile';

export interface SignInOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  /** Undefined: the host of the issuer. */
  readonly name: string | undefined;
  /** Seals the state of unfinished sign-ins. */
  readonly secret: string;
  readonly verifyToken: VerifyToken;
  readonly clock: Clock;
  readonly random: Random;
}

/** State of an unfinished sign-in, kept sealed in the browser. */
interface PendingSignIn {
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
    provider: options.name ?? new URL(issuer).host,
    begin: async ({ redirectUri, returnPath, chooseAccount }) => {
      const configuration = configure(await metadata().catch(unavailable), clientId);
      const pending: PendingSignIn = {
        state: newSecret(random),
        nonce: newSecret(random),
        verifier: newSecret(random),
        redirectUri,
        returnPath,
      };
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        ...(chooseAccount && { prompt: 'select_account' }),
      });
      return { url: url.href, sealed: await seal({ ...pending }, clock() + SIGN_IN_MS) };
    },
    finish: async (query, sealed, mayExchange) => {
      const pending = sealed === undefined ? undefined : ((await open(sealed)) as PendingSignIn | undefined);
      const states = new URLSearchParams(query).getAll('state');
      // Do not contact the provider for a callback that belongs to no sign-in of this browser.
      if (!pending || states.length !== 1 || states[0] !== pending.state) {
        return { kind: 'failed', problem: 'state', returnPath: pending?.returnPath ?? '' };
      }
      const { returnPath } = pending;
      if (!(await mayExchange())) return { kind: 'failed', problem: 'often', returnPath };
      try {
        const identity = await identify(options, await metadata(), query, pending);
        return { kind: 'signed-in', identity, returnPath };
      } catch (error) {
        return { ...toFailure(error), returnPath };
      }
    },
  };
}

/** The provider's metadata: fetched once, and again after a failure. */
function discoverer(issuer: string, clientId: string): () => Promise<openid.ServerMetadata> {
  let metadata: Promise<openid.ServerMetadata> | undefined;
  return () => {
    metadata ??= discover(issuer, clientId).catch((error: unknown) => {
      metadata = undefined;
      throw error;
    });
    return metadata;
  };
}

async function discover(issuer: string, clientId: string): Promise<openid.ServerMetadata> {
  const configuration = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
    timeout: TIMEOUT_MS / 1000,
    [openid.customFetch]: providerFetch,
    execute: isPlainHttp(issuer) ? [openid.allowInsecureRequests] : [],
  });
  const metadata = configuration.serverMetadata();
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    if (!URL.canParse(metadata[name] ?? ''))
      throw new Error(`The metadata of ${issuer} has no valid ${name}`);
  }
  return metadata;
}

async function identify(
  options: SignInOptions,
  metadata: openid.ServerMetadata,
  query: string,
  pending: PendingSignIn,
): Promise<Identity> {
  const { issuer, clientId, verifyToken } = options;
  const callback = new URL(pending.redirectUri);
  callback.search = query;
  const tokens = await exchangeCode({ ...options, metadata, issuers: acceptedIssuers(issuer) }, callback, {
    expectedState: pending.state,
    expectedNonce: pending.nonce,
    pkceCodeVerifier: pending.verifier,
  });
  const { identity } = await verifyToken(tokens.id_token!);
  if (identity.email !== undefined || metadata.userinfo_endpoint === undefined) return identity;
  const client = configure(metadata, clientId);
  const userInfo = toIdentity(await openid.fetchUserInfo(client, tokens.access_token, identity.subject));
  return {
    ...identity,
    email: userInfo.email,
    emailVerified: userInfo.emailVerified,
    hostedDomain: identity.hostedDomain ?? userInfo.hostedDomain,
    name: identity.name ?? userInfo.name,
    picture: identity.picture ?? userInfo.picture,
  };
}

function toFailure(error: unknown): Pick<SignInOutcome & { kind: 'failed' }, 'kind' | 'problem' | 'cause'> {
  const isRefusal = error instanceof openid.AuthorizationResponseError && error.error === 'access_denied';
  if (isRefusal) return { kind: 'failed', problem: 'denied' };
  return { kind: 'failed', problem: 'provider', cause: new Error(describe(error)) };
}

function unavailable(error: unknown): never {
  const cause = new Error(describe(error));
  throw new AppError('UNAVAILABLE', 'The identity provider does not respond. Retry.', { cause });
}

/**
 * Description of an error for the log, without secrets. The errors themselves contain requests and responses with codes and
 * tokens, and a parser's message may quote them. Kept are the libraries' own messages, the provider's error code and the
 * status.
 */
function describe(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error && parts.length < 5; at = at.cause) {
    const { code, error: providerCode, status } = at as { code?: unknown; error?: unknown; status?: unknown };
    if (!(at instanceof SyntaxError)) parts.push(at.message || String(code));
    if (typeof providerCode === 'string' && /^\w{1,40}$/.test(providerCode)) parts.push(providerCode);
    if (typeof status === 'number') parts.push(String(status));
  }
  return parts.join(': ');
}
