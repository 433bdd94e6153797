// Hidden events by handle: no caller may find them any more, but they are not dropped yet. Any of them can be shown again.
import { LongColumn, naturals } from './columns.ts';

export class Hidden {
  /** Hidden events that are still in the search structures: searches must skip them. */
  readonly searchable: number[] = [];
  /** Hidden events that were already retired from the search structures. */
  readonly #retired: number[] = [];
  /** Position in its list, from 1; 0 for events that are not hidden. */
  readonly #at = new LongColumn(naturals);

  grow(capacity: number): void {
    this.#at.grow(capacity);
  }

  get size(): number {
    return this.searchable.length + this.#retired.length;
  }

  has(handle: number): boolean {
    return this.#at.get(handle) > 0;
  }

  add(handle: number, isRetired: boolean): void {
    if (!this.has(handle)) this.#at.set(handle, this.#listOf(isRetired).push(handle));
  }

  /** `isRetired` must be the same as when it was added. */
  remove(handle: number, isRetired: boolean): void {
    const at = this.#at.get(handle);
    if (at === 0) return;
    const list = this.#listOf(isRetired);
    const last = list.pop()!;
    if (last !== handle) {
      list[at - 1] = last;
      this.#at.set(last, at);
    }
    this.#at.set(handle, 0);
  }

  /** Removes any one; undefined if there is none. */
  take(): number | undefined {
    const handle = this.searchable.pop() ?? this.#retired.pop();
    if (handle !== undefined) this.#at.set(handle, 0);
    return handle;
  }

  #listOf(isRetired: boolean): number[] {
    return isRetired ? this.#retired : this.searchable;
  }
}
