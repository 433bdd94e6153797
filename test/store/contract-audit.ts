// Store contract: the audit log, deletes of selected events, and statistics.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditEntry } from '../../src/domain/administration/audit.ts';
import type { Store } from '../../src/domain/store.ts';
import {
  addAgent,
  addEvent,
  auditOf,
  deleteOne,
  deleteSelected,
  findAgent,
  HOUR_MS,
  NOW_MS,
  newUlid,
  newUuid,
} from './rows.ts';

export function auditContract(store: () => Store): void {
  const log = async (limit = 100) => (await store().auditPage({ after: undefined, limit })).items;
  const latest = async () => {
    // What is kept for a restore is in contract-undo.ts.
    const { audit_id: _, titles: __, undo: ___, restored_ms: ____, ...entry } = (await log(1))[0]!;
    return entry;
  };
  const count = async () => (await store().auditPage({ after: undefined, limit: 1 })).total;
  const world = async () => {
    const { agent } = await addAgent(store(), { agent_name: 'Ärger "😀"' });
    const events = [
      await addEvent(store(), agent, { title: 'naïve \\ title' }),
      await addEvent(store(), agent),
    ];
    return { agent, events, ids: events.map(({ event_id }) => event_id) };
  };

  it('has an entry for each change, with the name at that moment and what was changed', async () => {
    const { agent, ids } = await world();
    const id = agent.agent_id;
    const more = await addEvent(store(), agent);
    const owner = JSON.stringify({ agent_id: id, agent_name: agent.agent_name });
    const name = { target_name: agent.agent_name };
    const steps: [AuditEntry, (entry: AuditEntry) => Promise<unknown>, object][] = [
      [
        auditOf('update_agent', id, '{"tier":"read"}'),
        (entry) => store().updateAgent(id, { tier: 'read' }, entry),
        { ...name, count: 1 },
      ],
      [
        auditOf('delete_event', ids[0]!),
        (entry) => deleteOne(store(), ids[0]!, entry),
        { target_name: 'naïve \\ title', detail: owner, count: 1 },
      ],
      [
        auditOf('delete_selected_events', id),
        (entry) => deleteSelected(store(), id, [newUlid(), ids[1]!, ids[0]!, ids[1]!], entry),
        { ...name, detail: JSON.stringify({ event_ids: [ids[1]] }), count: 1 },
      ],
      [
        auditOf('delete_agent_events', id),
        (entry) => store().deleteAll(id, entry, false),
        { ...name, count: 1 },
      ],
      [auditOf('delete_agent', id), (entry) => store().deleteAll(id, entry, true), { ...name, count: 0 }],
    ];
    for (const [entry, change, found] of steps) {
      await change(entry);
      assert.deepEqual(await latest(), { ...entry, ...found });
    }
    assert.equal(await store().findEvent(more.event_id), undefined);
  });

  it('has no entry for a change of an unknown agent or event, or if nothing was deleted', async () => {
    const { agent } = await world();
    const before = await count();
    const id = newUuid();
    await store().updateAgent(id, { tier: 'read' }, auditOf('update_agent', id));
    await store().deleteAll(id, auditOf('delete_agent', id), true);
    await store().deleteAll(id, auditOf('delete_agent_events', id), false);
    await deleteOne(store(), newUlid(), auditOf('delete_event', id));
    await deleteSelected(store(), id, [newUlid()], auditOf('delete_selected_events', id));
    await deleteSelected(store(), agent.agent_id, [newUlid()], auditOf('delete_selected_events', id));
    assert.equal(await count(), before);
  });

  it('returns pages, newest first, with the total, whatever is written in between', async () => {
    const { agent } = await addAgent(store());
    const change = (number: number) =>
      store().updateAgent(
        agent.agent_id,
        { is_active: true },
        auditOf('update_agent', agent.agent_id, String(number)),
      );
    for (let number = 1; number <= 7; number++) await change(number);
    const seen: string[] = [];
    let after: number | undefined;
    for (let page = 0; page < 3; page++) {
      const { items, total, next } = await store().auditPage({ after, limit: 3 });
      assert.equal(total, (await log()).length);
      seen.push(...items.map(({ detail }) => detail));
      after = next;
      await change(8 + page);
    }
    assert.deepEqual(seen.slice(0, 7), ['7', '6', '5', '4', '3', '2', '1']);
    const [oldest] = (await log()).slice(-1);
    const end = await store().auditPage({ after: oldest!.audit_id, limit: 3 });
    assert.deepEqual([end.items, end.next], [[], undefined]);
    const exact = await store().auditPage({ after: undefined, limit: await count() });
    assert.equal(exact.next, undefined);
  });

  describe('deleteEvents of one agent', () => {
    const remove = (agentId: string, ids: readonly string[]) =>
      deleteSelected(store(), agentId, ids, auditOf('delete_selected_events', agentId));

    it("deletes the agent's own events, once each, and leaves all others", async () => {
      const { agent, ids } = await world();
      const other = await world();
      const kept = await addEvent(store(), agent);
      const wanted = [...ids, newUlid(), 'nonsense', ids[0]!, other.ids[0]!];
      assert.equal(await remove(agent.agent_id, wanted), 2);
      for (const id of ids) assert.equal(await store().findEvent(id), undefined);
      for (const id of [kept.event_id, ...other.ids]) assert.equal((await store().findEvent(id))?.version, 1);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 1);
      assert.equal((await findAgent(store(), other.agent.agent_id))?.event_count, 2);
      assert.equal(await remove(agent.agent_id, wanted), 0);
    });

    it('finds no agent by an unknown ID', async () => {
      const { ids } = await world();
      assert.equal(await remove(newUuid(), ids), undefined);
      assert.equal((await store().findEvent(ids[0]!))?.version, 1);
    });

    it('counts each event once, however many calls delete it at the same time', async () => {
      const { agent } = await addAgent(store());
      const rows = [];
      for (let number = 0; number < 30; number++) rows.push(await addEvent(store(), agent));
      const ids = rows.map(({ event_id }) => event_id);
      const asked = [ids, ids.toReversed(), ids.slice(10), ids.slice(0, 5)].map((some) =>
        remove(agent.agent_id, some),
      );
      const single = ids.map((id) => store().deleteEvent(id, agent.agent_id));
      const counts = [...(await Promise.all(asked)), ...(await Promise.all(single)).map(Number)];
      assert.equal(
        counts.reduce((sum: number, deleted) => sum + deleted!, 0),
        30,
      );
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 0);
    });
  });

  describe('stats', () => {
    it('counts agents, those used within a day, events, and events that have not ended', async () => {
      const before = await store().stats(NOW_MS);
      const { agent } = await addAgent(store());
      const day = 24 * HOUR_MS;
      await addEvent(store(), agent, { start_ms: NOW_MS - 3 * HOUR_MS });
      await addEvent(store(), agent, { start_ms: NOW_MS - 3 * HOUR_MS + 1 });
      await addEvent(store(), agent, { start_ms: NOW_MS + day });
      for (const usedMs of [NOW_MS - day - 1, NOW_MS - day, NOW_MS]) {
        store().noteUse((await addAgent(store())).agent.agent_id, usedMs);
      }
      assert.deepEqual(await store().stats(NOW_MS), {
        agents: before.agents + 4,
        agents_active_today: before.agents_active_today + 2,
        events: before.events + 3,
        events_upcoming: before.events_upcoming + 2,
      });
    });

    it('counts all events and those that have not ended at the same moment', async () => {
      const { agent } = await addAgent(store());
      const over = async () => {
        const { events, events_upcoming } = await store().stats(NOW_MS);
        return events - events_upcoming;
      };
      const before = await over();
      let isChanging = true;
      const change = async () => {
        while (isChanging) {
          const { event_id } = await addEvent(store(), agent, { start_ms: NOW_MS + HOUR_MS });
          await store().deleteEvent(event_id, agent.agent_id);
        }
      };
      const changes = Array.from({ length: 4 }, change);
      const seen: number[] = [];
      for (let round = 0; round < 100; round++) seen.push(await over());
      isChanging = false;
      await Promise.all(changes);
      assert.deepEqual(seen, Array(100).fill(before));
    });
  });
}
