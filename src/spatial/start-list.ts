// All events ordered by start and ID, in blocks of up to 512 in flat columns. Serves searches without a radius. A block that
// lies completely within the time window is counted by its counts per tag.
import type { ActiveWindows } from './active-windows.ts';
import { grown, type LongColumn, lowerBound, PIECE } from './columns.ts';
import { countAmong, HandleBits, hasBit } from './handle-set.ts';
import type { Located } from './leaves.ts';
import type { Page } from './page.ts';
import { hasConditions, type PlaceQuery } from './place-query.ts';
import type { PlaceColumns } from './place-tree.ts';
import { TAGS, type TagSet } from './tags.ts';
import type { Ulids } from './ulids.ts';

const BLOCK = 512;
/** Events per block after loading. */
const BLOCK_LOADED = 384;
/** Neighbours with at most this many events together are merged. */
const BLOCK_MERGED = 384;

/** Blocks filled between two yields. */
const BLOCKS_PER_TURN = 100;

const BLOCKS_PER_PIECE = PIECE / BLOCK;
const BLOCK_BITS = Math.log2(BLOCKS_PER_PIECE);

/** An event without its place. */
export type Listed = Omit<Located, 'x' | 'y' | 'z'>;

/** Columns of several blocks, with BLOCK slots each. */
class Piece {
  readonly start = new Float64Array(PIECE);
  readonly ends = new Float64Array(PIECE);
  readonly tag = new Uint8Array(PIECE);
  readonly zone = new Uint16Array(PIECE);
  readonly handle = new Int32Array(PIECE);

  write(at: number, { handle, startMs, endsMs, tag, zone }: Listed): void {
    this.start[at] = startMs;
    this.ends[at] = endsMs;
    this.tag[at] = tag;
    this.zone[at] = zone;
    this.handle[at] = handle;
  }

  /** Moves the slots [from, end) to `to`, within one block. */
  shift(from: number, end: number, to: number): void {
    this.start.copyWithin(to, from, end);
    this.ends.copyWithin(to, from, end);
    this.tag.copyWithin(to, from, end);
    this.zone.copyWithin(to, from, end);
    this.handle.copyWithin(to, from, end);
  }
}

export class StartList {
  readonly #ids: Ulids;
  readonly #pieces = [new Piece()];
  #count = new Uint16Array(1);
  /** Number of events per block and tag. */
  #tags = new Uint16Array(TAGS);
  #created = 1;
  readonly #free: number[] = [];
  /** Block numbers in order of time. A block is empty only if it is the only one. */
  #order = new Int32Array(64);
  #length = 1;
  #size = 0;
  readonly #blockOf: LongColumn;
  readonly #members = new HandleBits();

  /** `blockOf` is a column for the block of each event, by handle. The caller makes it grow. */
  constructor(ids: Ulids, blockOf: LongColumn) {
    this.#ids = ids;
    this.#blockOf = blockOf;
  }

  /** Fills an empty list with events that are already in order. Yields regularly, so that other work can run. */
  *load(handles: Int32Array, columns: PlaceColumns): Generator<void> {
    this.#reserve(Math.ceil(handles.length / BLOCK_LOADED));
    for (let from = 0; from < handles.length; from += BLOCK_LOADED) {
      const block = from === 0 ? 0 : this.#create();
      const members = handles.subarray(from, from + BLOCK_LOADED);
      const piece = this.#pieceOf(block);
      for (let index = 0; index < members.length; index++) {
        const handle = members[index]!;
        const [startMs, endsMs] = [columns.start.get(handle), columns.ends.get(handle)];
        const [tag, zone] = [columns.tag.get(handle), columns.zone.get(handle)];
        piece.write(baseOf(block) + index, { handle, startMs, endsMs, tag, zone });
        this.#blockOf.set(handle, block);
        this.#members.add(handle);
        this.#tags[block * TAGS + tag]!++;
      }
      this.#count[block] = members.length;
      if (from > 0) this.#insertAfter(this.#length - 1, block);
      if (block % BLOCKS_PER_TURN === 0) yield;
    }
    this.#size = handles.length;
  }

  insert(event: Listed): void {
    const { handle, startMs, tag } = event;
    let place = this.#findBlock(startMs, handle);
    if (this.#count[this.#order[place]!] === BLOCK) {
      this.#split(place);
      place = this.#findBlock(startMs, handle);
    }
    const block = this.#order[place]!;
    const piece = this.#pieceOf(block);
    const end = baseOf(block) + this.#count[block]!;
    const at = this.#rank(block, startMs, handle);
    piece.shift(at, end, at + 1);
    piece.write(at, event);
    this.#blockOf.set(handle, block);
    this.#members.add(handle);
    this.#count[block]!++;
    this.#tags[block * TAGS + tag]!++;
    this.#size++;
  }

  remove(handle: number, startMs: number, tag: number): void {
    const block = this.#blockOf.get(handle);
    const end = baseOf(block) + this.#count[block]!;
    const at = this.#rank(block, startMs, handle);
    const place = this.#count[block]! <= BLOCK / 4 ? this.#findBlock(startMs, handle) : undefined;
    this.#pieceOf(block).shift(at + 1, end, at);
    this.#members.remove(handle);
    this.#count[block]!--;
    this.#tags[block * TAGS + tag]!--;
    this.#size--;
    if (place !== undefined) this.#shrink(place);
  }

  /** Counts events that match, wherever they are, and offers them to the page. */
  search(query: PlaceQuery, page: Page): number {
    const { fromMs, beforeMs, tags, active, among, commonFromMs, commonBeforeMs } = query;
    const isLimited = hasConditions(query);
    if (among && isLimited) return this.#searchAmong(query, among.bits, page);
    if (active) return this.#searchActive(fromMs, beforeMs, tags, active, commonFromMs, commonBeforeMs, page);
    const all = among ? this.#members.countIn(among.bits) : this.#size;
    const total = isLimited ? this.#countWindow(fromMs, beforeMs, tags) : all;
    if (total > 0) this.#fill(Math.max(fromMs, page.fromMs), beforeMs, tags, undefined, page, among?.bits);
    return total;
  }

  /** Only events whose bit is set. */
  #searchAmong({ fromMs, beforeMs, tags, active }: PlaceQuery, among: Uint32Array, page: Page): number {
    const has = tags?.has;
    let isOffering = page.lastMs > Number.NEGATIVE_INFINITY;
    let total = 0;
    for (let place = this.#firstPlace(fromMs); place < this.#length; place++) {
      const block = this.#order[place]!;
      const { start, ends, tag, zone, handle } = this.#pieceOf(block);
      const base = baseOf(block);
      const end = base + this.#count[block]!;
      const before = lowerBound(start, base, end, beforeMs);
      let at = lowerBound(start, base, before, fromMs);
      for (; at < before && (isOffering || active); at++) {
        if (!hasBit(among, handle[at]!) || has?.[tag[at]!] === 0) continue;
        if (active && !active.has(start[at]!, ends[at]!, zone[at]!)) continue;
        total++;
        if (!isOffering) continue;
        page.offer(start[at]!, handle[at]!);
        isOffering = !(page.isFull && page.endsBefore(start[at]!, handle[at]!));
      }
      total += countAmong(handle, tag, at, before, among, has);
      if (before < end) break;
    }
    return total;
  }

  #countWindow(fromMs: number, beforeMs: number, tags: TagSet | undefined): number {
    const first = this.#firstPlace(fromMs);
    const last = this.#firstPlace(beforeMs);
    let total = this.#countInBlock(this.#order[first]!, fromMs, beforeMs, tags);
    // Blocks in between lie completely within the window, so their counts are enough.
    for (let place = first + 1; place < last; place++) {
      const block = this.#order[place]!;
      total += tags ? tags.countIn(this.#tags, block * TAGS) : this.#count[block]!;
    }
    if (last > first) total += this.#countInBlock(this.#order[last]!, fromMs, beforeMs, tags);
    return total;
  }

  #countInBlock(block: number, fromMs: number, beforeMs: number, tags: TagSet | undefined): number {
    const { start, tag } = this.#pieceOf(block);
    const base = baseOf(block);
    const end = base + this.#count[block]!;
    const from = lowerBound(start, base, end, fromMs);
    const before = lowerBound(start, from, end, beforeMs);
    if (!tags) return before - from;
    let total = 0;
    for (let at = from; at < before; at++) total += tags.has[tag[at]!]!;
    return total;
  }

  /** Looks at when each event is on, except for those between the two times where all match. */
  #searchActive(
    fromMs: number,
    beforeMs: number,
    tags: TagSet | undefined,
    active: ActiveWindows,
    commonFromMs: number,
    commonBeforeMs: number,
    page: Page,
  ): number {
    const hasCommon = commonFromMs < commonBeforeMs;
    let total = this.#countActive(fromMs, hasCommon ? commonFromMs : beforeMs, tags, active);
    if (hasCommon) {
      total += this.#countWindow(commonFromMs, commonBeforeMs, tags);
      total += this.#countActive(commonBeforeMs, beforeMs, tags, active);
    }
    if (total > 0) this.#fill(Math.max(fromMs, page.fromMs), beforeMs, tags, active, page);
    return total;
  }

  #countActive(fromMs: number, beforeMs: number, tags: TagSet | undefined, active: ActiveWindows): number {
    if (fromMs >= beforeMs) return 0;
    const last = this.#firstPlace(beforeMs);
    let total = 0;
    for (let place = this.#firstPlace(fromMs); place <= last; place++) {
      const block = this.#order[place]!;
      const { start, ends, tag, zone } = this.#pieceOf(block);
      const base = baseOf(block);
      const end = base + this.#count[block]!;
      for (let at = lowerBound(start, base, end, fromMs); at < end && start[at]! < beforeMs; at++) {
        if (tags && tags.has[tag[at]!] === 0) continue;
        if (active.has(start[at]!, ends[at]!, zone[at]!)) total++;
      }
    }
    return total;
  }

  /** Adds the handles of all events that match. */
  collect({ fromMs, beforeMs, tags, active, among }: PlaceQuery, handles: number[]): void {
    for (let place = this.#firstPlace(fromMs); place < this.#length; place++) {
      const block = this.#order[place]!;
      const { start, ends, tag, zone, handle } = this.#pieceOf(block);
      const base = baseOf(block);
      const end = base + this.#count[block]!;
      if (tags && tags.countIn(this.#tags, block * TAGS) === 0) continue;
      for (let at = lowerBound(start, base, end, fromMs); at < end; at++) {
        if (start[at]! >= beforeMs) return;
        if (tags && tags.has[tag[at]!] === 0) continue;
        if (among && !among.has(handle[at]!)) continue;
        if (!active || active.has(start[at]!, ends[at]!, zone[at]!)) handles.push(handle[at]!);
      }
    }
  }

  #fill(
    fromMs: number,
    beforeMs: number,
    tags: TagSet | undefined,
    active: ActiveWindows | undefined,
    page: Page,
    among?: Uint32Array,
  ): void {
    if (page.lastMs === Number.NEGATIVE_INFINITY) return;
    for (let place = this.#firstPlace(fromMs); place < this.#length; place++) {
      const block = this.#order[place]!;
      const { start, ends, tag, zone, handle } = this.#pieceOf(block);
      const base = baseOf(block);
      const end = base + this.#count[block]!;
      if (tags && tags.countIn(this.#tags, block * TAGS) === 0) continue;
      for (let at = lowerBound(start, base, end, fromMs); at < end; at++) {
        if (start[at]! >= beforeMs) return;
        if (among && !hasBit(among, handle[at]!)) continue;
        if (active && !active.has(start[at]!, ends[at]!, zone[at]!)) continue;
        if (!tags || tags.has[tag[at]!] === 1) page.offer(start[at]!, handle[at]!);
        // Events come in order: once the page ends before one of them, no later one belongs on it.
        if (page.isFull && page.endsBefore(start[at]!, handle[at]!)) return;
      }
    }
  }

  /** Index in #order of the first block that may contain a start at or after `startMs`. */
  #firstPlace(startMs: number): number {
    let low = 0;
    let high = this.#length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#order[middle]!;
      if (this.#pieceOf(block).start[baseOf(block) + this.#count[block]! - 1]! < startMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Index in #order of the block where this event is or would be. */
  #findBlock(startMs: number, handle: number): number {
    let low = 0;
    let high = this.#length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#compare(this.#order[middle]!, 0, startMs, handle) > 0) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  /** Slot in the block where this event is or would be. */
  #rank(block: number, startMs: number, handle: number): number {
    let low = 0;
    let high = this.#count[block]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(block, middle, startMs, handle) < 0) low = middle + 1;
      else high = middle;
    }
    return baseOf(block) + low;
  }

  /** Negative if the event at this index of a block comes before the given one, positive if after. */
  #compare(block: number, index: number, startMs: number, handle: number): number {
    const piece = this.#pieceOf(block);
    const at = baseOf(block) + index;
    return piece.start[at]! - startMs || this.#ids.compare(piece.handle[at]!, handle);
  }

  #split(place: number): void {
    const right = this.#create();
    this.#moveTail(this.#order[place]!, BLOCK / 2, right);
    this.#insertAfter(place, right);
  }

  /** Merges a small block with a neighbour. An empty block is always merged if it has a neighbour. */
  #shrink(place: number): void {
    for (const left of [place - 1, place]) {
      if (left < 0 || left + 1 >= this.#length) continue;
      const block = this.#order[left]!;
      const right = this.#order[left + 1]!;
      const isOneEmpty = this.#count[block] === 0 || this.#count[right] === 0;
      if (this.#count[block]! + this.#count[right]! > BLOCK_MERGED && !isOneEmpty) continue;
      this.#moveTail(right, 0, block);
      this.#order.copyWithin(left + 1, left + 2, this.#length);
      this.#length--;
      this.#free.push(right);
      return;
    }
  }

  #insertAfter(place: number, block: number): void {
    if (this.#length === this.#order.length) this.#order = grown(this.#order, 2 * this.#length);
    this.#order.copyWithin(place + 2, place + 1, this.#length);
    this.#order[place + 1] = block;
    this.#length++;
  }

  /** Moves the events of a block from `index` on to the end of another block. */
  #moveTail(block: number, index: number, target: number): void {
    const source = this.#pieceOf(block);
    const piece = this.#pieceOf(target);
    const from = baseOf(block) + index;
    const end = baseOf(block) + this.#count[block]!;
    let to = baseOf(target) + this.#count[target]!;
    for (let at = from; at < end; at++, to++) {
      const handle = source.handle[at]!;
      const tag = source.tag[at]!;
      const [startMs, endsMs, zone] = [source.start[at]!, source.ends[at]!, source.zone[at]!];
      piece.write(to, { handle, startMs, endsMs, tag, zone });
      this.#blockOf.set(handle, target);
      this.#tags[target * TAGS + tag]!++;
      this.#tags[block * TAGS + tag]!--;
    }
    this.#count[target]! += end - from;
    this.#count[block] = index;
  }

  #pieceOf(block: number): Piece {
    return this.#pieces[block >>> BLOCK_BITS]!;
  }

  #create(): number {
    const block = this.#free.pop() ?? this.#created++;
    if (block >= this.#count.length) this.#reserve(Math.max(64, 2 * block));
    if (block >= this.#pieces.length * BLOCKS_PER_PIECE) this.#pieces.push(new Piece());
    return block;
  }

  #reserve(blocks: number): void {
    if (blocks <= this.#count.length) return;
    // Small enough to copy.
    this.#count = grown(this.#count, blocks);
    this.#tags = grown(this.#tags, blocks * TAGS);
  }
}

/** First slot of a block in its piece. */
function baseOf(block: number): number {
  return (block & (BLOCKS_PER_PIECE - 1)) * BLOCK;
}
