// The index compared with the brute-force oracle: every page and total of 24,000 searches (6,000 in a short run), during writes and as time passes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { IndexEntry, IndexQuery } from '../../src/spatial/index-entry.ts';
import { TagSet } from '../../src/spatial/tags.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { byStartThenId, type EntryPage, type Index, Oracle, SpelledIndex } from './oracle.ts';
import { WORLD_BEGINS_MS, World } from './world.ts';

/** An index and the oracle after the same operations, and every entry ever put into them. */
class Pair {
  readonly chance: Chance;
  readonly world: World;
  readonly index: Index;
  readonly oracle = new Oracle();
  readonly entries: IndexEntry[] = [];
  nowMs = WORLD_BEGINS_MS;

  constructor(seed: number, size: number, asidePerSearch?: number) {
    this.index = new SpelledIndex(asidePerSearch);
    this.chance = new Chance(seed);
    this.world = new World(this.chance);
    for (let made = 0; made < size; made++) this.entries.push(this.world.entry());
    this.index.load(this.entries);
    this.oracle.load(this.entries);
  }

  /** Inserts, updates or removes one entry. */
  write(): void {
    const kind = this.chance.next();
    const known = this.entries.length > 0 ? this.chance.pick(this.entries) : undefined;
    if (known && kind < 0.4) {
      assert.equal(this.index.remove(known.id), this.oracle.remove(known.id));
    } else {
      this.put(known && kind < 0.7 ? this.changed(known) : this.world.entry());
    }
    assert.equal(this.index.size, this.oracle.size);
  }

  put(entry: IndexEntry): void {
    this.entries.push(entry);
    this.index.put(entry);
    this.oracle.put(entry);
    assert.deepEqual(this.index.find(entry.id), entry);
  }

  /** The next version: all fields are new, or only some. */
  changed(entry: IndexEntry): IndexEntry {
    const next = this.world.entry({ id: entry.id, version: entry.version + 1 });
    if (this.chance.chance(0.3)) return next;
    return this.chance.chance(0.5)
      ? { ...next, startMs: entry.startMs, endsMs: entry.endsMs }
      : { ...next, lat: entry.lat, lng: entry.lng };
  }

  passTime(): void {
    this.nowMs = this.world.passingTime(this.nowMs, this.entries);
  }

  search(query: IndexQuery): EntryPage {
    const found = this.index.search(query, this.nowMs);
    assert.deepEqual(found, this.oracle.search(query, this.nowMs), () => JSON.stringify(query));
    return found;
  }
}

/** All pages of a search, one after another. */
function walk(pair: Pair, query: IndexQuery, between: () => void = () => {}): EntryPage[] {
  const pages: EntryPage[] = [];
  for (let after = query.after; ; between()) {
    const page = pair.search({ ...query, after });
    pages.push(page);
    const last = page.entries.at(-1);
    if (!page.more || !last) return pages;
    after = { startMs: last.startMs, id: last.id };
  }
}

const WORLDS = [
  { events: 0, searches: 500 },
  { events: 1, searches: 500 },
  { events: 127, searches: 2_000 },
  { events: 128, searches: 2_000 },
  { events: 129, searches: 2_000 },
  { events: 600, searches: 10_000 },
  { events: 3_000, searches: 2_600 },
  { events: 12_000, searches: 400 },
  // Ended events that stay in the index, for ever or for long.
  { events: 600, searches: 3_000, asidePerSearch: 0 },
  { events: 3_000, searches: 1_000, asidePerSearch: 1 },
];

describe('the index', () => {
  for (const [seed, { events, searches: all, asidePerSearch }] of WORLDS.entries()) {
    const searches = size(all / 4, all);
    const pace = asidePerSearch === undefined ? '' : `, ${asidePerSearch} ended events set aside per search`;
    it(`returns the results of brute force for ${searches} searches among ${events} events, during writes${pace}`, () => {
      const pair = new Pair(seed, events, asidePerSearch);
      const seen = { found: 0, empty: 0, more: 0 };
      for (let done = 0; done < searches; done++) {
        if (pair.chance.chance(0.5)) pair.write();
        if (pair.chance.chance(0.02)) pair.passTime();
        // The clock has passed most of this world's events: set it back to the start.
        if (pair.nowMs > WORLD_BEGINS_MS + 30 * 86_400_000) pair.nowMs = WORLD_BEGINS_MS;
        const { total, more } = pair.search(pair.world.query(pair.entries));
        seen[total === 0 ? 'empty' : 'found']++;
        if (more) seen.more++;
      }
      // Searches that find nothing, or fit on one page, would prove nothing.
      if (events > 100)
        assert.ok(Math.min(seen.found, seen.empty, seen.more) > searches / 20, JSON.stringify(seen));
    });
  }

  it('returns whole searches page by page, with the same total on every page', () => {
    const pair = new Pair(100, 1_000);
    for (let walks = 0; walks < 150; walks++) {
      pair.passTime();
      const query = { ...pair.world.query(pair.entries), after: undefined };
      const all = pair.oracle.matches(query, pair.nowMs);
      const pages = walk(pair, query);
      assert.deepEqual(
        pages.flatMap((page) => page.entries),
        all,
      );
      for (const page of pages) assert.equal(page.total, all.length);
      assert.equal(pages.length, Math.max(1, Math.ceil(all.length / query.limit)));
    }
  });

  it('neither repeats nor skips an unchanged entry on a walk while others change', () => {
    const pair = new Pair(101, 600);
    for (let walks = 0; walks < 40; walks++) {
      const query = { ...pair.world.query(pair.entries), after: undefined, radiusMiles: undefined, limit: 7 };
      const before = pair.oracle.matches(query, pair.nowMs);
      const pages = walk(pair, query, () => pair.write());
      const stable = before.filter((entry) => isDeepStrictEqual(pair.index.find(entry.id), entry));
      const walked = pages.flatMap((page) => page.entries);
      assert.deepEqual(
        walked.filter((entry) => stable.some(({ id }) => id === entry.id)),
        stable,
      );
      assert.deepEqual(walked, walked.toSorted(byStartThenId));
    }
  });

  it('distinguishes 1,000 entries with the same place and start by their ID', () => {
    const pair = new Pair(102, 0);
    const twin = {
      lat: 90,
      lng: 180,
      startMs: WORLD_BEGINS_MS,
      endsMs: WORLD_BEGINS_MS + 1,
      tag: 0,
    };
    for (let made = 0; made < 1_000; made++) pair.put(pair.world.entry(twin));
    const query = {
      ...pair.world.query([]),
      ...{ lat: 90, lng: 0, radiusMiles: 0.1, tags: new TagSet([0]), limit: 30, after: undefined },
      ...{ startsFromMs: WORLD_BEGINS_MS, startsBeforeMs: WORLD_BEGINS_MS + 1, status: 'any' as const },
    };
    assert.equal(walk(pair, query).flatMap((page) => page.entries).length, 1_000);
    for (const { id } of pair.entries.slice(0, 999)) assert.equal(pair.index.remove(id), true);
    for (const { id } of pair.entries.slice(0, 999)) pair.oracle.remove(id);
    assert.deepEqual(pair.search(query).entries, pair.entries.slice(999));
  });

  for (const emptied of [0, 2, 5]) {
    it(`searches correctly by start when block ${emptied} of six becomes empty between full ones`, () => {
      const pair = new Pair(110 + emptied, 0);
      // The size of a block of the list by start after loading.
      const stretch = 384;
      const begin = WORLD_BEGINS_MS;
      const newEntry = (startMs: number) => pair.world.entry({ startMs, endsMs: begin + 1e9 });
      const entries = Array.from({ length: 6 * stretch }, (_, at) => newEntry(begin + 10 * at));
      pair.index.load(entries);
      pair.oracle.load(entries);
      pair.entries.push(...entries);
      for (let at = 0; at < 6; at++) pair.put(newEntry(begin + 10 * at * stretch + 5));
      const from = begin + 10 * emptied * stretch;
      for (const { id, startMs } of [...pair.entries]) {
        if (startMs < from || startMs >= from + 10 * stretch) continue;
        assert.equal(pair.index.remove(id), pair.oracle.remove(id));
      }
      for (let search = 0; search < 300; search++) {
        const startsFromMs = begin + pair.chance.integer(-1_000, 60 * stretch);
        const startsBeforeMs = startsFromMs + pair.chance.pick([500, 10 * stretch, 1e9]);
        const query = { ...pair.world.query(pair.entries), radiusMiles: undefined };
        pair.search({ ...query, startsFromMs, startsBeforeMs });
        pair.search({ ...query, tags: undefined, after: undefined, startsFromMs, startsBeforeMs });
      }
    });
  }

  it('leaves an entry out from the moment it ends', () => {
    const pair = new Pair(103, 0);
    const entry = pair.world.entry({ endsMs: WORLD_BEGINS_MS });
    pair.put(entry);
    const query: IndexQuery = {
      ...{ lat: 0, lng: 0, radiusMiles: undefined, tags: undefined },
      ...{ startsFromMs: Number.NEGATIVE_INFINITY, startsBeforeMs: Number.POSITIVE_INFINITY },
      ...{ status: 'any', after: undefined, limit: 1 },
    };
    assert.equal(pair.index.search(query, WORLD_BEGINS_MS - 1).total, 1);
    assert.equal(pair.index.search(query, WORLD_BEGINS_MS).total, 0);
    assert.deepEqual(pair.index.find(entry.id), entry);
  });

  it('returns whether there was an entry to remove', () => {
    const pair = new Pair(104, 3);
    const { id } = pair.entries[0]!;
    assert.deepEqual([pair.index.remove(id), pair.index.remove(id)], [true, false]);
    assert.equal(pair.index.find(id), undefined);
    assert.equal(pair.index.size, 2);
  });
});
