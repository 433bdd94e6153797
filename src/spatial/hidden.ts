// Hidden events by handle: no caller may find them any more, but they are not dropped yet. Any of them can be shown again. They are
// kept by latitude, so that a search looks at few of them.
import { LongColumn, naturals } from './columns.ts';

/** Number of lists by latitude, each of one degree; the last one is for 90 degrees north. */
const BANDS = 181;

export class Hidden {
  readonly #isRetired: LongColumn;
  readonly #lat: LongColumn;
  /** Lists by latitude, and one of events that were already retired from the search structures. */
  readonly #lists: number[][] = Array.from({ length: BANDS + 1 }, () => []);
  /** Position in its list, from 1; 0 for events that are not hidden. */
  readonly #at = new LongColumn(naturals);
  #size = 0;
  /** The lists after this one are empty. */
  #last = 0;

  /** Both columns are by handle. They must not change while an event is hidden. */
  constructor(isRetired: LongColumn, lat: LongColumn) {
    this.#isRetired = isRetired;
    this.#lat = lat;
  }

  grow(capacity: number): void {
    this.#at.grow(capacity);
  }

  get size(): number {
    return this.#size;
  }

  has(handle: number): boolean {
    return this.#at.get(handle) > 0;
  }

  add(handle: number): void {
    if (this.has(handle)) return;
    const list = this.#listOf(handle);
    this.#at.set(handle, this.#lists[list]!.push(handle));
    this.#last = Math.max(this.#last, list);
    this.#size++;
  }

  remove(handle: number): void {
    const at = this.#at.get(handle);
    if (at === 0) return;
    const list = this.#lists[this.#listOf(handle)]!;
    const last = list.pop()!;
    if (last !== handle) {
      list[at - 1] = last;
      this.#at.set(last, at);
    }
    this.#at.set(handle, 0);
    this.#size--;
  }

  /** Removes any one; undefined if there is none. */
  take(): number | undefined {
    if (this.#size === 0) return undefined;
    while (this.#lists[this.#last]!.length === 0) this.#last--;
    const handle = this.#lists[this.#last]!.pop()!;
    this.#at.set(handle, 0);
    this.#size--;
    return handle;
  }

  /** Calls back with those that are still in the search structures, at least with all within `reach` degrees of the latitude. */
  visitSearchable(lat: number, reach: number, callback: (handle: number) => void): void {
    const last = bandOf(Math.min(lat + reach, 90));
    for (let band = bandOf(Math.max(lat - reach, -90)); band <= last; band++)
      for (const handle of this.#lists[band]!) callback(handle);
  }

  #listOf(handle: number): number {
    return this.#isRetired.get(handle) === 1 ? BANDS : bandOf(this.#lat.get(handle));
  }
}

function bandOf(lat: number): number {
  return Math.floor(lat) + 90;
}
