// Events in their wire form, kept in memory up to a number of bytes; the one unused for longest goes first.
import type { EventRecord } from '../domain/store.ts';

/** What a record costs beside its text: the object, its strings' headers and its place in the map. */
const OVERHEAD_BYTES = 300;

export class RecordCache {
  readonly #maxBytes: number;
  // A map keeps the order of insertion; a record that is used is inserted again.
  readonly #records = new Map<string, EventRecord>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(id: string): EventRecord | undefined {
    const record = this.#records.get(id);
    if (record) {
      this.#records.delete(id);
      this.#records.set(id, record);
    }
    return record;
  }

  put(record: EventRecord): void {
    this.remove(record.id);
    this.#records.set(record.id, record);
    this.#bytes += costOf(record);
    for (const oldest of this.#records.values()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.remove(oldest.id);
    }
  }

  remove(id: string): void {
    const record = this.#records.get(id);
    if (!record) return;
    this.#records.delete(id);
    this.#bytes -= costOf(record);
  }
}

/** An upper bound: text outside Latin-1 takes two bytes a unit. */
function costOf(record: EventRecord): number {
  return 2 * record.json.length + OVERHEAD_BYTES;
}
