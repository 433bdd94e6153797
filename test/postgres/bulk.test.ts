// Bulk writing and reading on PostgreSQL: the rules of createEvent for many rows at once, and reads in the order of an export.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import { PostgresBulkReader, PostgresBulkWriter } from '../../src/postgres/bulk.ts';
import { findAgent, newAgentRow, newEventRow, newKey, newUlid } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

describe('the writer on PostgreSQL', () => {
  const [agent, other] = [newAgentRow(), newAgentRow()];
  let writer: PostgresBulkWriter;
  let reader: PostgresBulkReader;
  before(async () => {
    const { database } = readConfig({ DATABASE_URL: await newDatabase() });
    writer = await PostgresBulkWriter.open(database!);
    reader = await PostgresBulkReader.openExport(database!);
    await writer.addAgent(agent, newKey());
    await writer.addAgent(other, newKey());
  });
  after(async () => {
    await reader.close();
    await writer.close();
  });

  async function readAll(agentId?: string): Promise<EventRow[]> {
    const rows: EventRow[] = [];
    for await (const batch of reader.events(agentId)) rows.push(...batch);
    return rows;
  }

  it('adds equal rows once, whether the other is stored or in the same batch', async () => {
    const [a, b] = [newEventRow(agent), newEventRow(agent)];
    const again = { ...newEventRow(agent), title: a.title };
    assert.deepEqual(await writer.createEvents([a, b, again], 0), ['created', 'created', 'existing']);
    assert.deepEqual(await writer.createEvents([again, newEventRow(other)], 0), ['existing', 'created']);
    assert.equal((await findAgent(reader, agent.agent_id))?.event_count, 2);
    assert.equal(await reader.countEvents(), 3);
  });

  it('enforces the limit of an agent, and reports an agent that does not exist', async () => {
    const rows = [newEventRow(agent), newEventRow(agent), newEventRow(newAgentRow()), newEventRow(other)];
    const outcomes = await writer.createEvents(rows, 3);
    assert.deepEqual(outcomes, ['created', 'limit', 'no-agent', 'created']);
    assert.equal((await findAgent(reader, agent.agent_id))?.event_count, 3);
  });

  it('enforces the limit of bytes, and counts what it adds', async () => {
    const owner = newAgentRow();
    await writer.addAgent(owner, newKey());
    const rows = Array.from({ length: 3 }, () => newEventRow(owner));
    const limit = Buffer.byteLength(
      rows
        .slice(0, 2)
        .map((row) => encodeEvent(row))
        .join(''),
    );
    assert.deepEqual(await writer.createEvents(rows.slice(0, 1), 0, limit), ['created']);
    rows[0] = { ...rows[0]!, event_id: newUlid() };
    assert.deepEqual(await writer.createEvents(rows, 0, limit), ['existing', 'created', 'size-limit']);
    assert.deepEqual(await writer.createEvents(rows.slice(2), 0), ['created']);
    assert.deepEqual(await writer.createEvents([newEventRow(owner)], 0, limit), ['size-limit']);
  });

  it('reads all events by ID, and those of an agent by start, in several batches', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => newEventRow(other, { start_ms: 5_000 - at }));
    await writer.createEvents(many, 0);
    const all = await readAll();
    assert.deepEqual(
      all.map((row) => row.event_id),
      all.map((row) => row.event_id).sort(),
    );
    assert.equal(all.length, await reader.countEvents());
    const ofOther = await readAll(other.agent_id);
    assert.deepEqual(ofOther.slice(0, 2_500), [...many].reverse());
    assert.ok(ofOther.every((row) => row.agent_id === other.agent_id));
  });
});
