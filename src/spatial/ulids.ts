// ULIDs as numbers: 30 bits a word, in columns by handle, so that a million of them are five arrays and no strings. Their
// order is the order of the text.

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const VALUE = new Uint8Array(128);
for (const [value, character] of [...ALPHABET].entries()) VALUE[character.charCodeAt(0)] = value;

const WORDS = 5;
const LENGTH = 26;

export class Ulids {
  #words: Uint32Array;
  #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#words = new Uint32Array(capacity * WORDS);
  }

  grow(capacity: number): void {
    const words = new Uint32Array(capacity * WORDS);
    words.set(this.#words);
    this.#words = words;
    this.#capacity = capacity;
  }

  get capacity(): number {
    return this.#capacity;
  }

  set(handle: number, ulid: string): void {
    const at = handle * WORDS;
    for (let word = 0; word < WORDS; word++) this.#words[at + word] = wordOf(ulid, word);
  }

  get(handle: number): string {
    const at = handle * WORDS;
    let text = '';
    for (let word = 0; word < WORDS; word++) {
      const bits = this.#words[at + word]!;
      const characters = word === WORDS - 1 ? 2 : 6;
      for (let place = characters - 1; place >= 0; place--) text += ALPHABET[(bits >>> (5 * place)) & 31];
    }
    return text;
  }

  /** Negative, zero or positive, as the text of the one comes before, is, or comes after that of the other. */
  compare(a: number, b: number): number {
    const words = this.#words;
    const atA = a * WORDS;
    const atB = b * WORDS;
    for (let word = 0; word < WORDS; word++) {
      const difference = words[atA + word]! - words[atB + word]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  equals(handle: number, ulid: string): boolean {
    const at = handle * WORDS;
    for (let word = WORDS - 1; word >= 0; word--) {
      if (this.#words[at + word] !== wordOf(ulid, word)) return false;
    }
    return true;
  }

  /** A number that depends on the random part. */
  hash(handle: number): number {
    return mix(this.#words[handle * WORDS + 3]!);
  }
}

/** The same number for a ULID that is not in the columns. */
export function hashUlid(ulid: string): number {
  return mix(wordOf(ulid, 3));
}

function mix(bits: number): number {
  return Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d) >>> 0;
}

function wordOf(ulid: string, word: number): number {
  const end = word === WORDS - 1 ? LENGTH : word * 6 + 6;
  let bits = 0;
  for (let at = word * 6; at < end; at++) bits = (bits << 5) | VALUE[ulid.charCodeAt(at)]!;
  return bits >>> 0;
}
