// Nodes of the previous version write to a database that this version has migrated: the sum of an agent's bytes stays right.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { type EventRow, encodeEvent } from '../../src/domain/event.ts';
import { toWire } from '../../src/domain/wire.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, addEvent, auditOf, idOf, NOW_MS, newEventRow, search } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

let store: PostgresStore;
let sql: postgres.Sql;
before(async () => {
  const url = await newDatabase();
  store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  sql = postgres(url, { max: 2, onnotice: () => {} });
});
after(async () => {
  await sql.end();
  await store.close();
});

// The statements of the previous version.
const create = (row: EventRow, maxPerAgent = 0) => sql`
  SELECT * FROM create_event(${row.event_id}::text, ${row.agent_id}::uuid, ${row.title}::text, ${row.start_ms}::bigint,
    ${row.end_ms}::bigint, ${row.lat}::double precision, ${row.lng}::double precision, ${row.audience}::text,
    ${row.event_type}::text, ${encodeEvent(row)}::text, ${maxPerAgent}::integer)`;
const replace = (next: EventRow) => sql`
  UPDATE events SET version = ${next.version}, title = ${next.title}, json = ${encodeEvent(next)}
  WHERE event_id = ${next.event_id} AND version = ${next.version - 1}`;
const remove = ({ event_id, agent_id }: EventRow) => sql`
  WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(1701, hashtext(${agent_id}))), gone AS (
    DELETE FROM events USING locked WHERE event_id = ${event_id} AND agent_id = ${agent_id} RETURNING agent_id)
  UPDATE agents SET event_count = event_count - 1 FROM gone WHERE agents.agent_id = gone.agent_id`;
const removeAll = (agentId: string) =>
  sql.begin(async (transaction) => {
    await transaction`SELECT agent_name FROM agents WHERE agent_id = ${agentId} FOR UPDATE`;
    await transaction`DELETE FROM events WHERE agent_id = ${agentId}`;
    await transaction`DELETE FROM agents WHERE agent_id = ${agentId}`;
  });

async function assertSum(agentId: string): Promise<number> {
  const [agent] = await sql`
    SELECT event_count, event_bytes::integer, (SELECT count(*)::integer FROM events WHERE agent_id = ${agentId}) AS count,
      (SELECT coalesce(sum(octet_length(json)), 0)::integer FROM events WHERE agent_id = ${agentId}) AS bytes
    FROM agents WHERE agent_id = ${agentId}`;
  assert.deepEqual([agent!.event_count, agent!.event_bytes], [agent!.count, agent!.bytes]);
  return agent!.bytes;
}

it('counts what they create, change and delete', async () => {
  const { agent } = await addAgent(store);
  const rows = [newEventRow(agent), newEventRow(agent, { description: 'é'.repeat(500) })];
  for (const row of rows) assert.equal((await create(row))[0]!.kind, 'created');
  assert.equal((await create(rows[0]!))[0]!.kind, 'existing');
  const before = await assertSum(agent.agent_id);
  assert.equal(
    before,
    rows.reduce((sum, row) => sum + Buffer.byteLength(encodeEvent(row)), 0),
  );
  assert.equal((await replace({ ...rows[0]!, version: 2, description: 'x'.repeat(70) })).count, 1);
  assert.equal(await assertSum(agent.agent_id), before - 'null'.length + 72);
  await remove(rows[1]!);
  await assertSum(agent.agent_id);
  await assert.rejects(create(newEventRow(agent), 1), { code: 'LE001' });
  await assertSum(agent.agent_id);
});

it('leaves a cancelled event cancelled when they change it, and notes when', async () => {
  const { agent } = await addAgent(store);
  const row = await addEvent(store, agent, { status: 'cancelled', updated_ms: 5 });
  // They read and write no status.
  const beganMs = Date.now();
  await replace({ ...row, status: 'scheduled', version: 2, title: 'changed by them' });
  const changed = (await store.findEventRow(row.event_id))!;
  assert.deepEqual([changed.status, changed.title, changed.version], ['cancelled', 'changed by them', 2]);
  assert.ok(changed.updated_ms >= beganMs && changed.updated_ms <= Date.now() + 1, `${changed.updated_ms}`);
  assert.equal((await store.findEvent(row.event_id))!.json, toWire(encodeEvent(changed)));
  await assertSum(agent.agent_id);
  const found = (status: 'scheduled' | 'cancelled') => store.nearby(search({ status }), NOW_MS);
  assert.deepEqual((await found('cancelled')).events.map(idOf), [row.event_id]);
  assert.ok(!(await found('scheduled')).events.map(idOf).includes(row.event_id));
  // What this version writes stays as it is.
  const next = { ...changed, status: 'scheduled' as const, version: 3, updated_ms: changed.updated_ms + 1 };
  assert.equal((await store.replaceEvent(next)).kind, 'replaced');
  assert.deepEqual({ ...(await store.findEventRow(row.event_id)) }, next);
});

it('takes what they create for scheduled, and their changes for the latest', async () => {
  const { agent } = await addAgent(store);
  const row = newEventRow(agent);
  await create(row);
  assert.deepEqual({ ...(await store.findEventRow(row.event_id)) }, row, 'updated when it was created');
  assert.equal((await store.findEvent(row.event_id))!.updatedMs, null);
  await replace({ ...row, version: 2, title: 'again' });
  assert.ok((await store.findEvent(row.event_id))!.updatedMs! > Date.now() - 60_000);
});

it('lets them delete an agent, and this version the events that they created', async () => {
  const { agent } = await addAgent(store);
  await create(newEventRow(agent));
  await addEvent(store, agent);
  await store.deleteAgentEvents(agent.agent_id, auditOf('delete_agent_events', agent.agent_id));
  assert.equal(await assertSum(agent.agent_id), 0);
  await addEvent(store, agent);
  await removeAll(agent.agent_id);
  assert.equal(await store.findAgent(agent.agent_id), undefined);
});

it('never fails a delete because of a sum that is too small', async () => {
  const { agent } = await addAgent(store);
  const row = await addEvent(store, agent);
  await sql`UPDATE agents SET event_bytes = 5 WHERE agent_id = ${agent.agent_id}`;
  assert.equal(await store.deleteEvent(row.event_id, agent.agent_id), true);
  await assertSum(agent.agent_id);
});

it('searches what they create and change by the clock of its timezone', async () => {
  const { agent } = await addAgent(store);
  // 20:00 in Berlin, and 03:00 of the next day in Tokyo.
  const start_ms = Date.parse('2031-05-01T18:00:00Z');
  const row = newEventRow(agent, {
    start_ms,
    end_ms: start_ms + 60_000,
    timezone: 'Europe/Berlin',
    lat: -33.3,
  });
  const daysOf = async () => {
    const query = search({ lat: -33.3, lng: row.lng, radiusMiles: 1 });
    const found = [];
    for (const when of ['today', 'tomorrow'] as const)
      if ((await store.nearby({ ...query, when }, NOW_MS)).total > 0) found.push(when);
    return found;
  };
  await create(row);
  assert.deepEqual(await daysOf(), ['today']);
  await replace({ ...row, version: 2, timezone: 'Asia/Tokyo' });
  assert.deepEqual(await daysOf(), ['tomorrow']);
  const [stored] = await sql`SELECT timezone FROM events WHERE event_id = ${row.event_id}`;
  assert.equal(stored!.timezone, 'Asia/Tokyo');
});
