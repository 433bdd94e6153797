// The cache of wire forms: bounded by bytes; what is used stays longer than what is not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventRecord } from '../../src/domain/store.ts';
import { RecordCache } from '../../src/sqlite/record-cache.ts';
import { Chance } from '../support/random.ts';

const newRecord = (length: number, version = 1): EventRecord => ({
  id: 'event',
  agentId: 'agent',
  version,
  startMs: 0,
  json: 'é'.repeat(length),
});

const numbersTo = (count: number) => Array.from({ length: count }, (_, number) => number);

/** Bytes of text that the cache still holds under these handles. Text outside ASCII may take two bytes a unit. */
function heldBytes(cache: RecordCache, handles: readonly number[]): number {
  return handles.reduce((sum, handle) => sum + 2 * (cache.find(handle)?.json.length ?? 0), 0);
}

describe('the record cache', () => {
  it('never holds more bytes than it may, whatever is put, used and removed', () => {
    const chance = new Chance(1);
    const cache = new RecordCache(100_000);
    const handles = numbersTo(300);
    let fullest = 0;
    for (let step = 0; step < 5_000; step++) {
      const handle = chance.pick(handles);
      if (chance.chance(0.1)) cache.remove(handle);
      else cache.put(handle, newRecord(chance.integer(1, 3_000), step));
      if (step % 50 === 0) {
        const held = heldBytes(cache, handles);
        assert.ok(held <= 100_000, `${held} bytes at step ${step}`);
        fullest = Math.max(fullest, held);
      }
    }
    assert.ok(fullest > 70_000, `only ${fullest} bytes were ever held`);
  });

  it('counts small records too: 100,000 of them do not fit into a megabyte', () => {
    const cache = new RecordCache(1_000_000);
    const handles = numbersTo(100_000);
    for (const handle of handles) cache.put(handle, newRecord(1));
    const held = handles.filter((handle) => cache.find(handle)).length;
    assert.ok(held > 1_000 && held < 10_000, String(held));
  });

  it('keeps what is used while what is not goes', () => {
    const cache = new RecordCache(100_000);
    cache.put(0, newRecord(1_000));
    for (const handle of numbersTo(1_000).slice(1)) {
      cache.put(handle, newRecord(1_000));
      assert.ok(cache.find(0), `gone after ${handle}`);
    }
    assert.equal(cache.find(1), undefined);
  });

  it('holds the newest version of a record, once', () => {
    const cache = new RecordCache(10_000);
    for (let version = 1; version <= 100; version++) cache.put(7, newRecord(1_400, version));
    cache.put(8, newRecord(1_400));
    assert.deepEqual([cache.find(7)?.version, cache.find(8)?.version], [100, 1]);
    cache.remove(7);
    assert.equal(cache.find(7), undefined);
  });

  it('holds nothing that is larger than all it may hold, and nothing at all with no room', () => {
    const cache = new RecordCache(1_000);
    cache.put(1, newRecord(1_000));
    assert.equal(cache.find(1), undefined);
    const none = new RecordCache(0);
    none.put(1, newRecord(1));
    assert.equal(none.find(1), undefined);
  });
});
