// Store contract: removal of ended events and of unused agents, in slices.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditAction } from '../../src/domain/administration/audit.ts';
import { ROWS_PER_SLICE, type Store } from '../../src/domain/store.ts';
import { restoreAll } from './contract-undo.ts';
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
  HOUR_MS,
  NOW_MS,
  newEventRow,
  search,
  searchAll,
} from './rows.ts';

const ENDED_BY_MS = NOW_MS - 48 * HOUR_MS;
const MANY = 2 * ROWS_PER_SLICE + 50;

async function sumOf(slices: AsyncIterable<number>): Promise<number> {
  return (await Array.fromAsync(slices)).reduce((sum, count) => sum + count, 0);
}

export function removalContract(store: () => Store): void {
  const endedSlices = () => store().removeEnded(ENDED_BY_MS, auditOf('delete_events', ''), undefined);
  const removeEnded = async () =>
    (await Array.fromAsync(endedSlices())).reduce((sum, { deleted }) => sum + deleted, 0);
  const unusedSlices = (byMs: number) => store().removeUnusedAgents(byMs, auditOf('delete_agent', ''));
  const removeUnused = (byMs: number) => sumOf(unusedSlices(byMs));

  describe('removeEnded', () => {
    it('removes events that had ended by then, to the millisecond, and no others', async () => {
      const { agent } = await addAgent(store());
      const gone = [
        await addEvent(store(), agent, { start_ms: 5, end_ms: ENDED_BY_MS }),
        await addEvent(store(), agent, { start_ms: ENDED_BY_MS - 3 * HOUR_MS }),
        await addEvent(store(), agent, { start_ms: -5_000_000_000 }),
        await addEvent(store(), agent, { start_ms: ENDED_BY_MS, end_ms: ENDED_BY_MS }),
      ];
      const kept = [
        await addEvent(store(), agent, { start_ms: 5, end_ms: ENDED_BY_MS + 1 }),
        await addEvent(store(), agent, { start_ms: 6, end_ms: NOW_MS + 1 }),
        await addEvent(store(), agent, { start_ms: ENDED_BY_MS - 3 * HOUR_MS + 1 }),
        await addEvent(store(), agent),
      ];
      assert.equal(await removeEnded(), gone.length);
      for (const row of gone) assert.equal(await store().findEvent(row.event_id), undefined);
      for (const row of gone) assert.equal(await findRow(store(), row.event_id), undefined);
      for (const row of kept) assertRecord(await store().findEvent(row.event_id), row);
      assertEvents(await eventsOf(store(), agent.agent_id), kept);
      assertEvents(await searchAll(store(), search(), NOW_MS), [kept[1]!, kept[3]!]);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, kept.length);
      assert.equal((await store().stats(NOW_MS)).events, kept.length);
      assert.equal(await removeEnded(), 0);
      const again = { ...newEventRow(agent, gone[0]), event_id: newEventRow(agent).event_id };
      assert.equal((await store().createEvent(again, 0)).kind, 'created');
      assert.equal(await removeEnded(), 1);
    });

    it('counts for each agent what it frees', async () => {
      const agents = [(await addAgent(store())).agent, (await addAgent(store())).agent];
      for (const agent of agents) {
        for (let count = 0; count < 5; count++) await addEvent(store(), agent, { start_ms: count });
        await addEvent(store(), agent);
      }
      assert.equal(await removeEnded(), 10);
      for (const agent of agents) {
        assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 1);
        const bytes = (await eventsOf(store(), agent.agent_id))[0]!.length;
        const row = newEventRow(agent);
        const limit = 2 * bytes + 100;
        assert.equal((await store().createEvent(row, 2, limit)).kind, 'created');
      }
    });

    it('removes many in several slices, can be stopped after any, and continues', async () => {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: MANY }, (_, at) => newEventRow(agent, { start_ms: at }));
      await Promise.all(rows.map((row) => store().createEvent(row, 0)));
      const countLeft = async () => (await findAgent(store(), agent.agent_id))!.event_count;
      for await (const { deleted: count } of endedSlices()) {
        assert.equal(count, ROWS_PER_SLICE);
        break;
      }
      assert.equal(await countLeft(), MANY - ROWS_PER_SLICE);
      // Other writes run between slices.
      let removed = 0;
      for await (const { deleted: count } of endedSlices()) {
        removed += count;
        await addEvent(store(), agent);
      }
      assert.equal(removed, MANY - ROWS_PER_SLICE);
      const left = await eventsOf(store(), agent.agent_id);
      assert.equal(await countLeft(), left.length);
      assert.ok(left.length >= 2);
    });

    it('does no harm to events that are changed, deleted and created meanwhile', async () => {
      const { agent } = await addAgent(store());
      const rows = await Promise.all(
        Array.from({ length: 90 }, (_, at) => addEvent(store(), agent, { start_ms: at })),
      );
      const later = (at: number) => ({ ...rows[at]!, version: 2, start_ms: NOW_MS + at });
      const [removed, replaced] = await Promise.all([
        removeEnded(),
        Promise.all(rows.slice(0, 30).map((_, at) => store().replaceEvent(later(at)))),
        Promise.all(rows.slice(30, 60).map((row) => store().deleteEvent(row.event_id, agent.agent_id))),
        Promise.all(rows.map(() => addEvent(store(), agent))),
      ]);
      const saved = replaced.flatMap(({ kind }, at) => (kind === 'replaced' ? [later(at)] : []));
      for (const row of saved) assertRecord(await store().findEvent(row.event_id), row);
      assert.ok(removed <= 90 - saved.length);
      const left = await eventsOf(store(), agent.agent_id);
      assert.equal(left.length, saved.length + 90);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, left.length);
    });
  });

  describe('what was removed', () => {
    const kept = { undo: 'kept', at_ms: NOW_MS, actor_subject: 'retention' } as const;
    const entriesOf = async (action: AuditAction) => {
      const { items } = await store().auditPage({ limit: 10_000, after: undefined });
      return items.filter((entry) => entry.actor_subject === 'retention' && entry.action === action);
    };

    it('comes back: events of all slices with one restore, without titles in the log', async () => {
      const agents = [(await addAgent(store())).agent, (await addAgent(store())).agent];
      const rows = await Promise.all(
        Array.from({ length: MANY }, (_, at) => addEvent(store(), agents[at % 2]!, { start_ms: at })),
      );
      const audit = { ...auditOf('delete_events', ''), ...kept };
      let into: number | undefined;
      for await (const slice of store().removeEnded(ENDED_BY_MS, audit, undefined)) {
        into ??= slice.audit_id!;
        assert.equal(slice.audit_id, into);
      }
      const late = await addEvent(store(), agents[0]!, { start_ms: 5_000 });
      const next = await Array.fromAsync(store().removeEnded(ENDED_BY_MS, audit, into));
      assert.deepEqual(next, [{ deleted: 1, audit_id: into }]);
      const hourLater = { ...audit, at_ms: NOW_MS + HOUR_MS + 1 };
      const other = await addEvent(store(), agents[0]!, { start_ms: 6_000 });
      const [another] = await Array.fromAsync(store().removeEnded(ENDED_BY_MS, hourLater, into));
      assert.notEqual(another!.audit_id, into);

      const entries = await entriesOf('delete_events');
      const [entry] = entries.filter(({ audit_id }) => audit_id === into);
      assert.deepEqual(
        [entry!.count, entry!.titles, entry!.target, entry!.undo],
        [MANY + 1, '[]', '', 'kept'],
      );
      assert.equal((await restoreAll(store(), into!)).restored, MANY + 1);
      assert.equal((await restoreAll(store(), another!.audit_id!)).restored, 1);
      for (const row of [...rows.slice(0, 3), rows.at(-1)!, late, other])
        assertRecord(await store().findEvent(row.event_id), row);
      for (const agent of agents) {
        const found = await eventsOf(store(), agent.agent_id);
        assert.equal((await findAgent(store(), agent.agent_id))?.event_count, found.length);
      }
      assert.equal(await removeEnded(), MANY + 2);
    });

    it('comes back: each agent with its key', async () => {
      const made = await Promise.all([1, 2, 3].map((at) => addAgent(store(), { created_ms: 10 + at })));
      const audit = { ...auditOf('delete_agent', ''), ...kept };
      assert.equal(await sumOf(store().removeUnusedAgents(20, audit)), 3);
      const entries = await entriesOf('delete_agent');
      for (const { agent, key } of made) {
        assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
        const [entry] = entries.filter(({ target }) => target === agent.agent_id);
        assert.deepEqual([entry!.target_name, entry!.count, entry!.undo], [agent.agent_name, 0, 'kept']);
        assert.equal((await restoreAll(store(), entry!.audit_id)).restored, 0);
        assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
      }
      assert.equal(await removeUnused(20), 3);
    });

    it('leaves no name of an agent if it is not kept', async () => {
      const { agent } = await addAgent(store(), { created_ms: 10 });
      const audit = { ...auditOf('delete_agent', ''), actor_subject: 'retention' };
      assert.equal(await sumOf(store().removeUnusedAgents(20, audit)), 1);
      const [entry] = (await entriesOf('delete_agent')).filter(({ target }) => target === agent.agent_id);
      assert.deepEqual([entry!.target_name, entry!.undo], ['', null]);
    });
  });

  describe('removeUnusedAgents', () => {
    it('removes agents that are old enough, have made no request and have no events', async () => {
      const old = { created_ms: 1_000 };
      const unused = await addAgent(store(), old);
      const inactive = await addAgent(store(), { ...old, is_active: false });
      const kept = [
        await addAgent(store(), { created_ms: 1_001 }),
        await addAgent(store(), old),
        await addAgent(store(), old),
        await addAgent(store(), old), // its deleted event can be restored
      ];
      store().noteUse(kept[1]!.agent.agent_id, NOW_MS);
      await addEvent(store(), kept[2]!.agent);
      const { event_id } = await addEvent(store(), kept[3]!.agent);
      assert.ok(await deleteOne(store(), event_id, { ...auditOf('delete_event', event_id), undo: 'kept' }));
      assert.equal(await removeUnused(1_000), 2);
      for (const { agent, key } of [unused, inactive]) {
        assert.equal(await findAgent(store(), agent.agent_id), undefined);
        assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
        assert.deepEqual(await store().createEvent(newEventRow(agent), 0), { kind: 'no-agent' });
      }
      for (const { agent, key } of kept)
        assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
      assert.equal(await removeUnused(1_000), 0);
    });

    it('removes many in several slices', async () => {
      const made = await Promise.all(
        Array.from({ length: MANY }, (_, at) => addAgent(store(), { created_ms: at })),
      );
      const steps = await Array.fromAsync(unusedSlices(MANY));
      assert.deepEqual(steps, [ROWS_PER_SLICE, ROWS_PER_SLICE, 50]);
      for (const { agent } of made) assert.equal(await findAgent(store(), agent.agent_id), undefined);
    });

    it('keeps an agent that creates an event at the same time', async () => {
      for (let round = 0; round < 20; round++) {
        const { agent } = await addAgent(store(), { created_ms: 5 });
        const row = newEventRow(agent);
        const [{ kind }] = await Promise.all([store().createEvent(row, 0), removeUnused(5)]);
        const found = await findAgent(store(), agent.agent_id);
        assert.equal(found?.event_count, kind === 'created' ? 1 : undefined);
        assert.equal((await store().findEvent(row.event_id)) !== undefined, kind === 'created');
      }
    });
  });
}
