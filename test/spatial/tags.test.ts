// Tags: one per pair of type and audience, each in a byte. A larger tag would be counted with the next group of events, and
// is refused.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AUDIENCES, EVENT_TYPES } from '../../src/domain/events/event.ts';
import { EventIndex } from '../../src/spatial/event-index.ts';
import type { IndexQuery } from '../../src/spatial/index-entry.ts';
import { TAGS, TagSet, tagOf } from '../../src/spatial/tags.ts';
import { Chance } from '../support/random.ts';
import { World } from './world.ts';

const NO_TAGS = [TAGS, TAGS + 1, 256, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY];

const EVERYTHING: IndexQuery = {
  ...{ lat: 0, lng: 0, radiusMiles: undefined, tags: undefined, after: undefined, limit: 10, status: 'any' },
  ...{ startsFromMs: Number.NEGATIVE_INFINITY, startsBeforeMs: Number.POSITIVE_INFINITY },
};

it('gives every pair of type and audience its own tag, and has no others', () => {
  const tags = EVENT_TYPES.flatMap((type) => AUDIENCES.map((audience) => tagOf(type, audience)));
  assert.deepEqual(
    tags.toSorted((a, b) => a - b),
    Array.from({ length: TAGS }, (_, tag) => tag),
  );
});

it('has no tag for an unknown type or audience', () => {
  assert.throws(() => tagOf('party' as 'talk', 'all'), RangeError);
  assert.throws(() => tagOf('talk', 'pets' as 'all'), RangeError);
});

it('fits into one byte', () => {
  assert.ok(TAGS <= 256, `${TAGS} tags`);
});

it('finds and counts events of the last tag', () => {
  const index = new EventIndex();
  const entry = new World(new Chance(1)).entry({ tag: TAGS - 1, endsMs: Number.POSITIVE_INFINITY });
  index.put(entry);
  for (const radiusMiles of [undefined, 10]) {
    const query = { ...EVERYTHING, lat: entry.lat, lng: entry.lng, radiusMiles };
    assert.equal(index.search({ ...query, tags: new TagSet([TAGS - 1]) }, 0).total, 1);
    assert.equal(index.search({ ...query, tags: new TagSet([0]) }, 0).total, 0);
  }
});

for (const tag of NO_TAGS) {
  it(`refuses the tag ${tag} in an event, without changing the index, and in a search`, () => {
    const world = new World(new Chance(2));
    const index = new EventIndex();
    const known = world.entry({ endsMs: Number.POSITIVE_INFINITY });
    index.put(known);
    const add = (entry: { id: string }) => index.loader(1).add({ ...world.entry(), ...entry, tag });
    assert.throws(() => index.put(world.entry({ tag })), RangeError);
    assert.throws(() => index.put({ ...known, version: 2, tag }), RangeError);
    assert.throws(() => add({ id: new Chance(3).ulid() }), RangeError);
    assert.throws(() => new TagSet([0, tag]), RangeError);
    assert.equal(index.size, 1);
    assert.deepEqual(index.entryOf(index.find(known.id)!), known);
    assert.equal(index.search({ ...EVERYTHING, tags: new TagSet([known.tag]) }, 0).total, 1);
  });
}
