// Many lists of integers in few large arrays. A list of one number needs no room of its own: an attacker may invent as many
// words as there are such lists.
import { integers, LongColumn, PIECE, PIECE_BITS } from '../spatial/columns.ts';

/** Room for 2, 3, 4, 6, 8, 12 … numbers: at most a third of it is unused. */
const SIZES = [0, 1, 2, 3, 4];
while (SIZES.at(-1)! < PIECE) SIZES.push(SIZES.at(-2)! * 2);
/** Lists that do not fit into a piece have an array of their own. */
const LARGE = SIZES.length;
const LARGE_SPARE = 1.5;

/** Bits of a size; the bits above them are a length. */
const SIZE_BITS = 6;
const SIZE_MASK = 2 ** SIZE_BITS - 1;

const BYTES_PER_LIST = 8;

export class IntLists {
  /**
   * Two numbers per list, side by side because the processor waits for memory most of the time. First where its numbers begin;
   * for a list of one number, that number; for a large list, 0. Then its length and its size, an index in SIZES or LARGE.
   */
  readonly #lists = new LongColumn(integers);
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
    this.#lists.grow(2 * this.#capacity);
  }

  get bytes(): number {
    return this.#capacity * BYTES_PER_LIST + this.#pieces.length * PIECE * 4 + this.#largeBytes;
  }

  lengthOf(list: number): number {
    return this.#lists.get(2 * list + 1) >>> SIZE_BITS;
  }

  /** The numbers of a list, to read before the next change of any list. */
  read(list: number): Int32Array {
    const length = this.lengthOf(list);
    if (length === 1) return Int32Array.of(this.#lists.get(2 * list));
    const from = this.#fromOf(list);
    return length === 0 ? NONE : this.#arrayOf(list).subarray(from, from + length);
  }

  /** Sets the bits of all numbers of a list. */
  addTo(bits: Uint32Array, list: number): void {
    const length = this.lengthOf(list);
    if (length === 1) {
      const only = this.#lists.get(2 * list);
      bits[only >>> 5]! |= 1 << only;
    } else if (length > 1) {
      const numbers = this.#arrayOf(list);
      const from = this.#fromOf(list);
      for (let at = from; at < from + length; at++) bits[numbers[at]! >>> 5]! |= 1 << numbers[at]!;
    }
  }

  /** Whether an ascending list has this value. */
  has(list: number, value: number): boolean {
    const length = this.lengthOf(list);
    if (length <= 1) return length === 1 && this.#lists.get(2 * list) === value;
    const numbers = this.#arrayOf(list);
    const from = this.#fromOf(list);
    const at = rank(numbers, from, from + length, value);
    return at < from + length && numbers[at] === value;
  }

  /** Replaces all numbers of a list. */
  set(list: number, values: Int32Array): void {
    this.clear(list);
    if (values.length === 1) this.#lists.set(2 * list, values[0]!);
    else if (values.length > 1) {
      this.#allocate(list, values.length);
      this.#arrayOf(list).set(values, this.#fromOf(list));
    }
    this.#setLength(list, values.length);
  }

  /** Adds a value to an ascending list; false if it has it already. */
  add(list: number, value: number): boolean {
    const length = this.lengthOf(list);
    if (length <= 1) {
      const only = this.#lists.get(2 * list);
      if (length === 1 && only === value) return false;
      if (length === 0) this.#lists.set(2 * list, value);
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
      if (index < length && numbers[from + index] === value) return false;
      if (length === this.#roomOf(list)) {
        this.#move(list, length);
        from = this.#fromOf(list);
        numbers = this.#arrayOf(list);
      }
      if (!isLast) numbers.copyWithin(from + index + 1, from + index, from + length);
      numbers[from + index] = value;
    }
    this.#setLength(list, length + 1);
    return true;
  }

  /** Removes a value from an ascending list, if it has it. */
  remove(list: number, value: number): void {
    const length = this.lengthOf(list);
    if (length <= 1) {
      if (length === 1 && this.#lists.get(2 * list) === value) this.#setLength(list, 0);
      return;
    }
    const numbers = this.#arrayOf(list);
    const from = this.#fromOf(list);
    const at = rank(numbers, from, from + length, value);
    if (at === from + length || numbers[at] !== value) return;
    numbers.copyWithin(at, at + 1, from + length);
    this.#setLength(list, length - 1);
    if (length === 2) {
      const only = numbers[from]!;
      this.#release(list);
      this.#lists.set(2 * list, only);
    } else if (length * 3 < this.#roomOf(list)) this.#move(list, length - 1);
  }

  clear(list: number): void {
    if (this.lengthOf(list) > 1) this.#release(list);
    this.#setLength(list, 0);
  }

  #sizeOf(list: number): number {
    return this.#lists.get(2 * list + 1) & SIZE_MASK;
  }

  #setSize(list: number, size: number): void {
    this.#lists.set(2 * list + 1, (this.lengthOf(list) << SIZE_BITS) | size);
  }

  #setLength(list: number, length: number): void {
    this.#lists.set(2 * list + 1, (length << SIZE_BITS) | this.#sizeOf(list));
  }

  #arrayOf(list: number): Int32Array {
    return this.#sizeOf(list) === LARGE
      ? this.#large.get(list)!
      : this.#pieces[this.#lists.get(2 * list) >>> PIECE_BITS]!;
  }

  #fromOf(list: number): number {
    return this.#lists.get(2 * list) & (PIECE - 1);
  }

  #roomOf(list: number): number {
    const size = this.#sizeOf(list);
    return size === LARGE ? this.#large.get(list)!.length : SIZES[size]!;
  }

  /** Moves the numbers to room that fits them and one more. */
  #move(list: number, length: number): void {
    const numbers = this.#arrayOf(list);
    const from = this.#fromOf(list);
    this.#release(list);
    this.#allocate(list, length + 1);
    // The room is of another size, so it is not the one that was released.
    const room = this.#arrayOf(list);
    const to = this.#fromOf(list);
    for (let at = 0; at < length; at++) room[to + at] = numbers[from + at]!;
  }

  #allocate(list: number, length: number): void {
    let size = 2;
    while (size < LARGE && SIZES[size]! < length) size++;
    this.#setSize(list, size);
    if (size < LARGE) this.#lists.set(2 * list, this.#free[size]!.pop() ?? this.#extend(size));
    else {
      const room = new Int32Array(Math.ceil(length * LARGE_SPARE));
      this.#lists.set(2 * list, 0);
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
    const size = this.#sizeOf(list);
    if (size < LARGE) this.#free[size]!.push(this.#lists.get(2 * list));
    else {
      this.#largeBytes -= this.#large.get(list)!.byteLength;
      this.#large.delete(list);
    }
    this.#setSize(list, 0);
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
