// Store contract: what administrators delete is kept, restored as it was, and removed when its time is over.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditEntry, Keeping } from '../../src/domain/administration/audit.ts';
import { MAX_LISTED, type SkippedEvent } from '../../src/domain/administration/undo.ts';
import type { AgentRow } from '../../src/domain/agent.ts';
import { readNearby } from '../../src/domain/events/nearby.ts';
import type { Store } from '../../src/domain/store.ts';
import {
  addAgent,
  addEvent,
  assertEvents,
  assertRecord,
  auditOf,
  deleteOne,
  deleteSelected,
  eventsOf,
  findAgent,
  findKey,
  findRow,
  HOUR_MS,
  idOf,
  NOW_MS,
  newEventRow,
  newKey,
  newUlid,
  search,
  searchAll,
} from './rows.ts';

/** Entries of tests are at NOW_MS. */
const KEPT_FROM_MS = NOW_MS - 1;

/** Undo an entry, step by step. Throws if it is refused. */
export async function restoreAll(store: Store, auditId: number, deletedAfterMs = KEPT_FROM_MS) {
  const skipped: SkippedEvent[] = [];
  let [restored, after, into]: [number, string, number | undefined] = [0, '', undefined];
  for (;;) {
    const outcome = await store.undoDelete({ auditId, deletedAfterMs, after, into }, auditOf('restore', ''));
    if (outcome.kind !== 'restored') throw new Error(outcome.kind);
    restored += outcome.restored;
    skipped.push(...outcome.skipped);
    if (outcome.last === undefined) return { restored, skipped };
    [after, into] = [outcome.last, outcome.into];
  }
}

/** The entry of a delete. */
export function deletionOf(action: AuditEntry['action'], target: string, undo: Keeping = 'kept'): AuditEntry {
  return { ...auditOf(action, target), undo };
}

/** The newest entry. */
export async function lastEntry(store: Store) {
  return (await store.auditPage({ after: undefined, limit: 1 })).items[0]!;
}

export function undoContract(store: () => Store): void {
  const latest = () => lastEntry(store());
  const countOf = async ({ agent_id }: AgentRow) => (await findAgent(store(), agent_id))?.event_count;
  const deleteAll = async (agent: AgentRow, undo?: Keeping) => {
    const audit = deletionOf('delete_agent_events', agent.agent_id, undo);
    assert.equal(await store().deleteAll(agent.agent_id, audit, false), true);
    return (await latest()).audit_id;
  };
  const deleteAgent = async (agent: AgentRow, undo?: Keeping) => {
    assert.equal(
      await store().deleteAll(agent.agent_id, deletionOf('delete_agent', agent.agent_id, undo), true),
      true,
    );
    return (await latest()).audit_id;
  };
  const deleteSome = (ids: readonly string[], into?: number, undo?: Keeping, actor_subject = 'ada') =>
    store().deleteEvents(ids, { ...deletionOf('delete_events', '', undo), actor_subject }, { into });
  const foundOf = async (agent: AgentRow) =>
    (await searchAll(store(), search(), NOW_MS)).filter((event) => event.includes(agent.agent_id));

  it('restores an event as it was: its JSON, version and last change', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent, { title: 'Zwölfton', description: 'quasi una fantasia' });
    const changed = { ...row, version: 2, status: 'cancelled' as const, updated_ms: NOW_MS + 5 };
    assert.equal((await store().replaceEvent(changed)).kind, 'replaced');
    const before = await store().findEvent(row.event_id);
    await deleteOne(store(), row.event_id, deletionOf('delete_event', row.event_id));
    const { audit_id } = await latest();
    assert.equal(await store().findEvent(row.event_id), undefined);
    assert.equal(await findRow(store(), row.event_id), undefined);
    assert.deepEqual(await restoreAll(store(), audit_id), { restored: 1, skipped: [] });
    assert.deepEqual(await store().findEvent(row.event_id), before);
    assert.deepEqual(await findRow(store(), row.event_id), changed);
    assert.equal(await countOf(agent), 1);
    assertEvents(await eventsOf(store(), agent.agent_id), [changed]);
    // A create of the same event finds it again.
    const again = await store().createEvent({ ...row, event_id: newUlid() }, 0);
    assert.equal(again.kind, 'existing');
  });

  it('finds restored events by their words at once', async () => {
    const { agent } = await addAgent(store());
    const rows = [
      await addEvent(store(), agent, { title: 'Quokka parade', start_ms: NOW_MS + HOUR_MS }),
      await addEvent(store(), agent, { title: 'Meeting', description: 'on quokkas and the quokka' }),
    ];
    const auditId = await deleteAll(agent);
    const terms = readNearby({ lat: 0, lng: 0, q: 'quokka' }, 'query').terms;
    assertEvents(await searchAll(store(), search({ terms }), NOW_MS), []);
    await restoreAll(store(), auditId);
    assertEvents(await searchAll(store(), search({ terms }), NOW_MS), rows);
  });

  it('restores an agent with its keys, its last use and its events', async () => {
    const { agent, key } = await addAgent(store(), { tier: 'read', is_active: true });
    const second = newKey();
    await store().rotateKey(agent.agent_id, key.hash, second, NOW_MS, NOW_MS + HOUR_MS);
    store().noteUse(agent.agent_id, NOW_MS + 77, second.hash);
    const rows = [await addEvent(store(), agent), await addEvent(store(), agent, { start_ms: 0 })];
    const before = await findAgent(store(), agent.agent_id);
    const keys = await Promise.all(
      [key.hash, second.hash].map((hash) => findKey(store(), agent.agent_id, hash)),
    );
    const details = await store().findAgentDetails(agent.agent_id, NOW_MS);
    assert.ok(details!.keys.some(({ last_used_ms }) => last_used_ms === NOW_MS + 77));
    const auditId = await deleteAgent(agent);
    assert.equal(await findAgent(store(), agent.agent_id), undefined);
    assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
    assert.deepEqual(await restoreAll(store(), auditId), { restored: 2, skipped: [] });
    assert.deepEqual(await findAgent(store(), agent.agent_id), before);
    assert.deepEqual((await store().findAgentDetails(agent.agent_id, NOW_MS))!.keys, details!.keys);
    assert.deepEqual(
      await Promise.all([key.hash, second.hash].map((hash) => findKey(store(), agent.agent_id, hash))),
      keys,
    );
    assert.deepEqual(await store().findAgentByKey(second.hash, NOW_MS), agent);
    assert.deepEqual(await store().findAgentByKey(key.hash, NOW_MS), agent);
    assert.equal(await store().findAgentByKey(key.hash, NOW_MS + HOUR_MS), undefined);
    assertEvents(await eventsOf(store(), agent.agent_id), [rows[1]!, rows[0]!]);
    assertEvents(await foundOf(agent), [rows[0]!]);
  });

  it('restores many events in steps, with one entry in the audit log', async () => {
    const { agent } = await addAgent(store());
    const rows = [];
    for (let number = 0; number < 620; number++)
      rows.push(newEventRow(agent, { start_ms: NOW_MS + HOUR_MS + number, title: `many ${number}` }));
    await Promise.all(rows.map((row) => store().createEvent(row, 0)));
    const auditId = await deleteAll(agent);
    const entries = async () => (await store().auditPage({ after: undefined, limit: 1 })).total;
    const before = await entries();
    assert.deepEqual(await restoreAll(store(), auditId), { restored: 620, skipped: [] });
    assert.equal(await entries(), before + 1);
    const { count, action, target, target_name, detail } = await latest();
    assert.deepEqual(
      { count, action, target, target_name, detail },
      {
        ...{ count: 620, action: 'restore', target: agent.agent_id, target_name: agent.agent_name },
        detail: JSON.stringify({ audit_id: String(auditId), action: 'delete_agent_events' }),
      },
    );
    assertEvents(await eventsOf(store(), agent.agent_id), rows);
    assertEvents(await foundOf(agent), rows);
    assert.equal(await countOf(agent), 620);
  });

  it('restores nothing more the second time', async () => {
    const { agent } = await addAgent(store());
    await addEvent(store(), agent);
    const auditId = await deleteAll(agent);
    await restoreAll(store(), auditId);
    const before = await latest();
    assert.deepEqual(await restoreAll(store(), auditId), { restored: 0, skipped: [] });
    assert.deepEqual(await latest(), before);
    assert.equal(await countOf(agent), 1);
  });

  it('skips events whose title, start and place are taken, and restores them when these are free again', async () => {
    const { agent } = await addAgent(store());
    const rows = [await addEvent(store(), agent), await addEvent(store(), agent)];
    const auditId = await deleteAll(agent);
    const taken = { ...rows[0]!, event_id: newUlid() };
    assert.equal((await store().createEvent(taken, 0)).kind, 'created');
    const { event_id, title } = rows[0]!;
    const skipped = [{ event_id, title, reason: 'duplicate' as const }];
    assert.deepEqual(await restoreAll(store(), auditId), { restored: 1, skipped });
    assert.equal(await countOf(agent), 2);
    assert.deepEqual(await restoreAll(store(), auditId), { restored: 0, skipped });
    await store().deleteEvent(taken.event_id, agent.agent_id);
    assert.deepEqual(await restoreAll(store(), auditId), { restored: 1, skipped: [] });
    assertEvents(await eventsOf(store(), agent.agent_id), rows);
  });

  it('skips events whose agent is deleted, until the agent is restored', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    const { event_id, title } = row;
    const first = await deleteAll(agent);
    const second = await deleteAgent(agent);
    assert.deepEqual(await restoreAll(store(), first), {
      restored: 0,
      skipped: [{ event_id, title, reason: 'agent_deleted' }],
    });
    await restoreAll(store(), second);
    assert.deepEqual(await restoreAll(store(), first), { restored: 1, skipped: [] });
    assertRecord(await store().findEvent(event_id), row);
  });

  it('keeps nothing of an agent that is deleted for good, not even what was kept before', async () => {
    const { agent } = await addAgent(store());
    await addEvent(store(), agent);
    const first = await deleteAll(agent);
    await addEvent(store(), agent);
    const second = await deleteAll(agent);
    await deleteAgent(agent, 'for_good');
    for (const entry of [first, second]) {
      assert.deepEqual(await restoreAll(store(), entry), { restored: 0, skipped: [] });
    }
  });

  it('does not bring back a key that was revoked while its agent was deleted', async () => {
    const { agent, key } = await addAgent(store());
    const entry = await deleteAgent(agent);
    await store().revokeKey(key.hash);
    await restoreAll(store(), entry);
    assert.equal((await findAgent(store(), agent.agent_id))?.agent_id, agent.agent_id);
    assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
  });

  it('shows and counts none of the events of two deletes whose rows are still being moved', async () => {
    const { agent } = await addAgent(store());
    const created = async () => (await store().countCreated([0])).map(({ events }) => events);
    const before = await created();
    for (const count of [600, 400]) {
      await Promise.all(Array.from({ length: count }, () => addEvent(store(), agent)));
      await deleteAll(agent);
    }
    const query = {
      q: '',
      when: 'all',
      sort: { key: 'start_at', descending: false },
      after: undefined,
      limit: 10,
    } as const;
    const page = await store().agentEventPage(agent.agent_id, query, NOW_MS);
    assert.deepEqual([page.items.length, page.total], [0, 0]);
    assert.deepEqual(await created(), before);
  });

  it('keeps the events of each delete apart, also while the rows of the last one are being moved', async () => {
    const { agent } = await addAgent(store());
    const make = async (count: number) => {
      const rows = Array.from({ length: count }, () => newEventRow(agent));
      await Promise.all(rows.map((row) => store().createEvent(row, 0)));
      return rows;
    };
    const rounds = [];
    for (const count of [700, 3, 0, 400])
      rounds.push({ rows: await make(count), id: await deleteAll(agent) });
    for (const { rows, id } of rounds.toReversed()) {
      if (rows.length === 0) await assert.rejects(restoreAll(store(), id), /nothing/);
      else assert.deepEqual(await restoreAll(store(), id), { restored: rows.length, skipped: [] });
    }
    assert.equal(await countOf(agent), 1_103);
    const ids = (await eventsOf(store(), agent.agent_id)).map(idOf);
    assert.deepEqual(
      ids,
      rounds.flatMap(({ rows }) => rows.map(({ event_id }) => event_id)),
    );
  });

  it('refuses what was deleted for good, not kept, too old, or never deleted', async () => {
    const { agent } = await addAgent(store());
    const next = async (undo: Keeping) => {
      await addEvent(store(), agent);
      return deleteAll(agent, undo);
    };
    const forGood = await next('for_good');
    await addEvent(store(), agent);
    await store().deleteAll(agent.agent_id, auditOf('delete_agent_events', agent.agent_id), false);
    const notKept = (await latest()).audit_id;
    const kept = await next('kept');
    await store().updateAgent(agent.agent_id, { tier: 'read' }, auditOf('update_agent', agent.agent_id));
    const update = (await latest()).audit_id;
    await assert.rejects(restoreAll(store(), forGood), /^Error: for-good$/);
    await assert.rejects(restoreAll(store(), notKept), /^Error: nothing$/);
    await assert.rejects(restoreAll(store(), update), /^Error: nothing$/);
    await assert.rejects(restoreAll(store(), update + 1_000_000), /^Error: no-entry$/);
    await assert.rejects(restoreAll(store(), kept, NOW_MS), /^Error: expired$/);
    assert.equal(await countOf(agent), 0);
    assert.equal((await restoreAll(store(), kept)).restored, 1);
  });

  it('has the first 100 titles of what was deleted, but none of what must not stay', async () => {
    const { agent } = await addAgent(store());
    const rows = Array.from({ length: 120 }, (_, number) =>
      newEventRow(agent, { title: `${number} “Käse”`, start_ms: NOW_MS + number }),
    );
    await Promise.all(rows.map((row) => store().createEvent(row, 0)));
    const titles = rows.map(({ title }) => title);
    const auditId = await deleteAll(agent);
    assert.deepEqual(JSON.parse((await latest()).titles!), titles.slice(0, MAX_LISTED));
    await restoreAll(store(), auditId);
    await deleteSelected(
      store(),
      agent.agent_id,
      [rows[7]!.event_id, newUlid(), rows[3]!.event_id],
      auditOf('delete_selected_events', agent.agent_id),
    );
    assert.deepEqual(JSON.parse((await latest()).titles!), [titles[7], titles[3]]);
    await deleteOne(store(), rows[9]!.event_id, deletionOf('delete_event', rows[9]!.event_id, 'for_good'));
    assert.equal((await latest()).target_name, '');
    await deleteAll(agent, 'for_good');
    assert.equal((await latest()).titles, null);
  });

  describe('deleteEvents', () => {
    it('deletes events of several agents in slices that are one entry and one restore', async () => {
      const [{ agent: one }, { agent: two }] = [await addAgent(store()), await addAgent(store())];
      const rows = [
        await addEvent(store(), one),
        await addEvent(store(), one),
        await addEvent(store(), two),
        await addEvent(store(), two),
      ];
      const ids = rows.map(({ event_id }) => event_id);
      const first = await deleteSome([ids[0]!, newUlid(), ids[0]!]);
      assert.ok(typeof first === 'object' && first.audit_id !== null);
      const { audit_id } = first;
      assert.equal(first.deleted, 1);
      assert.equal((await latest()).target, one.agent_id);
      assert.equal((await latest()).target_name, one.agent_name);
      assert.deepEqual(await deleteSome([ids[1]!, ids[2]!], audit_id), { deleted: 2, audit_id });
      assert.deepEqual(await deleteSome([ids[1]!, ids[3]!], audit_id), { deleted: 1, audit_id });
      const entry = await latest();
      assert.deepEqual([entry.audit_id, entry.count, entry.target, entry.target_name], [audit_id, 4, '', '']);
      assert.deepEqual(
        JSON.parse(entry.titles!),
        rows.map(({ title }) => title),
      );
      assert.deepEqual(JSON.parse(entry.detail), { event_ids: ids, agent_ids: [one.agent_id, two.agent_id] });
      assert.deepEqual([await countOf(one), await countOf(two)], [0, 0]);
      assert.deepEqual(await restoreAll(store(), audit_id), { restored: 4, skipped: [] });
      assertEvents(await eventsOf(store(), one.agent_id), rows.slice(0, 2));
      assertEvents(await eventsOf(store(), two.agent_id), rows.slice(2));
      assert.deepEqual([await countOf(one), await countOf(two)], [2, 2]);
      // What was restored is no longer a part of that delete.
      assert.equal(await deleteSome(ids, audit_id), 'wrong-entry');
    });

    it('writes no entry if it deletes nothing', async () => {
      const before = await latest();
      assert.deepEqual(await deleteSome([newUlid()]), { deleted: 0, audit_id: null });
      assert.deepEqual(await latest(), before);
    });

    it('refuses to extend an entry of somebody else, of another kind, or with another fate', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      const other = await addEvent(store(), agent);
      const mine = await deleteSome([other.event_id]);
      assert.ok(typeof mine === 'object');
      const id = mine.audit_id!;
      await addEvent(store(), agent, { title: 'one more' });
      assert.equal(await deleteSome([row.event_id], id, 'kept', 'eve'), 'wrong-entry');
      assert.equal(await deleteSome([row.event_id], id, 'for_good'), 'wrong-entry');
      assert.equal(await deleteSome([row.event_id], id + 1_000_000), 'wrong-entry');
      const later = { ...deletionOf('delete_events', ''), at_ms: NOW_MS + HOUR_MS + 1 };
      assert.equal(
        await store().deleteEvents([row.event_id], later, { into: id }),
        'wrong-entry',
        'an hour later',
      );
      await store().updateAgent(agent.agent_id, { tier: 'read' }, auditOf('update_agent', agent.agent_id));
      assert.equal(await deleteSome([row.event_id], (await latest()).audit_id), 'wrong-entry');
      assertRecord(await store().findEvent(row.event_id), row);
    });
  });

  describe('removeDeleted', () => {
    const removeAll = async (deletedByMs: number) => {
      let sum = 0;
      for await (const count of store().removeDeleted(deletedByMs)) sum += count;
      return sum;
    };

    it('removes what was deleted by then, in slices, and nothing else', async () => {
      await removeAll(NOW_MS + 1_000 * HOUR_MS);
      const { agent } = await addAgent(store());
      const at = async (at_ms: number, count: number) => {
        const rows = Array.from({ length: count }, () => newEventRow(agent));
        await Promise.all(rows.map((row) => store().createEvent(row, 0)));
        const audit = { ...deletionOf('delete_agent_events', agent.agent_id), at_ms };
        await store().deleteAll(agent.agent_id, audit, false);
        return (await latest()).audit_id;
      };
      const old = await at(NOW_MS, 650);
      const young = await at(NOW_MS + 1, 2);
      const { agent: other, key } = await addAgent(store());
      const agentEntry = await deleteAgent(other);
      await removeAll(NOW_MS);
      await assert.rejects(restoreAll(store(), old), /^Error: expired$/);
      await assert.rejects(restoreAll(store(), agentEntry), /^Error: expired$/);
      assert.equal(await store().findAgentByKey(key.hash, NOW_MS), undefined);
      assert.deepEqual(await restoreAll(store(), young), { restored: 2, skipped: [] });
      assert.equal(await removeAll(NOW_MS + HOUR_MS), 0);
    });

    it('can be stopped after any step, and continued', async () => {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: 700 }, () => newEventRow(agent));
      await Promise.all(rows.map((row) => store().createEvent(row, 0)));
      const deleted = await store().deleteEvents(
        rows.map(({ event_id }) => event_id),
        deletionOf('delete_events', ''),
      );
      assert.ok(typeof deleted === 'object');
      for await (const count of store().removeDeleted(NOW_MS)) {
        assert.ok(count > 0 && count < 700);
        break;
      }
      await assert.rejects(restoreAll(store(), deleted.audit_id!), /^Error: expired$/);
      assert.ok((await removeAll(NOW_MS)) < 700);
      assert.equal(await removeAll(NOW_MS), 0);
      assert.equal(await countOf(agent), 0);
    });
  });
}
