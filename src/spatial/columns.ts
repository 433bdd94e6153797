// Columns of numbers (typed arrays): growth, binary search, and sorting by key. A long column grows in fixed-size pieces,
// because copying it would block the event loop.

export type Column = LongColumnPiece | Uint16Array;

/** If there were more than four types, V8 would read all long columns slowly. */
type LongColumnPiece = Float64Array | Int32Array | Uint8Array | Uint32Array;

/** Numbers per piece of a long column: 2 ** PIECE_BITS. */
export const PIECE_BITS = 16;
export const PIECE = 2 ** PIECE_BITS;

/** A column that grows without being copied. */
export class LongColumn {
  readonly #make: (length: number) => LongColumnPiece;
  readonly #pieces: LongColumnPiece[] = [];

  constructor(make: (length: number) => LongColumnPiece) {
    this.#make = make;
  }

  get(at: number): number {
    return this.#pieces[at >>> PIECE_BITS]![at & (PIECE - 1)]!;
  }

  set(at: number, value: number): void {
    this.#pieces[at >>> PIECE_BITS]![at & (PIECE - 1)] = value;
  }

  /** The piece with this number: reading many numbers from it is faster than `get`. */
  piece<T extends LongColumnPiece>(number: number): T {
    return this.#pieces[number] as T;
  }

  /** Calls back with each index below `end` whose number is `value`: a million numbers take a few milliseconds. */
  visit(value: number, end: number, callback: (at: number) => void): void {
    for (let from = 0; from < end; from += PIECE) {
      const piece = this.#pieces[from >>> PIECE_BITS]!;
      const length = Math.min(PIECE, end - from);
      for (let at = 0; at < length; at++) if (piece[at] === value) callback(from + at);
    }
  }

  /** Makes room for at least `length` numbers; new ones are 0. */
  grow(length: number): void {
    while (this.#pieces.length * PIECE < length) this.#pieces.push(this.#make(PIECE));
  }
}

export const doubles = (length: number) => new Float64Array(length);
export const integers = (length: number) => new Int32Array(length);
export const naturals = (length: number) => new Uint32Array(length);
export const bytes = (length: number) => new Uint8Array(length);

/** A longer copy of a column. Only for short columns. */
export function grown<T extends Column>(column: T, length: number): T {
  const longer = new (column.constructor as new (length: number) => T)(length);
  longer.set(column as never);
  return longer;
}

/** The first index in [from, end) whose number is at least `value`; `end` if there is none. */
export function lowerBound(sorted: Float64Array, from: number, end: number, value: number): number {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const DIGIT_BITS = 13;
const DIGITS = 2 ** DIGIT_BITS;
const HALF = 2 ** (2 * DIGIT_BITS);

/** Numbers processed between two yields. */
const NUMBERS_PER_TURN = 100_000;

/**
 * Indexes of these integers (0 to 2^52 - 1) in ascending order of value. Stable radix sort with at most four passes.
 * Yields regularly, so that the caller can let other work run.
 */
export function* sortedOrder(keys: Float64Array): Generator<void, Uint32Array> {
  const low = new Uint32Array(keys.length);
  const high = new Uint32Array(keys.length);
  let order = new Uint32Array(keys.length);
  for (const [from, end] of ranges(keys.length)) {
    halve(keys, low, high, order, from, end);
    yield;
  }
  let spare = new Uint32Array(keys.length);
  for (const [half, shift] of [
    [low, 0],
    [low, DIGIT_BITS],
    [high, 0],
    [high, DIGIT_BITS],
  ] as const) {
    const ends = new Uint32Array(DIGITS);
    for (const [from, end] of ranges(keys.length)) countDigits(half, shift, ends, from, end);
    yield;
    if (ends.includes(keys.length)) continue; // all have the same digit
    for (let digit = 0, sum = 0; digit < DIGITS; digit++) {
      const count = ends[digit]!;
      ends[digit] = sum;
      sum += count;
    }
    for (const [from, end] of ranges(keys.length)) {
      distribute(half, shift, ends, order, spare, from, end);
      yield;
    }
    [order, spare] = [spare, order];
  }
  return order;
}

function* ranges(length: number): Generator<[from: number, end: number]> {
  for (let from = 0; from < length; from += NUMBERS_PER_TURN) {
    yield [from, Math.min(length, from + NUMBERS_PER_TURN)];
  }
}

// Plain functions for the inner loops: inside a generator they would be far slower.

function halve(
  keys: Float64Array,
  low: Uint32Array,
  high: Uint32Array,
  order: Uint32Array,
  from: number,
  end: number,
): void {
  for (let at = from; at < end; at++) {
    high[at] = Math.floor(keys[at]! / HALF);
    low[at] = keys[at]! - high[at]! * HALF;
    order[at] = at;
  }
}

function countDigits(half: Uint32Array, shift: number, counts: Uint32Array, from: number, end: number): void {
  for (let at = from; at < end; at++) counts[(half[at]! >>> shift) & (DIGITS - 1)]!++;
}

function distribute(
  half: Uint32Array,
  shift: number,
  ends: Uint32Array,
  order: Uint32Array,
  spare: Uint32Array,
  from: number,
  end: number,
): void {
  for (let at = from; at < end; at++) {
    const place = order[at]!;
    const digit = (half[place]! >>> shift) & (DIGITS - 1);
    spare[ends[digit]!++] = place;
  }
}
