// Leaves of the place tree: up to 128 events each, in flat columns, ordered by start and ID. The tree decides which events
// belong to a leaf.
import { grown, lowerBound, PIECE } from './columns.ts';
import type { NearestPage } from './nearest.ts';
import type { Page } from './page.ts';
import type { PlaceQuery } from './place-query.ts';
import { TAGS, type TagSet } from './tags.ts';
import type { Ulids } from './ulids.ts';

/** Events per leaf. Larger leaves mean more distances to compute at the edge of a circle; smaller ones more boxes to test. */
export const LEAF = 128;

/** An event with its place as a unit vector. */
export interface Located {
  readonly handle: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly startMs: number;
  readonly endsMs: number;
  readonly tag: number;
  readonly zone: number;
}

const LEAVES_PER_PIECE = PIECE / LEAF;
const LEAF_BITS = Math.log2(LEAVES_PER_PIECE);

/** Columns of several leaves, with LEAF slots each. */
class Piece {
  readonly x = new Float64Array(PIECE);
  readonly y = new Float64Array(PIECE);
  readonly z = new Float64Array(PIECE);
  readonly start = new Float64Array(PIECE);
  readonly ends = new Float64Array(PIECE);
  readonly tag = new Uint8Array(PIECE);
  readonly zone = new Uint16Array(PIECE);
  readonly handle = new Int32Array(PIECE);

  /** Moves the slots [from, end) to `to`, within one leaf. */
  shift(from: number, end: number, to: number): void {
    this.x.copyWithin(to, from, end);
    this.y.copyWithin(to, from, end);
    this.z.copyWithin(to, from, end);
    this.start.copyWithin(to, from, end);
    this.ends.copyWithin(to, from, end);
    this.tag.copyWithin(to, from, end);
    this.zone.copyWithin(to, from, end);
    this.handle.copyWithin(to, from, end);
  }
}

export class Leaves {
  readonly #ids: Ulids;
  readonly #pieces: Piece[] = [];
  #count = new Uint8Array(0);
  /** Number of events per leaf and tag. */
  #tags = new Uint8Array(0);
  #created = 0;
  readonly #free: number[] = [];

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  create(): number {
    const leaf = this.#free.pop() ?? this.#created++;
    if (leaf >= this.#count.length) this.reserve(Math.max(64, 2 * leaf));
    if (leaf >= this.#pieces.length * LEAVES_PER_PIECE) this.#pieces.push(new Piece());
    this.clear(leaf);
    return leaf;
  }

  drop(leaf: number): void {
    this.#free.push(leaf);
  }

  clear(leaf: number): void {
    this.#count[leaf] = 0;
    this.#tags.fill(0, leaf * TAGS, (leaf + 1) * TAGS);
  }

  /** Makes room for the counts of this many leaves: 1 + TAGS bytes each, small enough to copy. */
  reserve(leaves: number): void {
    if (leaves <= this.#count.length) return;
    this.#count = grown(this.#count, leaves);
    this.#tags = grown(this.#tags, leaves * TAGS);
  }

  countOf(leaf: number): number {
    return this.#count[leaf]!;
  }

  firstMs(leaf: number): number {
    return this.#pieceOf(leaf).start[baseOf(leaf)]!;
  }

  lastMs(leaf: number): number {
    return this.#pieceOf(leaf).start[baseOf(leaf) + this.#count[leaf]! - 1]!;
  }

  read(leaf: number, index: number): Located {
    const piece = this.#pieceOf(leaf);
    const at = baseOf(leaf) + index;
    return {
      handle: piece.handle[at]!,
      x: piece.x[at]!,
      y: piece.y[at]!,
      z: piece.z[at]!,
      startMs: piece.start[at]!,
      endsMs: piece.ends[at]!,
      tag: piece.tag[at]!,
      zone: piece.zone[at]!,
    };
  }

  /** Adds an event to a leaf that is not full. */
  add(leaf: number, { handle, x, y, z, startMs, endsMs, tag, zone }: Located): void {
    const piece = this.#pieceOf(leaf);
    const base = baseOf(leaf);
    const end = base + this.#count[leaf]!;
    let at = lowerBound(piece.start, base, end, startMs);
    while (at < end && piece.start[at] === startMs && this.#ids.compare(piece.handle[at]!, handle) < 0) at++;
    if (at < end) piece.shift(at, end, at + 1);
    piece.x[at] = x;
    piece.y[at] = y;
    piece.z[at] = z;
    piece.start[at] = startMs;
    piece.ends[at] = endsMs;
    piece.tag[at] = tag;
    piece.zone[at] = zone;
    piece.handle[at] = handle;
    this.#count[leaf]!++;
    this.#tags[leaf * TAGS + tag]!++;
  }

  remove(leaf: number, handle: number): void {
    const piece = this.#pieceOf(leaf);
    const base = baseOf(leaf);
    const end = base + this.#count[leaf]!;
    const at = piece.handle.indexOf(handle, base);
    this.#tags[leaf * TAGS + piece.tag[at]!]!--;
    piece.shift(at + 1, end, at);
    this.#count[leaf]!--;
  }

  /** Writes the bounding box of all places: the three minimum coordinates, then the three maximum ones. */
  measure(leaf: number, box: Float64Array, to: number): void {
    const { x: xs, y: ys, z: zs } = this.#pieceOf(leaf);
    const base = baseOf(leaf);
    const end = base + this.#count[leaf]!;
    let x0 = Number.POSITIVE_INFINITY;
    let y0 = x0;
    let z0 = x0;
    let x1 = Number.NEGATIVE_INFINITY;
    let y1 = x1;
    let z1 = x1;
    for (let at = base; at < end; at++) {
      const x = xs[at]!;
      const y = ys[at]!;
      const z = zs[at]!;
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
      if (z < z0) z0 = z;
      if (z > z1) z1 = z;
    }
    box[to] = x0;
    box[to + 1] = y0;
    box[to + 2] = z0;
    box[to + 3] = x1;
    box[to + 4] = y1;
    box[to + 5] = z1;
  }

  /**
   * Counts matching events and offers them to the page. `inside`: every place is known to be within reach. `whole`: every
   * start is also known to be in the part of the time window where all events match.
   */
  search(leaf: number, query: PlaceQuery, page: Page, inside: boolean, whole: boolean): number {
    const { tags, fromMs, beforeMs } = query;
    const piece = this.#pieceOf(leaf);
    const base = baseOf(leaf);
    const end = base + this.#count[leaf]!;
    const from = whole ? base : lowerBound(piece.start, base, end, fromMs);
    const before = whole ? end : lowerBound(piece.start, from, end, beforeMs);
    if (query.among || (query.active && !whole)) return searchEach(piece, query, page, inside, from, before);
    if (!inside) return searchEdge(piece, query, page, from, before);
    const total =
      whole && tags ? tags.countIn(this.#tags, leaf * TAGS) : countTags(piece, tags, from, before);
    if (total > 0) offer(piece, tags, page, from, before);
    return total;
  }

  /** Offers matching events to the page. */
  searchNearest(leaf: number, query: PlaceQuery, page: NearestPage): void {
    const { tags, fromMs, beforeMs } = query;
    if (tags !== undefined && tags.countIn(this.#tags, leaf * TAGS) === 0) return;
    const piece = this.#pieceOf(leaf);
    const base = baseOf(leaf);
    const end = base + this.#count[leaf]!;
    const from = piece.start[base]! >= fromMs ? base : lowerBound(piece.start, base, end, fromMs);
    const before = piece.start[end - 1]! < beforeMs ? end : lowerBound(piece.start, from, end, beforeMs);
    offerNearest(piece, query, page, from, before);
  }

  #pieceOf(leaf: number): Piece {
    return this.#pieces[leaf >>> LEAF_BITS]!;
  }
}

/** First slot of a leaf in its piece. */
function baseOf(leaf: number): number {
  return (leaf & (LEAVES_PER_PIECE - 1)) * LEAF;
}

function countTags({ tag }: Piece, tags: TagSet | undefined, from: number, before: number): number {
  if (tags === undefined) return before - from;
  const { has } = tags;
  let total = 0;
  for (let at = from; at < before; at++) total += has[tag[at]!]!;
  return total;
}

/** Offers events in order of start, and stops at the first that is too late for the page. */
function offer(
  { start, tag, handle }: Piece,
  tags: TagSet | undefined,
  page: Page,
  from: number,
  before: number,
): void {
  const has = tags?.has;
  let at = page.fromMs > start[from]! ? lowerBound(start, from, before, page.fromMs) : from;
  for (; at < before && start[at]! <= page.lastMs; at++) {
    if (has === undefined || has[tag[at]!] === 1) page.offer(start[at]!, handle[at]!);
  }
}

function searchEdge(piece: Piece, query: PlaceQuery, page: Page, from: number, before: number): number {
  const { x: xs, y: ys, z: zs, start, tag, handle } = piece;
  const { x, y, z, reach } = query;
  const has = query.tags?.has;
  let total = 0;
  for (let at = from; at < before; at++) {
    if (has !== undefined && has[tag[at]!] === 0) continue;
    const dx = xs[at]! - x;
    const dy = ys[at]! - y;
    const dz = zs[at]! - z;
    if (dx * dx + dy * dy + dz * dz > reach) continue;
    total++;
    if (start[at]! <= page.lastMs) page.offer(start[at]!, handle[at]!);
  }
  return total;
}

/** Looks at each event: whether it is on, except where all are, and whether it is among the given ones. */
function searchEach(
  piece: Piece,
  query: PlaceQuery,
  page: Page,
  inside: boolean,
  from: number,
  before: number,
): number {
  const { start, ends, tag, zone, handle } = piece;
  const { x, y, z, reach, active, among, commonFromMs, commonBeforeMs } = query;
  const has = query.tags?.has;
  let total = 0;
  for (let at = from; at < before; at++) {
    if (has !== undefined && has[tag[at]!] === 0) continue;
    const startMs = start[at]!;
    const isCommon = active === undefined || (startMs >= commonFromMs && startMs < commonBeforeMs);
    if (!isCommon && !active.has(startMs, ends[at]!, zone[at]!)) continue;
    if (!inside) {
      const dx = piece.x[at]! - x;
      const dy = piece.y[at]! - y;
      const dz = piece.z[at]! - z;
      if (dx * dx + dy * dy + dz * dz > reach) continue;
    }
    if (among && !among.has(handle[at]!)) continue;
    total++;
    if (startMs <= page.lastMs) page.offer(startMs, handle[at]!);
  }
  return total;
}

/** The distance is computed as in chordSquared, which decides about the order. */
function offerNearest(
  piece: Piece,
  query: PlaceQuery,
  page: NearestPage,
  from: number,
  before: number,
): void {
  const { x: xs, y: ys, z: zs, start, tag, handle } = piece;
  const { x, y, z, active, among } = query;
  const has = query.tags?.has;
  for (let at = from; at < before; at++) {
    const dx = xs[at]! - x;
    const dy = ys[at]! - y;
    const dz = zs[at]! - z;
    const chord = dx * dx + dy * dy + dz * dz;
    if (chord > page.last || chord < page.from) continue;
    if (has !== undefined && has[tag[at]!] === 0) continue;
    if (active !== undefined && !active.has(start[at]!, piece.ends[at]!, piece.zone[at]!)) continue;
    if (among && !among.has(handle[at]!)) continue;
    page.offer(chord, start[at]!, handle[at]!);
  }
}
