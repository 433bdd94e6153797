// Tags: one small number for each pair of event type and audience, and sets of tags that a search accepts.
import { AUDIENCES, type Audience, EVENT_TYPES, type EventType } from '../domain/events/event.ts';

/** Number of tags; every tag is smaller. At most 256, because the columns store a tag in one byte. */
export const TAGS = EVENT_TYPES.length * AUDIENCES.length;

const TYPE_NUMBER = new Map<EventType, number>(EVENT_TYPES.map((type, number) => [type, number]));

/** Throws RangeError for an unknown type or audience, such as one of a newer version. */
export function tagOf(type: EventType, audience: Audience): number {
  const typeNumber = TYPE_NUMBER.get(type);
  const audienceNumber = AUDIENCES.indexOf(audience);
  if (typeNumber === undefined || audienceNumber < 0)
    throw new RangeError(`There is no tag for the type "${type}" and the audience "${audience}".`);
  return typeNumber * AUDIENCES.length + audienceNumber;
}

/** Throws RangeError for an invalid tag: it would be counted among the tags of other events. */
export function requireTag(tag: number): void {
  if (!Number.isInteger(tag) || tag < 0 || tag >= TAGS)
    throw new RangeError(`${tag} is not a tag: tags are integers from 0 to ${TAGS - 1}.`);
}

export class TagSet {
  /** 1 for each tag in the set, else 0. */
  readonly has = new Uint8Array(TAGS);
  readonly list: number[] = [];

  constructor(tags: readonly number[] = []) {
    for (const tag of tags) this.add(tag);
  }

  /** Throws RangeError for an invalid tag. */
  add(tag: number): void {
    requireTag(tag);
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
