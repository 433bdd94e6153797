// Store contract: settings, which have a name, a value and possibly an expiry.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../src/domain/store.ts';
import { HOUR_MS, NOW_MS } from './rows.ts';

export function settingContract(store: () => Store): void {
  it('stores the first value and returns it from then on', async () => {
    assert.equal(await store().getSetting('colour', async () => 'red'), 'red');
    assert.equal(await store().getSetting('colour', async () => 'blue'), 'red');
    assert.equal(await store().getSetting('size', async () => 'large'), 'large');
  });

  it('returns the same value to all concurrent callers', async () => {
    const asked = Array.from({ length: 50 }, (_, number) =>
      store().getSetting('shape', async () => `shape ${number}`),
    );
    const values = new Set(await Promise.all(asked));
    assert.equal(values.size, 1);
    assert.deepEqual([await store().getSetting('shape', async () => 'other')], [...values]);
  });

  it('stores nothing if computing the initial value fails', async () => {
    const refused = store().getSetting('weight', () => Promise.reject(new Error('no scales')));
    await assert.rejects(refused, /no scales/);
    assert.equal(await store().getSetting('weight', async () => 'heavy'), 'heavy');
  });

  it('gives each name the value that was set last, and none at first', async () => {
    const values = () => find('epoch ada', 'epoch Ada', 'epoch bob', '');
    assert.deepEqual(await values(), [undefined, undefined, undefined, undefined]);
    await store().setSetting('epoch ada', 'one');
    await store().setSetting('epoch bob', '');
    assert.deepEqual(await values(), ['one', undefined, '', undefined]);
    await store().setSetting('epoch ada', 'two');
    assert.deepEqual(await values(), ['two', undefined, '', undefined]);
  });

  const LATER_MS = NOW_MS + HOUR_MS;
  const set = (name: string, atMs = LATER_MS, nowMs = NOW_MS) =>
    store().setSetting(name, 'x', { atMs, nowMs });
  const find = (...names: string[]) => Promise.all(names.map((name) => store().findSetting(name)));

  it('removes settings that have expired with the next one that expires, to the millisecond', async () => {
    await store().setSetting('for ever', 'x');
    await set('short', LATER_MS - 1);
    await set('long', LATER_MS + 1);
    await set('exact', LATER_MS);
    await set('before', LATER_MS + HOUR_MS, LATER_MS - 1);
    assert.deepEqual(await find('short', 'exact', 'long'), [undefined, 'x', 'x']);
    await set('at', LATER_MS + HOUR_MS, LATER_MS);
    assert.deepEqual(await find('exact', 'long', 'before', 'at', 'for ever'), [
      undefined,
      'x',
      'x',
      'x',
      'x',
    ]);
  });

  it('gives parallel callers the same value with an expiry, and removes others that have expired', async () => {
    const take = (name: string, value: string, nowMs: number) =>
      store().getSetting(name, async () => value, { atMs: nowMs + HOUR_MS, nowMs });
    const values = await Promise.all(Array.from({ length: 20 }, (_, at) => take('once', `${at}`, NOW_MS)));
    assert.equal(new Set(values).size, 1);
    await take('twice', 'x', NOW_MS + 1);
    assert.equal(await take('thrice', 'y', NOW_MS + HOUR_MS), 'y');
    assert.deepEqual(await find('once', 'twice', 'thrice'), [undefined, 'x', 'y']);
  });

  it('takes a new expiry with a new value, of several at once', async () => {
    await set('again', LATER_MS);
    await Promise.all(['again', 'one', 'one', 'two'].map((name) => set(name, LATER_MS + HOUR_MS)));
    await set('next', LATER_MS + HOUR_MS, LATER_MS);
    assert.deepEqual(await find('again', 'one', 'two'), ['x', 'x', 'x']);
    await set('again', LATER_MS + 2 * HOUR_MS, LATER_MS + HOUR_MS);
    assert.deepEqual(await find('again', 'one'), ['x', undefined]);
  });
}
