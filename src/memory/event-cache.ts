// Events in their wire form, kept in memory up to a number of bytes, by the handle that the index gives them. When there is
// no room, a hand goes round: who was used since it last passed stays for another round, who was not, goes.
import type { Wire } from '../domain/wire.ts';

/** What an event costs beside its text: the header of the string, its place in the list and its mark. */
const OVERHEAD_BYTES = 32;

const PIECE_BITS = 14;
const PIECE = 2 ** PIECE_BITS;

/** The events of so many handles that follow each other: one list of them all would stall whoever makes it longer. */
class Piece {
  readonly events: (Wire | undefined)[] = Array(PIECE).fill(undefined);
  /** 1 for those that were used. */
  readonly used = new Uint8Array(PIECE);
}

export class EventCache {
  readonly #maxBytes: number;
  /** Undefined where nothing was ever put. */
  readonly #pieces: (Piece | undefined)[] = [];
  #hand = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  find(handle: number): Wire | undefined {
    const piece = this.#pieces[handle >>> PIECE_BITS];
    const event = piece?.events[handle & (PIECE - 1)];
    if (event !== undefined) piece!.used[handle & (PIECE - 1)] = 1;
    return event;
  }

  put(handle: number, event: Wire): void {
    this.remove(handle);
    const cost = costOf(event);
    if (cost > this.#maxBytes) return;
    while (this.#bytes + cost > this.#maxBytes) this.#evictNext();
    const number = handle >>> PIECE_BITS;
    while (number >= this.#pieces.length) this.#pieces.push(undefined);
    this.#pieces[number] ??= new Piece();
    const piece = this.#pieces[number];
    piece.events[handle & (PIECE - 1)] = event;
    piece.used[handle & (PIECE - 1)] = 0;
    this.#bytes += cost;
  }

  remove(handle: number): void {
    const piece = this.#pieces[handle >>> PIECE_BITS];
    const event = piece?.events[handle & (PIECE - 1)];
    if (event === undefined) return;
    piece!.events[handle & (PIECE - 1)] = undefined;
    this.#bytes -= costOf(event);
  }

  #evictNext(): void {
    this.#hand = (this.#hand + 1) % (this.#pieces.length * PIECE);
    const piece = this.#pieces[this.#hand >>> PIECE_BITS];
    const at = this.#hand & (PIECE - 1);
    if (!piece) this.#hand += PIECE - 1 - at;
    else if (piece.used[at] === 1) piece.used[at] = 0;
    else this.remove(this.#hand);
  }
}

function costOf(event: Wire): number {
  return event.length + OVERHEAD_BYTES;
}
