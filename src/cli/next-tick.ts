// Keeps process.nextTick fast. Each call makes an object of one shape. If none of these exists while V8 collects garbage, which is usual
// on a server, V8 forgets the shape. From then on each call takes six times as long, and Node makes several per request. One object that
// stays alive prevents that.
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
