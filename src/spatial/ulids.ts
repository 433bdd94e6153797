// ULIDs by handle, stored as five 30-bit words each: a million of them take a few arrays and no strings. Comparing words
// gives the same order as comparing text.
import { PIECE, PIECE_BITS } from './columns.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const VALUE = new Uint8Array(128);
for (const [value, character] of [...ALPHABET].entries()) VALUE[character.charCodeAt(0)] = value;

export const UINT32S_PER_ULID = 5;
/** In a word; the last one has fewer. */
const CHARACTERS = 6;
export const LENGTH = 26;
/** A word of random bits only. */
const HASHED = 3;

export class Ulids {
  readonly #pieces: Uint32Array[] = [];

  /** Makes room for this many handles. */
  grow(capacity: number): void {
    while (this.#pieces.length * PIECE < capacity)
      this.#pieces.push(new Uint32Array(PIECE * UINT32S_PER_ULID));
  }

  set(handle: number, ulid: string): void {
    const words = this.#wordsOf(handle);
    const at = (handle & (PIECE - 1)) * UINT32S_PER_ULID;
    for (let word = 0; word < UINT32S_PER_ULID; word++) words[at + word] = wordOf(ulid, word);
  }

  get(handle: number): string {
    const words = this.#wordsOf(handle);
    const at = (handle & (PIECE - 1)) * UINT32S_PER_ULID;
    let text = '';
    for (let word = 0; word < UINT32S_PER_ULID; word++) {
      const bits = words[at + word]!;
      const characters = word === UINT32S_PER_ULID - 1 ? 2 : 6;
      for (let place = characters - 1; place >= 0; place--) text += ALPHABET[(bits >>> (5 * place)) & 31];
    }
    return text;
  }

  /** Negative if ULID `a` sorts before `b`, 0 if they are equal, positive if after. */
  compare(a: number, b: number): number {
    const wordsA = this.#wordsOf(a);
    const wordsB = this.#wordsOf(b);
    const atA = (a & (PIECE - 1)) * UINT32S_PER_ULID;
    const atB = (b & (PIECE - 1)) * UINT32S_PER_ULID;
    for (let word = 0; word < UINT32S_PER_ULID; word++) {
      const difference = wordsA[atA + word]! - wordsB[atB + word]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** The same for a ULID that has no handle, as its words. */
  compareWith(handle: number, words: Uint32Array): number {
    const own = this.#wordsOf(handle);
    const at = (handle & (PIECE - 1)) * UINT32S_PER_ULID;
    for (let word = 0; word < UINT32S_PER_ULID; word++) {
      const difference = own[at + word]! - words[word]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  timeOf(handle: number): number {
    return timeOfWords(this.#wordsOf(handle), (handle & (PIECE - 1)) * UINT32S_PER_ULID);
  }

  /** The words of the handles of one piece, UINT32S_PER_ULID each. */
  piece(number: number): Uint32Array {
    return this.#pieces[number]!;
  }

  /** 32-bit hash of the ULID's random part. */
  hash(handle: number): number {
    return mix(this.#wordsOf(handle)[(handle & (PIECE - 1)) * UINT32S_PER_ULID + HASHED]!);
  }

  #wordsOf(handle: number): Uint32Array {
    return this.#pieces[handle >>> PIECE_BITS]!;
  }
}

/** The time, in milliseconds, in the ULID whose words begin at this index. */
export function timeOfWords(words: Uint32Array, at: number): number {
  return words[at]! * 2 ** 20 + (words[at + 1]! >>> 10);
}

/** Writes the words of a ULID, for `compareWith` and `hashWords`, to the array and returns it. */
export function wordsOfUlid(ulid: string, words = new Uint32Array(UINT32S_PER_ULID)): Uint32Array {
  for (let word = 0; word < UINT32S_PER_ULID; word++) words[word] = wordOf(ulid, word);
  return words;
}

/** The same for a ULID that begins here in ASCII text. Takes less than half the time. */
export function wordsOfBytes(bytes: Uint8Array, at: number, words: Uint32Array): Uint32Array {
  for (let word = 0; word < UINT32S_PER_ULID; word++) {
    const end = at + endOf(word);
    let bits = 0;
    for (let next = at + word * CHARACTERS; next < end; next++) bits = (bits << 5) | VALUE[bytes[next]!]!;
    words[word] = bits >>> 0;
  }
  return words;
}

/** Same hash as Ulids.hash, for the words of a ULID. */
export function hashWords(words: Uint32Array): number {
  return mix(words[HASHED]!);
}

function mix(bits: number): number {
  return Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d) >>> 0;
}

function wordOf(ulid: string, word: number): number {
  const end = endOf(word);
  let bits = 0;
  for (let at = word * CHARACTERS; at < end; at++) bits = (bits << 5) | VALUE[ulid.charCodeAt(at)]!;
  return bits >>> 0;
}

function endOf(word: number): number {
  return Math.min((word + 1) * CHARACTERS, LENGTH);
}
