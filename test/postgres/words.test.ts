// Words in the database: searches by SQL, rows without words, changes by hand, and another tokenizer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import type { AgentRow } from '../../src/domain/agent.ts';
import { EVENT_COLUMNS, type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import { readNearby } from '../../src/domain/events/nearby.ts';
import { WORDS_VERSION } from '../../src/domain/events/words.ts';
import { PostgresBulkWriter } from '../../src/postgres/bulk.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { wordContract } from '../store/contract-words.ts';
import { addAgent, addEvent, auditOf, idOf, NOW_MS, newEventRow, search } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

const optionsOf = (url: string) => readConfig({ DATABASE_URL: url }).database!;

describe('searches by words with SQL', () => {
  let store: PostgresStore;
  before(async () => {
    store = await PostgresStore.open({ ...optionsOf(await newDatabase()), search: 'database' });
  });
  after(() => store.close());
  wordContract(() => store);
});

describe('words that need more memory than a node may use', () => {
  it('are searched with SQL, and totals stay exact while they become too many', async (t) => {
    const url = await newDatabase();
    const problems: unknown[] = [];
    const store = await PostgresStore.open({
      ...optionsOf(url),
      indexMaxBytes: 4_000_000,
      onWordsProblem: (cause) => problems.push(cause),
    });
    t.after(() => store.close());
    const { agent } = await addAgent(store);
    while (store.eventsInMemory === undefined) await sleep(5);
    const query = search({ terms: readNearby({ lat: 0, lng: 0, q: 'every -no* wx*' }, 'query').terms });
    let made = 0;
    for (let count = 1; count <= 60; count++) {
      const words = Array.from({ length: 1_500 }, () => `wx${(made++).toString(36)}`).join(' ');
      const searching = store.nearby(query, NOW_MS);
      await addEvent(store, agent, { title: `every ${count}`, description: words });
      const before = (await searching).total;
      assert.ok(before === count - 1 || before === count, `${before} of ${count}`);
      assert.equal((await store.nearby(query, NOW_MS)).total, count);
    }
    assert.deepEqual(problems, [undefined], 'they became too many');
    assert.equal((await store.nearby(search(), NOW_MS)).total, 60);
    assert.equal(store.eventsInMemory, 60, 'other searches use the memory');
    assert.equal((await store.findAgentDetails(agent.agent_id, NOW_MS))!.words, undefined);
  });
});

describe('words in the database', () => {
  let url: string;
  let sql: postgres.Sql;
  let writer: PostgresStore;
  let agent: AgentRow;
  /** A node that searches in memory, and one that uses SQL. */
  let nodes: PostgresStore[] = [];

  before(async () => {
    url = await newDatabase();
    writer = new PostgresStore(await openDatabase(optionsOf(url)));
    agent = (await addAgent(writer)).agent;
    sql = postgres(url, { onnotice: () => {} });
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await writer.close();
    await sql.end();
  });

  const openNodes = async () => {
    await Promise.all(nodes.map((node) => node.close()));
    nodes = await Promise.all(
      (['memory', 'database'] as const).map((kind) =>
        PostgresStore.open({ ...optionsOf(url), search: kind }),
      ),
    );
    while (nodes[0]!.eventsInMemory === undefined) await sleep(5);
  };
  const assertFound = async (q: string, rows: readonly EventRow[]) => {
    const query = search({ terms: readNearby({ lat: 0, lng: 0, q }, 'query').terms });
    for (const [at, node] of nodes.entries()) {
      const page = await node.nearby(query, NOW_MS);
      const by = ['from memory', 'by SQL'][at];
      assert.deepEqual(
        page.events.map(idOf),
        rows.map(({ event_id }) => event_id),
        `${q} ${by}`,
      );
      assert.equal(page.total, rows.length, `${q} ${by}`);
    }
  };
  /** Without words. */
  const createByHand = async (fields: Partial<EventRow>) => {
    const row = newEventRow(agent, fields);
    const columns = Object.fromEntries(EVENT_COLUMNS.map(([name]) => [name, row[name]]));
    await sql`INSERT INTO events ${sql({ ...columns, json: encodeEvent(row) })}`;
    return row;
  };
  const stateOf = async ({ event_id }: EventRow) => {
    const [row] = await sql<[{ words: string | null; words_by: number }]>`
      SELECT words::text, words_by FROM events WHERE event_id = ${event_id}`;
    return row;
  };
  const countChanges = async () => Number((await sql`SELECT count(*) FROM event_changes`)[0]!.count);
  const filled = async (row: EventRow) => {
    while ((await stateOf(row)).words_by !== WORDS_VERSION) await sleep(10);
  };

  it('are found in rows that were stored without them, which get them', async () => {
    const rows = [await createByHand({ title: 'Jazz früher' }), await createByHand({ title: 'Jazz später' })];
    assert.deepEqual(await stateOf(rows[0]!), { words: null, words_by: 0 });
    const changes = await countChanges();
    await openNodes();
    await assertFound('jazz', rows);
    await assertFound('jazz fruher', [rows[0]!]);
    await filled(rows[1]!);
    assert.match((await stateOf(rows[1]!)).words!, /'jazz'.* 'spater'/);
    assert.equal(await countChanges(), changes, 'nodes need not read the events again');
    await openNodes();
    await assertFound('jazz fruher', [rows[0]!]);
  });

  it('follow what a person at the database writes', async () => {
    const row = await addEvent(nodes[0]!, agent, { title: 'Tango', description: 'Ballroom' });
    await assertFound('tango ballroom', [row]);
    const created = await createByHand({ title: 'Polka' });
    await assertFound('polka', [created]);
    const changed = encodeEvent({ ...row, description: 'Barn' });
    await sql`UPDATE events SET version = 2, json = ${changed} WHERE event_id = ${row.event_id}`;
    assert.deepEqual(await stateOf(row), { words: null, words_by: 0 });
    await assertFound('tango ballroom', []);
    await assertFound('tango barn', [row]);
    await sql`UPDATE events SET json = ${encodeEvent({ ...row, description: 'Attic' })} WHERE event_id = ${row.event_id}`;
    await assertFound('tango barn', []);
    await assertFound('tango attic', [row]);
    await sql`UPDATE events SET lat = 1 WHERE event_id = ${row.event_id}`;
    assert.equal((await stateOf(row)).words_by, WORDS_VERSION);
  });

  it('stay when an event changes without them', async () => {
    const row = await addEvent(nodes[0]!, agent, { title: 'Waltz' });
    const next = { ...row, version: 2, cost: 'free' };
    assert.equal((await nodes[0]!.replaceEvent(next)).kind, 'replaced');
    assert.deepEqual(await stateOf(row), { words: "'somewhere' 'waltz'", words_by: WORDS_VERSION });
  });

  it('come back with a restored event', async () => {
    const row = await addEvent(nodes[0]!, agent, { title: 'Charleston' });
    const before = await stateOf(row);
    const audit = auditOf('delete_events', '');
    const deleted = await nodes[0]!.deleteEvents([row.event_id], { ...audit, undo: 'kept' });
    assert.ok(typeof deleted === 'object');
    const step = { auditId: deleted.audit_id!, deletedAfterMs: 0, after: '', into: undefined };
    await nodes[0]!.undoDelete(step, { ...audit, action: 'restore' });
    assert.deepEqual(await stateOf(row), before);
  });

  it('come with a bulk import', async () => {
    const bulk = await PostgresBulkWriter.open(optionsOf(url));
    const row = newEventRow(agent, { title: 'Foxtrot' });
    assert.deepEqual(await bulk.createEvents([row], 0), ['created']);
    await bulk.close();
    assert.deepEqual(await stateOf(row), { words: "'foxtrot' 'somewhere'", words_by: WORDS_VERSION });
    await assertFound('foxtrot', [row]);
  });

  it('of an older tokenizer are replaced, and those of a newer one are left', async () => {
    const [older, newer] = [
      await addEvent(nodes[0]!, agent, { title: 'Samba' }),
      await addEvent(nodes[0]!, agent, { title: 'Rumba' }),
    ];
    await sql`UPDATE events SET words = '''wrong''', words_by = ${WORDS_VERSION - 1} WHERE event_id = ${older.event_id}`;
    await sql`UPDATE events SET words = '''rumba'' ''more''', words_by = ${WORDS_VERSION + 1} WHERE event_id = ${newer.event_id}`;
    await openNodes();
    await assertFound('samba', [older]);
    await assertFound('wrong', []);
    await assertFound('rumba', [newer]);
    assert.deepEqual(await stateOf(older), { words: "'samba' 'somewhere'", words_by: WORDS_VERSION });
    assert.deepEqual(await stateOf(newer), { words: "'more' 'rumba'", words_by: WORDS_VERSION + 1 });
  });
});
