// From ULID to handle: hash tables of handles, open addressing, no strings kept. There are many small ones, so that none takes
// long to grow.
import { hashUlid, type Ulids } from './ulids.ts';

/** A power of two. The first bits of a hash tell the table. */
const TABLES = 64;
const TABLE_SHIFT = 26;
const FIRST_LENGTH = 16;

/** Tables are at most half full, so that a look-up takes two steps on average. */
export class HandleMap {
  readonly #ids: Ulids;
  /** 0: empty; handles begin at 1. */
  readonly #tables = Array.from({ length: TABLES }, () => new Int32Array(FIRST_LENGTH));
  readonly #sizes = new Int32Array(TABLES);
  #size = 0;

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  get size(): number {
    return this.#size;
  }

  /** Room for so many; a table that gets more than its share grows. */
  reserve(handles: number): void {
    const length = 2 ** Math.ceil(Math.log2((2 * handles) / TABLES + 2));
    for (let number = 0; number < TABLES; number++) {
      if (length > this.#tables[number]!.length) this.#grow(number, length);
    }
  }

  find(ulid: string): number | undefined {
    const hash = hashUlid(ulid);
    const table = this.#tables[hash >>> TABLE_SHIFT]!;
    const mask = table.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const handle = table[at]!;
      if (handle === 0) return undefined;
      if (this.#ids.equals(handle, ulid)) return handle;
    }
  }

  /** The handle's id is in the columns and not yet in a table. */
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
    // What follows in the same run moves up, unless it already stands where its hash puts it.
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
