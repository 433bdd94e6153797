// API keys: `lev_`, 32 random base62 characters, 6 characters of checksum. The checksum distinguishes a mistyped key
// from a revoked one and lets secret scanners recognise a key. The stores keep and find keys; they see only hashes.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from './clock-and-random.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^lev_[0-9A-Za-z]{38}$/;
const PREFIX_LENGTH = 8;
const PREFIX = /^lev_[0-9A-Za-z]{4}$/;

/** The parts of a key that may be stored. */
export interface KeyFingerprint {
  readonly hash: string;
  readonly prefix: string;
}

/** A stored key, as its agent may see it. */
export interface KeyRecord {
  readonly prefix: string;
  readonly created_ms: number;
  /** The key is refused from this instant on; null: it does not expire. */
  readonly expires_ms: number | null;
}

export function newApiKey(random: Random): string {
  let body = 'lev_';
  while (body.length < 36) {
    // 248 is the largest multiple of 62 in a byte. Bytes above it are skipped: they would favour some characters.
    for (const byte of random(new Uint8Array(40))) {
      if (byte < 248 && body.length < 36) body += BASE62[byte % 62];
    }
  }
  return body + checksum(body);
}

/** Whether the text has the format of a key and a correct checksum. The key need not exist. */
export function isApiKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, 36)) === text.slice(36);
}

/** Whether the text can be the prefix of a key. */
export function isKeyPrefix(text: string): boolean {
  return PREFIX.test(text);
}

export function fingerprint(key: string): KeyFingerprint {
  return { hash: hashSecret(key), prefix: key.slice(0, PREFIX_LENGTH) };
}

/**
 * The hash of a text in the format of a key; undefined for any other text. Recent hashes are cached, because an agent
 * sends the same key with every request.
 */
export function findKeyHash(text: string): string | undefined {
  const known = knownHashes.get(text);
  if (known !== undefined) return known;
  if (!isApiKey(text)) return undefined;
  const keyHash = hashSecret(text);
  if (knownHashes.size === MAX_KNOWN_HASHES) knownHashes.clear();
  knownHashes.set(text, keyHash);
  return keyHash;
}

const knownHashes = new Map<string, string>();
const MAX_KNOWN_HASHES = 1_000;

/** SHA-256 in base64url. A key has 190 random bits, so a slow hash would add no protection. */
export function hashSecret(key: string): string {
  return hash('sha256', key, 'base64url');
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let place = 0; place < 6; place++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
