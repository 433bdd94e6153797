// From ULID to handle: a hash table of handles, open addressing, no strings kept.
import { hashUlid, type Ulids } from './ulids.ts';

/** At most half full, so that a look-up takes two steps on average. */
export class HandleMap {
  readonly #ids: Ulids;
  /** 0: empty; handles begin at 1. */
  #table = new Int32Array(1024);
  #size = 0;

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  get size(): number {
    return this.#size;
  }

  /** Room for so many without growing again. */
  reserve(handles: number): void {
    const length = 2 ** Math.ceil(Math.log2(2 * handles + 2));
    if (length > this.#table.length) this.#grow(length);
  }

  find(ulid: string): number | undefined {
    const mask = this.#table.length - 1;
    for (let at = hashUlid(ulid) & mask; ; at = (at + 1) & mask) {
      const handle = this.#table[at]!;
      if (handle === 0) return undefined;
      if (this.#ids.equals(handle, ulid)) return handle;
    }
  }

  /** The handle's id is in the columns and not yet in the table. */
  add(handle: number): void {
    if (2 * (this.#size + 1) > this.#table.length) this.#grow(4 * this.#table.length);
    this.#place(handle);
    this.#size++;
  }

  remove(handle: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let at = this.#ids.hash(handle) & mask;
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
    this.#size--;
  }

  #place(handle: number): void {
    const mask = this.#table.length - 1;
    let at = this.#ids.hash(handle) & mask;
    while (this.#table[at] !== 0) at = (at + 1) & mask;
    this.#table[at] = handle;
  }

  #grow(length: number): void {
    const old = this.#table;
    this.#table = new Int32Array(length);
    for (const handle of old) if (handle !== 0) this.#place(handle);
  }
}
