// Store contract: changing an event by compare-and-set, with a tuple that stays unique.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { EventRow } from '../../src/domain/events/event.ts';
import { applyEventUpdate } from '../../src/domain/events/event-input.ts';
import type { Store } from '../../src/domain/store.ts';
import { assertStored, EXTREMES } from './contract-events.ts';
import {
  addAgent,
  addEvent,
  assertRecord,
  eventsOf,
  findAgent,
  findRow,
  NOW_MS,
  newEventRow,
  newUlid,
  parseEvent,
  wireOf,
} from './rows.ts';

export function replaceContract(store: () => Store): void {
  it('replaces a version by the next one', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent, EXTREMES['every field']);
    const next: EventRow = {
      ...{ ...newEventRow(agent), event_id: row.event_id, version: 2, created_ms: row.created_ms },
      updated_ms: row.updated_ms + 1,
      ...{ title: 'moved', start_ms: 5, lat: 1, lng: 2, audience: 'adults', event_type: 'tour' },
    };
    const outcome = await store().replaceEvent(next);
    assert.ok(outcome.kind === 'replaced', outcome.kind);
    assertRecord(outcome.record, next);
    assertRecord(await store().findEvent(row.event_id), next);
    assert.deepEqual({ ...(await findRow(store(), row.event_id)) }, next);
    assert.equal((await findAgent(store(), agent.agent_id))?.event_count, 1);
  });

  it('keeps members of the JSON that only a newer version knows', async () => {
    const { agent } = await addAgent(store());
    const unknown = { capacity: 40, doors_at: null, tags: ['a', { b: 1 }] };
    const row = await addEvent(store(), agent, { status: 'cancelled', unknown });
    const stored = (await findRow(store(), row.event_id))!;
    assert.deepEqual({ ...stored }, row);
    const next = applyEventUpdate(stored, { title: 'renamed' }, NOW_MS);
    const outcome = await store().replaceEvent(next);
    assert.ok(outcome.kind === 'replaced', outcome.kind);
    assert.deepEqual(parseEvent((await store().findEvent(row.event_id))!.json), {
      ...wireOf({ ...row, title: 'renamed' }),
      ...unknown,
    });
  });

  it('takes the tuple of the next version and frees the old one', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    const next = { ...row, version: 2, title: 'renamed' };
    await store().replaceEvent(next);
    const again = { ...row, event_id: newUlid(), title: 'renamed' };
    assertRecord(assertStored(await store().createEvent(again, 0), false), next);
    assertStored(await store().createEvent({ ...row, event_id: newUlid() }, 0), true);
  });

  it('changes an event that keeps its tuple', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    const outcome = await store().replaceEvent({ ...row, version: 2, cost: 'free' });
    assert.equal(outcome.kind, 'replaced');
  });

  for (const version of [1, 2, 4]) {
    it(`is a conflict when version ${version} is to follow version 2`, async () => {
      const { agent } = await addAgent(store());
      const row = await addEvent(store(), agent);
      const second = { ...row, version: 2, cost: 'second' };
      await store().replaceEvent(second);
      const outcome = await store().replaceEvent({ ...row, version, cost: 'third' });
      assert.deepEqual(outcome, { kind: 'conflict' });
      assertRecord(await store().findEvent(row.event_id), second);
    });
  }

  it('is a conflict when the event was deleted, and does not restore it', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    await store().deleteEvent(row.event_id, agent.agent_id);
    assert.deepEqual(await store().replaceEvent({ ...row, version: 2 }), { kind: 'conflict' });
    assert.equal(await store().findEvent(row.event_id), undefined);
  });

  it('names the event of the agent that already has the tuple, and changes nothing', async () => {
    const { agent } = await addAgent(store());
    const [row, taken] = [await addEvent(store(), agent), await addEvent(store(), agent)];
    const outcome = await store().replaceEvent({ ...row, version: 2, title: taken.title, cost: 'x' });
    assert.deepEqual(outcome, { kind: 'duplicate', id: taken.event_id });
    assertRecord(await store().findEvent(row.event_id), row);
    assertRecord(await store().findEvent(taken.event_id), taken);
  });

  it('ignores the tuples of other agents', async () => {
    const [one, two] = [await addAgent(store()), await addAgent(store())];
    const [row, theirs] = [await addEvent(store(), one.agent), await addEvent(store(), two.agent)];
    assert.equal((await store().replaceEvent({ ...row, version: 2, title: theirs.title })).kind, 'replaced');
  });

  it('is a conflict rather than a duplicate when both apply: the tuple came from an old version', async () => {
    const { agent } = await addAgent(store());
    const [row, taken] = [await addEvent(store(), agent), await addEvent(store(), agent)];
    await store().replaceEvent({ ...row, version: 2, lat: 1 });
    const stale = { ...row, version: 2, title: taken.title };
    assert.deepEqual(await store().replaceEvent(stale), { kind: 'conflict' });
    await store().deleteEvent(row.event_id, agent.agent_id);
    assert.deepEqual(await store().replaceEvent({ ...stale, version: 3 }), { kind: 'conflict' });
  });

  it('lets one of 50 concurrent changes of the same version win', async () => {
    const { agent } = await addAgent(store());
    const row = await addEvent(store(), agent);
    const nexts = Array.from({ length: 50 }, (_, at) => ({ ...row, version: 2, cost: `${at}` }));
    const outcomes = await Promise.all(nexts.map((next) => store().replaceEvent(next)));
    const winners = outcomes.flatMap((outcome, at) => (outcome.kind === 'replaced' ? [nexts[at]!] : []));
    assert.equal(winners.length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === 'conflict').length, 49);
    assertRecord(await store().findEvent(row.event_id), winners[0]!);
  });

  it('gives a tuple to only one event when several changes and creates want it at once', async () => {
    const { agent } = await addAgent(store());
    for (let round = 0; round < 20; round++) {
      const rows = [await addEvent(store(), agent), await addEvent(store(), agent)];
      const title = `wanted ${round}`;
      const outcomes = await Promise.all([
        ...rows.map((row) => store().replaceEvent({ ...row, version: 2, title })),
        store().createEvent(newEventRow(agent, { title }), 0),
      ]);
      const holders = (await eventsOf(store(), agent.agent_id)).filter(
        (event) => parseEvent(event).title === title,
      );
      assert.equal(holders.length, 1, JSON.stringify(outcomes));
    }
  });
}
