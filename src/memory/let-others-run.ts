// For long work on the event loop: leaves time to requests, but does not wait if there are none.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A turn of the event loop that took less had nothing else to do. */
const IDLE_TURN_MS = 0.1;

/** Lets other work run: as long as there is some, but at most for `maxMs`. */
export async function letOthersRun(maxMs: number): Promise<void> {
  const startedMs = performance.now();
  for (let beforeMs = startedMs; ; ) {
    await nextTurn();
    const nowMs = performance.now();
    if (nowMs - beforeMs < IDLE_TURN_MS || nowMs - startedMs >= maxMs) return;
    beforeMs = nowMs;
  }
}
