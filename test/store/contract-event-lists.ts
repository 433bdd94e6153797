// Store contract: pages of an agent's events. Every sort in both directions, past and upcoming events, and searches,
// compared with a sorted array.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import {
  EVENT_SORTS,
  type EventListQuery,
  type EventSort,
  WHENS,
} from '../../src/domain/administration/list.ts';
import type { AgentRow } from '../../src/domain/agent.ts';
import { EVENT_TYPES, type EventRow } from '../../src/domain/events/event.ts';
import type { Store } from '../../src/domain/store.ts';
import { Chance } from '../support/random.ts';
import { holds, oddText, searches, sorted, walk } from './listing.ts';
import {
  addAgent,
  addEvent,
  assertEvents,
  auditOf,
  HOUR_MS,
  idOf,
  NOW_MS,
  newEventRow,
  newUuid,
} from './rows.ts';

const EVENTS = 120;
const SEED = 6;

const COLUMNS = {
  start_at: 'start_ms',
  title: 'title',
  event_type: 'event_type',
  created_at: 'event_id',
} as const satisfies Record<EventSort, keyof EventRow>;

const ASSUMED_HOURS = 3;

export function eventListContract(store: () => Store): void {
  const chance = new Chance(SEED);
  const query = (fields: Partial<EventListQuery> = {}): EventListQuery => ({
    q: '',
    when: 'all',
    sort: { key: 'start_at', descending: false },
    after: undefined,
    limit: 100,
    ...fields,
  });
  const ask = (agent: Pick<AgentRow, 'agent_id'>, fields: Partial<EventListQuery>, nowMs = NOW_MS) =>
    store().agentEventPage(agent.agent_id, query(fields), nowMs);
  const all = (agent: Pick<AgentRow, 'agent_id'>, fields: Partial<EventListQuery>, nowMs = NOW_MS) =>
    walk(query(fields), async (asked: EventListQuery) => {
      const { items, ...page } = await ask(agent, asked, nowMs);
      return { ...page, items: items.map(({ json }) => json) };
    });
  let agent: AgentRow;
  let rows: EventRow[];

  const isPast = ({ start_ms, end_ms }: EventRow) => (end_ms ?? start_ms + ASSUMED_HOURS * HOUR_MS) <= NOW_MS;
  const isListed = (row: EventRow, { when, q }: EventListQuery) =>
    (when === 'all' || isPast(row) === (when === 'past')) &&
    holds(q, row.title, row.location_name, row.address, row.event_id);

  before(async () => {
    ({ agent } = await addAgent(store()));
    const { agent: other } = await addAgent(store());
    const aroundMs = [-9, -4, -3, -3, -2, 0, 0, 1, 5];
    const made = Array.from({ length: EVENTS }, () => {
      const start_ms = NOW_MS + chance.pick(aroundMs) * HOUR_MS;
      return newEventRow(agent, {
        start_ms,
        end_ms: chance.chance(0.5) ? null : start_ms + chance.pick([0, 2, 3, 4, 9]) * HOUR_MS,
        title: oddText(chance),
        location_name: oddText(chance),
        address: chance.chance(0.3) ? null : oddText(chance),
        description: '","location_name":"hidden","address":"hidden","lat":',
        event_type: chance.pick(EVENT_TYPES.slice(0, 4)),
        lat: chance.between(-90, 90),
      });
    });
    const order = made.toSorted(() => chance.next() - 0.5);
    for (const row of order) assert.equal((await store().createEvent(row, 0)).kind, 'created');
    for (let number = 0; number < 20; number++) await addEvent(store(), other, { title: oddText(chance) });
    rows = made;
  });

  for (const key of EVENT_SORTS) {
    for (const descending of [false, true]) {
      it(`sorts by ${descending ? '-' : ''}${key}, on pages of any size, with any search`, async () => {
        for (const q of searches(
          chance,
          rows.flatMap((row) => [row.title, row.location_name, row.address ?? 'null']),
        )) {
          const when = chance.pick(WHENS);
          const sort = { key, descending };
          const limit = chance.pick([1, 3, 10, 30, 100]);
          const matching = rows.filter((row) => isListed(row, query({ when, q })));
          const expected = sorted(
            matching,
            sort,
            (row) => row[COLUMNS[key]],
            ({ event_id }) => event_id,
          );
          const { items, totals, pages } = await all(agent, { when, q, sort, limit });
          assertEvents(items, expected);
          assert.deepEqual([...totals], [expected.length], `${when} ${JSON.stringify(q)}`);
          assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)));
        }
      });
    }
  }

  for (const when of WHENS) {
    it(`lists ${when} without a search, to the millisecond`, async () => {
      const expected = rows.filter((row) => isListed(row, query({ when })));
      assert.ok(expected.length > 0);
      const { items, totals } = await all(agent, { when });
      assert.deepEqual(items.map(idOf).sort(), expected.map(({ event_id }) => event_id).sort());
      assert.deepEqual([...totals], [expected.length]);
    });
  }

  for (const key of EVENT_SORTS) {
    it(`continues after the position of any event, by ${key}`, async () => {
      const sort = { key, descending: false };
      const { items } = await ask(agent, { sort });
      for (const [at, { position }] of items.slice(0, -1).entries()) {
        const [following] = (await ask(agent, { sort, after: position, limit: 1 })).items;
        assert.deepEqual(following, items[at + 1]);
      }
    });
  }

  it('treats an event as past from the moment it ends', async () => {
    const { agent: alone } = await addAgent(store());
    const start_ms = NOW_MS;
    const open = await addEvent(store(), alone, { start_ms, lat: 1 });
    const ending = await addEvent(store(), alone, { start_ms, end_ms: NOW_MS + 5 });
    const past = async (nowMs: number) => (await all(alone, { when: 'past' }, nowMs)).items.map(idOf);
    assert.deepEqual(await past(NOW_MS + 4), []);
    assert.deepEqual(await past(NOW_MS + 5), [ending.event_id]);
    const assumedMs = NOW_MS + ASSUMED_HOURS * HOUR_MS;
    assert.deepEqual(await past(assumedMs - 1), [ending.event_id]);
    assert.deepEqual((await past(assumedMs)).sort(), [open.event_id, ending.event_id].sort());
  });

  it('lists an agent with thousands of events, before and after changes', async () => {
    const { agent: large } = await addAgent(store());
    const { agent: other } = await addAgent(store());
    await addEvent(store(), other);
    const listed = new Map<string, EventRow>();
    const create = async (count: number) => {
      const made = Array.from({ length: count }, () => {
        const start_ms = NOW_MS + chance.integer(-30, 30) * HOUR_MS;
        const end_ms = chance.chance(0.5) ? null : start_ms + chance.pick([0, 1, 40]) * HOUR_MS;
        return newEventRow(large, { start_ms, end_ms });
      });
      await Promise.all(made.map((row) => store().createEvent(row, 0)));
      for (const row of made) listed.set(row.event_id, row);
    };
    const assertListed = async () => {
      for (const when of WHENS) {
        for (const descending of [false, true]) {
          const sort = { key: 'start_at', descending } as const;
          const matching = [...listed.values()].filter((row) => isListed(row, query({ when })));
          const expected = sorted(
            matching,
            sort,
            ({ start_ms }) => start_ms,
            ({ event_id }) => event_id,
          );
          const { items, totals } = await all(large, { when, sort });
          assert.deepEqual(
            items.map(idOf),
            expected.map(({ event_id }) => event_id),
          );
          assert.deepEqual([...totals], [expected.length]);
          const title = await ask(large, { when, sort: { key: 'title', descending }, limit: 1 });
          assert.equal(title.total, expected.length);
        }
      }
    };
    await create(1_999);
    await assertListed();
    await create(1);
    await assertListed();
    await create(30);
    for (const row of chance.some([...listed.values()], 0.1)) {
      if (chance.chance(0.5)) {
        await store().deleteEvent(row.event_id, large.agent_id);
        listed.delete(row.event_id);
        continue;
      }
      const start_ms = row.start_ms + chance.pick([0, 0, -31, 31]) * HOUR_MS;
      const end_ms = chance.chance(0.5) ? null : start_ms + HOUR_MS;
      const next = { ...row, version: 2, title: `changed ${row.title}`, start_ms, end_ms };
      assert.equal((await store().replaceEvent(next)).kind, 'replaced');
      listed.set(row.event_id, next);
    }
    assert.ok(listed.size < 2_000);
    await assertListed();
    await store().deleteAll(large.agent_id, auditOf('delete_agent_events', large.agent_id), false);
    listed.clear();
    await assertListed();
    await create(3);
    await assertListed();
  });

  it('finds an event by a part of its ID, in either case, and not by other fields', async () => {
    const [row] = rows;
    for (const q of [row!.event_id, row!.event_id.toLowerCase()]) {
      assert.deepEqual((await all(agent, { q })).items.map(idOf), [row!.event_id]);
    }
    for (const q of ['hidden', 'Europe/Berlin', agent.agent_id, 'location_name', '2031-05']) {
      assert.deepEqual((await all(agent, { q })).items, [], q);
    }
  });

  it('finds nothing across two fields, nor in empty fields', async () => {
    const { agent: alone } = await addAgent(store());
    await addEvent(store(), alone, { title: 'left', location_name: 'middle' });
    for (const q of ['leftmiddle', 'left middle', 'left\nmiddle', 'middlenull', 'null', 'undefined', '"']) {
      assert.deepEqual((await all(alone, { q })).items, [], q);
    }
  });

  it('shows each write in the next call, and a renamed event in its new position', async () => {
    const { agent: alone } = await addAgent(store());
    const first = await addEvent(store(), alone, { title: 'b' });
    const second = await addEvent(store(), alone, { title: 'c' });
    const sort = { key: 'title', descending: false } as const;
    const titles = async () => (await all(alone, { sort })).items.map(idOf);
    assert.deepEqual(await titles(), [first.event_id, second.event_id]);
    await store().replaceEvent({ ...second, version: 2, title: 'A' });
    assert.deepEqual(await titles(), [second.event_id, first.event_id]);
    await store().deleteEvent(first.event_id, alone.agent_id);
    assert.deepEqual(await titles(), [second.event_id]);
    await store().deleteAll(alone.agent_id, auditOf('delete_agent_events', alone.agent_id), false);
    assert.deepEqual(await titles(), []);
  });

  it('is empty for an unknown agent', async () => {
    const { items, totals } = await all({ agent_id: newUuid() }, {});
    assert.deepEqual([items, [...totals]], [[], [0]]);
  });
}
