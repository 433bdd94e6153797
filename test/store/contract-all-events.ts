// Store contract: the list of all events, for administrators. Random conditions, compared with a filter over all rows; events that
// change; and lists that are given up.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import {
  ALL_EVENT_SORTS,
  type AllEventsQuery,
  readAllEvents,
} from '../../src/domain/administration/event-list.ts';
import { WHENS } from '../../src/domain/administration/list.ts';
import type { AgentRow } from '../../src/domain/agent.ts';
import { EVENT_TYPES, type EventRow, STATUSES } from '../../src/domain/events/event.ts';
import { newUlid } from '../../src/domain/ids.ts';
import type { Store } from '../../src/domain/store.ts';
import { haversineMiles } from '../spatial/oracle.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { oracleMatches, oracleWordsOf, randomSearch, randomText } from '../support/words-oracle.ts';
import { sorted, walk } from './listing.ts';
import { addAgent, assertEvents, auditOf, HOUR_MS, NOW_MS, newEventRow } from './rows.ts';

const EVENTS = 150;
const ASSUMED_MS = 3 * HOUR_MS;

interface Asked {
  readonly q?: string;
  readonly agent_id?: string;
  readonly event_type?: readonly string[];
  readonly created_after?: string;
  readonly updated_after?: string;
  readonly status?: string;
  readonly lat?: number;
  readonly lng?: number;
  readonly radius?: number;
  readonly include?: readonly string[];
  readonly when?: string;
  readonly sort?: string;
  readonly limit?: number;
}

export function allEventsContract(store: () => Store): void {
  const chance = new Chance(1_712);
  const agents: AgentRow[] = [];
  const rows = new Map<string, EventRow>();

  const newRow = (fields: Partial<EventRow> = {}): EventRow => {
    const created_ms = NOW_MS - chance.integer(0, 40) * HOUR_MS;
    const start_ms = NOW_MS + chance.pick([-90, -30, -24, -9, -3, -2, 0, 1, 5, 40]) * HOUR_MS;
    return newEventRow(chance.pick(agents), {
      event_id: newUlid(created_ms, (bytes) => bytes.map(() => chance.integer(0, 255))),
      created_ms,
      updated_ms: created_ms,
      start_ms,
      end_ms: chance.chance(0.5) ? null : start_ms + chance.pick([0, 2, 3, 9, 26, 100]) * HOUR_MS,
      title: `${randomText(chance)} jazz`,
      description: chance.chance(0.5) ? null : randomText(chance),
      location_name: `Hall ${randomText(chance)}`,
      address: chance.chance(0.5) ? null : `${chance.integer(1, 9)} Main Street`,
      event_type: chance.pick(EVENT_TYPES.slice(0, 4)),
      status: chance.pick(STATUSES),
      // Half of them are near each other.
      lat: chance.chance(0.5) ? chance.between(52, 53) : chance.between(-90, 90),
      lng: chance.between(12.5, 14.5),
      ...fields,
    });
  };
  const add = async (fields: Partial<EventRow> = {}): Promise<EventRow> => {
    const row = newRow(fields);
    assert.equal((await store().createEvent(row, 0)).kind, 'created');
    rows.set(row.event_id, row);
    return row;
  };
  const matches = (row: EventRow, asked: Asked): boolean => {
    const { q, agent_id, event_type, created_after, updated_after, when = 'all', status = 'any' } = asked;
    const { lat, lng, radius } = asked;
    const hasEnded = (row.end_ms ?? row.start_ms + ASSUMED_MS) <= NOW_MS;
    return (
      (q === undefined || q === row.event_id || oracleMatches(q, oracleWordsOf(row)) === true) &&
      (agent_id === undefined || agent_id.toLowerCase() === row.agent_id) &&
      (event_type === undefined || event_type.includes(row.event_type)) &&
      (created_after === undefined || row.created_ms >= Date.parse(created_after)) &&
      (updated_after === undefined || row.updated_ms >= Date.parse(updated_after)) &&
      (status === 'any' || status === row.status) &&
      (radius === undefined || haversineMiles({ lat: lat!, lng: lng! }, row) <= radius) &&
      (when === 'all' || hasEnded === (when === 'past'))
    );
  };
  const expectedOf = (asked: Asked): EventRow[] => {
    const { sort = '-created_at' } = asked;
    return sorted(
      [...rows.values()].filter((row) => matches(row, asked)),
      { key: '', descending: sort.startsWith('-') },
      (row) => (sort.endsWith('start_at') ? row.start_ms : row.event_id),
      ({ event_id }) => event_id,
    );
  };
  const ask = (asked: Asked) => store().eventPage(readAllEvents(asked), NOW_MS);
  const nameOf = (agentId: string) => agents.find(({ agent_id }) => agent_id === agentId)!.agent_name;
  const assertListed = async (asked: Asked) => {
    const expected = expectedOf(asked);
    const { items, totals } = await walk(readAllEvents(asked) as never, async (query: AllEventsQuery) => {
      const { agentCount, ...page } = await store().eventPage(query, NOW_MS);
      const owners = new Set(expected.map(({ agent_id }) => agent_id));
      assert.equal(agentCount, asked.include ? owners.size : undefined, JSON.stringify(asked));
      return page;
    });
    const said = JSON.stringify(asked);
    assertEvents(
      items.map(({ json }) => json),
      expected,
    );
    assert.deepEqual(
      items.map(({ agentName }) => agentName),
      expected.map(({ agent_id }) => nameOf(agent_id)),
      said,
    );
    assert.deepEqual([...totals], [expected.length], said);
  };
  const random = (): Asked => {
    const row = chance.pick([...rows.values()]);
    const q = chance.chance(0.1)
      ? row.event_id
      : chance.pick(['jazz', 'hall -jazz', 'ja* street', 'ha*', '1 main', randomSearch(chance)]);
    const createdMs = row.created_ms + chance.pick([-1, 0, 1]);
    const updatedMs = row.updated_ms + chance.pick([-1, 0, 1]);
    const radius = chance.pick([0.1, 25, 100]);
    return {
      ...(chance.chance(0.5) && (q === row.event_id || oracleMatches(q, new Set()) !== undefined) && { q }),
      ...(chance.chance(0.3) && { agent_id: chance.pick(agents).agent_id.toUpperCase() }),
      ...(chance.chance(0.3) && { event_type: chance.some(EVENT_TYPES.slice(0, 5), 0.5) }),
      ...(chance.chance(0.3) && { created_after: new Date(createdMs).toISOString() }),
      ...(chance.chance(0.3) && { updated_after: new Date(updatedMs).toISOString() }),
      ...(chance.chance(0.3) && { status: chance.pick(['scheduled', 'cancelled', 'any']) }),
      ...(chance.chance(0.3) && { lat: row.lat, lng: row.lng, radius }),
      ...(chance.chance(0.5) && { include: ['agent_count'] }),
      ...(chance.chance(0.6) && { when: chance.pick(WHENS) }),
      sort: `${chance.chance(0.5) ? '-' : ''}${chance.pick(ALL_EVENT_SORTS)}`,
      limit: chance.pick([7, 30, 100]),
    };
  };

  before(async () => {
    for (let count = 0; count < 4; count++)
      agents.push((await addAgent(store(), { agent_name: `“${randomText(chance)}” \\ ${count}` })).agent);
    for (let count = 0; count < EVENTS; count++) await add();
  });

  it('lists all events, ended and cancelled ones included, the newest first', () => assertListed({}));

  it(`finds what ${size(40, 1_500)} random conditions say, on pages of any size`, async () => {
    for (let count = 0; count < size(40, 1_500); count++) await assertListed(random());
  });

  it('finds an event by its ID, by its place and by its address', async () => {
    const row = await add({ location_name: 'Kulturbrauerei', address: '36 Schönhauser Allee' });
    for (const q of [row.event_id, ` ${row.event_id} `, 'kulturbrau*', 'schonhauser 36'])
      assertEvents(
        (await ask({ q })).items.map(({ json }) => json),
        [row],
      );
    assert.equal((await ask({ q: row.event_id.slice(0, -1) })).total, 0);
    assert.equal((await ask({ q: row.event_id, agent_id: '00000000-0000-4000-8000-000000000000' })).total, 0);
  });

  it('lists what changed as it is now', async () => {
    for (const row of chance.some([...rows.values()], 0.3)) {
      if (chance.chance(0.3)) {
        assert.equal(await store().deleteEvent(row.event_id, row.agent_id), true);
        rows.delete(row.event_id);
        continue;
      }
      const other = newRow();
      const next = {
        ...row,
        version: row.version + 1,
        updated_ms: row.updated_ms! + 1,
        title: other.title,
        start_ms: other.start_ms,
        end_ms: other.end_ms,
        event_type: other.event_type,
        status: other.status,
      };
      assert.equal((await store().replaceEvent(next)).kind, 'replaced');
      rows.set(row.event_id, next);
    }
    for (let count = 0; count < 30; count++) await add();
    for (let count = 0; count < size(15, 400); count++) await assertListed(random());
  });

  it('finds none of the events of an agent that was deleted', async () => {
    const gone = agents.pop()!;
    await store().deleteAll(gone.agent_id, auditOf('delete_agent', gone.agent_id), true);
    for (const row of [...rows.values()]) if (row.agent_id === gone.agent_id) rows.delete(row.event_id);
    await assertListed({});
    await assertListed({ q: 'jazz', sort: 'start_at' });
    assert.equal((await ask({ agent_id: gone.agent_id })).total, 0);
  });

  it('gives up a list that nobody waits for', async () => {
    for (const asked of [{}, { q: 'ja*' }]) {
      const control = new AbortController();
      const reason = new Error('the client has left');
      const listing = store().eventPage(readAllEvents(asked), NOW_MS, control.signal);
      control.abort(reason);
      // It may be done already.
      await listing.catch((error: unknown) => assert.equal(error, reason));
    }
    assert.equal((await ask({})).total, rows.size);
  });
}
