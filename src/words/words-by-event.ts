// The words of each event, by handle. A word takes one to four bytes, seven bits in each: frequent words are known early and have
// low numbers, so an event of 30 words takes some 80 bytes.
import { IntLists } from './int-lists.ts';

/** Set in every byte of a word but its last. */
const MORE = 0x80;
const BITS = 7;
const MAX_BYTES = 4;

export class WordsByEvent {
  /** Bytes, four to an integer. The last may be followed by zeros; no word has the number 0. */
  readonly #packed = new IntLists();
  #toPack = new Uint8Array(256);
  #unpacked = new Int32Array(64);

  get bytes(): number {
    return this.#packed.bytes;
  }

  /** Makes room for handles below this; new ones have no words. */
  grow(capacity: number): void {
    this.#packed.grow(capacity);
  }

  /** Replaces the words of an event. Numbers are below 2 ** 28. */
  set(handle: number, words: Int32Array): void {
    if (this.#toPack.length < words.length * MAX_BYTES)
      this.#toPack = new Uint8Array(2 * words.length * MAX_BYTES);
    const packed = this.#toPack;
    let end = 0;
    for (const word of words) {
      let rest = word;
      for (; rest >= MORE; rest >>>= BITS) packed[end++] = rest | MORE;
      packed[end++] = rest;
    }
    while (end % 4 > 0) packed[end++] = 0;
    this.#packed.set(handle, new Int32Array(packed.buffer, 0, end / 4));
  }

  /** To use before the next call. */
  read(handle: number): Int32Array {
    const { buffer, byteOffset, byteLength } = this.#packed.read(handle);
    const packed = new Uint8Array(buffer, byteOffset, byteLength);
    if (this.#unpacked.length < byteLength) this.#unpacked = new Int32Array(2 * byteLength);
    let count = 0;
    for (let at = 0; at < byteLength && packed[at] !== 0; ) {
      let byte = packed[at++]!;
      let word = byte & (MORE - 1);
      for (let shift = BITS; byte >= MORE; shift += BITS) {
        byte = packed[at++]!;
        word |= (byte & (MORE - 1)) << shift;
      }
      this.#unpacked[count++] = word;
    }
    return this.#unpacked.subarray(0, count);
  }

  clear(handle: number): void {
    this.#packed.clear(handle);
  }
}
