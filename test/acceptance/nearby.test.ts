// GET /v1/events/nearby: its filters and the fields of its response. Parameters, distances, pages and ended events have
// their own files.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent, reader } from './client.ts';
import type { Query } from './json-client.ts';
import {
  AUDIENCES,
  EVENT_FIELDS,
  EVENT_TYPES,
  fullEvent,
  HOUR_MS,
  ids,
  iso,
  newEvent,
  ownDay,
  randomPlace,
  titles,
} from './samples.ts';

const PATH = '/v1/events/nearby';

describe('GET /v1/events/nearby', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  describe('200', () => {
    it('returns events, count, total and next_cursor, and nothing else', async () => {
      const place = randomPlace();
      const event = await agent.create(fullEvent(place));
      const answer = await agent.get(PATH, { ...place, radius: 0.1 });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, { events: [event], count: 1, total: 1, next_cursor: null });
      assert.deepEqual(Object.keys(answer.body.events[0]).sort(), [...EVENT_FIELDS].sort());
    });

    it('returns an empty page if nothing matches', async () => {
      const page = await agent.nearby({ ...randomPlace(), ...ownDay(), radius: 0.1 });
      assert.deepEqual(page, { events: [], count: 0, total: 0, next_cursor: null });
    });

    it('orders by start_at, then by event_id', async () => {
      const place = randomPlace();
      const { startMs } = ownDay('here');
      const offsets = [3, 1, 2, 1, 3, 1, 0, 2];
      const events = await Promise.all(
        offsets.map((offset) => agent.create(newEvent({ ...place, start_at: iso(startMs + offset) }))),
      );
      const key = (event: { start_at: string; event_id: string }) => event.start_at + event.event_id;
      const expected = events.sort((a, b) => (key(a) < key(b) ? -1 : 1));
      assert.deepEqual((await agent.nearby({ ...place, radius: 1 })).events, expected);
    });

    it('finds the events of every agent, and a read key finds them too', async () => {
      const place = randomPlace();
      const events = [await agent.create(newEvent(place)), await (await newAgent()).create(newEvent(place))];
      const found = ids(await reader.nearby({ ...place, radius: 0.1 }));
      assert.deepEqual(found.sort(), events.map((event) => event.event_id).sort());
    });

    it('finds events at any distance without a radius', async () => {
      const { startMs, starts_after, starts_before } = ownDay();
      const places = [
        [0, 0],
        [89, 10],
        [-89, -170],
        [10, 179],
      ] as const;
      const created = await Promise.all(
        places.map(([lat, lng]) => agent.create(newEvent({ lat, lng, start_at: iso(startMs) }))),
      );
      const page = await agent.nearby({ ...randomPlace(), starts_after, starts_before });
      assert.deepEqual(ids(page), created.map((event) => event.event_id).sort());
    });

    it('ignores unknown parameters', async () => {
      const place = randomPlace();
      await agent.create(newEvent(place));
      const page = await agent.nearby({ ...place, radius: 0.1, agent_id: 'x', offset: [1, 2], Limit: 0 });
      assert.equal(page.total, 1);
    });

    it('takes a JSON content type without a body', async () => {
      const headers = { 'content-type': 'application/json' };
      assert.equal((await agent.send('GET', `${PATH}?lat=0&lng=0`, { headers })).status, 200);
    });
  });

  describe('filters', () => {
    const place = randomPlace();
    const { startMs } = ownDay('here');
    const search = async (query: Query) => titles(await agent.nearby({ ...place, radius: 0.1, ...query }));
    before(async () => {
      // One event for each pair of type and audience, an hour apart.
      const pairs = EVENT_TYPES.flatMap((event_type) =>
        AUDIENCES.map((audience) => ({ event_type, audience, title: `${event_type} ${audience}` })),
      );
      await Promise.all(
        pairs.map((pair, hour) =>
          agent.create(newEvent({ ...place, ...pair, start_at: iso(startMs + hour * HOUR_MS) })),
        ),
      );
    });

    for (const event_type of EVENT_TYPES) {
      it(`find only the event_type ${event_type}`, async () => {
        assert.deepEqual(
          await search({ event_type }),
          AUDIENCES.map((audience) => `${event_type} ${audience}`),
        );
      });
    }

    for (const audience of AUDIENCES) {
      it(`find only the audience ${audience}: all is a value, not a wildcard`, async () => {
        assert.deepEqual(
          await search({ audience, limit: 100 }),
          EVENT_TYPES.map((event_type) => `${event_type} ${audience}`),
        );
      });
    }

    it('find several types if the parameter is repeated', async () => {
      const found = await search({ event_type: ['tour', 'market', 'tour'] });
      assert.deepEqual(
        found,
        ['market', 'tour'].flatMap((type) => AUDIENCES.map((audience) => `${type} ${audience}`)),
      );
    });

    it('find several audiences if the parameter is repeated', async () => {
      const found = await search({ audience: ['all', 'kids'], event_type: 'game' });
      assert.deepEqual(found, ['game kids', 'game all']);
    });

    it('find every type and audience if neither is sent, or all are', async () => {
      assert.equal((await search({ limit: 100 })).length, 45);
      assert.equal((await search({ limit: 100, event_type: EVENT_TYPES, audience: AUDIENCES })).length, 45);
    });

    it('include events at starts_after and exclude those at starts_before', async () => {
      const hour = (number: number, ms = 0) => iso(startMs + number * HOUR_MS + ms);
      const window = (starts_after: string, starts_before: string) => search({ starts_after, starts_before });
      assert.deepEqual(await window(hour(3), hour(5)), ['performance kids', 'performance adults']);
      assert.deepEqual(await window(hour(3, 1), hour(5)), ['performance adults']);
      assert.deepEqual(await window(hour(3), hour(5, 1)), [
        'performance kids',
        'performance adults',
        'performance all',
      ]);
      assert.deepEqual(await window(hour(4), hour(4)), []);
      assert.deepEqual(await window(hour(5), hour(3)), []);
    });

    it('work with starts_after or starts_before alone', async () => {
      const last = await search({ starts_after: iso(startMs + 43 * HOUR_MS) });
      assert.deepEqual(last, ['ceremony adults', 'ceremony all']);
      const first = await search({ starts_before: iso(startMs + HOUR_MS) });
      assert.deepEqual(first, ['workshop kids']);
    });

    it('apply together, and total counts what passes all of them', async () => {
      const page = await agent.nearby({
        ...place,
        radius: 0.1,
        event_type: ['talk', 'club', 'ceremony'],
        audience: ['kids', 'adults'],
        starts_after: iso(startMs + 25 * HOUR_MS),
        limit: 2,
      });
      assert.deepEqual(titles(page), ['club adults', 'talk kids']);
      assert.equal(page.count, 2);
      assert.equal(page.total, 5);
      assert.equal(typeof page.next_cursor, 'string');
    });
  });
});
