// Creates that share a statement: each has the outcome that it would have alone, and nobody waits for another agent's locks.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionSql } from 'postgres';
import { readConfig } from '../../src/config.ts';
import type { AgentRow } from '../../src/domain/agent.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { fromWire, type Wire } from '../../src/domain/wire.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, auditOf, findRow, newAgentRow, newEventRow } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { Side } from './side.ts';

const ROUNDS = size(20, 600);

function idOf({ json }: { readonly json: Wire }): string {
  return JSON.parse(fromWire(json)).event_id;
}

describe('creates at the same time', { timeout: size(60_000, 600_000) }, () => {
  let store: PostgresStore;
  let otherNode: PostgresStore;
  let side: Side;
  before(async () => {
    const url = await newDatabase();
    const { database } = readConfig({ DATABASE_URL: url });
    store = await PostgresStore.open(database!);
    otherNode = await PostgresStore.open(database!);
    side = new Side(url);
  });
  after(() => Promise.all([store.close(), otherNode.close(), side.close()]));

  const newAgents = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await addAgent(store)).agent));

  /** Number of transactions that wrote these events. */
  async function countTransactions(rows: readonly EventRow[]): Promise<number> {
    const [found] = await side.sql`
      SELECT count(DISTINCT xid)::integer AS count FROM event_changes WHERE event_id IN ${side.sql(rows.map(({ event_id }) => event_id))}`;
    return found!.count;
  }

  /** What the agent's row says, and what is stored. */
  async function countsOf({ agent_id }: AgentRow) {
    const [counted] =
      await side.sql`SELECT event_count AS events, event_bytes::integer AS bytes FROM agents WHERE agent_id = ${agent_id}`;
    const [stored] = await side.sql`
      SELECT count(*)::integer AS events, coalesce(sum(octet_length(json)), 0)::integer AS bytes FROM events WHERE agent_id = ${agent_id}`;
    return { counted: { ...counted }, stored: { ...stored } };
  }

  it('share statements, in any mix of agents', async () => {
    const agents = await newAgents(10);
    const rows = agents.flatMap((agent) => Array.from({ length: 10 }, () => newEventRow(agent)));
    const outcomes = await Promise.all(rows.map((row) => store.createEvent(row, 100, 1e6)));
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['created']));
    assert.ok((await countTransactions(rows)) < 20);
    for (const agent of agents) {
      const { counted, stored } = await countsOf(agent);
      assert.deepEqual(counted, stored);
      assert.equal(stored.events, 10);
    }
    for (const row of rows) assert.deepEqual((await findRow(store, row.event_id))?.title, row.title);
  });

  it('share statements if all are of one agent', async () => {
    const [agent] = (await newAgents(1)) as [AgentRow];
    const rows = Array.from({ length: 200 }, () => newEventRow(agent));
    const left = [...rows];
    const send = async () => {
      for (let row = left.pop(); row; row = left.pop())
        assert.equal((await store.createEvent(row, 200, 1e6)).kind, 'created');
    };
    await Promise.all(Array.from({ length: 20 }, send));
    const transactions = await countTransactions(rows);
    assert.ok(transactions < 60, `${transactions} transactions`);
    const { counted, stored } = await countsOf(agent);
    assert.deepEqual(counted, stored);
  });

  it('have an outcome each, also if the database refuses some of them', async () => {
    const [agent, full, large] = (await newAgents(3)) as [AgentRow, AgentRow, AgentRow];
    for (let number = 0; number < 3; number++) await store.createEvent(newEventRow(full), 3);
    const [{ bytes }] = [(await countsOf(full)).stored] as [{ bytes: number }];
    const there = newEventRow(agent, { title: 'there' });
    await store.createEvent(there, 3);
    const creates: [EventRow, string][] = [
      [newEventRow(full), 'limit'],
      [newEventRow(newAgentRow()), 'no-agent'],
      [newEventRow(agent, { title: 'there' }), 'existing'],
      [newEventRow(large, { description: 'x'.repeat(bytes) }), 'size-limit'],
      [newEventRow(agent, { title: 'new' }), 'created'],
      [newEventRow(large), 'created'],
    ];
    const filling = (await newAgents(4)).map((other) => store.createEvent(newEventRow(other), 3, bytes));
    const outcomes = await Promise.all(creates.map(([row]) => store.createEvent(row, 3, bytes)));
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      creates.map(([, kind]) => kind),
    );
    const existing = outcomes[2]!;
    assert.ok(existing.kind === 'existing');
    assert.equal(idOf(existing.record), there.event_id);
    assert.deepEqual(new Set((await Promise.all(filling)).map(({ kind }) => kind)), new Set(['created']));
  });

  it('create an event once that is sent many times, through both nodes', async () => {
    const [agent] = (await newAgents(1)) as [AgentRow];
    for (let round = 0; round < 20; round++) {
      const rows = Array.from({ length: 30 }, () => newEventRow(agent, { title: `same ${round}` }));
      const outcomes = await Promise.all(
        rows.map((row, at) => (at % 2 ? store : otherNode).createEvent(row, 0)),
      );
      const kinds = outcomes.map(({ kind }) => kind);
      assert.deepEqual(kinds.toSorted(), ['created', ...Array.from({ length: 29 }, () => 'existing')]);
      const created = rows[kinds.indexOf('created')]!.event_id;
      for (const outcome of outcomes)
        if (outcome.kind === 'existing') assert.equal(idOf(outcome.record), created);
    }
    const { counted, stored } = await countsOf(agent);
    assert.deepEqual(counted, stored);
    assert.equal(stored.events, 20);
  });

  const insertHeld = (sql: TransactionSql, agent_id: string) => {
    const { start_ms, lat, lng } = newEventRow({ agent_id });
    return sql`
      INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
      VALUES ('held' || random(), ${agent_id}, 1, 'held', ${start_ms}, ${lat}, ${lng}, 'all', 'talk', 'UTC', 'scheduled', 0, '{}')`;
  };

  const locks: [string, (agent: AgentRow) => Parameters<Side['hold']>[0]][] = [
    [
      'whose row is locked',
      ({ agent_id }) =>
        (sql) =>
          sql`SELECT 1 FROM agents WHERE agent_id = ${agent_id} FOR UPDATE`,
    ],
    [
      'whose events are being changed',
      ({ agent_id }) =>
        (sql) =>
          sql`SELECT pg_advisory_xact_lock(1701, hashtext(${agent_id}))`,
    ],
    [
      'who creates the same event in another transaction',
      ({ agent_id }) =>
        async (sql) => {
          await sql`SELECT pg_advisory_xact_lock_shared(1701, hashtext(${agent_id}))`;
          await insertHeld(sql, agent_id);
        },
    ],
    [
      'whose same event somebody inserts who does not know our locks',
      ({ agent_id }) =>
        (sql) =>
          insertHeld(sql, agent_id),
    ],
  ];
  for (const [name, lock] of locks) {
    it(`do not wait for an agent ${name}`, async () => {
      const [slow, ...others] = (await newAgents(6)) as [AgentRow, ...AgentRow[]];
      const { release } = await side.hold(lock(slow));
      // The first ones are created alone, the rest share a statement.
      const first = others.map((agent) => store.createEvent(newEventRow(agent), 0));
      const held = ['held', 'a', 'b', 'c'].map((title) => store.createEvent(newEventRow(slow, { title }), 0));
      let areHeld = true;
      const all = Promise.all(held).finally(() => (areHeld = false));
      await Promise.all(first);
      for (let round = 0; round < 5; round++) {
        const rows = others.flatMap((agent) => [newEventRow(agent), newEventRow(agent)]);
        const outcomes = await Promise.all(rows.map((row) => store.createEvent(row, 0)));
        assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['created']));
      }
      assert.ok(areHeld);
      await release();
      const kinds = (await all).map(({ kind }) => kind);
      const isExisting = name.includes('same event');
      assert.deepEqual(kinds, [isExisting ? 'existing' : 'created', 'created', 'created', 'created']);
    });
  }

  it('find events that are there without waiting for those who change them', async () => {
    const [slow, ...others] = (await newAgents(4)) as [AgentRow, ...AgentRow[]];
    const titles = Array.from({ length: 20 }, (_, at) => `title ${at}`);
    const rows = () => titles.map((title) => newEventRow(slow, { title }));
    await Promise.all(rows().map((row) => store.createEvent(row, 0)));
    const { release } = await side.hold(
      (sql) => sql`UPDATE events SET words_by = words_by WHERE agent_id = ${slow.agent_id}`,
    );
    const created = others.flatMap((agent) => titles.map((title) => newEventRow(agent, { title })));
    // The first ones are created alone, which does wait.
    const outcomes = await Promise.all([...created, ...rows()].map((row) => store.createEvent(row, 0)));
    await release();
    const kinds = outcomes.map(({ kind }) => kind);
    assert.deepEqual(new Set(kinds.slice(0, created.length)), new Set(['created']));
    assert.deepEqual(new Set(kinds.slice(created.length)), new Set(['existing']));
    assert.ok((await countTransactions(created)) < 20);
  });

  it('read no other events of an agent with the same start', async () => {
    const url = await newDatabase();
    // A node that searches in memory would read all events, too.
    const node = await PostgresStore.open(readConfig({ DATABASE_URL: url, SEARCH: 'database' }).database!);
    const { agent } = await addAgent(node);
    const { agent: other } = await addAgent(node);
    const titles = Array.from({ length: 400 }, (_, at) => `title ${at}`);
    for (const expected of ['created', 'existing']) {
      // The first ones are created alone, which does read others.
      const first = titles.slice(0, 4).map((title) => newEventRow(other, { title }));
      const rows = [...first, ...titles.map((title) => newEventRow(agent, { title }))];
      const outcomes = await Promise.all(rows.map((row) => node.createEvent(row, 0)));
      assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set([expected]));
    }
    await node.close();
    const reader = new Side(url);
    // A connection reports what it read when it ends.
    while ((await reader.connections()).length > 0) await sleep(5);
    const [read] = await reader.sql`
      SELECT (idx_tup_fetch + seq_tup_read)::integer AS events FROM pg_stat_user_tables WHERE relname = 'events'`;
    await reader.close();
    assert.ok(read!.events < 10 * titles.length, `${read!.events} events read`);
  });

  it('a large event is created alone', async () => {
    const agents = await newAgents(6);
    const small = () => newEventRow(agents[0]!);
    const large = newEventRow(agents[1]!, {
      description: 'wide '.repeat(2_000).slice(0, 9_999),
      url: 'u'.repeat(2_000),
      address: '"'.repeat(4_000),
    });
    const rows = [small(), small(), small(), large, small(), small()];
    await Promise.all(rows.map((row) => store.createEvent(row, 0)));
    assert.equal(await countTransactions([large]), 1);
    const xids = await side.sql`
      SELECT count(*)::integer AS count FROM event_changes WHERE xid = (SELECT xid FROM event_changes WHERE event_id = ${large.event_id})`;
    assert.equal(xids[0]!.count, 1);
  });

  it('beside changes and deletes on two nodes, neither lose nor double an event or its place in the counts', async () => {
    const chance = new Chance(15);
    const agents = await newAgents(4);
    const limits: [events: number, bytes: number][] = [
      [12, 0],
      [0, 5_000],
      [12, 5_000],
      [0, 0],
    ];
    const created = new Map<string, EventRow>();
    for (let round = 0; round < ROUNDS; round++) {
      const rows = [...created.values()];
      await Promise.all(
        Array.from({ length: 30 }, async () => {
          const node = chance.integer(0, 1) === 0 ? store : otherNode;
          const kind = chance.integer(0, 9);
          if (kind < 6 || rows.length === 0) {
            const at = chance.integer(0, 3);
            const row = newEventRow(agents[at]!, {
              title: `title ${chance.integer(0, 20)}`,
            });
            const outcome = await node.createEvent(row, ...limits[at]!);
            if (outcome.kind === 'created') created.set(row.event_id, row);
          } else if (kind < 8) {
            const row = rows[chance.integer(0, rows.length - 1)]!;
            if (await node.deleteEvent(row.event_id, row.agent_id)) created.delete(row.event_id);
          } else if (kind < 9) {
            const row = rows[chance.integer(0, rows.length - 1)]!;
            const found = await findRow(node, row.event_id);
            if (found)
              await node.replaceEvent(
                { ...found, version: found.version + 1, description: `${round}` },
                5_000,
              );
          } else {
            const { agent_id } = agents[3]!;
            await node.deleteAll(agent_id, auditOf('delete_agent_events', agent_id), false);
          }
        }),
      );
      for (const [at, agent] of agents.entries()) {
        const { counted, stored } = await countsOf(agent);
        assert.deepEqual(counted, stored);
        const [maxEvents, maxBytes] = limits[at]!;
        assert.ok(maxEvents === 0 || stored.events <= maxEvents);
        assert.ok(maxBytes === 0 || stored.bytes <= maxBytes);
      }
      const stored =
        await side.sql`SELECT event_id FROM events WHERE agent_id IN ${side.sql(agents.map(({ agent_id }) => agent_id))}`;
      const ids = new Set(stored.map(({ event_id }) => event_id));
      // Events of the last agent may have been deleted with all of its events.
      for (const [id, row] of created)
        if (!ids.has(id)) {
          assert.equal(row.agent_id, agents[3]!.agent_id, 'only events that somebody deleted are gone');
          created.delete(id);
        }
      assert.deepEqual(ids, new Set(created.keys()));
    }
  });
});
