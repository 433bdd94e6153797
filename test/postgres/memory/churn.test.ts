// Searches from memory compared with the same searches by SQL, while events are created, changed and deleted in every way: by
// another node, in transactions that end in another order than they began, in savepoints, many at once, and by hand.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../../src/config.ts';
import {
  AUDIENCES,
  EVENT_COLUMNS,
  EVENT_TYPES,
  type EventRow,
  encodeEvent,
} from '../../../src/domain/events/event.ts';
import { type NearbyQuery, readNearby } from '../../../src/domain/events/nearby.ts';
import { WHENS } from '../../../src/domain/events/when.ts';
import type { NearbyPage } from '../../../src/domain/store.ts';
import { PostgresBulkWriter } from '../../../src/postgres/bulk.ts';
import { Database } from '../../../src/postgres/client/database.ts';
import { SearchZones } from '../../../src/postgres/search-when.ts';
import { searchDatabase } from '../../../src/postgres/sql-searches.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { TIMEZONES } from '../../memory/search-oracle.ts';
import { WORLD_BEGINS_MS, World } from '../../spatial/world.ts';
import {
  addAgent,
  auditOf,
  newAgentRow,
  newEventRow,
  newKey,
  search as searchFor,
} from '../../store/rows.ts';
import { newDatabase } from '../../support/postgres.ts';
import { Chance } from '../../support/random.ts';
import { size } from '../../support/sizes.ts';
import { oracleMatches, randomSearch, randomText } from '../../support/words-oracle.ts';

const SEED = 20_261_116;
const LOADED = 3_000;
const ROUNDS = size(10, 200);
const SEARCHES_PER_ROUND = size(20, 100);

/** On a busy machine, a primary may seem lost for a moment. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== 'UNAVAILABLE' && code !== 'OVERLOADED') throw error;
      await sleep(50);
    }
  }
}

describe(`${ROUNDS * SEARCHES_PER_ROUND} searches from memory and by SQL`, () => {
  const chance = new Chance(SEED);
  const world = new World(chance);
  const agent = newAgentRow();
  /** Owns what transactions by hand insert. With savepoints beside updates of its row, PostgreSQL 15 fails (multixact). */
  const byHand = newAgentRow();
  const rows: EventRow[] = [];
  let url: string;
  let node: PostgresStore;
  let other: PostgresStore;
  let database: Database;
  let sql: postgres.Sql;
  const zones = new SearchZones();

  function newRow(of: { readonly agent_id: string }, fields: Partial<EventRow> = {}): EventRow {
    const { id, startMs, endsMs, lat, lng, isCancelled } = world.entry();
    const status = isCancelled ? 'cancelled' : 'scheduled';
    const [event_type, audience] = [chance.pick(EVENT_TYPES), chance.pick(AUDIENCES)];
    const times = { start_ms: startMs, end_ms: endsMs };
    const timezone = chance.pick(TIMEZONES);
    const description = randomText(chance);
    return newEventRow(of, {
      event_id: id,
      ...times,
      timezone,
      lat,
      lng,
      event_type,
      audience,
      description,
      status,
      ...fields,
    });
  }

  before(async () => {
    url = await newDatabase();
    const options = readConfig({ DATABASE_URL: url }).database!;
    const writer = await PostgresBulkWriter.open(options);
    await writer.addAgent(agent, newKey());
    await writer.addAgent(byHand, newKey());
    rows.push(...Array.from({ length: LOADED }, () => newRow(agent)));
    await writer.createEvents(rows, 0);
    await writer.close();
    // A small cache, so that most pages read some events.
    node = await PostgresStore.open({ ...options, cacheBytes: 100_000 });
    other = await PostgresStore.open({ ...options, search: 'database' });
    database = await Database.open({ ...options, poolSize: 4, poolTimeoutMs: 60_000 });
    sql = postgres(url, { max: 8, onnotice: () => {} });
    while (node.eventsInMemory === undefined) await sleep(5);
    assert.equal(node.eventsInMemory, LOADED);
  });
  after(async () => {
    await sql.end();
    await Promise.all([node.close(), other.close(), database.close()]);
  });

  const insert = (to: postgres.ISql, row: EventRow) => to`
    INSERT INTO events ${sql({ ...columnsOf(row), json: encodeEvent(row) })}`;
  const columnsOf = (row: EventRow) => Object.fromEntries(EVENT_COLUMNS.map(([name]) => [name, row[name]]));

  /** One change, by a way chosen at random. */
  async function change(): Promise<void> {
    const kind = chance.next();
    const at = chance.integer(0, rows.length - 1);
    const row = rows[at]!;
    if (kind < 0.4) {
      const created = newRow(agent);
      rows.push(created);
      await retried(() => other.createEvent(created, 0));
    } else if (kind < 0.7) {
      const moved = newRow(agent, { event_id: row.event_id, version: row.version + 1 });
      rows[at] = moved;
      await retried(() => other.replaceEvent(moved)); // fails if it was deleted or changed meanwhile
    } else if (kind < 0.85) await retried(() => other.deleteEvent(row.event_id, agent.agent_id));
    else if (kind < 0.9) {
      // By hand, without a new version.
      const json = encodeEvent({ ...row, description: `by hand ${chance.next()}` });
      await sql`UPDATE events SET json = ${json}, start_ms = start_ms + 1 WHERE event_id = ${row.event_id}`;
    } else if (kind < 0.95) {
      const [slow, quick] = [newRow(byHand), newRow(byHand)];
      await sql.begin(async (transaction) => {
        await insert(transaction, slow);
        await insert(sql, quick);
      });
    } else {
      const [kept, undone] = [newRow(byHand), newRow(byHand)];
      await sql.begin(async (transaction) => {
        await transaction.savepoint((savepoint) => insert(savepoint, kept));
        const undo = transaction.savepoint(async (savepoint) => {
          await insert(savepoint, undone);
          await savepoint`DELETE FROM events WHERE event_id = ${kept.event_id}`;
          throw new Error('undo');
        });
        await undo.catch(() => {});
      });
    }
  }

  /** Many events at once: more than a poll returns. */
  async function changeMany(): Promise<void> {
    const { agent: many } = await addAgent(other);
    const prefix = chance.ulid().slice(0, 20);
    const ids = sql`SELECT ${prefix} || lpad(number::text, 6, '0') AS id FROM generate_series(1, 2500) AS number`;
    const row = newRow(many);
    await sql`INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
      SELECT new.id, ${many.agent_id}, 1, new.id, ${row.start_ms}, ${row.lat}, ${row.lng}, 'all', 'talk', 'UTC', 'scheduled', 0, '{}' FROM (${ids}) AS new`;
    await sql`UPDATE agents SET event_count = 2500 WHERE agent_id = ${many.agent_id}`;
    await compare(5);
    await retried(() => other.deleteAll(many.agent_id, auditOf('delete_agent', many.agent_id), true));
  }

  function newQuery(): NearbyQuery {
    const query = world.query([]);
    const types = chance.some(EVENT_TYPES);
    return searchFor({
      lat: query.lat,
      lng: query.lng,
      radiusMiles: chance.chance(0.2) ? undefined : chance.pick([1, 10, 100, 1_000, 9_000]),
      types: chance.chance(0.2) && types.length > 0 ? types : undefined,
      status: query.status,
      terms: chance.chance(0.3) ? newTerms() : undefined,
      startsFromMs: chance.chance(0.2) ? chance.pick(rows).start_ms : undefined,
      activeFromMs: chance.chance(0.2) ? chance.pick(rows).start_ms : undefined,
      when: chance.chance(0.3) ? chance.pick(WHENS) : undefined,
      sort: chance.pick(['start', 'distance'] as const),
      limit: chance.integer(1, 100),
      details: chance.chance(0.3),
    });
  }

  function newTerms(): NearbyQuery['terms'] {
    const q = randomSearch(chance);
    const isRefused = oracleMatches(q, new Set()) === undefined;
    return readNearby({ lat: 0, lng: 0, q: isRefused ? 'hand -jazz' : q }, 'query').terms;
  }

  /** By SQL. If an older node or a person has changed events, they get their words first. */
  async function searchBySql(query: NearbyQuery, nowMs: number): Promise<NearbyPage> {
    return (await searchDatabase(database, zones, query, nowMs)) ?? other.nearby(query, nowMs);
  }

  const shown = ({ events, details, total, next }: NearbyPage) => ({
    events,
    total,
    next,
    details: details.map(({ id, startMs, lat, lng, version, updatedMs }) => ({
      ...{ id, startMs, lat, lng, version, updatedMs },
    })),
  });

  async function compare(searches: number): Promise<void> {
    const nowMs = WORLD_BEGINS_MS + chance.integer(-5, 5) * 3_600_000;
    await Promise.all(
      Array.from({ length: searches }, async () => {
        for (let query: NearbyQuery | undefined = newQuery(), pages = 0; query && pages < 3; pages++) {
          const [found, expected] = await Promise.all([
            retried(() => node.nearby(query!, nowMs)),
            retried(() => searchBySql(query!, nowMs)),
          ]);
          assert.deepEqual(shown(found!), shown(expected!), JSON.stringify(query));
          query = expected!.next && { ...query, after: expected!.next };
        }
      }),
    );
  }

  it('find the same', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      let isChanging = true;
      const changing = Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let count = 0; count < 10; count++) await change();
        }),
      ).finally(() => {
        isChanging = false;
      });
      // Nothing to compare with, but these read events that change meanwhile.
      while (isChanging) await retried(() => node.nearby(newQuery(), WORLD_BEGINS_MS));
      await changing;
      await compare(SEARCHES_PER_ROUND);
      if (round % 10 === 5) await changeMany();
    }
    assert.notEqual(node.eventsInMemory, undefined, 'searches were from memory');
  });

  it('find the same after all events are truncated', async () => {
    await sql`TRUNCATE events`;
    await compare(3);
    while (node.eventsInMemory === undefined) await sleep(5);
    await other.createEvent(newRow(agent), 0);
    await compare(3);
    assert.equal(node.eventsInMemory, 1);
  });
});
