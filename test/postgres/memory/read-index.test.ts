// The read index: which poll serves which searches.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ReadIndex } from '../../../src/postgres/memory/read-index.ts';

/** Polls that end when the test says so. */
class Polls {
  readonly running: PromiseWithResolvers<void>[] = [];
  begun = 0;

  onBehind = () => {};

  readonly poll = (onBehind: () => void): Promise<void> => {
    this.begun++;
    this.onBehind = onBehind;
    const poll = Promise.withResolvers<void>();
    this.running.push(poll);
    return poll.promise;
  };

  /** Waits until this many have begun. */
  async until(count: number): Promise<void> {
    while (this.begun < count) await nextTurn();
  }
}

let polls = new Polls();
let index = new ReadIndex(polls.poll);
afterEach(() => {
  index.close();
  polls = new Polls();
  index = new ReadIndex(polls.poll);
});

describe('a search', () => {
  it('is served by a poll that begins after it arrived, never by one under way', async () => {
    const first = index.confirm();
    await polls.until(1);
    let isServed = false;
    const second = index.confirm().then(() => {
      isServed = true;
    });
    polls.running[0]!.resolve();
    await first;
    await polls.until(2);
    assert.equal(isServed, false);
    polls.running[1]!.resolve();
    await second;
    assert.equal(polls.begun, 2);
  });

  it('shares the poll with all others that wait', async () => {
    const first = index.confirm();
    await polls.until(1);
    const waiting = Array.from({ length: 50 }, () => index.confirm());
    polls.running[0]!.resolve();
    await first;
    await polls.until(2);
    polls.running[1]!.resolve();
    await Promise.all(waiting);
    assert.equal(polls.begun, 2);
  });

  it('fails with its own poll, and not with that of others', async () => {
    const first = index.confirm();
    await polls.until(1);
    const second = index.confirm();
    polls.running[0]!.reject(new Error('lost'));
    await assert.rejects(first, /lost/);
    await polls.until(2);
    polls.running[1]!.resolve();
    await second;
  });
});

it('tells those who wait at once that it is behind, and others until it has caught up', async () => {
  const first = index.confirm();
  await polls.until(1);
  const second = index.confirm();
  assert.equal(index.isBehind, false);
  polls.onBehind();
  assert.equal(await first, 'behind');
  assert.equal(await second, 'behind');
  assert.equal(index.isBehind, true);
  const third = index.confirm();
  polls.running[0]!.resolve();
  await polls.until(2);
  assert.equal(index.isBehind, false);
  polls.running[1]!.resolve();
  assert.equal(await third, 'current');
});

it('polls by itself if nobody searches', async () => {
  await polls.until(1);
  polls.running[0]!.resolve();
});
