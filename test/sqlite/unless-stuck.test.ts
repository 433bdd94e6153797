// Checks of threads: one that is stuck is told from one that is busy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { unlessStuck } from '../../src/sqlite/open-folder.ts';

const STUCK_MS = 100;
const stuck = () => new Error('stuck');

/** Keeps the event loop from running. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('a check of a thread', () => {
  it('returns what the work returns, or its error', async () => {
    const thread = { finishedBatches: 0 };
    assert.equal(await unlessStuck(thread, Promise.resolve(5), stuck, STUCK_MS), 5);
    await assert.rejects(unlessStuck(thread, Promise.reject(new Error('full')), stuck, STUCK_MS), /full/);
  });

  it('waits while the thread finishes other work', async () => {
    const thread = { finishedBatches: 0 };
    const busy = setInterval(() => thread.finishedBatches++, STUCK_MS / 20);
    const work = sleep(5 * STUCK_MS, 'done');
    assert.equal(await unlessStuck(thread, work, stuck, STUCK_MS).finally(() => clearInterval(busy)), 'done');
  });

  it('fails when the thread finishes nothing, also after it was busy', async () => {
    const never = new Promise<void>(() => {});
    await assert.rejects(unlessStuck({ finishedBatches: 0 }, never, stuck, STUCK_MS), /stuck/);
    const thread = { finishedBatches: 0 };
    setTimeout(() => thread.finishedBatches++, STUCK_MS / 2);
    await assert.rejects(unlessStuck(thread, never, stuck, STUCK_MS), /stuck/);
  });

  it('does not take the delay of its own thread for that of the other', async () => {
    const { port1, port2 } = new MessageChannel();
    const work = new Promise<string>((resolve) => {
      port1.onmessage = () => resolve('done');
    });
    const checked = unlessStuck({ finishedBatches: 0 }, work, stuck, STUCK_MS);
    await nextTurn(); // timers come next, then messages
    port2.postMessage('finished long before this thread looks');
    block(3 * STUCK_MS);
    assert.equal(await checked.finally(() => port1.close()), 'done');
  });
});
