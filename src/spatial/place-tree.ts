// B+-tree of events by place, along a Hilbert curve. leaves.ts and nodes.ts hold the data; this file decides what belongs
// where. A split or merge touches one leaf and its path to the root, so inserts and removals are always fast.

import { unitVector } from '../domain/events/geo.ts';
import { grown, type LongColumn, sortedOrder } from './columns.ts';
import { curvePosition } from './curve.ts';
import { LEAF, Leaves, type Located } from './leaves.ts';
import { type NearestPage, searchNearest } from './nearest.ts';
import { FAN, Nodes } from './nodes.ts';
import type { Page } from './page.ts';
import type { PlaceQuery } from './place-query.ts';
import type { Ulids } from './ulids.ts';

/** Events per leaf and children per node after loading: leaves room for inserts before the first split. */
const LEAF_LOADED = 96;
const FAN_LOADED = 24;
/** Neighbours with at most this many entries together are merged. */
const LEAF_MERGED = 96;
const FAN_MERGED = 24;

/** Events processed between two yields. */
const EVENTS_PER_TURN = 20_000;

const NONE = -1;

/** Nodes and leaves are each numbered from 0. Where either is possible, a leaf is written as its complement, ~leaf. */
export class PlaceTree {
  readonly #leaves: Leaves;
  #leafParent = new Int32Array(1);

  readonly #nodes = new Nodes();
  #root: number;
  readonly #leafOf: LongColumn;

  /** `leafOf` is a column for the leaf of each event, by handle. The caller makes it grow. */
  constructor(ids: Ulids, leafOf: LongColumn) {
    this.#leafOf = leafOf;
    this.#leaves = new Leaves(ids);
    this.#root = ~this.#createLeaf();
    this.#setParent(this.#root, NONE);
  }

  insert(event: Located): void {
    const leaf = this.#findLeaf(curvePosition(event.x, event.y, event.z), event.handle);
    if (this.#leaves.countOf(leaf) < LEAF) {
      this.#add(leaf, event);
      this.#measureUp(~leaf);
    } else {
      this.#splitLeaf(leaf);
      this.insert(event);
    }
  }

  remove(handle: number): void {
    const leaf = this.#leafOf.get(handle);
    this.#leaves.remove(leaf, handle);
    if (this.#leaves.countOf(leaf) < LEAF / 4) this.#shrinkLeaf(leaf);
    else this.#measureUp(~leaf);
  }

  /** Counts matching events and offers them to the page. */
  search(query: PlaceQuery, page: Page): number {
    if (this.#root < 0) return this.#leaves.search(~this.#root, query, page, false, false);
    return this.#searchNode(this.#root, query, page, false);
  }

  /** Offers the nearest matching events to the page. */
  searchNearest(query: PlaceQuery, page: NearestPage): void {
    searchNearest(this.#root, this.#nodes, this.#leaves, query, page);
  }

  #searchNode(node: number, query: PlaceQuery, page: Page, inside: boolean): number {
    const { x, y, z, reach, tags, fromMs, beforeMs, commonFromMs, commonBeforeMs, among } = query;
    const box = this.#nodes.box;
    const end = this.#nodes.end(node);
    let total = 0;
    for (let at = node * FAN; at < end; at++) {
      const firstMs = this.#nodes.firstMs[at]!;
      const lastMs = this.#nodes.lastMs[at]!;
      if (lastMs < fromMs || firstMs >= beforeMs) continue;
      let childInside = inside;
      if (!inside) {
        const b = at * 6;
        const x0 = box[b]! - x;
        const y0 = box[b + 1]! - y;
        const z0 = box[b + 2]! - z;
        const x1 = box[b + 3]! - x;
        const y1 = box[b + 4]! - y;
        const z1 = box[b + 5]! - z;
        // Distance to the nearest point of the box: 0 along each axis on which the centre lies within the box.
        const nearX = x0 > 0 ? x0 : x1 < 0 ? x1 : 0;
        const nearY = y0 > 0 ? y0 : y1 < 0 ? y1 : 0;
        const nearZ = z0 > 0 ? z0 : z1 < 0 ? z1 : 0;
        if (nearX * nearX + nearY * nearY + nearZ * nearZ > reach) continue;
        const farX = -x0 > x1 ? x0 : x1;
        const farY = -y0 > y1 ? y0 : y1;
        const farZ = -z0 > z1 ? z0 : z1;
        childInside = farX * farX + farY * farY + farZ * farZ <= reach;
      }
      const whole = childInside && firstMs >= commonFromMs && lastMs < commonBeforeMs;
      const counted = whole && tags === undefined && among === undefined;
      if (counted) {
        total += this.#nodes.count[at]!;
        if (firstMs > page.lastMs || lastMs < page.fromMs) continue;
      }
      const child = this.#nodes.child[at]!;
      const found =
        child < 0
          ? this.#leaves.search(~child, query, page, childInside, whole)
          : this.#searchNode(child, query, page, childInside);
      if (!counted) total += found;
    }
    return total;
  }

  /** Fills an empty tree. Yields regularly, so that the caller can let other work run. */
  *load(handles: Int32Array, places: PlaceColumns): Generator<void> {
    const positions = new Float64Array(handles.length);
    const vectors = new Float64Array(3 * handles.length);
    for (let at = 0; at < handles.length; at++) {
      const { x, y, z } = unitVector(places.lat.get(handles[at]!), places.lng.get(handles[at]!));
      vectors[3 * at] = x;
      vectors[3 * at + 1] = y;
      vectors[3 * at + 2] = z;
      positions[at] = curvePosition(x, y, z);
      if (at % EVENTS_PER_TURN === 0) yield;
    }
    const order = yield* sortedOrder(positions);
    this.#leaves.reserve(Math.ceil(order.length / LEAF_LOADED));
    let level: Child[] = [];
    for (let from = 0; from < order.length; from += LEAF_LOADED) {
      const leaf = from === 0 ? ~this.#root : this.#createLeaf();
      const events: Located[] = [];
      for (let place = from; place < Math.min(order.length, from + LEAF_LOADED); place++) {
        const at = order[place]!;
        const handle = handles[at]!;
        const [x, y, z] = [vectors[3 * at]!, vectors[3 * at + 1]!, vectors[3 * at + 2]!];
        const [startMs, endsMs] = [places.start.get(handle), places.ends.get(handle)];
        const [tag, zone] = [places.tag.get(handle), places.zone.get(handle)];
        events.push({ handle, x, y, z, startMs, endsMs, tag, zone });
      }
      const head = order[from]!;
      level.push({ child: ~leaf, separator: positions[head]!, separatorHandle: handles[head]! });
      // Sorted events are appended, so that none has to be moved.
      for (const event of events.sort((a, b) => a.startMs - b.startMs)) this.#add(leaf, event);
      if ((level.length * LEAF_LOADED) % EVENTS_PER_TURN < LEAF_LOADED) yield;
    }
    while (level.length > 1) level = this.#loadLevel(level);
    if (level[0]) this.#root = level[0].child;
    this.#setParent(this.#root, NONE);
  }

  /** Puts these children under new nodes and returns the nodes. */
  #loadLevel(children: readonly Child[]): Child[] {
    const nodes: Child[] = [];
    for (let from = 0; from < children.length; from += FAN_LOADED) {
      const members = children.slice(from, from + FAN_LOADED);
      const node = this.#nodes.create();
      this.#nodes.children[node] = members.length;
      for (const [index, { child, separator, separatorHandle }] of members.entries()) {
        const at = node * FAN + index;
        this.#nodes.child[at] = child;
        this.#nodes.separator[at] = separator;
        this.#nodes.separatorHandle[at] = separatorHandle;
        this.#setParent(child, node);
        this.#measure(child);
      }
      nodes.push({ ...members[0]!, child: node });
    }
    return nodes;
  }

  #add(leaf: number, event: Located): void {
    this.#leaves.add(leaf, event);
    this.#leafOf.set(event.handle, leaf);
  }

  /** The leaf whose section of the curve contains this position. Equal positions are ordered by handle. */
  #findLeaf(position: number, handle: number): number {
    let node = this.#root;
    while (node >= 0) {
      let low = node * FAN;
      let high = low + this.#nodes.children[node]! - 1;
      while (low < high) {
        const middle = (low + high + 1) >>> 1;
        const separator = this.#nodes.separator[middle]!;
        const after =
          separator < position || (separator === position && this.#nodes.separatorHandle[middle]! <= handle);
        if (after) low = middle;
        else high = middle - 1;
      }
      node = this.#nodes.child[low]!;
    }
    return ~node;
  }

  /** Moves the half of the events that is further along the curve to a new leaf. */
  #splitLeaf(leaf: number): void {
    const events = Array.from({ length: LEAF }, (_, index) => {
      const event = this.#leaves.read(leaf, index);
      return { event, position: curvePosition(event.x, event.y, event.z) };
    }).sort((a, b) => a.position - b.position || a.event.handle - b.event.handle);
    const right = this.#createLeaf();
    this.#leaves.clear(leaf);
    for (const [index, { event }] of events.entries()) this.#add(index < LEAF / 2 ? leaf : right, event);
    const { position, event } = events[LEAF / 2]!;
    this.#insertAfter(~leaf, { child: ~right, separator: position, separatorHandle: event.handle });
  }

  #splitNode(node: number): void {
    const right = this.#nodes.create();
    const half = FAN / 2;
    const from = node * FAN + half;
    const to = right * FAN;
    this.#nodes.copy(from, from + half, to);
    this.#nodes.children[node] = half;
    this.#nodes.children[right] = half;
    for (let at = to; at < to + half; at++) this.#setParent(this.#nodes.child[at]!, right);
    const separator = this.#nodes.separator[to]!;
    const separatorHandle = this.#nodes.separatorHandle[to]!;
    this.#insertAfter(node, { child: right, separator, separatorHandle });
  }

  /** Inserts a new child after its left neighbour. Splits full nodes on the way up. */
  #insertAfter(left: number, { child, separator, separatorHandle }: Child): void {
    let parent = this.#parentOf(left);
    if (parent === NONE) parent = this.#createRoot(left);
    else if (this.#nodes.children[parent] === FAN) {
      this.#splitNode(parent);
      parent = this.#parentOf(left);
    }
    const end = this.#nodes.end(parent);
    const at = this.#placeOf(left, parent) + 1;
    this.#nodes.copy(at, end, at + 1);
    this.#nodes.child[at] = child;
    this.#nodes.separator[at] = separator;
    this.#nodes.separatorHandle[at] = separatorHandle;
    this.#nodes.children[parent]!++;
    this.#setParent(child, parent);
    this.#measure(child);
    this.#measureUp(left);
  }

  #createRoot(only: number): number {
    const node = this.#nodes.create();
    this.#nodes.children[node] = 1;
    this.#nodes.child[node * FAN] = only;
    this.#setParent(only, node);
    this.#setParent(node, NONE);
    this.#root = node;
    return node;
  }

  /** Merges a small leaf with a neighbour under the same node, or drops it if it is empty. */
  #shrinkLeaf(leaf: number): void {
    const parent = this.#leafParent[leaf]!;
    if (parent === NONE) return;
    const leaves = this.#leaves;
    const at = this.#placeOf(~leaf, parent);
    for (const neighbour of this.#neighbours(at, parent)) {
      const left = ~this.#nodes.child[Math.min(at, neighbour)]!;
      const right = ~this.#nodes.child[Math.max(at, neighbour)]!;
      if (leaves.countOf(left) + leaves.countOf(right) > LEAF_MERGED) continue;
      for (let index = 0; index < leaves.countOf(right); index++) this.#add(left, leaves.read(right, index));
      leaves.drop(right);
      this.#measure(~left);
      this.#removeChild(Math.max(at, neighbour), parent);
      return;
    }
    if (leaves.countOf(leaf) > 0) this.#measureUp(~leaf);
    else {
      leaves.drop(leaf);
      this.#removeChild(at, parent);
    }
  }

  #shrinkNode(node: number): void {
    const parent = this.#nodes.parent[node]!;
    if (parent === NONE) {
      this.#shrinkRoot(node);
      return;
    }
    const at = this.#placeOf(node, parent);
    const count = this.#nodes.children[node]!;
    for (const neighbour of count < FAN / 4 ? this.#neighbours(at, parent) : []) {
      const joint = Math.max(at, neighbour);
      const left = this.#nodes.child[Math.min(at, neighbour)]!;
      const right = this.#nodes.child[joint]!;
      const to = left * FAN + this.#nodes.children[left]!;
      const moved = this.#nodes.children[right]!;
      if (this.#nodes.children[left]! + moved > FAN_MERGED) continue;
      this.#nodes.copy(right * FAN, right * FAN + moved, to);
      this.#nodes.separator[to] = this.#nodes.separator[joint]!;
      this.#nodes.separatorHandle[to] = this.#nodes.separatorHandle[joint]!;
      for (let place = to; place < to + moved; place++) this.#setParent(this.#nodes.child[place]!, left);
      this.#nodes.children[left]! += moved;
      this.#nodes.drop(right);
      this.#measure(left);
      this.#removeChild(joint, parent);
      return;
    }
    if (count > 0) this.#measureUp(node);
    else {
      this.#nodes.drop(node);
      this.#removeChild(at, parent);
    }
  }

  /** Replaces a root with one child by that child, and a root without children by an empty leaf. */
  #shrinkRoot(node: number): void {
    const count = this.#nodes.children[node]!;
    if (count > 1) return;
    this.#root = count === 1 ? this.#nodes.child[node * FAN]! : ~this.#createLeaf();
    this.#setParent(this.#root, NONE);
    this.#nodes.drop(node);
    if (this.#root >= 0) this.#shrinkRoot(this.#root);
  }

  #removeChild(at: number, parent: number): void {
    this.#nodes.copy(at + 1, this.#nodes.end(parent), at);
    this.#nodes.children[parent]!--;
    this.#shrinkNode(parent);
  }

  /** Slots of a child's neighbours. */
  #neighbours(at: number, parent: number): number[] {
    const first = parent * FAN;
    return [at - 1, at + 1].filter((neighbour) => neighbour >= first && neighbour < this.#nodes.end(parent));
  }

  /** Updates boxes, counts and starts from this node or leaf up to the root. */
  #measureUp(child: number): void {
    for (let at = child; this.#parentOf(at) !== NONE; at = this.#parentOf(at)) this.#measure(at);
  }

  #measure(child: number): void {
    const at = this.#placeOf(child, this.#parentOf(child));
    if (child < 0) this.#measureLeaf(~child, at);
    else this.#nodes.measure(child, at);
  }

  #measureLeaf(leaf: number, at: number): void {
    this.#leaves.measure(leaf, this.#nodes.box, at * 6);
    this.#nodes.count[at] = this.#leaves.countOf(leaf);
    this.#nodes.firstMs[at] = this.#leaves.firstMs(leaf);
    this.#nodes.lastMs[at] = this.#leaves.lastMs(leaf);
  }

  #placeOf(child: number, parent: number): number {
    return this.#nodes.child.indexOf(child, parent * FAN);
  }

  #parentOf(child: number): number {
    return child < 0 ? this.#leafParent[~child]! : this.#nodes.parent[child]!;
  }

  #setParent(child: number, parent: number): void {
    if (child < 0) this.#leafParent[~child] = parent;
    else this.#nodes.parent[child] = parent;
  }

  #createLeaf(): number {
    const leaf = this.#leaves.create();
    if (leaf >= this.#leafParent.length) this.#leafParent = grown(this.#leafParent, 2 * leaf);
    return leaf;
  }
}

/** Event columns by handle. */
export interface PlaceColumns {
  readonly lat: LongColumn;
  readonly lng: LongColumn;
  readonly start: LongColumn;
  readonly ends: LongColumn;
  readonly tag: LongColumn;
  readonly zone: LongColumn;
}

/** A child to insert into a node; the separator is the lowest curve position below it. */
interface Child {
  readonly child: number;
  readonly separator: number;
  readonly separatorHandle: number;
}
