// The object that keeps process.nextTick fast is one that nextTick made: it has the shape that must stay known.
import assert from 'node:assert/strict';
import { executionAsyncResource } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { keepNextTickFast } from '../../src/cli/serve.ts';

describe('the object that is kept for process.nextTick', () => {
  it('has the properties of those that nextTick makes, in the same order', async () => {
    const { promise, resolve } = Promise.withResolvers<object>();
    process.nextTick(() => resolve(executionAsyncResource()));
    const kept = await keepNextTickFast();
    const made = await promise;
    assert.notEqual(kept, made);
    assert.deepEqual(Reflect.ownKeys(kept), Reflect.ownKeys(made));
    assert.ok('callback' in kept);
  });

  it('is the same at every call', async () => {
    assert.equal(await keepNextTickFast(), await keepNextTickFast());
  });
});
