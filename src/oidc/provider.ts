// Verification of administrators' tokens from an OpenID Connect provider, with the keys that it publishes.

import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { type Identity, isGoogle, type Verified, type VerifyToken } from '../domain/administration/admin.ts';
import type { Clock } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import { providerFetch } from '../outbound/provider-fetch.ts';

/** Asymmetric algorithms only: with a symmetric one, anyone could sign with the published key. */
export const ASYMMETRIC = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/**
 * Types (`typ`) of ID tokens. Most providers write JWT or nothing; Connect2id and rodauth-oauth can write id_token+jwt. Other
 * types are tokens for other purposes, such as logout+jwt and at+jwt (an access token), signed with the same keys.
 */
const ID_TOKEN_TYPES = ['jwt', 'id_token+jwt'];

const CLOCK_TOLERANCE_SECONDS = 5;

/** Shorter than the time that a shutdown allows running requests, so that they still get a response. */
export const TIMEOUT_MS = 3_000;

/** Minimum time between two fetches of the keys because of an unknown key ID. */
const COOLDOWN_MS = 1_000;

/** Maximum time until a key that the provider no longer publishes is forgotten. */
const MAX_AGE_MS = 600_000;

export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clock: Clock;
}

export function providerVerifier({ issuer, clientId, clock }: ProviderOptions): VerifyToken {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const publishedKeys = (): Promise<JWTVerifyGetKey> => {
    keys ??= discoverKeys(issuer).catch((error: unknown) => {
      keys = undefined;
      throw error;
    });
    return keys;
  };
  return (token) =>
    verify(token, {
      key: async (header, input) => (await publishedKeys())(header, input),
      issuer: acceptedIssuers(issuer),
      audience: clientId,
      clock,
    });
}

interface Expected {
  readonly key: JWTVerifyGetKey;
  readonly issuer: string[];
  readonly audience: string;
  readonly clock: Clock;
}

/** Throws INVALID_TOKEN, or UNAVAILABLE if the keys cannot be fetched. */
export async function verify(token: string, { key, issuer, audience, clock }: Expected): Promise<Verified> {
  const { payload, protectedHeader } = await jwtVerify(token, key, {
    algorithms: ASYMMETRIC,
    issuer,
    audience,
    requiredClaims: ['sub', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    currentDate: new Date(clock()),
  }).catch((error: unknown) => {
    throw translate(error);
  });
  if (!isIdToken(protectedHeader.typ, payload)) {
    throw new AppError('INVALID_TOKEN', 'The token is not an ID token. Send the ID token of your sign-in.');
  }
  if (payload.azp !== undefined && payload.azp !== audience) {
    throw new AppError(
      'INVALID_TOKEN',
      'The token was issued to another client (its "azp" claim). Get one that was issued to the client of this service.',
    );
  }
  if (typeof payload.sub !== 'string' || payload.sub === '') {
    throw new AppError('INVALID_TOKEN', 'The token has no valid "sub" claim. Get a new token.');
  }
  return { identity: toIdentity(payload), expiresMs: payload.exp! * 1000 };
}

/** Also recognises logout tokens without a type of their own: only those and other security events have `events`. */
function isIdToken(typ: unknown, payload: JWTPayload): boolean {
  if (payload.events !== undefined) return false;
  if (typ === undefined) return true;
  // Media types ignore case, and `application/` may be left out (RFC 7515, section 4.1.9).
  return typeof typ === 'string' && ID_TOKEN_TYPES.includes(typ.toLowerCase().replace(/^application\//, ''));
}

export function toIdentity(claims: JWTPayload): Identity {
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined);
  return {
    subject: claims.sub!,
    email: text('email'),
    emailVerified: claims.email_verified === true,
    hostedDomain: text('hd'),
    name: text('name'),
    picture: text('picture'),
    local: false,
  };
}

async function discoverKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await providerFetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} returned status ${response.status}`);
  const document = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (!acceptedIssuers(issuer).includes(String(document.issuer))) {
    throw new Error(`${url} has the issuer ${document.issuer}; expected ${issuer}`);
  }
  return createRemoteJWKSet(new URL(String(document.jwks_uri)), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: MAX_AGE_MS,
    [customFetch]: providerFetch,
  });
}

/** Issuer values to accept: Google writes its own with and without https://. */
export function acceptedIssuers(issuer: string): string[] {
  return isGoogle(issuer) ? ['https://accounts.google.com', 'accounts.google.com'] : [issuer];
}

/** Errors about the token itself become INVALID_TOKEN; all others mean that the keys cannot be fetched. */
function translate(error: unknown): AppError {
  if (error instanceof errors.JWTExpired) {
    return new AppError('INVALID_TOKEN', 'The token has expired. Get a new one.');
  }
  const aboutKeys = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
  if (error instanceof errors.JOSEError && !aboutKeys && error.code !== 'ERR_JOSE_GENERIC') {
    return new AppError('INVALID_TOKEN', 'The token is not valid for this service. Get a new one.', {
      cause: error,
    });
  }
  return new AppError('UNAVAILABLE', 'The identity provider does not respond. Retry.', { cause: error });
}
