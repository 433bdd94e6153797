// Long work on the event loop: how long it leaves the loop to others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { letOthersRun } from '../../src/memory/search-steps.ts';

describe('letting others run', { timeout: 30_000 }, () => {
  it('ends at once if there is nothing else to do', async () => {
    await letOthersRun(Number.POSITIVE_INFINITY);
  });

  it('ends after the maximum if others have work all the time', async () => {
    let isBusy = true;
    const work = () => {
      for (const startedMs = performance.now(); performance.now() - startedMs < 1; );
      if (isBusy) setImmediate(work);
    };
    work();
    const startedMs = performance.now();
    await letOthersRun(20);
    isBusy = false;
    assert.ok(performance.now() - startedMs >= 20);
  });
});
