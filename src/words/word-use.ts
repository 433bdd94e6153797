// How much memory the words of each owner's events take. A word that several events have is paid for by the owner of one of
// them, and passes to another when that event goes. So nobody can hide what they use behind the words of others.
import { integers, LongColumn, PIECE } from '../spatial/columns.ts';

/** Measured. Some of 6 bytes that no other event has take 50 with everything, as BYTES_PER_WORD of domain/events/words.ts says. */
const BYTES_PER_WORD = 38;
export const BYTES_PER_USE = 6;

/** Memory of a word of so many bytes, without its uses. */
export function bytesOfWord(length: number): number {
  return BYTES_PER_WORD + length;
}

const BYTES_PER_NUMBER = 4;

export class WordUse {
  /** By handle. */
  readonly #owner = new LongColumn(integers);
  /** By word. */
  readonly #payer = new LongColumn(integers);
  readonly #bytesOf: number[] = [];
  #handles = 0;
  #words = 0;

  get bytes(): number {
    return (this.#handles + this.#words) * BYTES_PER_NUMBER;
  }

  bytesOf(owner: number): number {
    return this.#bytesOf[owner] ?? 0;
  }

  /** Makes room for handles below this. */
  growHandles(end: number): void {
    this.#handles = end;
    this.#owner.grow(end);
  }

  ownerOf(handle: number): number {
    return this.#owner.get(handle);
  }

  /** An event has this many words. */
  add(handle: number, owner: number, words: number): void {
    this.#owner.set(handle, owner);
    this.#count(owner, words * BYTES_PER_USE);
  }

  remove(handle: number, words: number): void {
    this.#count(this.#owner.get(handle), -words * BYTES_PER_USE);
  }

  /** A word of so many bytes is new. */
  addWord(word: number, owner: number, length: number): void {
    if (word >= this.#words) {
      this.#words = PIECE * (Math.floor(word / PIECE) + 1);
      this.#payer.grow(this.#words);
    }
    this.#payer.set(word, owner);
    this.#count(owner, bytesOfWord(length));
  }

  removeWord(word: number, length: number): void {
    this.#count(this.#payer.get(word), -bytesOfWord(length));
  }

  isPaidBy(word: number, owner: number): boolean {
    return this.#payer.get(word) === owner;
  }

  /** An event of this owner still has the word. */
  pass(word: number, owner: number, length: number): void {
    this.removeWord(word, length);
    this.addWord(word, owner, length);
  }

  #count(owner: number, bytes: number): void {
    this.#bytesOf[owner] = this.bytesOf(owner) + bytes;
  }
}
