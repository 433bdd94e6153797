// Events in their wire form, kept in memory up to a number of bytes, by the handle that the index gives them. When there is
// no room, a hand goes round: who was used since it last passed stays for another round, who was not, goes.
import type { Wire } from '../domain/wire.ts';

/** What an event costs beside its text: the header of the string, its place in the list and its mark. */
const OVERHEAD_BYTES = 32;

export class EventCache {
  readonly #maxBytes: number;
  readonly #events: (Wire | undefined)[] = [];
  #used = new Uint8Array(1024);
  #hand = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(handle: number): Wire | undefined {
    const event = this.#events[handle];
    if (event !== undefined) this.#used[handle] = 1;
    return event;
  }

  put(handle: number, event: Wire): void {
    this.remove(handle);
    const cost = costOf(event);
    if (cost > this.#maxBytes) return;
    while (this.#bytes + cost > this.#maxBytes) this.#evictNext();
    while (handle >= this.#events.length) this.#events.push(undefined);
    if (handle >= this.#used.length) {
      const used = new Uint8Array(2 * handle);
      used.set(this.#used);
      this.#used = used;
    }
    this.#events[handle] = event;
    this.#used[handle] = 0;
    this.#bytes += cost;
  }

  remove(handle: number): void {
    const event = this.#events[handle];
    if (event === undefined) return;
    this.#events[handle] = undefined;
    this.#bytes -= costOf(event);
  }

  #evictNext(): void {
    this.#hand = (this.#hand + 1) % this.#events.length;
    if (this.#used[this.#hand] === 1) this.#used[this.#hand] = 0;
    else this.remove(this.#hand);
  }
}

function costOf(event: Wire): number {
  return event.length + OVERHEAD_BYTES;
}
