// The index of the embedded engine compared with PostGIS, by the statement that the other engine sends: searches over the
// globe find the same events in the same order, except for events on the rim.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { METRES_PER_MILE } from '../../src/domain/events/geo.ts';
import type { NearbyQuery } from '../../src/domain/events/nearby.ts';
import { toEntry, toIndexQuery } from '../../src/memory/index-mapping.ts';
import { PostgresBulkWriter } from '../../src/postgres/bulk.ts';
import { Database } from '../../src/postgres/client/database.ts';
import { searchStatement } from '../../src/postgres/search.ts';
import { EventIndex } from '../../src/spatial/event-index.ts';
import { WORLD_BEGINS_MS } from '../spatial/world.ts';
import { newAgentRow, newKey } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';
import { Globe, metresBetween } from './globe.ts';

const SEED = 20_261_115;
const EVENTS = 2_500;
const SEARCHES = size(2_000, 20_000);

/** Searches sent to PostgreSQL together; time passes between two rounds. */
const ROUND = 100;
const ROUND_MS = 3 * 3_600_000;

/** A limit that puts all events on one page. */
const EVERY = 1_000_000;

const RIM_METRES = 0.001;

describe(`${SEARCHES} searches over the globe`, () => {
  const agent = newAgentRow();
  const globe = new Globe(SEED, agent, EVENTS);
  const placeOf = new Map(globe.rows.map((row) => [row.event_id, row]));
  const index = new EventIndex();
  let opened: Database;

  before(async () => {
    const loader = index.loader(EVENTS);
    for (const [at, row] of globe.rows.entries()) loader.add(toEntry(row, at, 0, 1));
    for (const _ of loader.finish());
    const { database } = readConfig({ DATABASE_URL: await newDatabase() });
    const writer = await PostgresBulkWriter.open(database!);
    await writer.addAgent(agent, newKey());
    const outcomes = await writer.createEvents(globe.rows, 0);
    assert.ok(outcomes.every((outcome) => outcome === 'created'));
    await writer.close();
    opened = await Database.open({ ...database!, poolSize: 2, poolTimeoutMs: 60_000 });
    await opened.run('repeatable', (sql) => sql`ANALYZE events`);
  });
  after(() => opened.close());

  /** The IDs that the index finds, in order, page by page. */
  function findInIndex(query: NearbyQuery, nowMs: number): string[] {
    const ids: string[] = [];
    let wanted = toIndexQuery(query);
    for (;;) {
      const { handles, total, more } = index.search(wanted, nowMs);
      for (const handle of handles) ids.push(globe.rows[index.rowOf(handle)]!.event_id);
      if (!more) {
        assert.equal(total, ids.length);
        return ids;
      }
      const last = handles.at(-1)!;
      wanted = { ...wanted, after: { startMs: index.startMsOf(last), id: index.idOf(last) } };
    }
  }

  /** A hash of the IDs that PostGIS finds: most searches agree, and some find thousands. */
  async function hashInPostgis(query: NearbyQuery, nowMs: number): Promise<string> {
    const { text, values } = searchStatement({ ...query, limit: EVERY }, nowMs);
    const wrapped = `SELECT md5(coalesce(string_agg(event_id, ''), '')) AS ids, min(total) = count(event_id) AS is_total
      FROM (${text}) AS answer`;
    const [row] = await opened.run('repeatable', (sql) =>
      sql.unsafe<{ ids: string; is_total: boolean }[]>(wrapped, [...values], { prepare: true }),
    );
    assert.ok(row!.is_total, `the total is wrong: ${JSON.stringify(query)}`);
    return row!.ids;
  }

  async function findInPostgis(query: NearbyQuery, nowMs: number): Promise<string[]> {
    const { text, values } = searchStatement({ ...query, limit: EVERY }, nowMs);
    const rows = await opened.run('repeatable', (sql) =>
      sql.unsafe<{ event_id: string | null }[]>(text, [...values]),
    );
    return rows.flatMap(({ event_id }) => event_id ?? []);
  }

  /** Counts events that only one of the two finds. Throws unless each is on the rim, and the others are in the same order. */
  async function countOnRim(query: NearbyQuery, nowMs: number, ids: readonly string[]): Promise<number> {
    const found = await findInPostgis(query, nowMs);
    const [inIndex, inPostgis] = [new Set(ids), new Set(found)];
    const different = inIndex.symmetricDifference(inPostgis);
    const radiusMetres = query.radiusMiles! * METRES_PER_MILE;
    for (const id of different) {
      const metres = metresBetween(query, placeOf.get(id)!);
      const who = inIndex.has(id) ? 'only the index' : 'only PostGIS';
      const shown = `${JSON.stringify(query)} at ${nowMs}: ${who} finds ${JSON.stringify(placeOf.get(id))}`;
      assert.ok(
        Math.abs(metres - radiusMetres) <= RIM_METRES,
        `${shown}, ${metres} m of ${radiusMetres} m away`,
      );
    }
    const both = (list: readonly string[]) => list.filter((id) => !different.has(id));
    assert.deepEqual(both(ids), both(found));
    return different.size;
  }

  it('find the same events, except within a millimetre of the rim', async (test) => {
    let nowMs = WORLD_BEGINS_MS - 30 * 86_400_000;
    let [found, onRim, rims] = [0, 0, 0];
    for (let done = 0; done < SEARCHES; done += ROUND) {
      nowMs += ROUND_MS;
      const queries = Array.from({ length: ROUND }, () => globe.query());
      const hashes = queries.map((query) => hashInPostgis(query, nowMs));
      const lists = queries.map((query) => findInIndex(query, nowMs));
      for (const [at, ids] of lists.entries()) {
        found += ids.length;
        if (hash('md5', ids.join('')) === (await hashes[at])) continue;
        onRim += await countOnRim(queries[at]!, nowMs, ids);
        rims++;
      }
    }
    test.diagnostic(
      `${found} events found; ${onRim} on the rims of ${rims} searches by one of the two alone`,
    );
    assert.ok(found > 50 * SEARCHES);
  });
});
