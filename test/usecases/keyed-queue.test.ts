// Tasks with the same key run one after another; tasks with different keys do not wait for each other.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyedQueue } from '../../src/usecases/context.ts';

describe('a keyed queue', () => {
  it('runs tasks of one key in order, never two at once', async () => {
    const queue = new KeyedQueue();
    const done: number[] = [];
    let running = 0;
    await Promise.all(
      [3, 1, 2, 0].map((turns, number) =>
        queue.run('a', async () => {
          assert.equal(++running, 1);
          for (let turn = 0; turn < turns; turn++) await null;
          running--;
          done.push(number);
        }),
      ),
    );
    assert.deepEqual(done, [0, 1, 2, 3]);
  });

  it('does not hold up tasks of other keys', async () => {
    const queue = new KeyedQueue();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = queue.run('a', () => promise);
    assert.equal(await queue.run('b', async () => 'b'), 'b');
    resolve();
    await waiting;
  });

  it('runs the next task after one that fails; only its caller gets the error', async () => {
    const queue = new KeyedQueue();
    const failing = queue.run('a', () => Promise.reject(new Error('no')));
    const next = queue.run('a', async () => 'yes');
    await assert.rejects(failing, /no/);
    assert.equal(await next, 'yes');
  });
});
