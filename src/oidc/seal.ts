// Seals values into text that only holders of the same secret can read or make, for a while: JWE, "dir" with A256GCM. What
// the values are is left to others.
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose';
import type { Clock } from '../domain/clock-and-random.ts';

export interface Seal {
  /** To the second. */
  seal(value: JWTPayload, expiresMs: number): Promise<string>;
  /** Undefined for what was not sealed with the same secret, purpose and binding, or has expired. */
  open(sealed: string): Promise<JWTPayload | undefined>;
}

/** The setting under which the store keeps a secret where none is configured. */
export const SESSION_SECRET = 'session_secret';

export interface SealOptions {
  readonly secret: string;
  /** Keys for different purposes are different ones. */
  readonly purpose: string;
  /** What else must be the same for a value to be opened: the issuer and the client. */
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
    open: async (sealed) => {
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          keyManagementAlgorithms: [ALGORITHM],
          contentEncryptionAlgorithms: [ENCRYPTION],
          requiredClaims: ['exp'],
          currentDate: new Date(options.clock()),
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}

/** HKDF with SHA-256. */
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
