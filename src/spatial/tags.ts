// Which of the small numbers that stand for type and audience a search accepts.

/** Tags are smaller than this. */
export const TAGS = 48;

export class TagSet {
  /** 1 for each tag that is in the set. */
  readonly has = new Uint8Array(TAGS);
  readonly list: Uint8Array;

  constructor(tags: readonly number[]) {
    for (const tag of tags) this.has[tag] = 1;
    this.list = Uint8Array.from(new Set(tags));
  }

  /** How many events have one of the tags, by the counts of a group that begin here. */
  countIn(counts: Uint8Array | Uint16Array, from: number): number {
    const { list } = this;
    let total = 0;
    for (let at = 0; at < list.length; at++) total += counts[from + list[at]!]!;
    return total;
  }
}
