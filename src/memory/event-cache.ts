// Cache of event JSON by index handle, limited in bytes. Eviction is the clock algorithm: a hand goes round the entries and
// evicts those that were not used since it last passed.
import type { Wire } from '../domain/wire.ts';

/** Memory per event besides its text: the string header, the array slot and the used flag. */
const OVERHEAD_BYTES = 32;

const PIECE_BITS = 14;
const PIECE = 2 ** PIECE_BITS;

/** Events of PIECE consecutive handles. One array for all would block the event loop whenever it grows. */
class Piece {
  readonly events: (Wire | undefined)[] = Array(PIECE).fill(undefined);
  /** 1 for events used since the hand last passed. */
  readonly used = new Uint8Array(PIECE);
}

export class EventCache {
  readonly #maxBytes: number;
  /** Undefined until an event is stored in the piece. */
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
