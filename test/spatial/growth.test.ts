// The index as it grows and shrinks: splits, merges, mass deletion, one crowded place, very many events.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventIndex } from '../../src/spatial/event-index.ts';
import type { IndexEntry, IndexQuery } from '../../src/spatial/index-entry.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { byStartThenId, haversineMiles, Oracle, SpelledIndex } from './oracle.ts';
import { WORLD_BEGINS_MS, World } from './world.ts';

const ENTRIES = size(3_000, 12_000);
const CROWD = size(20_000, 100_000);
const MOST = size(100_000, 1_000_000);
const WRITES = size(10_000, 50_000);

const EVERYTHING: IndexQuery = {
  lat: 0,
  lng: 0,
  radiusMiles: undefined,
  tags: undefined,
  startsFromMs: Number.NEGATIVE_INFINITY,
  startsBeforeMs: Number.POSITIVE_INFINITY,
  status: 'any',
  after: undefined,
  limit: 100,
};

/** Asserts that index and oracle agree on this many random searches. */
function assertSame(
  index: SpelledIndex,
  oracle: Oracle,
  world: World,
  searches: number,
  nowMs = WORLD_BEGINS_MS,
) {
  const entries = oracle.matches(EVERYTHING, nowMs);
  for (let done = 0; done < searches; done++) {
    const query = world.query(entries);
    assert.deepEqual(index.search(query, nowMs), oracle.search(query, nowMs), () => JSON.stringify(query));
  }
}

describe('the index', () => {
  const ORDERS: Record<string, (a: IndexEntry, b: IndexEntry) => number> = {
    'in the order of their starts': byStartThenId,
    'from the south pole to the north pole': (a, b) => a.lat - b.lat,
    'in no order': (a, b) => (a.id < b.id ? -1 : 1),
  };
  for (const [order, compare] of Object.entries(ORDERS)) {
    it(`adds ${ENTRIES} entries ${order}, removes all of them ${order}, and adds others`, () => {
      const chance = new Chance(1);
      const world = new World(chance);
      const index = new SpelledIndex();
      const oracle = new Oracle();
      for (const _ of [1, 2]) {
        const entries = Array.from({ length: ENTRIES }, () => world.entry()).sort(compare);
        for (const entry of entries) index.put(entry);
        oracle.load(entries);
        assertSame(index, oracle, world, 60);
        for (const [at, { id }] of entries.entries()) {
          assert.equal(index.remove(id), oracle.remove(id));
          if (at % (ENTRIES / 12) === ENTRIES / 12 - 1) assertSame(index, oracle, world, 15);
        }
        assert.equal(index.size, 0);
        assert.deepEqual(index.search(EVERYTHING, WORLD_BEGINS_MS), { entries: [], total: 0, more: false });
      }
    });
  }

  it(`agrees with the oracle on ${CROWD} entries in one place, as they are added and removed`, () => {
    const chance = new Chance(2);
    const world = new World(chance);
    const here = { lat: 48.2, lng: 16.37 };
    const crowd = Array.from({ length: CROWD }, () => world.entry(here));
    const index = new SpelledIndex();
    const oracle = new Oracle();
    index.load(crowd.slice(0, CROWD / 2));
    for (const entry of crowd.slice(CROWD / 2)) index.put(entry);
    oracle.load(crowd);
    const query = (): IndexQuery => ({ ...world.query(crowd), ...here });
    for (let searches = 0; searches < 40; searches++) {
      const asked = query();
      assert.deepEqual(index.search(asked, WORLD_BEGINS_MS), oracle.search(asked, WORLD_BEGINS_MS));
      for (const { id } of chance.some(crowd, 0.02)) {
        assert.equal(index.remove(id), oracle.remove(id));
      }
    }
  });

  it('drops all entries when they end at once, and finds them again when the clock is set back', () => {
    const world = new World(new Chance(3));
    const entries = Array.from({ length: 5_000 }, () => world.entry());
    const index = new SpelledIndex();
    const oracle = new Oracle();
    index.load(entries);
    oracle.load(entries);
    const latest = Math.max(...entries.map(({ endsMs }) => endsMs));
    assert.equal(index.search(EVERYTHING, latest).total, 0);
    const late = new SpelledIndex();
    late.load(entries, latest);
    assertSame(late, oracle, world, 50);
    assert.equal(index.search(EVERYTHING, latest - 1).total, oracle.search(EVERYTHING, latest - 1).total);
    assertSame(index, oracle, world, 200);
  });
});

describe(`the index of ${MOST} entries`, () => {
  const chance = new Chance(4);
  const world = new World(chance);
  const entries: IndexEntry[] = [];
  const index = new EventIndex();

  it(`returns the results of brute force, before and after ${WRITES} writes`, () => {
    const loader = index.loader(MOST, WORLD_BEGINS_MS);
    for (let made = 0; made < MOST; made++) {
      const entry = world.entry();
      entries.push(entry);
      loader.add(entry);
    }
    for (const _ of loader.finish());
    for (let searches = 0; searches < 30; searches++) assertAgrees();
    for (let writes = 0; writes < WRITES; writes++) {
      const at = chance.integer(0, entries.length - 1);
      const { id, version } = entries[at]!;
      if (chance.chance(0.5)) entries[at] = world.entry({ id, version: version + 1 });
      else {
        index.remove(id);
        entries[at] = world.entry();
      }
      index.put(entries[at]!);
    }
    assert.equal(index.size, MOST);
    for (let searches = 0; searches < 30; searches++) assertAgrees();
  });

  function assertAgrees(): void {
    const query = world.query(entries);
    const found = index.search(query, WORLD_BEGINS_MS);
    const expected = bruteForce(query);
    assert.equal(found.total, expected.total, JSON.stringify(query));
    assert.deepEqual(
      Array.from(found.handles, (handle) => index.idOf(handle)),
      expected.page.map(({ id }) => id),
    );
  }

  /** The simplest search that is fast enough for this many entries: a degree of latitude is more than 69 miles everywhere. */
  function bruteForce(query: IndexQuery): { total: number; page: IndexEntry[] } {
    const { radiusMiles, tags, after } = query;
    const matching = entries.filter(
      (entry) =>
        entry.endsMs > WORLD_BEGINS_MS &&
        (query.status === 'any' || entry.isCancelled === (query.status === 'cancelled')) &&
        entry.startMs >= query.startsFromMs &&
        entry.startMs < query.startsBeforeMs &&
        (tags === undefined || tags.has[entry.tag] === 1) &&
        (radiusMiles === undefined ||
          (Math.abs(entry.lat - query.lat) * 69 <= radiusMiles &&
            haversineMiles(query, entry) <= radiusMiles)),
    );
    const following = after ? matching.filter((entry) => byStartThenId(entry, after) > 0) : matching;
    return { total: matching.length, page: following.sort(byStartThenId).slice(0, query.limit) };
  }
});
