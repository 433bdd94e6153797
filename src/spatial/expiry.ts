// Min-heap of handles by end time; finds the event that ends next. Any handle can be removed.
import { doubles, integers, LongColumn } from './columns.ts';

export class Expiry {
  /** End times by handle. */
  readonly ends = new LongColumn(doubles);
  readonly #heap = new LongColumn(integers);
  /** Heap index by handle. */
  readonly #at = new LongColumn(integers);
  #length = 0;

  grow(capacity: number): void {
    for (const column of [this.ends, this.#heap, this.#at]) column.grow(capacity);
  }

  /** Sets the end time. The handle must not be in the heap. */
  set(handle: number, endsMs: number): void {
    this.ends.set(handle, endsMs);
  }

  add(handle: number): void {
    this.#rise(handle, this.#length++);
  }

  remove(handle: number): void {
    const at = this.#at.get(handle);
    const last = this.#heap.get(--this.#length);
    if (last === handle) return;
    this.#rise(last, at);
    this.#sink(last, this.#at.get(last));
  }

  endsMs(handle: number): number {
    return this.ends.get(handle);
  }

  /** The handle with the earliest end, if that is at or before `nowMs`. */
  next(nowMs: number): number | undefined {
    if (this.#length === 0) return undefined;
    const handle = this.#heap.get(0);
    return this.ends.get(handle) <= nowMs ? handle : undefined;
  }

  /** Visits every handle that ends at or before `nowMs`, in no particular order. Time is linear in their number. */
  visitEnded(nowMs: number, visit: (handle: number) => void, at = 0): void {
    if (at >= this.#length) return;
    const handle = this.#heap.get(at);
    if (this.ends.get(handle) > nowMs) return;
    visit(handle);
    this.visitEnded(nowMs, visit, 2 * at + 1);
    this.visitEnded(nowMs, visit, 2 * at + 2);
  }

  #endsAt(place: number): number {
    return this.ends.get(this.#heap.get(place));
  }

  #rise(handle: number, from: number): void {
    const ends = this.ends.get(handle);
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = this.#heap.get(parent);
      if (this.ends.get(above) <= ends) break;
      this.#heap.set(at, above);
      this.#at.set(above, at);
      at = parent;
    }
    this.#heap.set(at, handle);
    this.#at.set(handle, at);
  }

  #sink(handle: number, from: number): void {
    const ends = this.ends.get(handle);
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#length) break;
      if (child + 1 < this.#length && this.#endsAt(child + 1) < this.#endsAt(child)) child++;
      const below = this.#heap.get(child);
      if (this.ends.get(below) >= ends) break;
      this.#heap.set(at, below);
      this.#at.set(below, at);
      at = child;
    }
    this.#heap.set(at, handle);
    this.#at.set(handle, at);
  }
}
