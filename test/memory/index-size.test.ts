// The size of the index in memory, by which a node decides whether all events fit.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { INDEX_BYTES_PER_EVENT } from '../../src/memory/event-memory.ts';
import { EventIndex } from '../../src/spatial/event-index.ts';
import type { IndexEntry } from '../../src/spatial/index-entry.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const collectAll = () => {
  for (let round = 0; round < 3; round++) collectGarbage();
};

const EVENTS = size(65_000, 1_048_000);
const ADDED = size(0, EVENTS / 2);

it('is at most what a node assumes, for loaded and for added events', () => {
  const chance = new Chance(1);
  const newEntry = (): IndexEntry => {
    const startMs = chance.integer(0, 1e9);
    // Some last for weeks.
    return { ...otherFields(), startMs, endsMs: startMs + (chance.chance(0.05) ? 4e9 : 1e7) };
  };
  const otherFields = () => ({
    id: chance.ulid(),
    version: 1,
    row: 0,
    lat: chance.between(-60, 60),
    lng: chance.between(-180, 180),
    tag: chance.integer(0, 40),
    isCancelled: false,
    updatedMs: 0,
  });
  collectAll(); // what other files of this process left
  const before = process.memoryUsage().arrayBuffers;
  const index = new EventIndex();
  const loader = index.loader(EVENTS);
  for (let count = 0; count < EVENTS; count++) loader.add(newEntry());
  for (const _ of loader.finish());
  const bytesPerEvent = () => {
    collectAll();
    return (process.memoryUsage().arrayBuffers - before) / index.size;
  };
  assert.ok(bytesPerEvent() <= INDEX_BYTES_PER_EVENT, `${bytesPerEvent()}`);
  for (let count = 0; count < ADDED; count++) index.put(newEntry());
  assert.ok(bytesPerEvent() <= INDEX_BYTES_PER_EVENT, `${bytesPerEvent()}`);
  // Not far too much, or nodes would give up too early.
  assert.ok(bytesPerEvent() >= INDEX_BYTES_PER_EVENT / 2, `${bytesPerEvent()}`);
});
