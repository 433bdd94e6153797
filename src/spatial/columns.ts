// Small tools for columns of numbers: growing them, finding a place in a sorted stretch, sorting by a key.

export type Column = Float64Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/** A longer column that begins with this one. */
export function grown<T extends Column>(column: T, length: number): T {
  const longer = new (column.constructor as new (length: number) => T)(length);
  longer.set(column as never);
  return longer;
}

/** The first place from `from` on, `end` at the latest, whose value is not below this one. */
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

/** The places of these whole numbers (0 to 2^52 - 1) in ascending order; equal ones keep theirs. Four counting passes. */
export function sortedOrder(keys: Float64Array): Uint32Array {
  const low = new Uint32Array(keys.length);
  const high = new Uint32Array(keys.length);
  for (let at = 0; at < keys.length; at++) {
    high[at] = Math.floor(keys[at]! / HALF);
    low[at] = keys[at]! - high[at]! * HALF;
  }
  let order = Uint32Array.from(keys.keys());
  let spare = new Uint32Array(keys.length);
  for (const [half, shift] of [
    [low, 0],
    [low, DIGIT_BITS],
    [high, 0],
    [high, DIGIT_BITS],
  ] as const) {
    const ends = new Uint32Array(DIGITS);
    for (let at = 0; at < half.length; at++) ends[(half[at]! >>> shift) & (DIGITS - 1)]!++;
    for (let digit = 0, sum = 0; digit < DIGITS; digit++) {
      const count = ends[digit]!;
      ends[digit] = sum;
      sum += count;
    }
    for (let at = 0; at < order.length; at++) {
      const place = order[at]!;
      const digit = (half[place]! >>> shift) & (DIGITS - 1);
      spare[ends[digit]!++] = place;
    }
    [order, spare] = [spare, order];
  }
  return order;
}
