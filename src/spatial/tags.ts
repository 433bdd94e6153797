// Set of tags that a search accepts. A tag is a small number for a pair of event type and audience.

/** Tags are smaller than this. */
export const TAGS = 48;

export class TagSet {
  /** 1 for each tag in the set, else 0. */
  readonly has = new Uint8Array(TAGS);
  readonly list: number[] = [];

  constructor(tags: readonly number[] = []) {
    for (const tag of tags) this.add(tag);
  }

  add(tag: number): void {
    if (this.has[tag] === 1) return;
    this.has[tag] = 1;
    this.list.push(tag);
  }

  /** Sum of the counts of these tags; the group's counts per tag begin at `from`. */
  countIn(counts: Uint8Array | Uint16Array, from: number): number {
    const { list } = this;
    let total = 0;
    for (let at = 0; at < list.length; at++) total += counts[from + list[at]!]!;
    return total;
  }
}
