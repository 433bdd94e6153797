// Loaded into a service with --import: a slow disk. Each statement takes 50 ms; on the main thread it also says so.
import { StatementSync } from 'node:sqlite';
import { isMainThread } from 'node:worker_threads';

const cell = new Int32Array(new SharedArrayBuffer(4));
for (const method of ['get', 'all', 'run', 'iterate']) {
  const original = StatementSync.prototype[method];
  StatementSync.prototype[method] = function (...values) {
    if (isMainThread) console.error(`a statement on the main thread: ${this.sourceSQL}`);
    Atomics.wait(cell, 0, 0, 50);
    return original.apply(this, values);
  };
}
