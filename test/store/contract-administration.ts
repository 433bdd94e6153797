// Store contract: operations of administrators. contract-audit.ts has what they leave in the audit log.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentUpdate } from '../../src/domain/agent.ts';
import type { Store } from '../../src/domain/store.ts';
import { size } from '../support/sizes.ts';
import {
  addAgent,
  addEvent,
  assertEvents,
  assertRecord,
  auditOf,
  deleteOne,
  eventsOf,
  findAgent,
  findRow,
  idOf,
  NOW_MS,
  newEventRow,
  newUlid,
  newUuid,
  parseEvent,
  search,
  searchAll,
  WHOLE_LIST,
} from './rows.ts';

/** Events of one agent; a list reads them in several batches. */
const MANY = size(1_800, 10_600);

export function administrationContract(store: () => Store): void {
  const update = (agentId: string, change: AgentUpdate) =>
    store().updateAgent(agentId, change, auditOf('update_agent', agentId));
  const deleteAgent = (agentId: string) => store().deleteAll(agentId, auditOf('delete_agent', agentId), true);
  const deleteEvents = (agentId: string) =>
    store().deleteAll(agentId, auditOf('delete_agent_events', agentId), false);
  const foundOf = async (agentId: string) =>
    (await searchAll(store(), search(), NOW_MS)).filter((event) => parseEvent(event).agent_id === agentId);

  describe('updateAgent', () => {
    const changes: AgentUpdate[] = [
      { tier: 'read' },
      { is_active: false },
      { tier: 'admin', is_active: false },
    ];
    for (const change of changes) {
      it(`sets ${Object.keys(change).join(' and ')} and nothing else`, async () => {
        const { agent } = await addAgent(store());
        await addEvent(store(), agent);
        const expected = { ...agent, ...change, last_used_ms: null, event_count: 1 };
        assert.deepEqual(await update(agent.agent_id, change), expected);
        assert.deepEqual(await findAgent(store(), agent.agent_id), expected);
      });
    }

    it('shows the new tier to the next request with the key', async () => {
      const { agent, key } = await addAgent(store());
      await update(agent.agent_id, { tier: 'read' });
      assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), { ...agent, tier: 'read' });
    });

    it('leaves the events of a deactivated agent in every search', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      await update(agent.agent_id, { is_active: false });
      assertRecord(await store().findEvent(row.event_id), row);
      assertEvents(await foundOf(agent.agent_id), [row]);
    });

    it('returns to each of several concurrent changes its own result', async () => {
      const { agent } = await addAgent(store());
      const [first, second] = await Promise.all([
        update(agent.agent_id, { tier: 'read' }),
        update(agent.agent_id, { tier: 'admin' }),
      ]);
      assert.deepEqual([first?.tier, second?.tier], ['read', 'admin']);
    });

    it('finds no agent by an unknown ID', async () => {
      assert.equal(await update(newUuid(), { tier: 'read' }), undefined);
    });

    it('does no harm when the agent is deleted at the same time', async () => {
      const { agent, key } = await addAgent(store());
      const [, updated, deleted] = await Promise.all([
        store().check(),
        update(agent.agent_id, { tier: 'read' }),
        deleteAgent(agent.agent_id),
      ]);
      if (updated) assert.deepEqual(updated, { ...agent, tier: 'read', last_used_ms: null, event_count: 0 });
      assert.equal(deleted, true);
      assert.equal(await findAgent(store(), agent.agent_id), undefined);
      assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
    });
  });

  describe('deleteAll with the agent', () => {
    it('removes the agent, its keys and its events, and nothing of any other agent', async () => {
      const { agent, key } = await addAgent(store());
      const { agent: other, key: otherKey } = await addAgent(store());
      const rows = [await addEvent(store(), agent), await addEvent(store(), agent, { start_ms: 0 })];
      const kept = await addEvent(store(), other);
      assert.equal(await deleteAgent(agent.agent_id), true);
      assert.equal(await findAgent(store(), agent.agent_id), undefined);
      assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
      for (const row of rows) assert.equal(await store().findEvent(row.event_id), undefined);
      for (const row of rows) assert.equal(await findRow(store(), row.event_id), undefined);
      assertEvents(await foundOf(agent.agent_id), []);
      assert.deepEqual(await eventsOf(store(), agent.agent_id), []);
      assert.ok(!(await store().listAgents()).some(({ agent_id }) => agent_id === agent.agent_id));
      assert.deepEqual(await store().findAgentByKey(otherKey.hash, NOW_MS), other);
      assertEvents(await foundOf(other.agent_id), [kept]);
    });

    it('is false for an unknown agent, and the second time', async () => {
      const { agent } = await addAgent(store());
      const answers = [await deleteAgent(agent.agent_id), await deleteAgent(agent.agent_id)];
      assert.deepEqual(answers, [true, false]);
      assert.equal(await deleteAgent(newUuid()), false);
    });

    it('leaves no event of creates that arrive at the same time', async () => {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: 40 }, () => newEventRow(agent));
      const creating = rows.map((row, at) => {
        const creation = store().createEvent(row, 0);
        return at === 20 ? deleteAgent(agent.agent_id).then(() => creation) : creation;
      });
      const kinds = new Set((await Promise.all(creating)).map((outcome) => outcome.kind));
      for (const kind of kinds) assert.match(kind, /^(created|no-agent)$/);
      for (const row of rows) assert.equal(await store().findEvent(row.event_id), undefined);
      assertEvents(await foundOf(agent.agent_id), []);
    });
  });

  describe('deleteAll without the agent', () => {
    it('removes the events and keeps the agent and its key, which can create events again', async () => {
      const { agent, key } = await addAgent(store());
      const rows = [await addEvent(store(), agent), await addEvent(store(), agent, { start_ms: 0 })];
      assert.deepEqual(await store().createEvent(newEventRow(agent), 2), { kind: 'limit' });
      assert.equal(await deleteEvents(agent.agent_id), true);
      for (const row of rows) assert.equal(await store().findEvent(row.event_id), undefined);
      assertEvents(await foundOf(agent.agent_id), []);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 0);
      assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
      assert.equal((await store().createEvent(newEventRow(agent), 2)).kind, 'created');
    });

    it('is true for an agent without events, false for an unknown one', async () => {
      const { agent } = await addAgent(store());
      assert.equal(await deleteEvents(agent.agent_id), true);
      assert.equal(await deleteEvents(newUuid()), false);
    });
  });

  it('deletes even while the agent keeps creating and deleting', async () => {
    const { agent } = await addAgent(store());
    let isOver = false;
    const write = async () => {
      while (!isOver) {
        const row = newEventRow(agent);
        const { kind } = await store().createEvent(row, 0);
        if (kind === 'no-agent') return;
        await store().deleteEvent(row.event_id, agent.agent_id);
      }
    };
    const writing = Promise.all(Array.from({ length: 6 }, write)).finally(() => {
      isOver = true;
    });
    for (let times = 0; times < 10; times++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(await deleteEvents(agent.agent_id), true);
    }
    assert.equal(isOver, false);
    assert.equal(await deleteAgent(agent.agent_id), true);
    await writing;
    assertEvents(await foundOf(agent.agent_id), []);
  });

  describe('deleteEvents of one event', () => {
    it('removes an event of any agent, once', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      const remove = () => deleteOne(store(), row.event_id, auditOf('delete_event', row.event_id));
      assert.deepEqual([await remove(), await remove()], [true, false]);
      assert.equal(await store().findEvent(row.event_id), undefined);
      assertEvents(await foundOf(agent.agent_id), []);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 0);
    });

    it('is false for an unknown event', async () => {
      assert.equal(await deleteOne(store(), newUlid(), auditOf('delete_event', 'none')), false);
    });
  });

  describe('agentEventPage, from the first page to the last', () => {
    it('lists the events of one agent by start and event_id, ended ones included', async () => {
      const { agent } = await addAgent(store());
      const { agent: other } = await addAgent(store());
      await addEvent(store(), other);
      const [late, twin, early] = [
        await addEvent(store(), agent, { start_ms: 3_000, event_id: '01K00000000000000000000009' }),
        await addEvent(store(), agent, { start_ms: 3_000, event_id: '01K00000000000000000000001' }),
        await addEvent(store(), agent, { start_ms: -4_000, event_id: '01K00000000000000000000005' }),
      ];
      assertEvents(await eventsOf(store(), agent.agent_id), [early, twin, late]);
    });

    it('lists each event once, in order, when thousands start at the same time', async () => {
      const { agent } = await addAgent(store());
      // More than one batch per start; created in a different order than listed.
      const rows = Array.from({ length: MANY }, (_, at) =>
        newEventRow(agent, { start_ms: at < 600 ? 1 : 2 }),
      );
      const order = rows.map((row, at) => ({ row, key: (at * 7_919) % rows.length }));
      order.sort((a, b) => a.key - b.key);
      await Promise.all(order.map(({ row }) => store().createEvent(row, 0)));
      const listed = await eventsOf(store(), agent.agent_id);
      assert.deepEqual(
        listed.map(idOf),
        rows.map(({ event_id }) => event_id),
      );
    });

    it('shows writes between two pages in the next', async () => {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: 1_200 }, (_, at) => newEventRow(agent, { start_ms: at }));
      await Promise.all(rows.map((row) => store().createEvent(row, 0)));
      const query = { ...WHOLE_LIST, after: undefined };
      const { items, next } = await store().agentEventPage(agent.agent_id, query, NOW_MS);
      const gone = rows.at(-1)!;
      await store().deleteEvent(gone.event_id, agent.agent_id);
      const rest = await eventsOf(store(), agent.agent_id, next);
      assertEvents([...items.map(({ json }) => json), ...rest], rows.slice(0, -1));
    });

    it('is empty for an unknown agent and for one without events', async () => {
      const { agent } = await addAgent(store());
      assert.deepEqual(await eventsOf(store(), agent.agent_id), []);
      assert.deepEqual(await eventsOf(store(), newUuid()), []);
    });

    it('lists more events than one batch, during writes', async () => {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: 2_500 }, (_, at) => newEventRow(agent, { start_ms: at }));
      await Promise.all(rows.map((row) => store().createEvent(row, 0)));
      const [listed] = await Promise.all([
        eventsOf(store(), agent.agent_id),
        ...rows.slice(2_400).map((row) => store().deleteEvent(row.event_id, agent.agent_id)),
      ]);
      assertEvents(listed.slice(0, 2_400), rows.slice(0, 2_400));
    });
  });
}
