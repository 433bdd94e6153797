// Events in their wire form, kept in memory up to a number of bytes, by the handle that the index gives them. When there is
// no room, a hand goes round: who was used since it last passed stays for another round, who was not, goes.
import type { EventRecord } from '../domain/store.ts';

/** What a record costs beside its text: the object, the headers of its strings and its place in the list. */
const OVERHEAD_BYTES = 200;

export class RecordCache {
  readonly #maxBytes: number;
  readonly #records: (EventRecord | undefined)[] = [];
  #used = new Uint8Array(1024);
  #hand = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(handle: number): EventRecord | undefined {
    const record = this.#records[handle];
    if (record !== undefined) this.#used[handle] = 1;
    return record;
  }

  put(handle: number, record: EventRecord): void {
    this.remove(handle);
    const cost = costOf(record);
    if (cost > this.#maxBytes) return;
    while (this.#bytes + cost > this.#maxBytes) this.#evictNext();
    while (handle >= this.#records.length) this.#records.push(undefined);
    if (handle >= this.#used.length) {
      const used = new Uint8Array(2 * handle);
      used.set(this.#used);
      this.#used = used;
    }
    this.#records[handle] = record;
    this.#used[handle] = 0;
    this.#bytes += cost;
  }

  remove(handle: number): void {
    const record = this.#records[handle];
    if (record === undefined) return;
    this.#records[handle] = undefined;
    this.#bytes -= costOf(record);
  }

  #evictNext(): void {
    this.#hand = (this.#hand + 1) % this.#records.length;
    if (this.#used[this.#hand] === 1) this.#used[this.#hand] = 0;
    else this.remove(this.#hand);
  }
}

/** An upper bound: text outside Latin-1 takes two bytes a unit. */
function costOf(record: EventRecord): number {
  return 2 * record.json.length + OVERHEAD_BYTES;
}
