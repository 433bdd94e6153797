// Which of the small numbers that stand for type and audience a search accepts.

/** Tags are smaller than this. */
export const TAGS = 48;

export class TagSet {
  /** 1 for each tag that is in the set. */
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

  /** How many events have one of the tags, by the counts of a group that begin here. */
  countIn(counts: Uint8Array | Uint16Array, from: number): number {
    const { list } = this;
    let total = 0;
    for (let at = 0; at < list.length; at++) total += counts[from + list[at]!]!;
    return total;
  }
}
