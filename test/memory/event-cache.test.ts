// The cache of serialised events: limited in bytes; used events stay longer than unused ones.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toWire, type Wire } from '../../src/domain/wire.ts';
import { EventCache } from '../../src/memory/event-lookup.ts';
import { Chance } from '../support/random.ts';

/** An event of this size in bytes; characters outside ASCII have two. */
const newEvent = (bytes: number, character = 'é'): Wire =>
  toWire(
    character.repeat(bytes / Buffer.byteLength(character)) + 'x'.repeat(bytes % Buffer.byteLength(character)),
  );

const numbersTo = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Total size of the cached events with these handles. */
function heldBytes(cache: EventCache, handles: readonly number[]): number {
  return handles.reduce((sum, handle) => sum + (cache.find(handle)?.length ?? 0), 0);
}

describe('the event cache', () => {
  it('never holds more bytes than its limit, whatever is put, used and removed', () => {
    const chance = new Chance(1);
    const cache = new EventCache(100_000);
    const handles = numbersTo(300);
    let fullest = 0;
    for (let step = 0; step < 5_000; step++) {
      const handle = chance.pick(handles);
      if (chance.chance(0.1)) cache.remove(handle);
      else cache.put(handle, newEvent(chance.integer(1, 6_000)));
      if (step % 50 === 0) {
        const held = heldBytes(cache, handles);
        assert.ok(held <= 100_000, `${held} bytes at step ${step}`);
        fullest = Math.max(fullest, held);
      }
    }
    assert.ok(fullest > 70_000, `only ${fullest} bytes were ever held`);
  });

  it('counts small events too: 100,000 of them do not fit into a megabyte', () => {
    const cache = new EventCache(1_000_000);
    const handles = numbersTo(100_000);
    for (const handle of handles) cache.put(handle, newEvent(1));
    const held = handles.filter((handle) => cache.find(handle)).length;
    assert.ok(held > 10_000 && held < 50_000, String(held));
  });

  it('keeps used events and drops unused ones', () => {
    const cache = new EventCache(100_000);
    cache.put(0, newEvent(1_000));
    for (const handle of numbersTo(1_000).slice(1)) {
      cache.put(handle, newEvent(1_000));
      assert.ok(cache.find(0), `gone after ${handle}`);
    }
    assert.equal(cache.find(1), undefined);
  });

  it('holds the newest version of an event, once', () => {
    const cache = new EventCache(10_000);
    for (let version = 1; version <= 100; version++) cache.put(7, newEvent(4_000, String(version % 10)));
    cache.put(8, newEvent(4_000));
    assert.deepEqual([cache.find(7), cache.find(8)], [newEvent(4_000, '0'), newEvent(4_000)]);
    cache.remove(7);
    assert.equal(cache.find(7), undefined);
  });

  it('holds no event larger than its limit, and nothing at all with a limit of 0', () => {
    const cache = new EventCache(1_000);
    cache.put(1, newEvent(1_000));
    assert.equal(cache.find(1), undefined);
    const none = new EventCache(0);
    none.put(1, newEvent(1));
    assert.equal(none.find(1), undefined);
  });
});
