// Events by word: for each word the handles of the events that have it. Words of many events have a bit for each handle, which
// takes less room than a list then.
import { grown } from '../spatial/columns.ts';
import { type HandleSet, listOf, selected } from '../spatial/handle-set.ts';
import { IntLists } from './int-lists.ts';

/** With more than one event in this many, bits take less room than a list. */
const DENSE = 32;
/** Becomes a list again below a part of that, so that it does not change all the time. */
const DENSE_AGAIN = 4 * DENSE;

export class Postings {
  readonly #lists = new IntLists();
  readonly #dense = new Map<number, DenseWord>();
  /** Handles are below this. */
  #capacity = 0;

  get capacity(): number {
    return this.#capacity;
  }

  get bytes(): number {
    return this.#lists.bytes + this.#dense.size * (this.#capacity / 8);
  }

  growHandles(capacity: number): void {
    if (capacity <= this.#capacity) return;
    this.#capacity = capacity;
    for (const word of this.#dense.values()) word.bits = grown(word.bits, capacity / 32);
  }

  growWords(end: number): void {
    this.#lists.grow(end);
  }

  countOf(word: number): number {
    return this.#dense.get(word)?.count ?? this.#lists.lengthOf(word);
  }

  /** Whether it has bits instead of a list. */
  isDense(word: number): boolean {
    return this.#dense.has(word);
  }

  has(word: number, handle: number): boolean {
    const dense = this.#dense.get(word);
    return dense ? (dense.bits[handle >>> 5]! & (1 << handle)) !== 0 : this.#lists.has(word, handle);
  }

  /** False if the word has the handle already. */
  add(word: number, handle: number): boolean {
    // A word with bits has no list.
    const dense = this.#lists.lengthOf(word) === 0 ? this.#dense.get(word) : undefined;
    if (dense) {
      const isNew = (dense.bits[handle >>> 5]! & (1 << handle)) === 0;
      dense.bits[handle >>> 5]! |= 1 << handle;
      if (isNew) dense.count++;
      return isNew;
    }
    if (!this.#lists.add(word, handle)) return false;
    const count = this.#lists.lengthOf(word);
    if (count * DENSE <= this.#capacity) return true;
    const bits = new Uint32Array(this.#capacity / 32);
    for (const each of this.#lists.read(word)) bits[each >>> 5]! |= 1 << each;
    this.#lists.clear(word);
    this.#dense.set(word, { bits, count });
    return true;
  }

  /** The word must have the handle. */
  remove(word: number, handle: number): void {
    const dense = this.#dense.get(word);
    if (!dense) {
      this.#lists.remove(word, handle);
      return;
    }
    dense.bits[handle >>> 5]! &= ~(1 << handle);
    dense.count--;
    if (dense.count * DENSE_AGAIN > this.#capacity) return;
    this.#dense.delete(word);
    this.#lists.set(word, handlesOf(dense));
  }

  /** One of its handles; undefined if it has bits, because they would have to be searched. */
  findOne(word: number): number | undefined {
    return this.#dense.has(word) ? undefined : this.#lists.read(word)[0];
  }

  /** To use before the next change. */
  setOf(word: number): HandleSet {
    const dense = this.#dense.get(word);
    return dense ? { kind: 'bits', bits: dense.bits, size: dense.count } : listOf(this.#lists.read(word));
  }

  /** Adds the handles of a word to a bitmap. */
  addTo(bits: Uint32Array, word: number): void {
    const dense = this.#dense.get(word);
    if (dense) for (let at = 0; at < bits.length; at++) bits[at]! |= dense.bits[at]!;
    else this.#lists.addTo(bits, word);
  }

  /** Those of these handles that the word has. */
  filter(handles: Int32Array, word: number): Int32Array {
    const dense = this.#dense.get(word);
    if (dense) return selected(handles, dense.bits);
    const count = this.#lists.lengthOf(word);
    if (handles.length * STEPS < count) return handles.filter((handle) => this.#lists.has(word, handle));
    return merge(handles, this.#lists.read(word));
  }

  /** Bits of all handles that all of these words have, each of which has bits. */
  intersect(words: readonly number[]): Uint32Array {
    const [first, ...others] = words.map((word) => this.#dense.get(word)!.bits);
    const both = first!.slice();
    for (const other of others) for (let at = 0; at < both.length; at++) both[at]! &= other[at]!;
    return both;
  }
}

interface DenseWord {
  bits: Uint32Array;
  count: number;
}

/** Steps of a binary search. */
const STEPS = 12;

/** Numbers that both ascending lists have. */
function merge(left: Int32Array, right: Int32Array): Int32Array {
  const both = new Int32Array(Math.min(left.length, right.length));
  let count = 0;
  let at = 0;
  for (let index = 0; index < left.length && at < right.length; index++) {
    const value = left[index]!;
    while (at < right.length && right[at]! < value) at++;
    if (right[at] === value) both[count++] = value;
  }
  return both.subarray(0, count);
}

function handlesOf({ bits, count }: DenseWord): Int32Array {
  const handles = new Int32Array(count);
  let length = 0;
  for (let at = 0; at < bits.length; at++) {
    for (let rest = bits[at]!; rest !== 0; rest &= rest - 1)
      handles[length++] = 32 * at + 31 - Math.clz32(rest & -rest);
  }
  return handles;
}
