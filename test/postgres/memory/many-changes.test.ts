// More changes between two searches than a poll returns: deletes of many events, some of which are there again, in transactions that
// end in another order than they began. The node has what the database has.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionSql } from 'postgres';
import { readConfig } from '../../../src/config.ts';
import type { AgentRow } from '../../../src/domain/agent.ts';
import { fromWire } from '../../../src/domain/wire.ts';
import { PostgresBulkWriter } from '../../../src/postgres/bulk.ts';
import type { SearchChange } from '../../../src/postgres/memory/node-events.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { NOW_MS, newAgentRow, newEventRow, newKey, search } from '../../store/rows.ts';
import { newDatabase } from '../../support/postgres.ts';
import { Chance } from '../../support/random.ts';
import { size } from '../../support/sizes.ts';
import { Side } from '../side.ts';

const EVENTS = 9_000;
/** Each transaction changes the events of one agent, so that none waits for another. */
const AGENTS = 3;
const ROUNDS = size(5, 100);

describe('many changes at once', { timeout: size(120_000, 600_000) }, () => {
  const chance = new Chance(15);
  const agents = Array.from({ length: AGENTS }, () => newAgentRow());
  const changes: SearchChange[] = [];
  let node: PostgresStore;
  let side: Side;

  before(async () => {
    const url = await newDatabase();
    const options = readConfig({ DATABASE_URL: url }).database!;
    const writer = await PostgresBulkWriter.open(options);
    for (const agent of agents) await writer.addAgent(agent, newKey());
    await writer.createEvents(
      Array.from({ length: EVENTS }, (_, at) => newEventRow(agents[at % AGENTS]!)),
      0,
    );
    await writer.close();
    side = new Side(url);
    await side.sql`CREATE TABLE kept AS
      SELECT event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json FROM events`;
    await side.sql`CREATE UNIQUE INDEX ON kept (event_id)`;
    node = await PostgresStore.open({
      ...options,
      cacheBytes: 10_000_000,
      onChange: (change) => changes.push(change),
    });
    while (node.eventsInMemory === undefined) await sleep(5);
  });
  after(() => Promise.all([node.close(), side.close()]));

  async function assertSame(): Promise<void> {
    const stored = await side.sql`SELECT event_id, json FROM events ORDER BY start_ms, event_id`;
    const expected = { total: stored.length, events: stored.slice(0, 100).map(({ json }) => json) };
    for (const isFromMemory of [false, true]) {
      // The first search may be answered by SQL, because memory takes long to follow.
      while (isFromMemory && node.eventsInMemory !== stored.length) await sleep(5);
      const { total, events } = await node.nearby(search({ limit: 100 }), NOW_MS);
      assert.deepEqual({ total, events: events.map((json) => fromWire(json)) }, expected);
    }
  }

  const share = () => chance.pick([0, 0.01, 0.5, 1]);
  const steps: ((sql: TransactionSql, { agent_id }: AgentRow) => Promise<unknown>)[] = [
    (sql, { agent_id }) => sql`
      DELETE FROM events USING kept WHERE events.event_id = kept.event_id AND kept.agent_id = ${agent_id} AND random() < ${share()}`,
    (sql, { agent_id }) => sql`
      INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
      SELECT event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json FROM kept
      WHERE agent_id = ${agent_id} AND random() < ${share()} ON CONFLICT DO NOTHING`,
    (sql, { agent_id }) => sql`
      UPDATE events SET version = events.version + 1, start_ms = events.start_ms + 1 FROM kept
      WHERE events.event_id = kept.event_id AND kept.agent_id = ${agent_id} AND random() < ${share()}`,
  ];

  it('are followed, in any order and mix', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const held: { release(): Promise<void> }[] = [];
      for (const agent of agents) {
        const transaction = await side.hold(async (sql) => {
          for (let step = chance.integer(1, 3); step > 0; step--) await chance.pick(steps)(sql, agent);
        });
        held.push(transaction);
        if (chance.next() < 0.3) await assertSame();
      }
      while (held.length > 0) {
        await held.splice(chance.integer(0, held.length - 1), 1)[0]!.release();
        if (chance.next() < 0.3) await assertSame();
      }
      await assertSame();
    }
    assert.deepEqual(
      changes.map(({ by }) => by),
      ['memory'],
      'nothing was loaded again',
    );
  });

  it('are followed if all events are deleted in one statement, and inserted again', async () => {
    for (let round = 0; round < size(1, 3); round++) {
      await side.sql`DELETE FROM events`;
      await assertSame();
      await side.sql`
        INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
        SELECT event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json FROM kept`;
      await assertSame();
    }
  });
});
