// Store contract: filters of the audit log, against a plain reading of the whole log.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { foldCase } from '../../src/domain/administration/admin.ts';
import {
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditEntry,
  type AuditRecord,
} from '../../src/domain/administration/audit.ts';
import type { AuditFilters } from '../../src/domain/administration/audit-filters.ts';
import { foldText } from '../../src/domain/administration/list.ts';
import type { Store } from '../../src/domain/store.ts';
import { Chance } from '../support/random.ts';
import { addAgent, addEvent, deleteOne, deleteSelected, findAgent, HOUR_MS, NOW_MS } from './rows.ts';

const ACTORS = [
  { actor_subject: 'ada', actor_email: 'Ada@Example.com' },
  { actor_subject: 'bob', actor_email: '' },
  { actor_subject: 'ada@example.com', actor_email: 'eve@example.com' },
  { actor_subject: 'ZOË', actor_email: 'zoë@example.com' },
];
const NAMES = [
  'City guide',
  'ΣΊΣΥΦΟΣ 100%',
  'Ärger_"😀"',
  'K as in Kelvin',
  'İstanbul',
  '{"agent_id":"x"}',
  'a\\b',
];

export function auditFilterContract(store: () => Store): void {
  const chance = new Chance(17);
  const all = async () => (await store().auditPage({ after: undefined, limit: 10_000 })).items;
  let ids: string[];
  let log: readonly AuditRecord[];

  before(async () => {
    ids = [];
    for (const agent_name of NAMES) ids.push((await addAgent(store(), { agent_name })).agent.agent_id);
    for (let number = 0; number < 90; number++) {
      const id = chance.pick(ids);
      const agent = (await findAgent(store(), id))!;
      const entry = (action: AuditAction, target: string, detail = '') => ({
        ...chance.pick(ACTORS),
        at_ms: NOW_MS + chance.integer(-50, 50) * HOUR_MS,
        ...{ action, target, detail },
      });
      const kind = chance.integer(0, 4);
      if (kind === 0)
        await store().updateAgent(id, { tier: 'read' }, entry('update_agent', id, '{"tier":"read"}'));
      else if (kind === 1) await store().deleteAll(id, entry('delete_agent_events', id), false);
      else if (kind === 4) await deleteAndRestore([id, chance.pick(ids)], entry('delete_events', ''));
      else {
        const { event_id } = await addEvent(store(), agent, { title: `${chance.pick(NAMES)} ${number}` });
        if (kind === 2) await deleteOne(store(), event_id, entry('delete_event', event_id));
        else await deleteSelected(store(), id, [event_id], entry('delete_selected_events', id));
      }
    }
    log = await all();
  });

  /** Two entries, of one or two agents. */
  const deleteAndRestore = async (agentIds: readonly string[], audit: AuditEntry) => {
    const eventIds = [];
    for (const agentId of agentIds)
      eventIds.push((await addEvent(store(), (await findAgent(store(), agentId))!)).event_id);
    const deleted = await store().deleteEvents(eventIds, { ...audit, undo: 'kept' });
    assert.ok(typeof deleted === 'object');
    const step = { auditId: deleted.audit_id!, deletedAfterMs: 0, after: '', into: undefined };
    await store().undoDelete(step, { ...audit, action: 'restore' });
  };

  const agentsOf = ({ detail, target }: AuditRecord): string[] => {
    const { agent_id, agent_ids = [] } = detail === '' ? {} : JSON.parse(detail);
    return [agent_id ?? target, ...agent_ids];
  };
  const textsOf = ({ target_name, target, actor_email, titles }: AuditRecord): string[] => [
    ...[target_name, target, actor_email],
    ...(titles === null ? [] : JSON.parse(titles)),
  ];
  const idsIn = ({ detail }: AuditRecord): string[] =>
    detail === ''
      ? []
      : Object.values(JSON.parse(detail))
          .flat()
          .map(String)
          .filter((text) => /^(?:[\dA-Z]{26}|[\da-f-]{36})$/.test(text));
  const matches = (entry: AuditRecord, { actor, action, agentId, fromMs, beforeMs, q }: AuditFilters) =>
    (actor === undefined ||
      entry.actor_subject === actor.subject ||
      foldCase(entry.actor_email) === actor.email) &&
    (action === undefined || entry.action === action) &&
    (agentId === undefined || agentsOf(entry).includes(agentId)) &&
    (fromMs === undefined || entry.at_ms >= fromMs) &&
    (beforeMs === undefined || entry.at_ms < beforeMs) &&
    (q === undefined ||
      textsOf(entry).some((text) => foldText(text).includes(foldText(q))) ||
      idsIn(entry).some((id) => foldText(id) === foldText(q)));
  const actor = (text: string) => ({ subject: text, email: foldCase(text) });

  const assertFound = async (filters: AuditFilters) => {
    const expected = log.filter((entry) => matches(entry, filters));
    const { items, total, next } = await store().auditPage({ after: undefined, limit: 10_000, filters });
    assert.deepEqual(items, expected, JSON.stringify(filters));
    assert.deepEqual([total, next], [expected.length, undefined]);
    return expected.length;
  };

  it('finds by the e-mail of the actor, ignoring the case of ASCII letters, or by the subject', async () => {
    for (const text of ['ada@example.com', 'ADA@EXAMPLE.COM', 'bob', 'ZOË', 'zoë@example.com'])
      assert.ok((await assertFound({ actor: actor(text) })) > 0, text);
    for (const text of ['BOB', 'zoË@example.com', 'ada@', '%'])
      assert.equal(await assertFound({ actor: actor(text) }), 0, text);
  });

  it('finds by action', async () => {
    for (const action of AUDIT_ACTIONS) await assertFound({ action });
    assert.ok((await assertFound({ action: 'delete_event' })) > 0);
  });

  it('finds what was done to an agent, and to its events', async () => {
    let found = 0;
    for (const agentId of ids) found += await assertFound({ agentId });
    assert.ok(found >= 90);
    assert.equal(await assertFound({ agentId: 'x' }), 0, 'not a text inside a name');
  });

  it('finds by time: from a time on, and before one, to the millisecond', async () => {
    const { at_ms } = log[40]!;
    for (const filters of [
      { fromMs: at_ms },
      { fromMs: at_ms + 1 },
      { beforeMs: at_ms },
      { beforeMs: at_ms + 1 },
      { fromMs: at_ms, beforeMs: at_ms + 1 },
      { fromMs: at_ms, beforeMs: at_ms },
    ])
      await assertFound(filters);
  });

  it('finds text in the name or ID of the target and in the e-mail, literally and ignoring case', async () => {
    for (const q of [
      'city',
      'CITY GUIDE 1',
      'σίσυφος',
      'ΣΊΣΥΦΟ',
      '100%',
      '_"😀',
      'kelvin',
      'K',
      'i̇stanbul',
      'İS',
      'zoë@',
      'a\\B',
    ])
      assert.ok((await assertFound({ q })) > 0, q);
    for (const q of ['no such text', '%', '_', '*', 'adaexample']) await assertFound({ q });
    assert.ok((await assertFound({ q: ids[0]!.toUpperCase() })) > 0);
  });

  it('finds text in one of the titles, not in their JSON', async () => {
    const agent = (await findAgent(store(), ids[0]!))!;
    const titles = ['He said "hi" \\ back', 'Two\tcolumns', 'Ends with a backslash \\'];
    const rows = [];
    for (const title of titles) rows.push(await addEvent(store(), agent, { title }));
    const eventIds = rows.map(({ event_id }) => event_id);
    const audit = { ...ACTORS[0]!, at_ms: NOW_MS, action: 'delete_events' as const, target: '', detail: '' };
    await store().deleteEvents(eventIds, { ...audit, undo: 'kept' });
    log = await all();
    for (const q of ['HE SAID "hi"', 'hi" \\ back', 'two\tc', 'backslash \\', ...eventIds])
      assert.equal(await assertFound({ q }), 1, q);
    for (const q of ['["', '","', '\\"', 'back","Two', '\\t']) assert.equal(await assertFound({ q }), 0, q);
    assert.equal(await assertFound({ q: eventIds[0]!.slice(1) }), 0, 'part of an ID');
  });

  it('finds what matches all filters, in pages of any size', async () => {
    for (let round = 0; round < 40; round++) {
      const some = <T>(value: T): T | undefined => (chance.chance(0.4) ? value : undefined);
      const filters: AuditFilters = {
        actor: some(actor(chance.pick(['ada@example.com', 'bob', 'eve@example.com']))),
        action: some(chance.pick(AUDIT_ACTIONS)),
        agentId: some(chance.pick(ids)),
        fromMs: some(NOW_MS - chance.integer(0, 50) * HOUR_MS),
        beforeMs: some(NOW_MS + chance.integer(0, 50) * HOUR_MS),
        q: some(chance.pick(['city', 'Σ', '1', 'example'])),
      };
      const expected = log.filter((entry) => matches(entry, filters));
      const seen: AuditRecord[] = [];
      let after: number | undefined;
      do {
        const limit = chance.integer(1, 20);
        const page = await store().auditPage({ after, limit, filters });
        assert.equal(page.total, expected.length);
        assert.ok(page.items.length <= limit);
        seen.push(...page.items);
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(seen, expected, JSON.stringify(filters));
    }
  });
}
