// Encryption of claims into text that expires, and that only holders of the same secret can read or create: JWE, "dir" with
// A256GCM. Sessions are sealed here so that they fit in a cookie; the cookie itself is left to http/. sign-in.ts seals attempts.
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
import type { Identity } from '../domain/administration/admin.ts';
import type { Session, SessionSeal } from '../domain/administration/session.ts';
import type { Clock } from '../domain/clock-and-random.ts';

export interface Seal {
  /** The expiry is rounded down to the second. */
  seal(value: JWTPayload, expiresMs: number): Promise<string>;
  /** Undefined if the text was not sealed with the same secret, purpose and binding, or has expired by then; default: now. */
  open(sealed: string, atMs?: number): Promise<JWTPayload | undefined>;
}

/** Name of the store setting that holds a generated secret, used if none is configured. */
export const SESSION_SECRET = 'session_secret';

export interface SealOptions {
  readonly secret: string;
  /** Each purpose gets its own key. */
  readonly purpose: string;
  /** Other values that must match when opening: the issuer and the client ID. */
  readonly binding: readonly string[];
  readonly clock: Clock;
}

const ALGORITHM = 'dir';
const ENCRYPTION = 'A256GCM';

export async function newSeal(options: SealOptions): Promise<Seal> {
  const key = await deriveKey(options);
  return {
    seal: (value, expiresMs) =>
      new EncryptJWT(value)
        .setProtectedHeader({ alg: ALGORITHM, enc: ENCRYPTION })
        .setExpirationTime(Math.floor(expiresMs / 1000))
        .encrypt(key),
    open: async (sealed, atMs = options.clock()) => {
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          keyManagementAlgorithms: [ALGORITHM],
          contentEncryptionAlgorithms: [ENCRYPTION],
          requiredClaims: ['exp'],
          currentDate: new Date(atMs),
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

/** Derives the key with HKDF and SHA-256. */
async function deriveKey({ secret, purpose, binding }: SealOptions): Promise<CryptoKey> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const base = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveKey']);
  const info = encode(JSON.stringify([purpose, ...binding]));
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: encode('local-events'), info },
    base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );
}

/** Browsers drop a cookie of more than 4,096 bytes; many proxies by default reject responses with longer headers. */
const MAX_SEALED_LENGTH = 3_000;
const MAX_NAME_LENGTH = 200;
const MAX_PICTURE_LENGTH = 1_000;

export async function sessionSeal(options: Omit<SealOptions, 'purpose'>): Promise<SessionSeal> {
  const { seal, open } = await newSeal({ ...options, purpose: 'session 1' });
  return {
    seal: async ({ id, identity, expiresMs, epoch }) => {
      for (const shorter of shorten(identity)) {
        const sealed = await seal({ jti: id, epoch: epoch || undefined, ...toClaims(shorter) }, expiresMs);
        if (sealed.length <= MAX_SEALED_LENGTH) return sealed;
      }
      return undefined;
    },
    open: async (sealed, atMs) => {
      const claims = sealed.length <= MAX_SEALED_LENGTH ? await open(sealed, atMs) : undefined;
      return claims && toSession(claims);
    },
  };
}

/**
 * Versions of an identity with fewer and fewer display fields. Fields that decide who is an administrator are never cut: the
 * result would be another person.
 */
function* shorten(identity: Identity): Generator<Identity> {
  const { name, picture } = identity;
  const usual = {
    ...identity,
    name: name && [...name].slice(0, MAX_NAME_LENGTH).join(''),
    picture: picture && picture.length > MAX_PICTURE_LENGTH ? undefined : picture,
  };
  yield usual;
  yield { ...usual, picture: undefined };
  yield { ...usual, picture: undefined, name: undefined };
}

function toClaims({ subject, emailVerified, hostedDomain, ...others }: Identity): JWTPayload {
  return { sub: subject, email_verified: emailVerified, hd: hostedDomain, ...others };
}

function toSession(claims: JWTPayload): Session {
  const { jti, exp, epoch, sub, email_verified, hd, email, name, picture, local } = claims;
  const identity = { subject: sub, emailVerified: email_verified, hostedDomain: hd, email, name, picture };
  return {
    id: jti!,
    identity: { ...identity, local },
    expiresMs: exp! * 1000,
    ...(epoch ? { epoch } : {}),
  } as Session;
}
