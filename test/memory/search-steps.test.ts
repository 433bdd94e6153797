// Steps of long searches: fair between networks and their keys, and none for searchers that have left.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SearchSteps } from '../../src/memory/search-steps.ts';

describe('SearchSteps', () => {
  it('lets one searcher take a step in each turn of the event loop', async () => {
    const steps = new SearchSteps();
    let begun = 0;
    const all = Promise.all(Array.from({ length: 5 }, () => steps.next({}).then(() => begun++)));
    for (let turn = 1; turn <= 5; turn++) {
      await nextTurn();
      assert.ok(begun <= turn, `${begun} in ${turn} turns`);
    }
    await all;
    assert.equal(begun, 5);
  });

  it('gives every network the same, however many searches and keys one of them has', async () => {
    const steps = new SearchSteps();
    const order: string[] = [];
    let isOver = false;
    const search = async (network: string, name: string) => {
      while (!isOver) {
        await steps.next({ network, name });
        order.push(network);
      }
    };
    const all = Array.from({ length: 40 }, (_, key) => search('many', `key ${key}`));
    all.push(search('one', 'key'));
    while (order.length < 200) await nextTurn();
    isOver = true;
    await Promise.all(all);
    const share = order.slice(0, 200).filter((network) => network === 'one').length / 200;
    assert.ok(share >= 0.45, `${share} of the steps`);
  });

  it('rejects with the reason when the searcher has left, which takes no step from others', async () => {
    const steps = new SearchSteps();
    const leaving = new AbortController();
    const left = [1, 2, 3].map(() =>
      steps.next({ network: 'a', name: 'k', signal: leaving.signal }).then(
        () => 'begun',
        (error: Error) => error.message,
      ),
    );
    let hasBegun = false;
    const other = steps.next({ network: 'b', name: 'k' }).then(() => {
      hasBegun = true;
    });
    leaving.abort(new Error('gone'));
    await nextTurn();
    await nextTurn();
    assert.equal(hasBegun, true);
    assert.deepEqual(await Promise.all(left), ['gone', 'gone', 'gone']);
    await other;
  });
});
