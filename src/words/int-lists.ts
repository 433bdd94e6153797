// Many lists of integers in few large arrays. A list of one number needs no room of its own: an attacker may invent as many
// words as there are such lists.
import { bytes, integers, LongColumn, PIECE, PIECE_BITS } from '../spatial/columns.ts';

/** Room for 2, 3, 4, 6, 8, 12 … numbers: at most a third of it is unused. */
const SIZES = [0, 1, 2, 3, 4];
while (SIZES.at(-1)! < PIECE) SIZES.push(SIZES.at(-2)! * 2);
/** Lists that do not fit into a piece have an array of their own. */
const LARGE = SIZES.length;
const LARGE_SPARE = 1.5;

const BYTES_PER_LIST = 9;

export class IntLists {
  /** Where the numbers of a list begin; for a list of one number, that number; for a large list, 0. */
  readonly #at = new LongColumn(integers);
  readonly #length = new LongColumn(integers);
  /** Index in SIZES, or LARGE. */
  readonly #size = new LongColumn(bytes);
  readonly #pieces: Int32Array[] = [];
  /** Unused room in the last piece begins here. */
  #end = 0;
  /** Where unused room of each size begins. */
  readonly #free = SIZES.map((): number[] => []);
  readonly #large = new Map<number, Int32Array>();
  #largeBytes = 0;
  #capacity = 0;

  /** Makes room for lists up to this number; new ones are empty. */
  grow(capacity: number): void {
    if (capacity <= this.#capacity) return;
    this.#capacity = PIECE * Math.ceil(capacity / PIECE);
    for (const column of [this.#at, this.#length, this.#size]) column.grow(this.#capacity);
  }

  get bytes(): number {
    return this.#capacity * BYTES_PER_LIST + this.#pieces.length * PIECE * 4 + this.#largeBytes;
  }

  lengthOf(list: number): number {
    return this.#length.get(list);
  }

  /** The numbers of a list, to read before the next change of any list. */
  read(list: number): Int32Array {
    const length = this.#length.get(list);
    if (length === 1) return Int32Array.of(this.#at.get(list));
    const from = this.#fromOf(list);
    return length === 0 ? NONE : this.#arrayOf(list).subarray(from, from + length);
  }

  /** Sets the bits of all numbers of a list. */
  addTo(bits: Uint32Array, list: number): void {
    const length = this.#length.get(list);
    if (length === 1) {
      const only = this.#at.get(list);
      bits[only >>> 5]! |= 1 << only;
    } else if (length > 1) {
      const numbers = this.#arrayOf(list);
      const from = this.#fromOf(list);
      for (let at = from; at < from + length; at++) bits[numbers[at]! >>> 5]! |= 1 << numbers[at]!;
    }
  }

  /** Whether an ascending list has this value. */
  has(list: number, value: number): boolean {
    const length = this.#length.get(list);
    if (length <= 1) return length === 1 && this.#at.get(list) === value;
    const numbers = this.#arrayOf(list);
    const from = this.#fromOf(list);
    const at = rank(numbers, from, from + length, value);
    return at < from + length && numbers[at] === value;
  }

  /** Replaces all numbers of a list. */
  set(list: number, values: Int32Array): void {
    this.clear(list);
    if (values.length === 1) this.#at.set(list, values[0]!);
    else if (values.length > 1) {
      this.#allocate(list, values.length);
      this.#arrayOf(list).set(values, this.#fromOf(list));
    }
    this.#length.set(list, values.length);
  }

  /** Adds a value to an ascending list, unless it has it. */
  add(list: number, value: number): void {
    const length = this.#length.get(list);
    if (length <= 1) {
      const only = this.#at.get(list);
      if (length === 1 && only === value) return;
      if (length === 0) this.#at.set(list, value);
      else {
        this.#allocate(list, 2);
        const from = this.#fromOf(list);
        this.#arrayOf(list)[from] = Math.min(only, value);
        this.#arrayOf(list)[from + 1] = Math.max(only, value);
      }
    } else {
      let from = this.#fromOf(list);
      let numbers = this.#arrayOf(list);
      // Usually it is the highest.
      const isLast = numbers[from + length - 1]! < value;
      const index = isLast ? length : rank(numbers, from, from + length, value) - from;
      if (index < length && numbers[from + index] === value) return;
      if (length === this.#roomOf(list)) {
        this.#move(list, length);
        from = this.#fromOf(list);
        numbers = this.#arrayOf(list);
      }
      if (!isLast) numbers.copyWithin(from + index + 1, from + index, from + length);
      numbers[from + index] = value;
    }
    this.#length.set(list, length + 1);
  }

  /** Removes a value from an ascending list, if it has it. */
  remove(list: number, value: number): void {
    const length = this.#length.get(list);
    if (length <= 1) {
      if (length === 1 && this.#at.get(list) === value) this.#length.set(list, 0);
      return;
    }
    const numbers = this.#arrayOf(list);
    const from = this.#fromOf(list);
    const at = rank(numbers, from, from + length, value);
    if (at === from + length || numbers[at] !== value) return;
    numbers.copyWithin(at, at + 1, from + length);
    this.#length.set(list, length - 1);
    if (length === 2) {
      const only = numbers[from]!;
      this.#release(list);
      this.#at.set(list, only);
    } else if (length * 3 < this.#roomOf(list)) this.#move(list, length - 1);
  }

  clear(list: number): void {
    if (this.#length.get(list) > 1) this.#release(list);
    this.#length.set(list, 0);
  }

  #arrayOf(list: number): Int32Array {
    return this.#size.get(list) === LARGE
      ? this.#large.get(list)!
      : this.#pieces[this.#at.get(list) >>> PIECE_BITS]!;
  }

  #fromOf(list: number): number {
    return this.#at.get(list) & (PIECE - 1);
  }

  #roomOf(list: number): number {
    const size = this.#size.get(list);
    return size === LARGE ? this.#large.get(list)!.length : SIZES[size]!;
  }

  /** Moves the numbers to room that fits them and one more. */
  #move(list: number, length: number): void {
    const from = this.#fromOf(list);
    const numbers = this.#arrayOf(list).slice(from, from + length);
    this.#release(list);
    this.#allocate(list, length + 1);
    this.#arrayOf(list).set(numbers, this.#fromOf(list));
  }

  #allocate(list: number, length: number): void {
    let size = 2;
    while (size < LARGE && SIZES[size]! < length) size++;
    this.#size.set(list, size);
    if (size < LARGE) this.#at.set(list, this.#free[size]!.pop() ?? this.#extend(size));
    else {
      const room = new Int32Array(Math.ceil(length * LARGE_SPARE));
      this.#at.set(list, 0);
      this.#large.set(list, room);
      this.#largeBytes += room.byteLength;
    }
  }

  #extend(size: number): number {
    const length = SIZES[size]!;
    if (this.#end + length > this.#pieces.length * PIECE) {
      this.#freeRest();
      this.#end = this.#pieces.length * PIECE;
      this.#pieces.push(new Int32Array(PIECE));
    }
    this.#end += length;
    return this.#end - length;
  }

  /** Leaves the rest of the last piece to smaller lists. */
  #freeRest(): void {
    const end = this.#pieces.length * PIECE;
    for (let size = LARGE - 1; size >= 2; size--) {
      for (; SIZES[size]! <= end - this.#end; this.#end += SIZES[size]!) this.#free[size]!.push(this.#end);
    }
  }

  #release(list: number): void {
    const size = this.#size.get(list);
    if (size < LARGE) this.#free[size]!.push(this.#at.get(list));
    else {
      this.#largeBytes -= this.#large.get(list)!.byteLength;
      this.#large.delete(list);
    }
    this.#size.set(list, 0);
  }
}

const NONE = new Int32Array(0);

/** The first index in [from, end) whose number is at least `value`; `end` if there is none. */
export function rank(ascending: Int32Array, from: number, end: number, value: number): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
