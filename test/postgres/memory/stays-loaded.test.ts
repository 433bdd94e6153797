// What a node does not have in memory at the moment does not make searches fail, and what it has is kept: searches for words use SQL
// until the words are in memory, and a lock on the events ends no node's memory.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/config.ts';
import type { AgentRow } from '../../../src/domain/agent.ts';
import { readNearby } from '../../../src/domain/events/nearby.ts';
import type { SearchChange } from '../../../src/postgres/memory/node-events.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { addAgent, addEvent, idOf, NOW_MS, search } from '../../store/rows.ts';
import { newDatabase } from '../../support/postgres.ts';
import { Side } from '../side.ts';

const STATEMENT_TIMEOUT_MS = 1_000;
const JAZZ = search({ terms: readNearby({ lat: 0, lng: 0, q: 'jazz' }, 'query').terms });

describe('a node with events in memory', () => {
  let url: string;
  let side: Side;
  let agent: AgentRow;
  const expected: string[] = [];
  const changes: SearchChange[][] = [];
  const nodes: PostgresStore[] = [];

  const openNode = async () => {
    const seen: SearchChange[] = [];
    changes.push(seen);
    const options = {
      ...readConfig({ DATABASE_URL: url }).database!,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    };
    const node = await PostgresStore.open({ ...options, onChange: (change) => seen.push(change) });
    nodes.push(node);
    while (node.eventsInMemory === undefined) await sleep(5);
    return node;
  };
  const assertFound = async (node: PostgresStore) => {
    const { events, total } = await node.nearby(JAZZ, NOW_MS);
    assert.deepEqual(events.map(idOf), expected);
    assert.equal(total, expected.length);
  };
  const create = async (node: PostgresStore) =>
    void expected.push((await addEvent(node, agent, { title: `jazz ${expected.length}` })).event_id);

  before(async () => {
    url = await newDatabase();
    side = new Side(url);
    const writer = await openNode();
    ({ agent } = await addAgent(writer));
    await create(writer);
    await addEvent(writer, agent);
  });
  after(() => Promise.all([side.close(), ...nodes.map((node) => node.close())]));

  it('searches for words by SQL until they are in memory', async (t) => {
    // Whoever reads the words of all events waits at this gate; searches pass it.
    await side.sql.unsafe(`
      CREATE FUNCTION pass() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        IF current_query() LIKE '%ORDER BY event_id LIMIT 500' THEN PERFORM pg_advisory_xact_lock_shared(1); END IF;
        RETURN true;
      END $$;
      CREATE POLICY gate ON events USING (pass());
      ALTER TABLE events FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY`);
    const gate = await side.hold((sql) => sql`SELECT pg_advisory_xact_lock(1)`);
    t.after(() => gate.release());
    const node = await openNode();
    await side.untilBlocked();
    await assertFound(node);
    await create(node);
    await assertFound(node);
    await side.untilBlocked();
    await gate.release();
    await side.sql`ALTER TABLE events NO FORCE ROW LEVEL SECURITY`;
    for (const other of nodes) await assertFound(other);
  });

  it('continues where it was after a lock that lasts longer than a statement may', async (t) => {
    const lock = await side.hold((sql) => sql`LOCK TABLE events`);
    t.after(() => lock.release());
    const refused = await Promise.allSettled(nodes.map((node) => node.nearby(JAZZ, NOW_MS)));
    for (const result of refused)
      assert.equal(result.status === 'rejected' && result.reason.code, 'UNAVAILABLE');
    await sleep(2 * STATEMENT_TIMEOUT_MS); // polls go on, and time out again
    for (const { eventsInMemory } of nodes) assert.notEqual(eventsInMemory, undefined);
    await lock.release();
    await create(nodes[0]!);
    for (const node of nodes) await assertFound(node);
    assert.deepEqual(
      changes.map((seen) => seen.map(({ by }) => by)),
      nodes.map(() => ['memory']),
      'nothing was loaded again',
    );
  });

  it('does so although the role has a shorter lock timeout', async (t) => {
    const name = new URL(url).pathname.slice(1);
    await side.sql.unsafe(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET lock_timeout = 100`);
    const node = await openNode();
    const lock = await side.hold((sql) => sql`LOCK TABLE events`);
    t.after(() => lock.release());
    await assert.rejects(node.nearby(JAZZ, NOW_MS), { code: 'UNAVAILABLE' });
    await assert.rejects(addEvent(node, agent), { code: 'UNAVAILABLE' });
    await lock.release();
    await create(node);
    await assertFound(node);
    assert.deepEqual(
      changes.at(-1)!.map(({ by }) => by),
      ['memory'],
      'nothing was loaded again',
    );
  });

  it('searches by SQL while something keeps it from seeing what has changed', async (t) => {
    const lock = await side.hold((sql) => sql`LOCK TABLE event_changes`);
    t.after(() => lock.release());
    // Refused, unless the node has seen the lock already when it looked by itself.
    await nodes[0]!.nearby(JAZZ, NOW_MS).catch(({ code }) => assert.equal(code, 'UNAVAILABLE'));
    for (let count = 0; count < 3; count++) await assertFound(nodes[0]!);
    await lock.release();
    await create(nodes[0]!);
    for (const node of nodes) await assertFound(node);
  });
});
