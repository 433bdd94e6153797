// Inner nodes of the place tree, in flat columns: up to 32 children each. Each child has the bounding box, count, and first
// and last start of the events below it. The tree decides which children belong to a node.
import { grown } from './columns.ts';

export const FAN = 32;

/** Columns have FAN slots per node, or 6 FAN for boxes: three minimum coordinates, then three maximum ones. */
export class Nodes {
  /** Number of children per node. */
  children = new Uint8Array(1);
  parent = new Int32Array(1);
  child = new Int32Array(FAN);
  /** Lowest curve position below the child. Never read for the first child. */
  separator = new Float64Array(FAN);
  separatorHandle = new Int32Array(FAN);
  box = new Float64Array(FAN * 6);
  count = new Int32Array(FAN);
  firstMs = new Float64Array(FAN);
  lastMs = new Float64Array(FAN);
  #created = 0;
  readonly #free: number[] = [];

  create(): number {
    const node = this.#free.pop() ?? this.#created++;
    if (node >= this.children.length) this.#grow(Math.max(16, 2 * node));
    this.children[node] = 0;
    return node;
  }

  drop(node: number): void {
    this.#free.push(node);
  }

  /** Slot after the last child. */
  end(node: number): number {
    return node * FAN + this.children[node]!;
  }

  copy(from: number, end: number, to: number): void {
    this.child.copyWithin(to, from, end);
    this.separator.copyWithin(to, from, end);
    this.separatorHandle.copyWithin(to, from, end);
    this.box.copyWithin(to * 6, from * 6, end * 6);
    this.count.copyWithin(to, from, end);
    this.firstMs.copyWithin(to, from, end);
    this.lastMs.copyWithin(to, from, end);
  }

  /** Combines the boxes, counts and starts of a node's children, and writes the result to the node's own slot `at`. */
  measure(node: number, at: number): void {
    const { box, count, firstMs, lastMs } = this;
    const from = node * FAN;
    box.copyWithin(at * 6, from * 6, from * 6 + 6);
    count[at] = count[from]!;
    firstMs[at] = firstMs[from]!;
    lastMs[at] = lastMs[from]!;
    for (let place = from + 1; place < this.end(node); place++) {
      for (let axis = 0; axis < 3; axis++) {
        if (box[place * 6 + axis]! < box[at * 6 + axis]!) box[at * 6 + axis] = box[place * 6 + axis]!;
      }
      for (let axis = 3; axis < 6; axis++) {
        if (box[place * 6 + axis]! > box[at * 6 + axis]!) box[at * 6 + axis] = box[place * 6 + axis]!;
      }
      count[at]! += count[place]!;
      if (firstMs[place]! < firstMs[at]!) firstMs[at] = firstMs[place]!;
      if (lastMs[place]! > lastMs[at]!) lastMs[at] = lastMs[place]!;
    }
  }

  #grow(nodes: number): void {
    this.children = grown(this.children, nodes);
    this.parent = grown(this.parent, nodes);
    this.child = grown(this.child, nodes * FAN);
    this.separator = grown(this.separator, nodes * FAN);
    this.separatorHandle = grown(this.separatorHandle, nodes * FAN);
    this.box = grown(this.box, nodes * FAN * 6);
    this.count = grown(this.count, nodes * FAN);
    this.firstMs = grown(this.firstMs, nodes * FAN);
    this.lastMs = grown(this.lastMs, nodes * FAN);
  }
}
