// A scan of all events, ended and cancelled ones included, or of a set of them: counts those that match and keeps the first of
// them by start or by creation. It runs in steps, one per piece of the columns, which take a millisecond: in between, events may change.

import { chordSquared, unitVector } from '../domain/events/geo.ts';
import { type LongColumn, PIECE, PIECE_BITS } from './columns.ts';
import type { HandleSet } from './handle-set.ts';
import type { Hidden } from './hidden.ts';
import { latReachOf } from './matcher.ts';
import type { TagSet } from './tags.ts';
import { timeOfWords, UINT32S_PER_ULID, type Ulids, wordsOfUlid } from './ulids.ts';

export interface ScanQuery {
  /** Undefined: all events. It must not change during the scan. */
  readonly among: HandleSet | undefined;
  /** Number of the owner; undefined: any. */
  readonly owner: number | undefined;
  /** Undefined: all. */
  readonly tags: TagSet | undefined;
  /** By the time in the ID. */
  readonly createdFromMs: number;
  /** By the time of the last change, or, if that is not known, the time in the ID. */
  readonly updatedFromMs: number;
  /** Undefined: both. */
  readonly isCancelled: boolean | undefined;
  /** Places at most this far from the centre; undefined: everywhere. `reach` is a squared chord. */
  readonly circle: { readonly lat: number; readonly lng: number; readonly reach: number } | undefined;
  /** endsMs > endsAfterMs and endsMs <= endsByMs. */
  readonly endsAfterMs: number;
  readonly endsByMs: number;
  readonly sort: 'start' | 'creation';
  readonly descending: boolean;
  /** The page holds events after this position; the total counts all matches. */
  readonly after: { readonly startMs: number; readonly id: string } | undefined;
  readonly limit: number;
  readonly countsOwners: boolean;
}

/** The columns of an index, by handle. */
export interface ScanColumns {
  readonly ids: Ulids;
  readonly start: LongColumn;
  readonly ends: LongColumn;
  readonly tag: LongColumn;
  /** 0 for handles that are free: only events with an owner are found. */
  readonly owner: LongColumn;
  readonly isCancelled: LongColumn;
  readonly updated: LongColumn;
  readonly lat: LongColumn;
  readonly lng: LongColumn;
  readonly hidden: Hidden;
}

export class EventScan {
  readonly #columns: ScanColumns;
  readonly #query: ScanQuery;
  readonly #sign: 1 | -1;
  readonly #isByStart: boolean;
  readonly #afterWords: Uint32Array | undefined;
  /** Number of handles, or of words of bits, to look at. */
  readonly #end: number;
  #done = 0;
  /** Handles that are being looked at, as indexes in their piece. */
  readonly #found = new Int32Array(PIECE);
  /** The first matches in order, at most one more than the limit. */
  readonly #first: Int32Array;
  /** Their starts and times of creation when they were found. */
  readonly #starts: Float64Array;
  readonly #times: Float64Array;
  #length = 0;
  readonly #owners: Set<number> | undefined;
  total = 0;

  /** `end`: all handles are below it. */
  constructor(columns: ScanColumns, query: ScanQuery, end: number) {
    const { among, descending, sort, after, limit, countsOwners } = query;
    this.#owners = countsOwners ? new Set() : undefined;
    this.#columns = columns;
    this.#query = query;
    this.#sign = descending ? -1 : 1;
    this.#isByStart = sort === 'start';
    this.#afterWords = after && wordsOfUlid(after.id);
    this.#end = among ? (among.kind === 'list' ? among.handles : among.bits).length : end;
    this.#first = new Int32Array(limit + 1);
    this.#starts = new Float64Array(limit + 1);
    this.#times = new Float64Array(limit + 1);
  }

  /** The matches of the page, in order, and one more if more follow. */
  get first(): readonly number[] {
    return [...this.#first.subarray(0, this.#length)];
  }

  /** Number of owners of all matches. Undefined unless the query asks for it. */
  get ownerCount(): number | undefined {
    return this.#owners?.size;
  }

  /** Looks at some events. Returns true if there are no others. */
  step(): boolean {
    if (this.#done === this.#end) return true;
    const { among, descending } = this.#query;
    // Handles mostly ascend with the time of creation: then later ones are seldom better than those on the page.
    const next = descending ? this.#end - 1 - this.#done : this.#done;
    let piece: number;
    let count: number;
    if (among?.kind === 'list') {
      piece = among.handles[next]! >>> PIECE_BITS;
      count = this.#takeFromList(among.handles, piece);
    } else {
      const perPiece = among ? PIECE / 32 : PIECE;
      piece = Math.floor(next / perPiece);
      const [from, end] = [piece * perPiece, Math.min(this.#end, (piece + 1) * perPiece)];
      this.#done += end - from;
      count = among ? takeBits(among.bits, from, end, this.#found) : takeRange(end - from, this.#found);
    }
    count = this.#keepMatches(piece, count);
    this.total += count;
    if (this.#owners) {
      const owners = this.#columns.owner.piece<Uint32Array>(piece);
      for (let number = 0; number < count; number++) this.#owners.add(owners[this.#found[number]!]!);
    }
    this.#offerAll(piece, count);
    return this.#done === this.#end;
  }

  /** Whether the matches of the page are as they were found: none was removed or moved, and no handle belongs to another event. */
  get isCurrent(): boolean {
    const { ids, start } = this.#columns;
    return this.first.every((handle, at) => {
      this.#found[0] = handle & (PIECE - 1);
      const isMatch = this.#keepMatches(handle >>> PIECE_BITS, 1) === 1;
      return isMatch && start.get(handle) === this.#starts[at] && ids.timeOf(handle) === this.#times[at];
    });
  }

  /** Takes the next handles of a list as long as they are in the same piece. */
  #takeFromList(handles: Int32Array, piece: number): number {
    const { descending } = this.#query;
    let count = 0;
    for (; this.#done < this.#end; this.#done++) {
      const handle = handles[descending ? this.#end - 1 - this.#done : this.#done]!;
      if (handle >>> PIECE_BITS !== piece) break;
      this.#found[count++] = handle & (PIECE - 1);
    }
    if (descending) this.#found.subarray(0, count).reverse();
    return count;
  }

  /** Keeps those of the handles in `found` that match, and returns their number. */
  #keepMatches(piece: number, taken: number): number {
    const { owner, tags, createdFromMs, updatedFromMs, isCancelled, circle, endsAfterMs, endsByMs } =
      this.#query;
    const { ids, ends, tag, owner: owners, hidden } = this.#columns;
    const found = this.#found;
    let count = keepOwned(found, taken, owners.piece(piece), owner);
    if (tags) count = keepTagged(found, count, tag.piece(piece), tags.has);
    if (endsAfterMs !== Number.NEGATIVE_INFINITY || endsByMs !== Number.POSITIVE_INFINITY)
      count = keepEnding(found, count, ends.piece(piece), endsAfterMs, endsByMs);
    if (createdFromMs > 0) count = keepCreated(found, count, ids.piece(piece), createdFromMs);
    if (updatedFromMs !== Number.NEGATIVE_INFINITY)
      count = keepUpdated(found, count, this.#columns.updated.piece(piece), updatedFromMs);
    if (isCancelled !== undefined)
      count = keepStatus(found, count, this.#columns.isCancelled.piece(piece), Number(isCancelled));
    if (circle)
      count = keepNear(found, count, this.#columns.lat.piece(piece), this.#columns.lng.piece(piece), circle);
    if (hidden.size === 0) return count;
    const shown = found.subarray(0, count).filter((at) => !hidden.has(piece * PIECE + at));
    found.set(shown);
    return shown.length;
  }

  /** Offers the matches in `found` to the page. */
  #offerAll(piece: number, count: number): void {
    const { after, descending } = this.#query;
    const { ids, start } = this.#columns;
    const starts = start.piece<Float64Array>(piece);
    const words = ids.piece(piece);
    const isByStart = this.#isByStart;
    const found = this.#found;
    // Matches whose value alone tells that they are not on the page need not be compared.
    const afterValue = after ? (isByStart ? after.startMs : timeOfWords(this.#afterWords!, 0)) : undefined;
    let [least, most] = descending ? [this.#lastValue, afterValue] : [afterValue, this.#lastValue];
    for (let number = 0; number < count; number++) {
      const at = found[descending ? count - 1 - number : number]!;
      const value = isByStart ? starts[at]! : timeOfWords(words, at * UINT32S_PER_ULID);
      if ((least !== undefined && value < least) || (most !== undefined && value > most)) continue;
      this.#offer(piece * PIECE + at, starts[at]!, timeOfWords(words, at * UINT32S_PER_ULID));
      if (descending) least = this.#lastValue;
      else most = this.#lastValue;
    }
  }

  /** What a full page is ordered by, of its last match. */
  get #lastValue(): number | undefined {
    if (this.#length < this.#first.length) return undefined;
    return (this.#isByStart ? this.#starts : this.#times)[this.#length - 1]!;
  }

  #offer(handle: number, startMs: number, timeMs: number): void {
    const isFull = this.#length === this.#first.length;
    if (isFull && this.#compare(handle, startMs, this.#length - 1) > 0) return;
    if (this.#afterWords && !this.#isAfter(handle, startMs)) return;
    let low = 0;
    for (let high = this.#length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.#compare(handle, startMs, middle) < 0) high = middle;
      else low = middle + 1;
    }
    if (!isFull) this.#length++;
    for (let at = this.#length - 1; at > low; at--) {
      this.#first[at] = this.#first[at - 1]!;
      this.#starts[at] = this.#starts[at - 1]!;
      this.#times[at] = this.#times[at - 1]!;
    }
    this.#first[low] = handle;
    this.#starts[low] = startMs;
    this.#times[low] = timeMs;
  }

  /** Compares with a match of the page. */
  #compare(handle: number, startMs: number, at: number): number {
    const byStart = this.#isByStart ? startMs - this.#starts[at]! : 0;
    return this.#sign * (byStart || this.#columns.ids.compare(handle, this.#first[at]!));
  }

  #isAfter(handle: number, startMs: number): boolean {
    const byStart = this.#isByStart ? startMs - this.#query.after!.startMs : 0;
    return this.#sign * (byStart || this.#columns.ids.compareWith(handle, this.#afterWords!)) > 0;
  }
}

// Plain functions with one condition each: their loops take about a nanosecond per event.

function takeRange(length: number, found: Int32Array): number {
  for (let at = 0; at < length; at++) found[at] = at;
  return length;
}

/** Takes the bits in [from, end), which are those of one piece. */
function takeBits(bits: Uint32Array, from: number, end: number, found: Int32Array): number {
  let count = 0;
  for (let word = from; word < end; word++) {
    for (let rest = bits[word]!; rest !== 0; rest &= rest - 1)
      found[count++] = 32 * (word - from) + 31 - Math.clz32(rest & -rest);
  }
  return count;
}

function keepOwned(
  found: Int32Array,
  length: number,
  owners: Uint32Array,
  owner: number | undefined,
): number {
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    const own = owners[at]!;
    if (owner === undefined ? own !== 0 : own === owner) found[count++] = at;
  }
  return count;
}

function keepTagged(found: Int32Array, length: number, tags: Uint8Array, accepted: Uint8Array): number {
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    if (accepted[tags[at]!] === 1) found[count++] = at;
  }
  return count;
}

function keepEnding(
  found: Int32Array,
  length: number,
  ends: Float64Array,
  afterMs: number,
  byMs: number,
): number {
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    const endsMs = ends[at]!;
    if (endsMs > afterMs && endsMs <= byMs) found[count++] = at;
  }
  return count;
}

function keepCreated(found: Int32Array, length: number, words: Uint32Array, fromMs: number): number {
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    if (timeOfWords(words, at * UINT32S_PER_ULID) >= fromMs) found[count++] = at;
  }
  return count;
}

function keepUpdated(found: Int32Array, length: number, updated: Float64Array, fromMs: number): number {
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    if (updated[at]! >= fromMs) found[count++] = at;
  }
  return count;
}

function keepStatus(found: Int32Array, length: number, isCancelled: Uint8Array, wanted: number): number {
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    if (isCancelled[at] === wanted) found[count++] = at;
  }
  return count;
}

/** Most places are too far north or south, which is far cheaper to see. */
function keepNear(
  found: Int32Array,
  length: number,
  lats: Float64Array,
  lngs: Float64Array,
  { lat, lng, reach }: NonNullable<ScanQuery['circle']>,
): number {
  const centre = unitVector(lat, lng);
  const latReach = latReachOf({ reach });
  let count = 0;
  for (let number = 0; number < length; number++) {
    const at = found[number]!;
    if (Math.abs(lats[at]! - lat) > latReach) continue;
    if (chordSquared(unitVector(lats[at]!, lngs[at]!), centre) <= reach) found[count++] = at;
  }
  return count;
}
