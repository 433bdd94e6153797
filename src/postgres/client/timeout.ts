// Timeout for work that may never complete.
import { unavailable } from './errors.ts';

/**
 * Returns the result of the work. Throws UNAVAILABLE after the timeout; the work itself continues. Time during which this process
 * itself is blocked hardly counts: the second half begins only when the first has been noticed, and a response that has
 * arrived by then is read first.
 */
export async function withTimeout<T>(
  work: PromiseLike<T>,
  ms: number,
  errorOf: () => Error = unavailable,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const fail = () => setImmediate(() => reject(errorOf()));
    const startSecondHalf = () => {
      timer = setTimeout(fail, ms / 2);
    };
    timer = setTimeout(startSecondHalf, ms / 2);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
