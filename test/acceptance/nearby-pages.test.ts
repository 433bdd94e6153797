// The pages of a search: sizes, cursors, totals, and what holds while events are created, deleted and moved in between.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, newAgent, reader } from './client.ts';
import type { Query } from './json-client.ts';
import { assertInvalid, ids, iso, newEvent, ownDay, randomPlace, titles } from './samples.ts';

const PATH = '/v1/events/nearby';
const MINUTE_MS = 60_000;

describe('the pages of GET /v1/events/nearby', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  /** Creates events at one place, at these minutes of a day that no other test uses; titles name the minute. */
  async function fill(minutes: readonly number[]) {
    const place = randomPlace();
    const { startMs } = ownDay('here');
    const add = (minute: number, title = `at ${minute}`) =>
      agent.create(newEvent({ ...place, title, start_at: iso(startMs + minute * MINUTE_MS) }));
    const events = await Promise.all(minutes.map((minute) => add(minute)));
    const search = (query: Query) => agent.nearby({ ...place, radius: 0.1, ...query });
    return { place, startMs, events, add, search };
  }
  const range = (count: number) => Array.from({ length: count }, (_, number) => number);

  /** Follows next_cursor to the end; `between` runs after each page. */
  async function walk(
    search: (query: Query) => Promise<Answer['body']>,
    limit: number,
    between: (page: number) => Promise<unknown> = async () => {},
  ) {
    const pages: Answer['body'][] = [];
    for (let cursor: Query = {}; pages.length < 50; ) {
      const page = await search({ limit, ...cursor });
      pages.push(page);
      if (page.next_cursor === null) return pages;
      await between(pages.length);
      cursor = { cursor: page.next_cursor };
    }
    return assert.fail('the pages do not end');
  }

  it('have 30 events without a limit', async () => {
    const { search } = await fill(range(31));
    const first = await search({});
    assert.equal(first.count, 30);
    assert.equal(first.events.length, 30);
    assert.equal(first.total, 31);
    const second = await search({ cursor: first.next_cursor });
    assert.deepEqual(titles(second), ['at 30']);
    assert.equal(second.next_cursor, null);
  });

  it('have up to 100 events', async () => {
    const { search } = await fill(range(101));
    const [first, second] = await walk(search, 100);
    assert.equal(first.count, 100);
    assert.equal(second.count, 1);
    assert.equal(second.total, 101);
  });

  for (const limit of [1, 2, 3, 4, 6, 12, 13]) {
    it(`list 12 events once each, in order, ${limit} at a time`, async () => {
      const { search } = await fill(range(12));
      const pages = await walk(search, limit);
      assert.deepEqual(
        pages.flatMap(titles),
        range(12).map((minute) => `at ${minute}`),
      );
      assert.equal(pages.length, Math.ceil(12 / limit));
      for (const page of pages) {
        assert.equal(page.total, 12);
        assert.equal(page.count, page.events.length);
      }
    });
  }

  it('may split events that start at the same instant', async () => {
    const { place, startMs, search } = await fill([]);
    const events = await Promise.all(
      range(7).map(() => agent.create(newEvent({ ...place, start_at: iso(startMs) }))),
    );
    const pages = await walk(search, 2);
    assert.deepEqual(pages.flatMap(ids), events.map((event) => event.event_id).sort());
  });

  it('split a search without a radius too', async () => {
    const { startMs, ...window } = ownDay();
    const events = await Promise.all(
      range(7).map((ms) => agent.create(newEvent({ start_at: iso(startMs + ms) }))),
    );
    const pages = await walk((query) => agent.nearby({ ...window, ...query }), 3);
    assert.deepEqual(
      pages.flatMap(ids),
      events.map((event) => event.event_id),
    );
    for (const page of pages) assert.equal(page.total, 7);
  });

  it('have a cursor that another agent can use', async () => {
    const { place, search } = await fill(range(3));
    const { next_cursor } = await search({ limit: 2 });
    const page = await reader.nearby({ ...place, radius: 0.1, cursor: next_cursor });
    assert.deepEqual(titles(page), ['at 2']);
  });

  it('continue at the cursor even if limit and filters change from page to page', async () => {
    const { place, startMs, search } = await fill([]);
    for (const minute of range(8)) {
      const event_type = minute % 2 === 0 ? 'talk' : 'tour';
      const start_at = iso(startMs + minute * MINUTE_MS);
      await agent.create(newEvent({ ...place, title: `at ${minute}`, event_type, start_at }));
    }
    const { next_cursor: cursor } = await search({ limit: 3 });
    const tours = await search({ cursor, event_type: 'tour', limit: 2 });
    assert.deepEqual(titles(tours), ['at 3', 'at 5']);
    assert.equal(tours.total, 4);
    const rest = await search({ cursor: tours.next_cursor, limit: 100 });
    assert.deepEqual(titles(rest), ['at 6', 'at 7']);
    assert.equal(rest.total, 8);
    const elsewhere = await agent.nearby({ ...randomPlace(), radius: 0.1, cursor });
    assert.deepEqual(elsewhere, { events: [], count: 0, total: 0, next_cursor: null });
  });

  describe('while events are written', () => {
    it('list each unchanged event once, and have a current total on each page', async () => {
      const { search, add, events } = await fill(range(10).map((number) => 10 + number * 10));
      const totals = [10];
      const pages = await walk(search, 3, async (page) => {
        // One event before the page shown, and one at the instant of its last event.
        await add(page);
        await add(10 + (page * 3 - 1) * 10, `twin ${page}`);
        totals.push(10 + page * 2);
      });
      const shown = pages.flatMap(ids);
      assert.equal(new Set(shown).size, shown.length, 'an event is repeated');
      assert.deepEqual(
        shown.filter((id) => events.some((event) => event.event_id === id)),
        events.map((event) => event.event_id),
      );
      assert.deepEqual(
        pages.map((page) => page.total),
        totals.slice(0, pages.length),
      );
    });

    it('include events that are added after the cursor', async () => {
      const { search, add } = await fill([10, 20, 30]);
      const pages = await walk(search, 2, () => add(25));
      assert.deepEqual(pages.flatMap(titles), ['at 10', 'at 20', 'at 25', 'at 30']);
    });

    it('continue if the event at the cursor, and those before it, are deleted', async () => {
      const { search, events } = await fill(range(8));
      const pages = await walk(search, 2, async (page) => {
        for (const event of events.slice((page - 1) * 2, page * 2)) {
          assert.equal((await agent.delete(`/v1/events/${event.event_id}`)).status, 204);
        }
      });
      assert.deepEqual(
        pages.flatMap(titles),
        range(8).map((minute) => `at ${minute}`),
      );
      assert.deepEqual(
        pages.map((page) => page.total),
        [8, 6, 4, 2],
      );
    });

    it('leave out events that are deleted after the cursor', async () => {
      const { search, events } = await fill(range(6));
      const pages = await walk(search, 2, async (page) => {
        if (page > 1) return;
        for (const event of events.slice(3, 5)) await agent.delete(`/v1/events/${event.event_id}`);
      });
      assert.deepEqual(pages.flatMap(titles), ['at 0', 'at 1', 'at 2', 'at 5']);
    });

    it('list each unchanged event once while others move across the cursor', async () => {
      const { search, events, startMs } = await fill(range(9));
      const moved = [events[0]!, events[8]!];
      const pages = await walk(search, 3, async (page) => {
        if (page > 1) return;
        await agent.update(moved[0].event_id, { start_at: iso(startMs + 100 * MINUTE_MS) });
        await agent.update(moved[1].event_id, { start_at: iso(startMs - 100 * MINUTE_MS) });
      });
      const unchanged = range(7).map((number) => `at ${number + 1}`);
      const shown = pages.flatMap(titles);
      assert.deepEqual(
        shown.filter((title) => unchanged.includes(title)),
        unchanged,
      );
      for (const page of pages) assert.equal(page.total, 9);
    });
  });

  describe('422', () => {
    it('refuses a cursor that the service did not issue', async () => {
      const { search } = await fill(range(3));
      const { next_cursor } = await search({ limit: 1 });
      const bad = [
        '',
        ' ',
        'nonsense',
        '7',
        'null',
        '../..',
        '🎪',
        'A'.repeat(2000),
        next_cursor.slice(0, -1),
        next_cursor.slice(1),
        `${next_cursor}A`,
        `${next_cursor}=`,
        ` ${next_cursor}`,
        next_cursor.toLowerCase(),
        `${next_cursor}${next_cursor}`,
      ];
      for (const cursor of bad) {
        const answer = await agent.get(PATH, { lat: 0, lng: 0, cursor });
        assertInvalid(answer, ['query.cursor: value_error']);
      }
    });
  });
});
