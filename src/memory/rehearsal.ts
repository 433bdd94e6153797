// A large delete is rare, and searches wait for it. It is rehearsed with an index of its own, so that V8 has compiled its code by
// then: without that, the first one took up to twice the CPU.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventIndex } from '../spatial/event-index.ts';

const ROUNDS = 8;
const EVENTS_PER_ROUND = 2_500;
const ADDED_PER_TURN = 1_000;

/** Hides many events, and lets other work run in between. */
export async function rehearseHiding(signal: AbortSignal): Promise<void> {
  for (const _ of hideMany()) {
    await nextTurn();
    signal.throwIfAborted();
  }
}

function* hideMany(): Generator<void> {
  const index = new EventIndex();
  const loader = index.loader(ROUNDS * EVENTS_PER_ROUND, 0);
  for (let number = 0; number < ROUNDS * EVENTS_PER_ROUND; number++) {
    loader.add(entryOf(number));
    if (number % ADDED_PER_TURN === 0) yield;
  }
  yield* loader.finish();
  for (let round = 0; round < ROUNDS; round++) {
    const numbers = Array.from({ length: EVENTS_PER_ROUND }, (_, at) => round * EVENTS_PER_ROUND + at);
    index.hideMany(Buffer.from(numbers.map(idOf).join(',')));
    yield;
  }
}

/** Most events have ended: loading others takes longer. */
function entryOf(number: number) {
  const endsMs = number % 10 === 0 ? 1 : 0;
  const place = { lat: (number % 180) - 90, lng: 0 };
  return {
    id: idOf(number),
    version: 1,
    row: number,
    startMs: 0,
    endsMs,
    ...place,
    tag: 0,
    isCancelled: false,
    updatedMs: 0,
  };
}

/** The part that is random in other IDs differs. */
function idOf(number: number): string {
  return `${String(number).padStart(24, '0')}00`;
}
