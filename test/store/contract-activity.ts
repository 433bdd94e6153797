// Store contract: what was created lately, per agent and per day, compared with counting every event that is left.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { AgentActivity } from '../../src/domain/administration/activity.ts';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import type { AgentRecord, AgentRow } from '../../src/domain/agent.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { newUlid } from '../../src/domain/ids.ts';
import { ROWS_PER_SLICE, type Store } from '../../src/domain/store.ts';
import { Chance } from '../support/random.ts';
import { holds, sorted, walk } from './listing.ts';
import { addAgent, addEvent, auditOf, deleteOne, HOUR_MS, NOW_MS } from './rows.ts';

const DAY_MS = 24 * HOUR_MS;
const WINDOWS = { events_24h: DAY_MS, events_7d: 7 * DAY_MS };
const TODAY_MS = Date.parse('2031-05-01T00:00:00Z');

/** Edges of both windows and of days, and some later than now: clocks of nodes differ. */
const EDGES = [DAY_MS, 7 * DAY_MS, NOW_MS - TODAY_MS, NOW_MS - TODAY_MS + 6 * DAY_MS, 0, -1_000].flatMap(
  (ago) => [-1, 0, 1].map((more) => NOW_MS - ago + more),
);

export function activityContract(store: () => Store): void {
  const chance = new Chance(17);
  const someTime = () => (chance.chance(0.4) ? chance.pick(EDGES) : NOW_MS - chance.integer(0, 12 * DAY_MS));
  const idOf = ({ agent_id }: AgentRow) => agent_id;
  const agents: AgentRow[] = [];
  let events: EventRow[] = [];

  const add = async (agent: AgentRow, created_ms = someTime()) => {
    const event_id = newUlid(created_ms, (bytes) => bytes.map(() => chance.integer(0, 255)));
    events.push(await addEvent(store(), agent, { event_id, created_ms }));
  };
  const forget = (isGone: (event: EventRow) => boolean) => {
    events = events.filter((event) => !isGone(event));
  };

  const activityOf = (agentId: string): AgentActivity => {
    const count = (windowMs: number) =>
      events.filter(({ agent_id, created_ms }) => agent_id === agentId && created_ms >= NOW_MS - windowMs)
        .length;
    return { events_24h: count(WINDOWS.events_24h), events_7d: count(WINDOWS.events_7d) };
  };
  const query = (fields: Partial<AgentListQuery>): AgentListQuery => ({
    q: '',
    sort: { key: 'created_at', descending: false },
    after: undefined,
    limit: 100,
    activity: true,
    ...fields,
  });
  const all = async (fields: Partial<AgentListQuery>) =>
    walk(query(fields), (asked: AgentListQuery) => store().agentPage(asked, NOW_MS));
  const assertPages = async () => {
    for (const key of ['events_24h', 'events_7d'] as const) {
      for (const descending of [false, true]) {
        for (const q of ['', 'agent 1', 'nobody']) {
          const stored = (await store().listAgents()).filter(({ agent_name }) => holds(q, agent_name));
          const full: AgentRecord[] = stored.map((agent) => ({
            ...agent,
            activity: activityOf(agent.agent_id),
          }));
          const sort = { key, descending };
          const expected = sorted(full, sort, ({ activity }) => activity![key], idOf);
          const { items, totals } = await all({ q, sort, limit: chance.pick([3, 10, 100]) });
          assert.deepEqual(items, expected, `${q} by ${descending ? '-' : ''}${key}`);
          assert.deepEqual([...totals], [expected.length]);
        }
      }
    }
  };
  const assertDays = async () => {
    const stored = await store().listAgents();
    for (const days of [1, 2, 7, 30]) {
      const fromMs = Array.from({ length: days }, (_, at) => TODAY_MS - (days - 1 - at) * DAY_MS);
      const within = (at: number, ms: number) =>
        ms >= fromMs[at]! && (at === days - 1 || ms < fromMs[at + 1]!);
      const expected = fromMs.map((_, at) => ({
        events: events.filter(({ created_ms }) => within(at, created_ms)).length,
        agents: stored.filter(({ created_ms }) => within(at, created_ms)).length,
      }));
      assert.deepEqual(await store().countCreated(fromMs), expected);
    }
  };

  before(async () => {
    for (let number = 0; number < 25; number++) {
      const { agent } = await addAgent(store(), { agent_name: `Agent ${number}`, created_ms: someTime() });
      agents.push(agent);
      for (let count = chance.pick([0, 0, 1, 2, 9]); count > 0; count--) await add(agent);
    }
    assert.ok(events.some(({ created_ms }) => created_ms === NOW_MS - DAY_MS));
    assert.ok(events.some(({ created_ms }) => created_ms === NOW_MS - DAY_MS - 1));
  });

  it('sorts agents by events created in the last 24 hours and 7 days, to the millisecond', assertPages);

  it('adds these numbers to any page, if asked', async () => {
    const { items } = await all({ limit: 7 });
    assert.equal(items.length, agents.length);
    for (const { agent_id, activity } of items) assert.deepEqual(activity, activityOf(agent_id));
    for (const key of ['created_at', 'events_7d'] as const) {
      const plain = await all({ activity: false, sort: { key, descending: true } });
      assert.ok(plain.items.every((agent) => !('activity' in agent)));
    }
  });

  it('counts events and agents per day', assertDays);

  it('does not count what was deleted, at once, however much it is', async () => {
    const [busy, deleted] = agents as [AgentRow, AgentRow];
    for (let count = 0; count < ROWS_PER_SLICE + 20; count++)
      await add(chance.pick([busy, deleted]), NOW_MS - count);
    await assertPages();
    await store().deleteAll(busy.agent_id, auditOf('delete_agent_events', busy.agent_id), false);
    forget(({ agent_id }) => agent_id === busy.agent_id);
    await add(busy, NOW_MS - 5); // a new one counts, while the old ones are being removed
    await assertDays();
    await assertPages();
    await store().deleteAll(deleted.agent_id, auditOf('delete_agent', deleted.agent_id), true);
    forget(({ agent_id }) => agent_id === deleted.agent_id);
    const [own, admins] = events as [EventRow, EventRow];
    await store().deleteEvent(own.event_id, own.agent_id);
    await deleteOne(store(), admins.event_id, auditOf('delete_event', admins.event_id));
    forget((event) => event === own || event === admins);
    await assertDays();
    await assertPages();
  });

  it('counts a changed event by its creation', async () => {
    const event = events.find(({ created_ms }) => created_ms < NOW_MS - 8 * DAY_MS)!;
    await store().replaceEvent({ ...event, version: 2, title: 'changed now', updated_ms: NOW_MS });
    await assertDays();
    await assertPages();
  });
}
