// The cache of wire forms: bounded by bytes, the one unused for longest goes first.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventRecord } from '../../src/domain/store.ts';
import { RecordCache } from '../../src/sqlite/record-cache.ts';
import { Chance } from '../support/random.ts';

const newRecord = (id: string, length: number, version = 1): EventRecord => ({
  id,
  agentId: 'agent',
  version,
  startMs: 0,
  json: 'é'.repeat(length),
});

/** Bytes of text that the cache still holds of these records. Text outside ASCII may take two bytes a unit. */
function heldBytes(cache: RecordCache, ids: readonly string[]): number {
  return ids.reduce((sum, id) => sum + 2 * (cache.find(id)?.json.length ?? 0), 0);
}

describe('the record cache', () => {
  it('never holds more bytes than it may, whatever is put, used and removed', () => {
    const chance = new Chance(1);
    const cache = new RecordCache(100_000);
    const ids = Array.from({ length: 300 }, (_, at) => `event ${at}`);
    let fullest = 0;
    for (let step = 0; step < 5_000; step++) {
      const id = chance.pick(ids);
      if (chance.chance(0.1)) cache.remove(id);
      else cache.put(newRecord(id, chance.integer(1, 3_000), step));
      if (step % 50 === 0) {
        const held = heldBytes(cache, ids);
        assert.ok(held <= 100_000, `${held} bytes at step ${step}`);
        fullest = Math.max(fullest, held);
      }
    }
    assert.ok(fullest > 70_000, `only ${fullest} bytes were ever held`);
  });

  it('counts small records too: 100,000 of them do not fit into a megabyte', () => {
    const cache = new RecordCache(1_000_000);
    for (let at = 0; at < 100_000; at++) cache.put(newRecord(String(at), 1));
    let held = 0;
    for (let at = 0; at < 100_000; at++) if (cache.find(String(at))) held++;
    assert.ok(held > 1_000 && held < 10_000, String(held));
  });

  it('lets go of the record unused for longest', () => {
    const cache = new RecordCache(10_000);
    for (const id of ['a', 'b', 'c']) cache.put(newRecord(id, 1_400));
    cache.find('a');
    cache.put(newRecord('d', 1_400));
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((id) => cache.find(id) !== undefined),
      [true, false, true, true],
    );
  });

  it('holds the newest version of a record, once', () => {
    const cache = new RecordCache(10_000);
    for (let version = 1; version <= 100; version++) cache.put(newRecord('a', 1_400, version));
    cache.put(newRecord('b', 1_400));
    assert.deepEqual([cache.find('a')?.version, cache.find('b')?.version], [100, 1]);
    cache.remove('a');
    assert.equal(cache.find('a'), undefined);
  });

  it('holds nothing that is larger than all it may hold, and nothing at all with no room', () => {
    const cache = new RecordCache(1_000);
    cache.put(newRecord('large', 1_000));
    assert.equal(cache.find('large'), undefined);
    const none = new RecordCache(0);
    none.put(newRecord('a', 1));
    assert.equal(none.find('a'), undefined);
  });
});
