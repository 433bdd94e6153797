// Keeps process.nextTick fast. Each call creates an object of the same hidden class. If no such object is alive during a garbage
// collection, as is usual on a server, V8 discards the hidden class. From then on each call takes six times as long, and Node makes several
// per request. One object that stays alive prevents that.
import { executionAsyncResource } from 'node:async_hooks';

let kept: object | undefined;

/** Resolves with the object that is kept. */
export function keepNextTickFast(): Promise<object> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      kept ??= executionAsyncResource();
      resolve(kept);
    });
  });
}
