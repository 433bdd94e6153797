// Numbers of words, from 1. The bytes of words are in few large arrays, and the hash tables have numbers only: a word that one
// event has takes some 40 bytes with everything. Numbers and room of words that are removed are used again.
import type { Words } from '../domain/events/words.ts';
import { integers, LongColumn, PIECE } from '../spatial/columns.ts';

/** Many small tables, so that growing one is fast. A power of two; the highest bits of a hash select the table. */
const TABLES = 256;
const TABLE_SHIFT = 24;
const FIRST_LENGTH = 16;

/** An entry of a table is the number of a word and four bits of its hash, so that few other words are compared. */
const WORD_BITS = 28;
const WORD_MASK = 2 ** WORD_BITS - 1;
/** Far fewer than there are numbers: an event may add 20,000 words. */
const MAX_WORDS = 2 ** WORD_BITS - 2 ** 20;
const markOf = (hash: number) => (hash >>> 20) & 0xf;

/** Bytes per piece of the arena. Each word has its length in front, in two bytes. */
const PIECE_BYTES_BITS = 16;
const PIECE_BYTES = 2 ** PIECE_BYTES_BITS;
const MAX_PIECES = 2 ** (32 - PIECE_BYTES_BITS) - 256;
const LENGTH_BYTES = 2;

/** Words are also in lists by their first two code points, to find those with a prefix. */
const BUCKETS = 4_096;

export class Dictionary {
  readonly #seed: number;
  /** 0: empty. At most two thirds full. */
  readonly #tables = Array.from({ length: TABLES }, () => new Int32Array(FIRST_LENGTH));
  readonly #sizes = new Int32Array(TABLES);
  readonly #pieces: Uint8Array[] = [];
  /** Bytes of words in each piece. */
  readonly #used: number[] = [];
  readonly #freePieces: number[] = [];
  /** Unused room in the piece that is being filled. */
  #piece = -1;
  #end = PIECE_BYTES;
  #usedBytes = 0;
  /** Next piece to look at for too much unused room. */
  #hand = 0;
  /** Where the bytes of a word begin, as an unsigned number. */
  readonly #at = new LongColumn(integers);
  readonly #buckets = Array.from({ length: BUCKETS }, () => new Int32Array(0));
  readonly #bucketSizes = new Int32Array(BUCKETS);
  /** Index of a word in its bucket. */
  readonly #inBucket = new LongColumn(integers);
  #created = 1;
  readonly #free: number[] = [];
  #capacity = 0;
  #tableBytes = TABLES * FIRST_LENGTH * 4;

  /** The seed is to be random, so that nobody can choose words with the same hash. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  get size(): number {
    return this.#created - 1 - this.#free.length;
  }

  /** Infinite if it is full: there are no numbers for more words, or for more pieces. */
  get bytes(): number {
    if (this.#created > MAX_WORDS || this.#pieces.length > MAX_PIECES) return Number.POSITIVE_INFINITY;
    return this.#tableBytes + this.#pieces.length * PIECE_BYTES + this.#capacity * 8 + this.#free.length * 8;
  }

  /** The word that is in [from, end) of a text; 0 if it is not known. */
  find(text: Words, from: number, end: number): number {
    const hash = hashOf(text, from, end, this.#seed);
    const table = this.#tables[hash >>> TABLE_SHIFT]!;
    const mask = table.length - 1;
    const mark = markOf(hash);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = table[slot]!;
      if (entry === 0) return 0;
      const word = entry & WORD_MASK;
      if (entry >>> WORD_BITS === mark && this.#equals(word, text, from, end)) return word;
    }
  }

  /** The same; the word gets a number if it has none. */
  put(text: Words, from: number, end: number): number {
    const known = this.find(text, from, end);
    if (known !== 0) return known;
    const word = this.#free.pop() ?? this.#created++;
    if (word >= this.#capacity) this.#grow();
    this.#at.set(word, this.#write(text, from, end));
    const hash = hashOf(text, from, end, this.#seed);
    const number = hash >>> TABLE_SHIFT;
    const { length } = this.#tables[number]!;
    if (3 * ++this.#sizes[number]! > 2 * length) this.#growTable(number);
    place(this.#tables[number]!, hash, word);
    this.#addToBucket(word);
    return word;
  }

  /** Its number of bytes. */
  lengthOf(word: number): number {
    const at = this.#at.get(word) >>> 0;
    return lengthAt(this.#pieces[at >>> PIECE_BYTES_BITS]!, at & (PIECE_BYTES - 1));
  }

  remove(word: number): void {
    const hash = this.#hashOf(word);
    const number = hash >>> TABLE_SHIFT;
    const table = this.#tables[number]!;
    const mask = table.length - 1;
    let at = hash & mask;
    while ((table[at]! & WORD_MASK) !== word) at = (at + 1) & mask;
    // Close the gap: move later entries of the same run into it, unless that would put them before their home slot.
    for (let next = (at + 1) & mask; table[next] !== 0; next = (next + 1) & mask) {
      const home = this.#hashOf(table[next]! & WORD_MASK) & mask;
      if (((next - home) & mask) < ((next - at) & mask)) continue;
      table[at] = table[next]!;
      at = next;
    }
    table[at] = 0;
    this.#sizes[number]!--;
    this.#removeFromBucket(word);
    this.#free.push(word);
    this.#releaseRoom(word);
  }

  /**
   * Visits words that begin with a text of at least two code points, until `visit` returns true; returns then where to continue, or
   * else undefined. From the end: a word that is removed in between is replaced by one that was visited.
   */
  visitPrefixed(
    prefix: Words,
    from: number | undefined,
    visit: (word: number) => boolean,
  ): number | undefined {
    const bucket = bucketOfPrefix(prefix);
    const size = this.#bucketSizes[bucket]!;
    for (let at = Math.min(from ?? size, size) - 1; at >= 0; at--) {
      const word = this.#buckets[bucket]![at]!;
      const isStopped = this.hasPrefix(word, prefix) ? visit(word) : at % WORDS_PER_VISIT === 0 && visit(0);
      if (isStopped) return at;
    }
    return undefined;
  }

  hasPrefix(word: number, prefix: Words): boolean {
    const at = this.#at.get(word) >>> 0;
    const bytes = this.#pieces[at >>> PIECE_BYTES_BITS]!;
    const from = at & (PIECE_BYTES - 1);
    return (
      lengthAt(bytes, from) >= prefix.length && isAt(bytes, from + LENGTH_BYTES, prefix, 0, prefix.length)
    );
  }

  #equals(word: number, text: Words, from: number, end: number): boolean {
    const at = this.#at.get(word) >>> 0;
    const bytes = this.#pieces[at >>> PIECE_BYTES_BITS]!;
    const begin = at & (PIECE_BYTES - 1);
    return lengthAt(bytes, begin) === end - from && isAt(bytes, begin + LENGTH_BYTES, text, from, end);
  }

  #hashOf(word: number): number {
    const at = this.#at.get(word) >>> 0;
    const bytes = this.#pieces[at >>> PIECE_BYTES_BITS]!;
    const from = (at & (PIECE_BYTES - 1)) + LENGTH_BYTES;
    const end = from + lengthAt(bytes, from - LENGTH_BYTES);
    let hash = this.#seed;
    for (let index = from; index < end; index++) hash = mix(hash, bytes[index]!);
    return finish(hash);
  }

  /** By the first two code points; a word of one has a bucket, too. */
  #bucketOf(word: number): number {
    const at = this.#at.get(word) >>> 0;
    const bytes = this.#pieces[at >>> PIECE_BYTES_BITS]!;
    const from = (at & (PIECE_BYTES - 1)) + LENGTH_BYTES;
    const end = from + lengthAt(bytes, from - LENGTH_BYTES);
    let hash = 0;
    for (let index = from, points = 0; index < end; index++) {
      if ((bytes[index]! & 0xc0) !== 0x80 && ++points > 2) break;
      hash = mix(hash, bytes[index]!);
    }
    return finish(hash) & (BUCKETS - 1);
  }

  #write(text: Words, from: number, end: number): number {
    const length = end - from;
    if (this.#end + LENGTH_BYTES + length > PIECE_BYTES) this.#nextPiece();
    const bytes = this.#pieces[this.#piece]!;
    const at = this.#end;
    bytes[at] = length;
    bytes[at + 1] = length >>> 8;
    for (let index = 0; index < length; index++)
      bytes[at + LENGTH_BYTES + index] = text.charCodeAt(from + index);
    this.#end += LENGTH_BYTES + length;
    this.#count(this.#piece, LENGTH_BYTES + length);
    return (this.#piece << PIECE_BYTES_BITS) | at;
  }

  #count(piece: number, bytes: number): void {
    this.#used[piece]! += bytes;
    this.#usedBytes += bytes;
  }

  #nextPiece(): void {
    if (this.#piece >= 0 && this.#end < PIECE_BYTES - 1) this.#pieces[this.#piece]!.fill(0, this.#end);
    this.#piece = this.#freePieces.pop() ?? this.#pieces.push(new Uint8Array(PIECE_BYTES)) - 1;
    this.#used[this.#piece] ??= 0;
    this.#end = 0;
  }

  #releaseRoom(word: number): void {
    const piece = this.#at.get(word) >>> PIECE_BYTES_BITS;
    const length = LENGTH_BYTES + this.lengthOf(word);
    this.#at.set(word, -1);
    this.#count(piece, -length);
    const inUse = (this.#pieces.length - this.#freePieces.length) * PIECE_BYTES;
    if (inUse > 2 * this.#usedBytes + 4 * PIECE_BYTES) this.#compact();
  }

  /** Moves the words of one piece that is at most half used to the end, and frees it. */
  #compact(): void {
    const free = new Set(this.#freePieces);
    for (let tried = 0; tried < this.#pieces.length; tried++) {
      this.#hand = (this.#hand + 1) % this.#pieces.length;
      if (this.#hand === this.#piece || free.has(this.#hand) || this.#used[this.#hand]! > PIECE_BYTES / 2)
        continue;
      this.#moveWords(this.#hand);
      this.#freePieces.push(this.#hand);
      return;
    }
  }

  #moveWords(piece: number): void {
    const bytes = this.#pieces[piece]!;
    for (let from = 0; from + LENGTH_BYTES < PIECE_BYTES; ) {
      const length = lengthAt(bytes, from);
      if (length === 0) break;
      const text = Buffer.from(bytes.buffer, from + LENGTH_BYTES, length).toString('latin1') as Words;
      const word = this.find(text, 0, length);
      // Otherwise it was removed, or written again elsewhere.
      if (word !== 0 && this.#at.get(word) >>> 0 === ((piece << PIECE_BYTES_BITS) | from) >>> 0) {
        this.#count(piece, -LENGTH_BYTES - length);
        this.#at.set(word, this.#write(text, 0, length));
      }
      from += LENGTH_BYTES + length;
    }
  }

  #addToBucket(word: number): void {
    const bucket = this.#bucketOf(word);
    const at = this.#bucketSizes[bucket]!++;
    if (at === this.#buckets[bucket]!.length) {
      const longer = new Int32Array(Math.max(4, Math.ceil(at * 1.5)));
      this.#tableBytes += 4 * (longer.length - at);
      longer.set(this.#buckets[bucket]!);
      this.#buckets[bucket] = longer;
    }
    this.#buckets[bucket]![at] = word;
    this.#inBucket.set(word, at);
  }

  #removeFromBucket(word: number): void {
    const bucket = this.#bucketOf(word);
    const words = this.#buckets[bucket]!;
    const size = --this.#bucketSizes[bucket]!;
    const at = this.#inBucket.get(word);
    const last = words[size]!;
    words[at] = last;
    this.#inBucket.set(last, at);
    if (size * 3 < words.length && words.length > 16) {
      this.#buckets[bucket] = words.slice(0, Math.ceil(size * 1.5));
      this.#tableBytes -= 4 * (words.length - this.#buckets[bucket]!.length);
    }
  }

  #grow(): void {
    this.#capacity += PIECE;
    for (const column of [this.#at, this.#inBucket]) column.grow(this.#capacity);
  }

  #growTable(number: number): void {
    const old = this.#tables[number]!;
    const table = new Int32Array(2 * old.length);
    this.#tableBytes += 4 * old.length;
    for (const entry of old) {
      const word = entry & WORD_MASK;
      if (word !== 0) place(table, this.#hashOf(word), word);
    }
    this.#tables[number] = table;
  }
}

/** Words of a bucket between two looks at the clock, if none has the prefix. */
export const WORDS_PER_VISIT = 64;

function place(table: Int32Array, hash: number, word: number): void {
  const mask = table.length - 1;
  let at = hash & mask;
  while (table[at] !== 0) at = (at + 1) & mask;
  table[at] = (markOf(hash) << WORD_BITS) | word;
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

function isAt(bytes: Uint8Array, at: number, text: Words, from: number, end: number): boolean {
  for (let index = from; index < end; index++)
    if (bytes[at + index - from] !== text.charCodeAt(index)) return false;
  return true;
}

function hashOf(text: Words, from: number, end: number, seed: number): number {
  let hash = seed;
  for (let at = from; at < end; at++) hash = mix(hash, text.charCodeAt(at));
  return finish(hash);
}

function mix(hash: number, byte: number): number {
  const mixed = Math.imul(hash ^ byte, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function finish(hash: number): number {
  const mixed = Math.imul(hash, 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 12)) >>> 0;
}

function bucketOfPrefix(prefix: Words): number {
  let hash = 0;
  for (let at = 0, points = 0; at < prefix.length; at++) {
    const byte = prefix.charCodeAt(at);
    if ((byte & 0xc0) !== 0x80 && ++points > 2) break;
    hash = mix(hash, byte);
  }
  return finish(hash) & (BUCKETS - 1);
}
