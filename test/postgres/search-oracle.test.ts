// Searches by SQL compared with the brute-force oracle over all parameters together. Some rows have their timezone in another spelling.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { chordBetween, type NearbyQuery } from '../../src/domain/events/nearby.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { findByRule, SearchWorld } from '../memory/search-oracle.ts';
import { addAgent, addEvent, idOf } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';

const WORLDS = size(3, 12);
const EVENTS = size(250, 600);
const SEARCHES_PER_WORLD = size(60, 250);

describe(`${WORLDS * SEARCHES_PER_WORLD} searches by SQL find what the oracle finds`, () => {
  for (let seed = 1; seed <= WORLDS; seed++) {
    describe(`seed ${seed}`, () => {
      const chance = new Chance(seed);
      const rows: EventRow[] = [];
      let store: PostgresStore;
      let sql: postgres.Sql;
      let world: SearchWorld;
      before(async () => {
        const url = await newDatabase();
        sql = postgres(url, { max: 1, onnotice: () => {} });
        store = await PostgresStore.open({
          ...readConfig({ DATABASE_URL: url }).database!,
          search: 'database',
        });
        const { agent } = await addAgent(store);
        world = new SearchWorld(chance, agent);
        while (rows.length < EVENTS) rows.push(await addEvent(store, agent, world.row()));
        await sql`UPDATE events SET timezone = upper(timezone) WHERE event_id < '2'`;
      });
      after(() => Promise.all([store.close(), sql.end()]));

      it('finds the same pages and totals', async () => {
        let nowMs = world.beginsMs - chance.integer(0, 48) * 3_600_000;
        for (let count = 0; count < SEARCHES_PER_WORLD; ) {
          let query: NearbyQuery | undefined = world.query(rows);
          for (let pages = 0; query && pages < 4; pages++, count++) {
            const asked: NearbyQuery = query;
            const { events, details, total, next } = await store.nearby({ ...asked, details: true }, nowMs);
            const found = { ids: events.map(idOf), total, more: next !== undefined };
            assert.deepEqual(found, findByRule(rows, asked, nowMs), () => JSON.stringify({ asked, nowMs }));
            if (asked.sort === 'distance' && next)
              assert.equal(next.chord, chordBetween(asked, details.at(-1)!));
            query = next && { ...asked, after: next };
          }
          if (chance.chance(0.5)) nowMs = world.passingTime(nowMs);
        }
      });
    });
  }
});
