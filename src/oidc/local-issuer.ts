// Tokens issued by the service itself, for installations without an identity provider. The signing key is in the store.
// Anyone who can read the store can issue tokens, so these need no allow-list of administrators.
import { createLocalJWKSet, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import type { VerifyToken } from '../domain/administration/admin.ts';
import type { Clock } from '../domain/clock-and-random.ts';
import { verify } from './provider.ts';

/** Name of the store setting that holds the key. */
export const SIGNING_KEY = 'admin_signing_key';

const NAME = 'local-events';
const ALGORITHM = 'ES256';

/** A new private key, as text for the store. */
export async function newSigningKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  return JSON.stringify({ ...(await exportJWK(privateKey)), alg: ALGORITHM });
}

export function localVerifier(signingKey: string, clock: Clock): VerifyToken {
  const { d: _secret, ...publicKey } = JSON.parse(signingKey) as JWK;
  const key = createLocalJWKSet({ keys: [publicKey] });
  return async (token) => {
    const { identity, expiresMs } = await verify(token, { key, issuer: [NAME], audience: NAME, clock });
    return { identity: { ...identity, local: true }, expiresMs };
  };
}

export interface LocalClaims {
  /** Undefined if there is a subject. */
  readonly email?: string | undefined;
  /** Default: the e-mail, after `local:`. */
  readonly subject?: string;
  readonly name: string | undefined;
  readonly hours: number;
}

export async function mintToken(signingKey: string, claims: LocalClaims, nowMs: number): Promise<string> {
  const key = await importJWK(JSON.parse(signingKey) as JWK, ALGORITHM);
  const issued = Math.floor(nowMs / 1000);
  const { email, name, hours, subject = `local:${email}` } = claims;
  return new SignJWT({
    ...(email === undefined ? {} : { email, email_verified: true }),
    ...(name === undefined ? {} : { name }),
  })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setSubject(subject)
    .setIssuer(NAME)
    .setAudience(NAME)
    .setIssuedAt(issued)
    .setExpirationTime(issued + Math.round(hours * 3600))
    .sign(key);
}
