// Encryption of claims into text that expires, and that only holders of the same secret can read or create: JWE, "dir" with
// A256GCM. session.ts and sign-in.ts decide which claims.
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
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
