// The leaves of the place tree: up to 128 events each, side by side in flat columns, in order of start and id. A leaf knows
// nothing of its neighbours; which events belong into it is the tree's business.
import { grown, lowerBound } from './columns.ts';
import type { Page } from './page.ts';
import { TAGS, type TagSet } from './tags.ts';
import type { Ulids } from './ulids.ts';

/** Larger leaves mean more distances to compute at the rim of a circle, smaller ones more boxes to test. */
export const LEAF = 128;

/** An event at its place, a unit vector. */
export interface Located {
  readonly handle: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly startMs: number;
  readonly tag: number;
}

export interface PlaceQuery {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** The squared chord within which events match. */
  readonly reach: number;
  /** Undefined: all match. */
  readonly tags: TagSet | undefined;
  readonly fromMs: number;
  readonly beforeMs: number;
}

export class Leaves {
  readonly #ids: Ulids;
  #x = new Float64Array(LEAF);
  #y = new Float64Array(LEAF);
  #z = new Float64Array(LEAF);
  #start = new Float64Array(LEAF);
  #tag = new Uint8Array(LEAF);
  #handle = new Int32Array(LEAF);
  #count = new Uint8Array(1);
  /** How many events of a leaf have each tag. */
  #tags = new Uint8Array(TAGS);
  #made = 0;
  readonly #free: number[] = [];

  constructor(ids: Ulids) {
    this.#ids = ids;
  }

  create(): number {
    const leaf = this.#free.pop() ?? this.#made++;
    if (leaf >= this.#count.length) this.#grow(Math.max(64, 2 * this.#count.length));
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

  /** Room for so many without growing again. */
  reserve(leaves: number): void {
    if (leaves > this.#count.length) this.#grow(leaves);
  }

  countOf(leaf: number): number {
    return this.#count[leaf]!;
  }

  firstMs(leaf: number): number {
    return this.#start[leaf * LEAF]!;
  }

  lastMs(leaf: number): number {
    return this.#start[leaf * LEAF + this.#count[leaf]! - 1]!;
  }

  read(leaf: number, index: number): Located {
    const at = leaf * LEAF + index;
    return {
      handle: this.#handle[at]!,
      x: this.#x[at]!,
      y: this.#y[at]!,
      z: this.#z[at]!,
      startMs: this.#start[at]!,
      tag: this.#tag[at]!,
    };
  }

  /** Adds to a leaf that has room. */
  add(leaf: number, { handle, x, y, z, startMs, tag }: Located): void {
    const base = leaf * LEAF;
    const end = base + this.#count[leaf]!;
    let at = lowerBound(this.#start, base, end, startMs);
    while (at < end && this.#start[at] === startMs && this.#ids.compare(this.#handle[at]!, handle) < 0) at++;
    if (at < end) this.#shift(at, end, at + 1);
    this.#x[at] = x;
    this.#y[at] = y;
    this.#z[at] = z;
    this.#start[at] = startMs;
    this.#tag[at] = tag;
    this.#handle[at] = handle;
    this.#count[leaf]!++;
    this.#tags[leaf * TAGS + tag]!++;
  }

  remove(leaf: number, handle: number): void {
    const base = leaf * LEAF;
    const end = base + this.#count[leaf]!;
    const at = this.#handle.indexOf(handle, base);
    this.#tags[leaf * TAGS + this.#tag[at]!]!--;
    this.#shift(at + 1, end, at);
    this.#count[leaf]!--;
  }

  /** Writes the box around all places: the three least coordinates, then the three greatest. */
  measure(leaf: number, box: Float64Array, to: number): void {
    const base = leaf * LEAF;
    const end = base + this.#count[leaf]!;
    let x0 = Number.POSITIVE_INFINITY;
    let y0 = x0;
    let z0 = x0;
    let x1 = Number.NEGATIVE_INFINITY;
    let y1 = x1;
    let z1 = x1;
    for (let at = base; at < end; at++) {
      const x = this.#x[at]!;
      const y = this.#y[at]!;
      const z = this.#z[at]!;
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
   * Counts what matches and offers it to the page. `inside`: every place is known to be within reach. `whole`: every
   * start is known to be within the window as well.
   */
  search(leaf: number, query: PlaceQuery, page: Page, inside: boolean, whole: boolean): number {
    const { tags, fromMs, beforeMs } = query;
    const base = leaf * LEAF;
    const end = base + this.#count[leaf]!;
    const from = whole ? base : lowerBound(this.#start, base, end, fromMs);
    const before = whole ? end : lowerBound(this.#start, from, end, beforeMs);
    if (!inside) return this.#searchRim(query, page, from, before);
    const total = whole && tags ? tags.countIn(this.#tags, leaf * TAGS) : this.#countTags(tags, from, before);
    if (total > 0) this.#offer(tags, page, from, before);
    return total;
  }

  #countTags(tags: TagSet | undefined, from: number, before: number): number {
    if (tags === undefined) return before - from;
    const { has } = tags;
    const tag = this.#tag;
    let total = 0;
    for (let at = from; at < before; at++) total += has[tag[at]!]!;
    return total;
  }

  /** In order of start, so it ends with the first that comes too late for the page. */
  #offer(tags: TagSet | undefined, page: Page, from: number, before: number): void {
    const has = tags?.has;
    const start = this.#start;
    const tag = this.#tag;
    const handle = this.#handle;
    let at = page.fromMs > start[from]! ? lowerBound(start, from, before, page.fromMs) : from;
    for (; at < before && start[at]! <= page.lastMs; at++) {
      if (has === undefined || has[tag[at]!] === 1) page.offer(start[at]!, handle[at]!);
    }
  }

  #searchRim(query: PlaceQuery, page: Page, from: number, before: number): number {
    const { x, y, z, reach } = query;
    const has = query.tags?.has;
    const xs = this.#x;
    const ys = this.#y;
    const zs = this.#z;
    const start = this.#start;
    const tag = this.#tag;
    const handle = this.#handle;
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

  #shift(from: number, end: number, to: number): void {
    this.#x.copyWithin(to, from, end);
    this.#y.copyWithin(to, from, end);
    this.#z.copyWithin(to, from, end);
    this.#start.copyWithin(to, from, end);
    this.#tag.copyWithin(to, from, end);
    this.#handle.copyWithin(to, from, end);
  }

  #grow(leaves: number): void {
    this.#x = grown(this.#x, leaves * LEAF);
    this.#y = grown(this.#y, leaves * LEAF);
    this.#z = grown(this.#z, leaves * LEAF);
    this.#start = grown(this.#start, leaves * LEAF);
    this.#tag = grown(this.#tag, leaves * LEAF);
    this.#handle = grown(this.#handle, leaves * LEAF);
    this.#count = grown(this.#count, leaves);
    this.#tags = grown(this.#tags, leaves * TAGS);
  }
}
