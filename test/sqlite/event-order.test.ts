// The table event_order: it has either all events of an agent or none of them, whatever is written, and a page reads few.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { type EventListQuery, WHENS } from '../../src/domain/administration/list.ts';
import { ASSUMED_DURATION_MS, type EventRow } from '../../src/domain/events/event.ts';
import { columnValues, EVENT_COLUMN_LIST, EVENT_PLACEHOLDERS } from '../../src/sqlite/columns.ts';
import { MANY_EVENTS, orderEvents } from '../../src/sqlite/event-order.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { migrate } from '../../src/sqlite/migrate.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { ListReader } from '../../src/sqlite/threads/list-reader.ts';
import { orderedPageStatement } from '../../src/sqlite/threads/list-statements.ts';
import { Writer, type WriterCalls } from '../../src/sqlite/threads/writer.ts';
import { auditOf, HOUR_MS, NOW_MS, newAgentRow, newEventRow } from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';

class Data {
  readonly database: DatabaseSync;
  readonly #chance = new Chance(4);
  #writer: Writer | undefined;

  constructor(path = ':memory:') {
    this.database = new DatabaseSync(path);
    migrate(this.database);
  }

  call<Name extends keyof WriterCalls>(name: Name, ...args: Parameters<WriterCalls[Name]>): unknown {
    this.#writer ??= new Writer(this.database);
    const [outcome] = this.#writer.run([{ name, args }] as Parameters<Writer['run']>[0]);
    assert.ok(outcome && 'value' in outcome, JSON.stringify(outcome));
    return outcome.value;
  }

  addAgent() {
    const agent = newAgentRow();
    const { agent_id, email, agent_name, tier, created_ms } = agent;
    this.database
      .prepare(
        'INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms) VALUES (?, ?, ?, ?, 1, ?)',
      )
      .run(agent_id, email, agent_name, tier, created_ms);
    return agent;
  }

  /** As a move writes: without the table. */
  insert(
    { agent_id }: { agent_id: string },
    count: number,
    firstHour?: number,
    lastHour?: number,
  ): EventRow[] {
    const rows = this.newRows({ agent_id }, count, firstHour, lastHour);
    const insert = this.database.prepare(
      `INSERT INTO events (${EVENT_COLUMN_LIST}) VALUES (${EVENT_PLACEHOLDERS})`,
    );
    this.database.exec('BEGIN');
    for (const row of rows) insert.run(...columnValues(row));
    this.database.prepare('UPDATE agents SET event_count = ? WHERE agent_id = ?').run(count, agent_id);
    this.database.exec('COMMIT');
    return rows;
  }

  newRows(agent: { agent_id: string }, count: number, firstHour = -50, lastHour = 50): EventRow[] {
    return Array.from({ length: count }, () => {
      const start_ms = NOW_MS + this.#chance.integer(firstHour, lastHour) * HOUR_MS;
      return newEventRow(agent, { start_ms, end_ms: this.#chance.chance(0.5) ? null : start_ms + HOUR_MS });
    });
  }

  create(agent: { agent_id: string }, count: number): EventRow[] {
    const rows = this.newRows(agent, count);
    for (const row of rows) this.call('createEvent', columnValues(row), 0, 0);
    return rows;
  }

  /** Deletes the rows of deleted events, as the service does in slices. */
  removeRows(): void {
    while (this.call('removeSlice', 300));
  }

  rows(sql: string, ...values: string[]): unknown[] {
    return this.database
      .prepare(sql)
      .all(...values)
      .map((row) => ({ ...row }));
  }

  /** Number of the agent's rows in the table, after a check that they are its events. */
  countOrdered({ agent_id }: { agent_id: string }): number {
    const ordered = this.rows(
      'SELECT start_ms, event_id, ends_ms FROM event_order WHERE agent_id = ? ORDER BY start_ms, event_id',
      agent_id,
    );
    if (ordered.length === 0) return 0;
    const events = this.rows(
      `SELECT start_ms, event_id, coalesce(end_ms, start_ms + ${ASSUMED_DURATION_MS}) AS ends_ms FROM events
       WHERE agent_id = ? ORDER BY start_ms, event_id`,
      agent_id,
    );
    assert.deepEqual(ordered, events);
    return ordered.length;
  }
}

function newData(): Data {
  return new Data();
}

describe('the order of events', () => {
  it('begins with the event that makes them many, for that agent only', () => {
    const data = newData();
    const [agent, other] = [data.addAgent(), data.addAgent()];
    data.create(other, 5);
    data.create(agent, MANY_EVENTS - 1);
    assert.equal(data.countOrdered(agent), 0);
    data.create(agent, 1);
    assert.equal(data.countOrdered(agent), MANY_EVENTS);
    data.create(agent, 1);
    assert.equal(data.countOrdered(agent), MANY_EVENTS + 1);
    assert.equal(data.countOrdered(other), 0);
  });

  it('follows changes and deletes, and ends with the last event', () => {
    const data = newData();
    const agent = data.addAgent();
    const rows = data.create(agent, MANY_EVENTS + 10);
    for (const [at, row] of rows.slice(0, 100).entries()) {
      const changes = [
        { title: `other ${at}` },
        { start_ms: row.start_ms + 7 },
        { end_ms: row.start_ms + 9 * HOUR_MS },
        { end_ms: null },
      ];
      const next = { ...row, version: 2, ...changes[at % 4] };
      assert.deepEqual(data.call('replaceEvent', columnValues(next), 0), {
        kind: 'replaced',
        record: undefined,
      });
    }
    assert.equal(data.countOrdered(agent), MANY_EVENTS + 10);
    for (const { event_id } of rows.slice(0, 50)) data.call('deleteEvent', event_id, agent.agent_id, null);
    data.call('deleteEvents', [rows[50]!.event_id], auditOf('delete_event', rows[50]!.event_id), {});
    assert.equal(data.countOrdered(agent), MANY_EVENTS - 41);
    data.create(agent, 1);
    assert.equal(data.countOrdered(agent), MANY_EVENTS - 40, 'it stays complete with fewer events');
    data.call('deleteAll', agent.agent_id, auditOf('delete_agent_events', agent.agent_id), false);
    data.removeRows();
    assert.equal(data.countOrdered(agent), 0);
    data.create(agent, 2);
    assert.equal(data.countOrdered(agent), 0);
  });

  it('is complete for events that an agent creates while its old ones are being removed', () => {
    const data = newData();
    const agent = data.addAgent();
    data.create(agent, MANY_EVENTS);
    data.call('deleteAll', agent.agent_id, auditOf('delete_agent_events', agent.agent_id), false);
    data.create(agent, 5);
    data.call('removeSlice', MANY_EVENTS / 2);
    data.create(agent, 5);
    data.removeRows();
    data.create(agent, 1);
    assert.equal(data.countOrdered(agent), 11);
  });

  it('is left out by bulk writes, and added by the next create or start', () => {
    const data = newData();
    const agent = data.addAgent();
    const createAll = (count: number) =>
      data.call(
        'createEvents',
        data.newRows(agent, count).map((row) => columnValues(row)),
        0,
        0,
      );
    createAll(MANY_EVENTS + 500);
    assert.equal(data.countOrdered(agent), 0);
    orderEvents(data.database, Infinity);
    assert.equal(data.countOrdered(agent), MANY_EVENTS + 500);
    createAll(5);
    assert.equal(data.countOrdered(agent), 0);
    data.create(agent, 1);
    assert.equal(data.countOrdered(agent), MANY_EVENTS + 506);
  });

  it('has nothing of a deleted agent', () => {
    const data = newData();
    const agent = data.addAgent();
    data.create(agent, MANY_EVENTS);
    data.call('deleteAll', agent.agent_id, auditOf('delete_agent', agent.agent_id), true);
    data.removeRows();
    assert.deepEqual(data.rows('SELECT * FROM event_order'), []);
  });

  it('is added when the service opens data that was moved', async () => {
    const folder = temporaryFolder();
    const data = new Data(databasePath(folder));
    const [many, few] = [data.addAgent(), data.addAgent()];
    data.insert(many, MANY_EVENTS);
    data.insert(few, MANY_EVENTS - 1);
    data.database.close();
    await (await SqliteStore.open({ folder, cacheBytes: 0 })).close();
    const opened = new Data(databasePath(folder));
    assert.equal(opened.countOrdered(many), MANY_EVENTS);
    assert.equal(opened.countOrdered(few), 0);
    opened.create(few, 1);
    assert.equal(opened.countOrdered(few), MANY_EVENTS);
    opened.database.close();
  });
});

describe('a list of an agent with many events', () => {
  /** Every page of the list, and its total. */
  const read = (reader: ListReader, agentId: string, query: EventListQuery) => {
    const ids: string[] = [];
    for (let after: EventListQuery['after']; ; ) {
      const { items, total, next } = reader.agentEventPage(agentId, { ...query, after }, NOW_MS);
      ids.push(...items.map(({ position }) => position.id));
      if (!next) return { ids, total };
      after = next;
    }
  };

  for (const [what, firstHour, lastHour] of [
    ['as many ended as upcoming', -50, 50],
    ['nearly all upcoming', -1, 100],
    ['nearly all ended', -100, 1],
  ] as const) {
    it(`is exact with ${what}`, () => {
      const path = databasePath(temporaryFolder());
      const data = new Data(path);
      const agent = data.addAgent();
      const rows = data.insert(agent, size(6_000, 14_000), firstHour, lastHour);
      orderEvents(data.database, Infinity);
      const reader = new ListReader(data.database);
      const endsMs = (row: EventRow) => row.end_ms ?? row.start_ms + ASSUMED_DURATION_MS;
      const listed = {
        all: rows,
        past: rows.filter((row) => endsMs(row) <= NOW_MS),
        upcoming: rows.filter((row) => endsMs(row) > NOW_MS),
      };
      for (const when of WHENS) {
        for (const descending of [false, true]) {
          const sort = { key: 'start_at', descending } as const;
          const { ids, total } = read(reader, agent.agent_id, {
            ...{ q: '', when, sort, after: undefined, limit: 2_500 },
          });
          const expected = listed[when]
            .toSorted((a, b) => a.start_ms - b.start_ms || (a.event_id < b.event_id ? -1 : 1))
            .map(({ event_id }) => event_id);
          assert.deepEqual(ids, descending ? expected.reverse() : expected);
          assert.equal(total, expected.length);
        }
      }
      data.database.close();
    });
  }
});

describe('a page of an agent with many events', () => {
  let data: Data;
  before(() => {
    data = newData();
  });

  const after = { value: NOW_MS, id: '01J' };
  for (const when of WHENS) {
    for (const descending of [false, true]) {
      for (const position of [undefined, after]) {
        it(`reads only its own events: ${when}, ${descending ? 'descending' : 'ascending'}${position ? ', after a position' : ''}`, () => {
          const sort = { key: 'start_at', descending } as const;
          const query: EventListQuery = { q: '', when, sort, after: position, limit: 30 };
          const { text, values } = orderedPageStatement('an agent', query, NOW_MS);
          const steps = data.database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values);
          const reads = steps
            .map(({ detail }) => String(detail))
            .filter((detail) => / events? /.test(detail));
          assert.deepEqual(reads, ['SEARCH events USING INDEX sqlite_autoindex_events_1 (event_id=?)']);
          const scans = steps.filter(({ detail }) =>
            /^SCAN (?!page|matching|\(|CONSTANT)/.test(String(detail)),
          );
          assert.deepEqual(scans, []);
        });
      }
    }
  }
});
