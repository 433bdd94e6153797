// Events that are hidden all at once and dropped little by little: no search ever finds or counts them, unless they come back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IndexEntry } from '../../src/spatial/index-entry.ts';
import { Chance } from '../support/random.ts';
import { Oracle, SpelledIndex } from './oracle.ts';
import { WORLD_BEGINS_MS, World } from './world.ts';

const OWNERS = 4;

/** An index and the oracle after the same operations; rows are numbered in the order of creation. */
class Pair {
  readonly chance: Chance;
  readonly world: World;
  readonly index: SpelledIndex;
  readonly oracle = new Oracle();
  readonly owners = new Map<string, { readonly owner: number; readonly row: number }>();
  readonly entries: IndexEntry[] = [];
  lastRow = 0;

  constructor(seed: number, droppedPerSearch: number | undefined) {
    this.chance = new Chance(seed);
    this.world = new World(this.chance);
    this.index = new SpelledIndex(droppedPerSearch);
    const loaded = Array.from({ length: 400 }, () => this.#newEntry());
    this.index.load(loaded.map((entry) => ({ ...entry, owner: this.owners.get(entry.id)!.owner })));
    this.oracle.load(loaded);
  }

  #newEntry(): IndexEntry {
    const entry = this.world.entry({ row: ++this.lastRow });
    this.owners.set(entry.id, { owner: this.chance.integer(1, OWNERS), row: entry.row });
    this.entries.push(entry);
    return entry;
  }

  add(): void {
    const entry = this.#newEntry();
    this.index.put({ ...entry, owner: this.owners.get(entry.id)!.owner });
    this.oracle.put(entry);
  }

  remove(): void {
    const { id } = this.chance.pick(this.entries);
    this.owners.delete(id);
    assert.equal(this.index.remove(id), this.oracle.remove(id));
  }

  /** Hides some events by ID, among others that are not there. */
  hideSome(): void {
    const known = Array.from({ length: this.chance.integer(1, 40) }, () => this.chance.pick(this.entries).id);
    const unknown = this.chance.some(['', this.chance.ulid(), 'short', 'A'.repeat(40)]);
    const ids = new Set(this.chance.chance(0.5) ? [...unknown, ...known] : [...known, ...unknown]);
    const text = Buffer.from([...ids].join(','));
    const hidden = Array.from(this.index.index.hideMany(text), (handle) => this.index.index.idOf(handle));
    for (const id of ids) {
      this.owners.delete(id);
      if (this.oracle.remove(id)) assert.ok(hidden.includes(id));
      assert.equal(this.index.find(id), undefined);
    }
    for (const id of hidden) assert.ok(ids.has(id));
  }

  /** Puts an event that was there before, or still is, at another place and time. */
  putAgain(): void {
    const { id } = this.chance.pick(this.entries);
    const entry = { ...this.world.entry({ row: ++this.lastRow }), id };
    this.owners.set(id, { owner: this.chance.integer(1, OWNERS), row: entry.row });
    this.index.put({ ...entry, owner: this.owners.get(id)!.owner });
    this.oracle.put(entry);
  }

  hideOf(): void {
    const owner = this.chance.integer(1, OWNERS);
    const upToRow = this.chance.chance(0.5) ? this.lastRow : this.chance.integer(1, this.lastRow);
    this.index.index.hideOf(owner, upToRow);
    for (const [id, of] of this.owners) {
      if (of.owner !== owner || of.row > upToRow) continue;
      this.owners.delete(id);
      this.oracle.remove(id);
      assert.equal(this.index.find(id), undefined);
    }
  }
}

describe('hidden events', () => {
  for (const [seed, droppedPerSearch] of [undefined, 0, 1, 7].entries()) {
    it(`are in no search${droppedPerSearch === undefined ? '' : `, with ${droppedPerSearch} dropped per search`}`, () => {
      const pair = new Pair(seed, droppedPerSearch);
      let nowMs = WORLD_BEGINS_MS;
      for (let step = 0; step < 3_000; step++) {
        const kind = pair.chance.next();
        if (kind < 0.3) pair.add();
        else if (kind < 0.4) pair.remove();
        else if (kind < 0.42) pair.hideOf();
        else if (kind < 0.44) pair.hideSome();
        else if (kind < 0.5) pair.putAgain();
        else if (kind < 0.52) nowMs = pair.world.passingTime(nowMs, pair.entries);
        if (nowMs > WORLD_BEGINS_MS + 30 * 86_400_000) nowMs = WORLD_BEGINS_MS;
        const query = pair.world.query(pair.entries);
        assert.deepEqual(pair.index.search(query, nowMs), pair.oracle.search(query, nowMs));
        assert.equal(pair.index.size, pair.oracle.size);
      }
      const ended = new Set([...pair.index.index.idsEndedBy(nowMs, 50)].flat());
      for (const { id } of pair.entries) {
        const entry = pair.oracle.find(id);
        assert.equal(ended.has(id), entry !== undefined && entry.endsMs <= nowMs);
      }
    });
  }
});
