// Whether a thread is stuck: it finishes nothing although it has work. One that is merely busy finishes other work first.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A thread that finishes nothing for this long is stuck. */
const STUCK_MS = 2_000;

export interface Progress {
  /** A number that grows as long as the thread finishes calls. */
  readonly finishedBatches: number;
}

/** Waits for work of a thread; rejects with an error of `stuck` if the thread is. */
export async function unlessStuck<T>(
  thread: Progress,
  work: Promise<T>,
  stuck: () => Error,
  stuckMs = STUCK_MS,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  let finished = thread.finishedBatches;
  const timer = setInterval(async () => {
    await nextTurn(); // if this thread was late itself, it has not yet read what the other has finished
    if (thread.finishedBatches === finished) reject(stuck());
    finished = thread.finishedBatches;
  }, stuckMs).unref();
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearInterval(timer);
  }
}
