// Searches in memory compared with the brute-force oracle over all parameters together: every timezone, clock changes, both orders,
// pages and totals, during writes and as time passes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import { wordsOf } from '../../src/domain/events/words.ts';
import { EventMemory } from '../../src/memory/event-memory.ts';
import { idOf } from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { findByRule, type OracleQuery, SearchWorld, TIMEZONES } from './search-oracle.ts';

const WORLDS = size(8, 80);
const SEARCHES_PER_WORLD = size(50, 250);
const AGENT = { agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90' };
const NO_STORAGE = {
  readEvents: () => Promise.reject(new Error('everything is in the cache')),
  catchUp: () => Promise.resolve(),
};

/** Events in memory, and the rows that must be there. */
class Pair {
  readonly chance: Chance;
  readonly world: SearchWorld;
  readonly memory = new EventMemory(2 ** 30, NO_STORAGE);
  readonly rows = new Map<string, EventRow>();
  nowMs: number;
  #row = 0;

  constructor(seed: number, events: number) {
    this.chance = new Chance(seed);
    this.world = new SearchWorld(this.chance, AGENT);
    this.nowMs = this.world.beginsMs - this.chance.integer(0, 48) * 3_600_000;
    for (let count = 0; count < events; count++) this.put(this.world.row());
  }

  put(row: EventRow): void {
    this.rows.set(row.event_id, row);
    this.memory.put(row, encodeEvent(row), ++this.#row, wordsOf(row));
  }

  write(): void {
    const known = this.chance.pick([...this.rows.values()]);
    const kind = this.chance.next();
    if (kind < 0.3) this.put(this.world.row());
    else if (kind < 0.6) this.put(this.world.row({ event_id: known.event_id, version: known.version + 1 }));
    else {
      this.rows.delete(known.event_id);
      if (this.chance.chance(0.5)) this.memory.remove(known.event_id);
      else this.memory.removeMany(Buffer.from(known.event_id));
    }
  }

  /** Compares a page; returns the search for the next one. */
  async compare(query: OracleQuery): Promise<OracleQuery | undefined> {
    const { events, total, next } = await this.memory.search(query, this.nowMs);
    const found = { ids: events.map(idOf), total, more: next !== undefined };
    assert.deepEqual(found, findByRule(this.rows.values(), query, this.nowMs), () =>
      JSON.stringify({ query, now: new Date(this.nowMs) }),
    );
    return next && { ...query, after: next };
  }
}

describe(`${WORLDS * SEARCHES_PER_WORLD} searches over all parameters find what the oracle finds`, () => {
  for (let seed = 1; seed <= WORLDS; seed++) {
    it(`seed ${seed}`, async () => {
      const pair = new Pair(seed, seed % 4 === 0 ? 2_000 : 300);
      for (let count = 0; count < SEARCHES_PER_WORLD; ) {
        let query: OracleQuery | undefined = pair.world.query([...pair.rows.values()]);
        for (let pages = 0; query && pages < 4; pages++, count++) query = await pair.compare(query);
        if (pair.chance.chance(0.5)) pair.nowMs = pair.world.passingTime(pair.nowMs);
        if (pair.chance.chance(0.4)) pair.write();
      }
    });
  }
});

it('has all timezones of the runtime', () => {
  assert.ok(TIMEZONES.length > 400);
});
