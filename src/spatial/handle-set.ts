// A set of handles, such as the events that have certain words: an ascending list, or a bit for each handle.
import { grown } from './columns.ts';

export type HandleSet =
  | { readonly kind: 'list'; readonly handles: Int32Array; readonly size: number }
  | { readonly kind: 'bits'; readonly bits: Uint32Array; readonly size: number };

export function listOf(handles: Int32Array): HandleSet {
  return { kind: 'list', handles, size: handles.length };
}

export function setOfBits(bits: Uint32Array): HandleSet {
  return { kind: 'bits', bits, size: countBits(bits) };
}

/** A bit for each handle below `capacity`. */
export function bitsOf(set: HandleSet, capacity: number): Uint32Array {
  if (set.kind === 'bits') return set.bits;
  const bits = new Uint32Array(Math.ceil(capacity / 32));
  for (const handle of set.handles) bits[handle >>> 5]! |= 1 << handle;
  return bits;
}

export function hasBit(bits: Uint32Array, handle: number): boolean {
  return ((bits[handle >>> 5]! >>> handle) & 1) === 1;
}

/** A set that changes: a bit for each handle. */
export class HandleBits {
  #bits = new Uint32Array(32);

  add(handle: number): void {
    const at = handle >>> 5;
    if (at >= this.#bits.length) this.#bits = grown(this.#bits, 2 * at);
    this.#bits[at]! |= 1 << handle;
  }

  remove(handle: number): void {
    this.#bits[handle >>> 5]! &= ~(1 << handle);
  }

  /** How many of them have a bit in these, too. */
  countIn(others: Uint32Array): number {
    const bits = this.#bits;
    const length = Math.min(bits.length, others.length);
    let count = 0;
    for (let at = 0; at < length; at++) count += onesOf(bits[at]! & others[at]!);
    return count;
  }
}

/** How many handles of [from, before) have their bit set; with `has`, only those whose tag it has. */
export function countAmong(
  handle: Int32Array,
  tag: Uint8Array,
  from: number,
  before: number,
  among: Uint32Array,
  has: Uint8Array | undefined,
): number {
  let count = 0;
  for (let at = from; at < before; at++) {
    const bit = (among[handle[at]! >>> 5]! >>> handle[at]!) & 1;
    count += has === undefined ? bit : bit & has[tag[at]!]!;
  }
  return count;
}

/** Those of these handles whose bit is, or is not, set. A loop of our own: that of typed arrays takes five times as long. */
export function selected(handles: Int32Array, bits: Uint32Array, isSet = true): Int32Array {
  const found = new Int32Array(handles.length);
  const flip = isSet ? 0 : 1;
  let count = 0;
  for (let at = 0; at < handles.length; at++) {
    const handle = handles[at]!;
    found[count] = handle;
    // A handle beyond the bits has none: undefined >>> 0 is 0.
    count += ((bits[handle >>> 5]! >>> handle) & 1) ^ flip;
  }
  return found.subarray(0, count);
}

/** Tests whether handles are in a set: first by binary search, and by bits once there are many tests. */
export class HandleTest {
  readonly #set: HandleSet;
  readonly #capacity: number;
  #bits: Uint32Array | undefined;
  #left: number;

  /** `capacity`: handles are below it. */
  constructor(set: HandleSet, capacity: number) {
    this.#set = set;
    this.#capacity = capacity;
    this.#bits = set.kind === 'bits' ? set.bits : undefined;
    this.#left = set.size * TESTS_PER_HANDLE;
  }

  get bits(): Uint32Array {
    this.#bits ??= bitsOf(this.#set, this.#capacity);
    return this.#bits;
  }

  has(handle: number): boolean {
    if (this.#bits) return hasBit(this.#bits, handle);
    if (--this.#left < 0) return hasBit(this.bits, handle);
    const { handles } = this.#set as { handles: Int32Array };
    let low = 0;
    let high = handles.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (handles[middle]! < handle) low = middle + 1;
      else high = middle;
    }
    return handles[low] === handle;
  }
}

/** A test takes as long as making the bits of this many handles, so it costs twice the better way at most. */
const TESTS_PER_HANDLE = 1 / 8;

/** Those that the test accepts, in ascending order. */
export function filterHandles(set: HandleSet, accepts: (handle: number) => boolean): number[] {
  const accepted: number[] = [];
  visitHandles(set, (handle) => {
    if (accepts(handle)) accepted.push(handle);
  });
  return accepted;
}

/** In ascending order. */
export function visitHandles(set: HandleSet, visit: (handle: number) => void): void {
  if (set.kind === 'list') {
    for (const handle of set.handles) visit(handle);
    return;
  }
  const { bits } = set;
  for (let at = 0; at < bits.length; at++) {
    for (let rest = bits[at]!; rest !== 0; rest &= rest - 1) visit(32 * at + 31 - Math.clz32(rest & -rest));
  }
}

function countBits(bits: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < bits.length; at++) count += onesOf(bits[at]!);
  return count;
}

function onesOf(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
