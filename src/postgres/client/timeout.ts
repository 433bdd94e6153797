// Timeout for work that may never complete.
import { unavailable } from './errors.ts';

/** Returns the result of the work. Throws UNAVAILABLE after the timeout; the work itself continues. */
export async function withTimeout<T>(work: PromiseLike<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    // If this process itself was blocked, the response may already have arrived: setImmediate lets it be read first.
    timer = setTimeout(() => setImmediate(() => reject(unavailable())), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
