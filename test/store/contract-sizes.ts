// Store contract: the bytes that an agent's events take, and the limit for them.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentRow } from '../../src/domain/agent.ts';
import { type EventRow, encodeEvent } from '../../src/domain/events/event.ts';
import type { Store } from '../../src/domain/store.ts';
import { assertStored } from './contract-events.ts';
import {
  addAgent,
  addEvent,
  assertRecord,
  auditOf,
  deleteOne,
  deleteSelected,
  eventsOf,
  newEventRow,
  newUlid,
} from './rows.ts';

/** Two bytes per character in UTF-8, and escaped in JSON. */
const TEXT = 'é"';

const bytesOf = (row: EventRow) => Buffer.byteLength(encodeEvent(row));

export function sizeContract(store: () => Store): void {
  /** Asserts how many bytes the store counts for the agent: an event fits exactly, and not with one byte less. */
  async function assertBytes(agent: AgentRow, bytes: number): Promise<void> {
    const row = newEventRow(agent);
    const needed = bytes + bytesOf(row);
    assert.deepEqual(await store().createEvent(row, 0, needed - 1), { kind: 'size-limit' });
    assert.equal(await store().findEvent(row.event_id), undefined);
    assertStored(await store().createEvent(row, 0, needed), true);
    assert.equal(await store().deleteEvent(row.event_id, agent.agent_id), true);
  }

  const storedBytes = async (agent: AgentRow) =>
    (await eventsOf(store(), agent.agent_id)).reduce((sum, json) => sum + json.length, 0);

  it('counts the UTF-8 bytes of the JSON of every event', async () => {
    const { agent } = await addAgent(store());
    await assertBytes(agent, 0);
    const rows = [
      await addEvent(store(), agent),
      await addEvent(store(), agent, { description: TEXT.repeat(5_000) }),
      await addEvent(store(), agent, { title: '\u{1f600}', start_ms: 5 }),
    ];
    await assertBytes(
      agent,
      rows.reduce((sum, row) => sum + bytesOf(row), 0),
    );
  });

  it('follows every change and every kind of delete', async () => {
    const { agent } = await addAgent(store());
    const { agent: other } = await addAgent(store());
    const { agent_id } = agent;
    const rows = await Promise.all(
      Array.from({ length: 8 }, (_, at) => addEvent(store(), agent, { description: TEXT.repeat(at * 100) })),
    );
    const kept = await addEvent(store(), other);
    const changes = [TEXT.repeat(9_000), null, TEXT.repeat(200), TEXT.repeat(200)];
    for (const [at, description] of changes.entries()) {
      const next = { ...rows[0]!, version: at + 2, description };
      assert.equal((await store().replaceEvent(next)).kind, 'replaced');
      await assertBytes(agent, await storedBytes(agent));
    }
    const deletes = [
      () => store().deleteEvent(rows[1]!.event_id, agent_id),
      () => store().deleteEvent(rows[2]!.event_id, agent_id, 1),
      () => deleteOne(store(), rows[3]!.event_id, auditOf('delete_event', '')),
      () =>
        deleteSelected(
          store(),
          agent_id,
          [rows[4]!.event_id, rows[5]!.event_id, rows[4]!.event_id, kept.event_id],
          auditOf('delete_selected_events', agent_id),
        ),
    ];
    for (const remove of deletes) {
      assert.ok(await remove());
      await assertBytes(agent, await storedBytes(agent));
    }
    await store().deleteAll(agent_id, auditOf('delete_agent_events', agent_id), false);
    await assertBytes(agent, 0);
    await assertBytes(other, bytesOf(kept));
  });

  it('does not count a create that is repeated or refused, or a change that fails', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    const taken = await addEvent(store(), agent);
    const bytes = bytesOf(row) + bytesOf(taken);
    assertStored(await store().createEvent({ ...row, event_id: newUlid() }, 0), false);
    // A repeated create stores nothing, so it needs no room.
    assertStored(await store().createEvent({ ...row, event_id: newUlid() }, 0, 1), false);
    assert.deepEqual(await store().createEvent(newEventRow(agent), 2, 1), { kind: 'limit' });
    const long = TEXT.repeat(100);
    const stale = { ...row, version: 3, description: long };
    assert.equal((await store().replaceEvent(stale)).kind, 'conflict');
    const duplicate = { ...row, version: 2, title: taken.title, description: long };
    assert.equal((await store().replaceEvent(duplicate)).kind, 'duplicate');
    assert.equal((await store().replaceEvent(duplicate, 1)).kind, 'duplicate');
    await assertBytes(agent, bytes);
  });

  it('refuses a change that grows the event beyond the limit, and allows any other', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent, { description: 'short' });
    const other = await addEvent(store(), agent);
    const longer = { ...row, version: 2, description: 'longer' };
    const limit = bytesOf(longer) + bytesOf(other);
    assert.deepEqual(await store().replaceEvent(longer, limit - 1), { kind: 'size-limit' });
    assertRecord(await store().findEvent(row.event_id), row);
    assert.equal((await store().replaceEvent(longer, limit)).kind, 'replaced');
    // The limit was lowered: the same size, or less, is still possible.
    const same = { ...longer, version: 3, description: 'LONGER' };
    assert.equal((await store().replaceEvent(same, 1)).kind, 'replaced');
    const shorter = { ...longer, version: 4, description: null };
    assert.equal((await store().replaceEvent(shorter, 1)).kind, 'replaced');
    assert.deepEqual(await store().replaceEvent({ ...longer, version: 5 }, 1), { kind: 'size-limit' });
    await assertBytes(agent, bytesOf(shorter) + bytesOf(other));
  });

  it('enforces the limit when 50 creates and changes arrive at once', async () => {
    const { agent } = await addAgent(store());
    const old = await Promise.all(Array.from({ length: 25 }, () => addEvent(store(), agent)));
    const grown = old.map((row) => ({ ...row, version: 2, description: 'x'.repeat(1_000) }));
    const limit = (await storedBytes(agent)) + 10_000;
    const outcomes = await Promise.all([
      ...grown.map((next) => store().replaceEvent(next, limit)),
      ...old.map(() => {
        const row = newEventRow(agent, { description: 'x'.repeat(1_000) });
        return store().createEvent(row, 0, limit);
      }),
    ]);
    assert.ok(outcomes.some(({ kind }) => kind === 'size-limit'));
    const bytes = await storedBytes(agent);
    assert.ok(bytes <= limit && bytes > limit - 2_000, `${bytes} of ${limit}`);
    await assertBytes(agent, bytes);
  });

  it('keeps the sum when events are changed and deleted at the same time', async () => {
    const { agent } = await addAgent(store());
    const { agent_id } = agent;
    const rows = await Promise.all(Array.from({ length: 40 }, () => addEvent(store(), agent)));
    await Promise.all(
      rows.flatMap((row, at) => [
        store().replaceEvent({ ...row, version: 2, description: TEXT.repeat(at) }),
        at % 2 === 0
          ? store().deleteEvent(row.event_id, agent_id)
          : deleteOne(store(), row.event_id, auditOf('delete_event', row.event_id)),
        addEvent(store(), agent, { description: TEXT.repeat(at) }),
      ]),
    );
    await assertBytes(agent, await storedBytes(agent));
  });
}
