// Which event ends next: a heap of handles by the instant at which they end, from which any can be taken out.
import { grown } from './columns.ts';

export class Expiry {
  #ends: Float64Array;
  #heap: Int32Array;
  /** Where in the heap a handle stands. */
  #at: Int32Array;
  #length = 0;

  constructor(capacity: number) {
    this.#ends = new Float64Array(capacity);
    this.#heap = new Int32Array(capacity);
    this.#at = new Int32Array(capacity);
  }

  grow(capacity: number): void {
    this.#ends = grown(this.#ends, capacity);
    this.#heap = grown(this.#heap, capacity);
    this.#at = grown(this.#at, capacity);
  }

  /** Notes when the event ends; it must not be in the heap. */
  set(handle: number, endsMs: number): void {
    this.#ends[handle] = endsMs;
  }

  add(handle: number): void {
    this.#rise(handle, this.#length++);
  }

  remove(handle: number): void {
    const at = this.#at[handle]!;
    const last = this.#heap[--this.#length]!;
    if (last === handle) return;
    this.#rise(last, at);
    this.#sink(last, this.#at[last]!);
  }

  endsMs(handle: number): number {
    return this.#ends[handle]!;
  }

  /** The handle that ends first, if that is at or before this instant. */
  next(nowMs: number): number | undefined {
    if (this.#length === 0) return undefined;
    const handle = this.#heap[0]!;
    return this.#ends[handle]! <= nowMs ? handle : undefined;
  }

  /** Visits every handle that ends at or before this instant, in no order. Takes time by their number alone. */
  visitEnded(nowMs: number, visit: (handle: number) => void, at = 0): void {
    if (at >= this.#length) return;
    const handle = this.#heap[at]!;
    if (this.#ends[handle]! > nowMs) return;
    visit(handle);
    this.visitEnded(nowMs, visit, 2 * at + 1);
    this.visitEnded(nowMs, visit, 2 * at + 2);
  }

  #rise(handle: number, from: number): void {
    const ends = this.#ends[handle]!;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = this.#heap[parent]!;
      if (this.#ends[above]! <= ends) break;
      this.#heap[at] = above;
      this.#at[above] = at;
      at = parent;
    }
    this.#heap[at] = handle;
    this.#at[handle] = at;
  }

  #sink(handle: number, from: number): void {
    const ends = this.#ends[handle]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#length) break;
      if (child + 1 < this.#length && this.#ends[this.#heap[child + 1]!]! < this.#ends[this.#heap[child]!]!)
        child++;
      const below = this.#heap[child]!;
      if (this.#ends[below]! >= ends) break;
      this.#heap[at] = below;
      this.#at[below] = at;
      at = child;
    }
    this.#heap[at] = handle;
    this.#at[handle] = at;
  }
}
