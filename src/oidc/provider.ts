// Administrators' tokens from an OpenID Connect provider, checked against the keys that it publishes.
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Identity, Verified, VerifyToken } from '../domain/admin.ts';
import type { Clock } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';

/** Only algorithms whose verifying key is public: a symmetric one would let the published key sign. */
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

const CLOCK_TOLERANCE_SECONDS = 5;

/** Less than a service that closes gives to requests under way: they are answered, not cut. */
export const TIMEOUT_MS = 3_000;

/** A key that is not known yet makes us ask the provider again, at most this often. */
const COOLDOWN_MS = 1_000;

/** A key that the provider no longer publishes is forgotten after this at the latest. */
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
      issuer: spellings(issuer),
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

/** Throws INVALID_TOKEN, or UNAVAILABLE where the keys cannot be had. */
export async function verify(token: string, { key, issuer, audience, clock }: Expected): Promise<Verified> {
  const { payload } = await jwtVerify(token, key, {
    algorithms: ASYMMETRIC,
    issuer,
    audience,
    requiredClaims: ['sub', 'exp'],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    currentDate: new Date(clock()),
  }).catch((error: unknown) => {
    throw translate(error);
  });
  if (typeof payload.sub !== 'string' || payload.sub === '') {
    throw new AppError('INVALID_TOKEN', 'The token does not say whose it is.');
  }
  return { identity: toIdentity(payload), expiresMs: payload.exp! * 1000 };
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
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  const document = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (!spellings(issuer).includes(String(document.issuer))) {
    throw new Error(`${address} is of the issuer ${document.issuer}, not of ${issuer}`);
  }
  return createRemoteJWKSet(new URL(String(document.jwks_uri)), {
    timeoutDuration: TIMEOUT_MS,
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: MAX_AGE_MS,
  });
}

/** Google writes its name with and without https://. */
export function spellings(issuer: string): string[] {
  return /^(https:\/\/)?accounts\.google\.com$/.test(issuer)
    ? ['https://accounts.google.com', 'accounts.google.com']
    : [issuer];
}

/** What jose says about the token itself is its holder's to mend; anything else means that the keys cannot be had. */
function translate(error: unknown): AppError {
  if (error instanceof errors.JWTExpired) {
    return new AppError('INVALID_TOKEN', 'The token has expired. Get a new one.');
  }
  const aboutKeys = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
  if (error instanceof errors.JOSEError && !aboutKeys && error.code !== 'ERR_JOSE_GENERIC') {
    return new AppError('INVALID_TOKEN', 'The token does not hold for this service.', { cause: error });
  }
  return new AppError('UNAVAILABLE', 'The identity provider does not answer. Try again.', { cause: error });
}
