// Map from ULID to handle: hash tables of handles with open addressing, without strings. Many small tables, so that growing
// one is fast.
import { hashWords, LENGTH, UINT32S_PER_ULID, type Ulids, wordsOfBytes, wordsOfUlid } from './ulids.ts';

/** A power of two. The highest bits of a hash select the table. */
const TABLES = 64;
const TABLE_SHIFT = 26;
const FIRST_LENGTH = 16;

const COMMA = 44;

/** Tables are at most half full, so a lookup takes two steps on average. */
export class HandleMap {
  readonly #ids: Ulids;
  /** 0: empty; handles begin at 1. */
  readonly #tables = Array.from({ length: TABLES }, () => new Int32Array(FIRST_LENGTH));
  readonly #sizes = new Int32Array(TABLES);
  #size = 0;
  /** Words of the ULID that is looked up. */
  readonly #sought = new Uint32Array(UINT32S_PER_ULID);

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  get size(): number {
    return this.#size;
  }

  /** Makes room for this many handles, spread evenly. A table that gets more than its share still grows. */
  reserve(handles: number): void {
    const length = 2 ** Math.ceil(Math.log2((2 * handles) / TABLES + 2));
    for (let number = 0; number < TABLES; number++) {
      if (length > this.#tables[number]!.length) this.#grow(number, length);
    }
  }

  find(ulid: string): number | undefined {
    return this.#findWords(wordsOfUlid(ulid, this.#sought)) || undefined;
  }

  /** The handles of those that are in the map. `ulids` is text, separated by commas: a string for each would be slower. */
  findMany(ulids: Uint8Array): Int32Array {
    const found = new Int32Array(Math.ceil(ulids.length / (LENGTH + 1)));
    let count = 0;
    for (let at = 0, end = 0; at < ulids.length; at = end + 1) {
      const isUlid = at + LENGTH === ulids.length || ulids[at + LENGTH] === COMMA;
      end = isUlid ? at + LENGTH : endOfText(ulids, at);
      const handle = isUlid ? this.#findWords(wordsOfBytes(ulids, at, this.#sought)) : 0;
      if (handle !== 0) found[count++] = handle;
    }
    return found.subarray(0, count);
  }

  /** 0 if the map does not have it. */
  #findWords(words: Uint32Array): number {
    const hash = hashWords(words);
    const table = this.#tables[hash >>> TABLE_SHIFT]!;
    const mask = table.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const handle = table[at]!;
      if (handle === 0 || this.#ids.compareWith(handle, words) === 0) return handle;
    }
  }

  /** The handle's ID must already be in `ids`, and the handle not yet in the map. */
  add(handle: number): void {
    const number = this.#ids.hash(handle) >>> TABLE_SHIFT;
    const { length } = this.#tables[number]!;
    if (2 * (this.#sizes[number]! + 1) > length) this.#grow(number, 2 * length);
    this.#place(handle, this.#tables[number]!);
    this.#sizes[number]!++;
    this.#size++;
  }

  remove(handle: number): void {
    const hash = this.#ids.hash(handle);
    const number = hash >>> TABLE_SHIFT;
    const table = this.#tables[number]!;
    const mask = table.length - 1;
    let at = hash & mask;
    while (table[at] !== handle) at = (at + 1) & mask;
    // Close the gap: move later entries of the same run into it, unless that would put them before their home slot.
    for (let next = (at + 1) & mask; table[next] !== 0; next = (next + 1) & mask) {
      const home = this.#ids.hash(table[next]!) & mask;
      if (((next - home) & mask) >= ((next - at) & mask)) {
        table[at] = table[next]!;
        at = next;
      }
    }
    table[at] = 0;
    this.#sizes[number]!--;
    this.#size--;
  }

  #place(handle: number, table: Int32Array): void {
    const mask = table.length - 1;
    let at = this.#ids.hash(handle) & mask;
    while (table[at] !== 0) at = (at + 1) & mask;
    table[at] = handle;
  }

  #grow(number: number, length: number): void {
    const table = new Int32Array(length);
    for (const handle of this.#tables[number]!) if (handle !== 0) this.#place(handle, table);
    this.#tables[number] = table;
  }
}

function endOfText(text: Uint8Array, from: number): number {
  const end = text.indexOf(COMMA, from);
  return end < 0 ? text.length : end;
}
