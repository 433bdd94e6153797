// IDs: ULIDs for events, version 7 UUIDs for agents. Both begin with the time, so that they sort roughly by age. And secrets, which do not.
import type { Random } from './clock-and-random.ts';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** 48 bits of time and 80 random bits, in 26 characters that sort like the bits. */
export function newUlid(nowMs: number, random: Random): string {
  let text = firstUlidAt(nowMs);
  for (const byte of random(new Uint8Array(16))) text += CROCKFORD[byte % 32];
  return text;
}

/** Sorts before every ULID of this time or later, and after every earlier one. Not a ULID itself: it has only the time. */
export function firstUlidAt(ms: number): string {
  let text = '';
  for (let place = 0, rest = Math.max(ms, 0); place < 10; place++) {
    text = CROCKFORD[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Time of the ULID. */
export function ulidMs(ulid: string): number {
  let ms = 0;
  for (const character of ulid.slice(0, 10)) ms = ms * 32 + CROCKFORD.indexOf(character);
  return ms;
}

export function isUlid(text: string): boolean {
  return ULID.test(text);
}

/** RFC 9562, version 7. */
export function newUuid(nowMs: number, random: Random): string {
  const bytes = random(new Uint8Array(16));
  for (let place = 5, rest = nowMs; place >= 0; place--) {
    bytes[place] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = Buffer.from(bytes).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** 256 random bits as text. */
export function newSecret(random: Random): string {
  return Buffer.from(random(new Uint8Array(32))).toString('base64url');
}
