// Contract of bulk work: the rules of a create for many rows at once, correct counts, and reads in the order of an export.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import type { BulkReader, BulkWriter } from '../../src/domain/store.ts';
import { findAgent, newAgentRow, newEventRow, newKey, newUlid } from './rows.ts';

/** A writer, and what opens a reader of the same data. */
export interface BulkEngine {
  readonly writer: BulkWriter;
  readonly openReader: () => Promise<BulkReader>;
}

export function bulkContract(engine: () => BulkEngine): void {
  const create = (rows: readonly EventRow[], limit = 0, maxBytes?: number) =>
    engine().writer.createEvents(rows, limit, maxBytes);
  const newAgent = async () => {
    const agent = newAgentRow();
    await engine().writer.addAgent(agent, newKey());
    return agent;
  };
  const newRows = (agent: AgentRow, count: number) => Array.from({ length: count }, () => newEventRow(agent));
  const again = (row: EventRow) => ({ ...row, event_id: newUlid() });
  const reading = async <Result>(read: (reader: BulkReader) => Promise<Result>) => {
    const reader = await engine().openReader();
    try {
      return await read(reader);
    } finally {
      await reader.close();
    }
  };
  const readAll = (agentId?: string) =>
    reading(async (reader) =>
      (await Array.fromAsync(reader.events(agentId))).flat().map((row) => ({ ...row })),
    );
  const countOf = ({ agent_id }: AgentRow) =>
    reading(async (reader) => (await findAgent(reader, agent_id))?.event_count);

  it('adds equal rows once, whether the other is stored or in the same batch', async () => {
    const [agent, other] = [await newAgent(), await newAgent()];
    const [a, b, c] = newRows(agent, 3) as [EventRow, EventRow, EventRow];
    const ofOther = { ...again(a), agent_id: other.agent_id };
    assert.deepEqual(await create([a, b, again(a)]), ['created', 'created', 'existing']);
    assert.deepEqual(await create([again(a), c, ofOther]), ['existing', 'created', 'created']);
    assert.deepEqual(await readAll(agent.agent_id), [a, b, c]);
    assert.deepEqual([await countOf(agent), await countOf(other)], [3, 1]);
  });

  it('enforces the limit of each agent, and still finds existing events at the limit', async () => {
    const [agent, other] = [await newAgent(), await newAgent()];
    const rows = newRows(agent, 3);
    assert.deepEqual(await create([...rows, newEventRow(other), again(rows[1]!)], 2), [
      ...['created', 'created', 'limit', 'created', 'existing'],
    ]);
    assert.deepEqual(await create([rows[2]!, newEventRow(other)], 2), ['limit', 'created']);
    assert.deepEqual([await countOf(agent), await countOf(other)], [2, 2]);
  });

  it('enforces the limit of bytes, counts what it adds, and still finds existing events at the limit', async () => {
    const agent = await newAgent();
    const rows = newRows(agent, 3);
    const bytesOf = (row: EventRow) => Buffer.byteLength(encodeEvent(row));
    const limit = bytesOf(rows[0]!) + bytesOf(rows[1]!);
    assert.deepEqual(await create([rows[0]!], 0, limit), ['created']);
    assert.deepEqual(await create([again(rows[0]!), ...rows.slice(1), again(rows[1]!)], 0, limit), [
      ...['existing', 'created', 'size-limit', 'existing'],
    ]);
    assert.deepEqual(await create([rows[2]!], 0, limit), ['size-limit']);
    assert.deepEqual(await create([rows[2]!], 0, 0), ['created']);
    assert.deepEqual(await create([newEventRow(agent)], 0, limit), ['size-limit']);
    assert.equal(await countOf(agent), 3);
  });

  it('adds nothing for an agent that does not exist', async () => {
    const [agent, unknown] = [await newAgent(), newAgentRow()];
    assert.deepEqual(await create([newEventRow(unknown), newEventRow(agent)]), ['no-agent', 'created']);
    assert.deepEqual(await readAll(unknown.agent_id), []);
  });

  it('reads every row as it was written: all by ID, those of an agent by start, in several batches', async () => {
    const [agent, other] = [await newAgent(), await newAgent()];
    const texts = { description: 'd', address: 'a', url: 'u', cost: 'c', audience: 'kids' } as const;
    const rows = Array.from({ length: 2_500 }, (_, at) => newEventRow(agent, { start_ms: 5_000 - at }));
    const full = newEventRow(other, { ...texts, end_ms: 2e12 });
    await create([...rows, full]);
    const all = await readAll();
    const ids = all.map(({ event_id }) => event_id);
    assert.deepEqual(ids, ids.toSorted());
    assert.equal(all.length, await reading((reader) => reader.countEvents()));
    assert.deepEqual(await readAll(agent.agent_id), rows.toReversed());
    assert.deepEqual(await readAll(other.agent_id), [full]);
  });
}
