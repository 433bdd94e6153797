// Store contract: single events. Create, find, replace and delete, alone and concurrently.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { EventRow } from '../../src/domain/events/event.ts';
import type { CreateOutcome, Store, WordLimit } from '../../src/domain/store.ts';
import { size } from '../support/sizes.ts';
import {
  addAgent,
  addEvent,
  assertRecord,
  auditOf,
  eventsOf,
  findAgent,
  findRow,
  HOUR_MS,
  NOW_MS,
  newAgentRow,
  newEventRow,
  newUlid,
  parseEvent,
  search,
  searchAll,
  wireOf,
} from './rows.ts';

const ROUNDS = size(20, 100);

/** Asserts that an event was created or found, and returns its record. */
export function assertStored(outcome: CreateOutcome | WordLimit, created: boolean) {
  assert.equal(outcome.kind, created ? 'created' : 'existing');
  assert.ok('record' in outcome);
  return outcome.record;
}

/** The largest and smallest values that a row may hold. */
export const EXTREMES: Record<string, Partial<EventRow>> = {
  'every field': {
    description: 'Bring scissors.',
    end_ms: NOW_MS + 48 * HOUR_MS,
    address: 'Auguststr. 21',
    url: 'https://example.com/?a=b&c="d"',
    cost: '5 EUR',
    audience: 'kids',
    event_type: 'ceremony',
  },
  'text in every script, with outer spaces': {
    title: '  \u00e9 e\u0301 \u05e9\u05dc\u05d5\u05dd \ud83c\udfaa "quoted" \\ \t\n ',
    location_name: " % _ ' ; -- ",
    description: '\u2028\u2029\u0001\uffff',
  },
  'text of the maximum length': {
    title: '\ud83c\udfaa'.repeat(200),
    description: '\ud83c\udfaa'.repeat(10_000),
    location_name: '\u00fc'.repeat(200),
    address: 'x'.repeat(500),
    url: 'x'.repeat(2_000),
    cost: 'x'.repeat(200),
  },
  'empty text and null': { description: '', address: '', url: null, cost: '' },
  'the first instant': { start_ms: -62_135_596_800_000, end_ms: -62_135_596_799_999 },
  'the last instant': { start_ms: 253_402_300_799_998, end_ms: 253_402_300_799_999, created_ms: 0 },
  'coordinates with many digits': { lat: 0.1 + 0.2, lng: -Math.PI },
  'the south pole on the antimeridian': { lat: -90, lng: 180 },
};

export function eventContract(store: () => Store): void {
  describe('createEvent', () => {
    for (const [name, fields] of Object.entries(EXTREMES)) {
      it(`keeps ${name}`, async () => {
        const { agent } = await addAgent(store());
        const row = newEventRow(agent, fields);
        assertRecord(assertStored(await store().createEvent(row, 0), true), row);
        assertRecord(await store().findEvent(row.event_id), row);
        assert.deepEqual({ ...(await findRow(store(), row.event_id)) }, row);
      });
    }

    it('returns the existing event with the same tuple, unchanged', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent, { description: 'first' });
      const again = newEventRow(agent, {
        ...{ title: row.title, description: 'second', cost: 'much', event_type: 'game' },
        ...{ end_ms: NOW_MS + 99 * HOUR_MS, timezone: 'Asia/Tokyo', created_ms: NOW_MS + 1 },
      });
      assertRecord(assertStored(await store().createEvent(again, 0), false), row);
      assert.equal(await store().findEvent(again.event_id), undefined);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 1);
    });

    it('enforces the limit of the agent, which a repeated create does not count towards', async () => {
      const { agent } = await addAgent(store());
      const row = newEventRow(agent);
      assertStored(await store().createEvent(row, 2), true);
      const second = newEventRow(agent);
      assertStored(await store().createEvent(second, 2), true);
      assert.deepEqual(await store().createEvent(newEventRow(agent), 2), { kind: 'limit' });
      assertRecord(assertStored(await store().createEvent({ ...row, event_id: newUlid() }, 2), false), row);
      await store().deleteEvent(second.event_id, agent.agent_id);
      assertStored(await store().createEvent(newEventRow(agent), 2), true);
      assertStored(await store().createEvent(newEventRow(agent), 0), true);
    });

    it('enforces the limit when 50 creates arrive at once', async () => {
      const { agent } = await addAgent(store());
      const rows = Array.from({ length: 50 }, () => newEventRow(agent));
      const outcomes = await Promise.all(rows.map((row) => store().createEvent(row, 7)));
      assert.equal(outcomes.filter(({ kind }) => kind === 'created').length, 7);
      assert.equal(outcomes.filter(({ kind }) => kind === 'limit').length, 43);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 7);
    });

    it('reports that the agent does not exist', async () => {
      const { agent } = await addAgent(store());
      await store().deleteAll(agent.agent_id, auditOf('delete_agent', agent.agent_id), true);
      const [row, stranger] = [newEventRow(agent), newEventRow(newAgentRow())];
      assert.deepEqual(await store().createEvent(row, 0), { kind: 'no-agent' });
      assert.deepEqual(await store().createEvent(stranger, 1), { kind: 'no-agent' });
      assert.equal(await store().findEvent(row.event_id), undefined);
    });

    it(`creates one event of 50 equal creates that arrive at once, ${ROUNDS} times`, async () => {
      const { agent } = await addAgent(store());
      for (let round = 0; round < ROUNDS; round++) {
        const row = newEventRow(agent);
        const outcomes = await Promise.all(
          Array.from({ length: 50 }, () => store().createEvent({ ...row, event_id: newUlid() }, 0)),
        );
        const created = outcomes.filter(({ kind }) => kind === 'created');
        assert.equal(created.length, 1);
        const { record } = created[0] as Extract<CreateOutcome, { kind: 'created' }>;
        for (const outcome of outcomes) assert.deepEqual('record' in outcome && outcome.record, record);
      }
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, ROUNDS);
      assert.equal((await eventsOf(store(), agent.agent_id)).length, ROUNDS);
    });
  });

  describe('findEvent', () => {
    it('finds nothing by an unknown ID', async () => {
      assert.equal(await store().findEvent(newUlid()), undefined);
    });
  });

  describe('deleteEvent', () => {
    it('removes an event of the agent, once', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      assert.equal(await store().deleteEvent(row.event_id, agent.agent_id), true);
      assert.equal(await store().findEvent(row.event_id), undefined);
      assert.equal(await store().deleteEvent(row.event_id, agent.agent_id), false);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 0);
    });

    it('leaves the event of another agent alone', async () => {
      const [one, two] = [await addAgent(store()), await addAgent(store())];
      const row = await addEvent(store(), one.agent);
      assert.equal(await store().deleteEvent(row.event_id, two.agent.agent_id), false);
      assertRecord(await store().findEvent(row.event_id), row);
      assert.equal((await findAgent(store(), two.agent.agent_id))?.event_count, 0);
    });

    it('is false for an unknown event', async () => {
      const { agent } = await addAgent(store());
      assert.equal(await store().deleteEvent(newUlid(), agent.agent_id), false);
    });

    it('removes only the named version', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      const second = { ...row, version: 2, cost: 'second' };
      await store().replaceEvent(second);
      for (const version of [1, 3]) {
        assert.equal(await store().deleteEvent(row.event_id, agent.agent_id, version), false);
        assertRecord(await store().findEvent(row.event_id), second);
      }
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 1);
      assert.equal(await store().deleteEvent(row.event_id, agent.agent_id, 2), true);
      assert.equal(await store().findEvent(row.event_id), undefined);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 0);
    });

    it('lets either the delete or the update win when both arrive at once', async () => {
      const { agent } = await addAgent(store());
      for (let round = 0; round < 40; round++) {
        const row = await addEvent(store(), agent);
        const next = { ...row, version: 2, cost: 'changed' };
        const early = round % 2 === 0 ? store().deleteEvent(row.event_id, agent.agent_id, 1) : undefined;
        const replacing = store().replaceEvent(next);
        const removed = await (early ?? store().deleteEvent(row.event_id, agent.agent_id, 1));
        const { kind } = await replacing;
        assert.equal(kind, removed ? 'conflict' : 'replaced');
        const left = await store().findEvent(row.event_id);
        if (removed) assert.equal(left, undefined);
        else assertRecord(left, next);
      }
    });

    it('is true for one of 50 concurrent deletes of the same event', async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      const removed = await Promise.all(
        Array.from({ length: 50 }, () => store().deleteEvent(row.event_id, agent.agent_id)),
      );
      assert.equal(removed.filter((one) => one).length, 1);
      assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 0);
    });
  });

  it('shows every writer its own write in its next call, among 30 writers', async () => {
    const { agent } = await addAgent(store());
    const isFound = async (row: EventRow) => {
      const window = { startsFromMs: row.start_ms, startsBeforeMs: row.start_ms + 1 };
      const found = await searchAll(store(), search(window), NOW_MS);
      return found.some((event) => isDeepStrictEqual(parseEvent(event), wireOf(row)));
    };
    const write = async (writer: number) => {
      for (let round = 0; round < size(4, 10); round++) {
        const row = await addEvent(store(), agent, { start_ms: NOW_MS + writer });
        assert.ok(await isFound(row));
        assertRecord(await store().findEvent(row.event_id), row);
        const next = { ...row, version: 2, start_ms: NOW_MS + HOUR_MS + writer };
        await store().replaceEvent(next);
        assert.deepEqual([await isFound(row), await isFound(next)], [false, true]);
        assertRecord(await store().findEvent(row.event_id), next);
        await store().deleteEvent(row.event_id, agent.agent_id);
        assert.equal(await isFound(next), false);
        assert.equal(await store().findEvent(row.event_id), undefined);
      }
    };
    await Promise.all(Array.from({ length: 30 }, (_, writer) => write(writer)));
  });
}
