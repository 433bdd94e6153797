// A table of names in sorted order, each with the numbers of what it names: flat arrays over bytes, which need no parsing. A look-up
// is a binary search; names with a common prefix are neighbours.

export interface NameTable {
  /** The keys as UTF-8, sorted by bytes, without separators. */
  readonly text: Buffer;
  /** Where each key ends in the text. */
  readonly keyEnds: Uint32Array;
  /** Where the numbers of each key end in `numbers`. */
  readonly numberEnds: Uint32Array;
  /** The numbers of each key, ascending. */
  readonly numbers: Uint32Array;
}

const NONE = new Uint32Array();

/** The numbers of this key; none if the table does not have it. */
export function findNumbers(table: NameTable, key: string): Uint32Array {
  const bytes = Buffer.from(key);
  const at = firstFrom(table, bytes);
  if (at === table.keyEnds.length || compareKey(table, at, bytes) !== 0) return NONE;
  return numbersBetween(table, at, at + 1);
}

/** The numbers of all keys that begin with this text: not sorted, and several times if several keys have them. */
export function findNumbersByPrefix(table: NameTable, prefix: string): Uint32Array {
  const bytes = Buffer.from(prefix);
  // No UTF-8 has this byte, so every key with the prefix comes before.
  const end = firstFrom(table, Buffer.concat([bytes, Buffer.of(0xff)]));
  return numbersBetween(table, firstFrom(table, bytes), end);
}

function numbersBetween({ numberEnds, numbers }: NameTable, from: number, end: number): Uint32Array {
  return numbers.subarray(startOf(numberEnds, from), startOf(numberEnds, end));
}

/** The place of the first key that is not before these bytes. */
function firstFrom(table: NameTable, bytes: Buffer): number {
  let low = 0;
  let high = table.keyEnds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKey(table, middle, bytes) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareKey({ text, keyEnds }: NameTable, at: number, bytes: Buffer): number {
  return text.compare(bytes, 0, bytes.length, startOf(keyEnds, at), keyEnds[at]!);
}

/** Where an entry begins: where the one before it ends. */
export function startOf(ends: Uint32Array, at: number): number {
  return at === 0 ? 0 : ends[at - 1]!;
}
