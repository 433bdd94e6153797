// A bound for what may never be answered.
import { unavailable } from './errors.ts';

/** What the work comes to. Throws UNAVAILABLE if that takes longer; the work itself goes on. */
export async function withTimeout<T>(work: PromiseLike<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    // Where this process itself was held up, the answer may have arrived already: it is read before the next turn.
    timer = setTimeout(() => setImmediate(() => reject(unavailable())), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
