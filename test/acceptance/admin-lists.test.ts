// Beyond the interface, for administrators: paged lists, the audit log, statistics, and deletes of selected events. Searches
// find only agents of this run, whatever else the service holds.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, newAgent, RUN, reader, register } from './client.ts';
import type { Query } from './json-client.ts';
import { assertError, assertInvalid, newEvent, UNKNOWN_ULID, UNKNOWN_UUID } from './samples.ts';

type Body = Answer['body'];

async function get(path: string, query: Query = {}): Promise<Body> {
  const answer = await administrator.get(path, query);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Every page, following next_cursor. */
async function walk(path: string, query: Query): Promise<Body[]> {
  const pages = [await get(path, query)];
  while (pages.at(-1).next_cursor !== null) {
    pages.push(await get(path, { ...query, cursor: pages.at(-1).next_cursor }));
  }
  return pages;
}

describe('pages of agents', () => {
  const path = '/v1/admin/agents';
  let ids: string[];
  before(async () => {
    const agents: Agent[] = [];
    for (let number = 0; number < 5; number++) agents.push(await newAgent());
    for (const agent of agents.slice(1, 3)) await agent.create(newEvent());
    ids = [];
    for (const agent of agents) ids.push(await agent.id());
  });
  const idsOf = (pages: Body[]) =>
    pages
      .flatMap(({ agents }) => agents.map(({ id }: { id: string }) => id))
      .filter((id) => ids.includes(id));

  it('list each agent once, in both directions, with the total of all matches', async () => {
    const up = await walk(path, { q: RUN.toUpperCase(), limit: 2, sort: 'created_at' });
    assert.deepEqual(idsOf(up), ids);
    const down = await walk(path, { q: RUN, limit: 3, sort: '-created_at' });
    assert.deepEqual(idsOf(down), ids.toReversed());
    for (const { agents, total } of [...up, ...down]) {
      assert.ok(agents.length <= 3);
      assert.equal(total, up.flatMap((page) => page.agents).length);
    }
  });

  it('have the requested order', async () => {
    const [page] = await walk(path, { q: RUN, limit: 100, sort: '-event_count' });
    const counts = page.agents.map((agent: { event_count: number }) => agent.event_count);
    assert.deepEqual(
      counts,
      counts.toSorted((a: number, b: number) => b - a),
    );
  });

  it('are returned only if a known parameter asks for them, even an empty q', async () => {
    for (const query of [{}, { page: 2, when: 'past' }] as Query[])
      assert.deepEqual(Object.keys(await get(path, query)), ['agents', 'total']);
    for (const query of [{ limit: 100 }, { q: '' }, { sort: 'created_at' }] as Query[])
      assert.deepEqual(Object.keys(await get(path, query)), ['agents', 'total', 'next_cursor']);
  });

  it('find an agent by its ID, and text literally, in any case', async () => {
    assert.deepEqual(idsOf([await get(path, { q: ids[0]!.toUpperCase() })]), [ids[0]]);
    const names = ['émile', 'ÉMILE', 'Bob 100%', 'bob_2'].map((name) => `${name} ${RUN}`);
    for (const agent_name of names)
      await register({ email: `${names.indexOf(agent_name)}@${RUN}.example.com`, agent_name });
    for (const [q, found] of [
      [`ÉMILE ${RUN}`, names.slice(0, 2)],
      [`% ${RUN}`, names.slice(2, 3)],
      [`_2 ${RUN}`, names.slice(3)],
      [`bob_100% ${RUN}`, []],
    ] as const) {
      const { agents, total } = await get(path, { q });
      const shown = agents.map(({ agent_name }: { agent_name: string }) => agent_name);
      assert.deepEqual([shown, total], [found, found.length]);
    }
    // é comes after z: bytes decide.
    const { agents } = await get(path, { q: ` ${RUN}`, sort: '-agent_name' });
    const shown = agents.map(({ agent_name }: { agent_name: string }) => agent_name);
    assert.deepEqual(shown, [names[1], names[0], names[3], names[2]]);
  });

  it('refuse invalid parameters, and the cursor of another list or sort', async () => {
    const { next_cursor: cursor } = await get(path, { q: RUN, limit: 1 });
    const refused: [query: Query, ...issues: string[]][] = [
      [{ sort: 'colour', limit: 101 }, 'query.limit: less_than_equal', 'query.sort: enum'],
      [{ sort: '' }, 'query.sort: enum'],
      [{ limit: 0 }, 'query.limit: greater_than_equal'],
      [{ limit: '1e1', q: 'x'.repeat(201) }, 'query.limit: int_parsing', 'query.q: string_too_long'],
      [{ q: ['a', 'b'] }, 'query.q: value_error'],
      [{ cursor: '' }, 'query.cursor: value_error'],
      [{ cursor: 'nonsense' }, 'query.cursor: value_error'],
      [{ cursor: `${cursor}x` }, 'query.cursor: value_error'],
      [{ cursor, sort: 'email' }, 'query.cursor: value_error'],
      [{ cursor, sort: '-created_at' }, 'query.cursor: value_error'],
    ];
    for (const [query, ...issues] of refused) assertInvalid(await administrator.get(path, query), issues);
    const events = await administrator.get(`${path}/${ids[0]}/events`, { cursor, sort: 'created_at' });
    assertInvalid(events, ['query.cursor: value_error']);
  });
});

describe('pages of the events of an agent', () => {
  let path: string;
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
    const titles = ['Zürich', 'abc', 'ABC 2', 'zÜrich 2'];
    for (const [day, title] of titles.entries()) {
      const location_name = `hall ${day}`;
      await agent.create(newEvent({ title, location_name, start_at: `2031-05-0${4 - day}T00:00:00Z` }));
    }
    await agent.create(newEvent({ title: 'over', start_at: '1999-01-01T00:00:00Z', address: 'Main "St"' }));
    path = `/v1/admin/agents/${await agent.id()}/events`;
  });
  const titlesOf = (pages: Body[]) =>
    pages.flatMap(({ events }) => events.map(({ title }: { title: string }) => title));

  it('list each event once, in every order, with the agent and the total', async () => {
    const orders: [sort: string, titles: string[]][] = [
      ['start_at', ['over', 'zÜrich 2', 'ABC 2', 'abc', 'Zürich']],
      ['-title', ['zÜrich 2', 'Zürich', 'over', 'ABC 2', 'abc']],
      ['created_at', ['Zürich', 'abc', 'ABC 2', 'zÜrich 2', 'over']],
    ];
    for (const [sort, titles] of orders) {
      const pages = await walk(path, { sort, limit: 2 });
      assert.deepEqual(titlesOf(pages), titles, sort);
      for (const page of pages) {
        assert.deepEqual([page.total, page.agent], [5, await agent.findSummary()]);
      }
    }
  });

  it('filter by past, by upcoming and by text in any case', async () => {
    assert.deepEqual(titlesOf([await get(path, { when: 'past' })]), ['over']);
    assert.equal((await get(path, { when: 'upcoming', limit: 1 })).total, 4);
    for (const [query, titles] of [
      [{ q: 'ZÜR' }, ['zÜrich 2', 'Zürich']],
      [{ q: 'HALL 2' }, ['ABC 2']],
      [{ q: 'main "st"' }, ['over']],
      [{ q: 'zür', when: 'past' }, []],
    ] as const)
      assert.deepEqual(titlesOf([await get(path, query)]), titles);
  });

  it('are returned only if a parameter asks for them, even an empty q', async () => {
    const whole = await get(path);
    assert.deepEqual(Object.keys(whole), ['agent', 'events']);
    for (const query of [{ limit: 5 }, { q: '' }, { sort: 'start_at' }, { when: 'all' }] as Query[])
      assert.deepEqual(await get(path, query), { ...whole, total: 5, next_cursor: null });
  });

  it('are 404 for an unknown agent, and 422 with all errors in path and query', async () => {
    const unknown = await administrator.get(`/v1/admin/agents/${UNKNOWN_UUID}/events`, { limit: 1 });
    assertError(unknown, 404, 'NOT_FOUND');
    const wrong = await administrator.get('/v1/admin/agents/nobody/events', { when: 'now', limit: 1 });
    assertInvalid(wrong, ['path.agent_id: uuid_parsing', 'query.when: enum']);
  });
});

describe('POST /v1/admin/agents/{agent_id}/events/delete', () => {
  it('deletes the listed events that exist, and records it in the audit log', async () => {
    const agent = await newAgent();
    const events = [await agent.create(newEvent()), await agent.create(newEvent())];
    const other = await (await newAgent()).create(newEvent());
    const id = await agent.id();
    const { event_id } = events[0];
    const event_ids = [event_id, event_id, UNKNOWN_ULID, 'nonsense', other.event_id];
    const remove = (path: string) => administrator.post(`${path}/events/delete`, { event_ids });
    const answer = await remove(`/v1/admin/agents/${id.toUpperCase()}`);
    assert.deepEqual([answer.status, answer.body], [200, { deleted: 1 }]);
    assert.deepEqual((await remove(`/v1/admin/agents/${id}`)).body, { deleted: 0 });
    assertError(await reader.get(`/v1/events/${events[0].event_id}`), 404, 'NOT_FOUND');
    assert.deepEqual(await reader.read(other.event_id), other);
    assert.equal((await agent.findSummary()).event_count, 1);
    const { entries } = await get('/v1/admin/audit', { limit: 100 });
    const entry = entries.find(({ target }: { target: string }) => target === id);
    assert.deepEqual(
      [entry.action, entry.target_name, entry.detail, entry.count],
      ['delete_selected_events', 'acceptance', { event_ids: [events[0].event_id] }, 1],
    );
  });

  it('needs 1 to 100 event IDs, and an agent', async () => {
    const id = await (await newAgent()).id();
    const remove = (body: unknown, of = id) =>
      administrator.post(`/v1/admin/agents/${of}/events/delete`, body);
    const refused: [body: unknown, ...issues: string[]][] = [
      [undefined, 'body: missing'],
      [{}, 'body.event_ids: missing'],
      [{ event_ids: [] }, 'body.event_ids: too_short'],
      [{ event_ids: Array(101).fill('x') }, 'body.event_ids: too_long'],
      [{ event_ids: ['x', 5, null] }, 'body.event_ids.1: string_type', 'body.event_ids.2: string_type'],
      [{ event_ids: 'x' }, 'body.event_ids: list_type'],
    ];
    for (const [body, ...issues] of refused) assertInvalid(await remove(body), issues);
    assert.deepEqual((await remove({ event_ids: Array(100).fill('x') })).body, { deleted: 0 });
    assertError(await remove({ event_ids: ['x'] }, UNKNOWN_UUID), 404, 'NOT_FOUND');
  });
});

describe('GET /v1/admin/audit', () => {
  it('lists who changed what, newest first, page by page', async () => {
    const agent = await newAgent();
    const id = await agent.id();
    const { event_id, title } = await agent.create(newEvent());
    await administrator.patch(`/v1/admin/agents/${id}`, { tier: 'read' });
    await administrator.delete(`/v1/admin/events/${event_id}`);
    await administrator.delete(`/v1/admin/agents/${id}`);
    const { email } = await get('/v1/admin/me');
    const seen = [];
    let query: Query = { limit: 2 };
    while (seen.length < 3) {
      const page = await get('/v1/admin/audit', query);
      assert.deepEqual(Object.keys(page), ['entries', 'total', 'next_cursor']);
      assert.equal(page.entries.length, 2);
      for (const entry of page.entries) if ([id, event_id].includes(entry.target)) seen.push(entry);
      assert.notEqual(page.next_cursor, null);
      query = { limit: 2, cursor: page.next_cursor };
    }
    assert.deepEqual(
      seen.map(({ action, actor_email, target_name, detail, count }) => [
        action,
        actor_email,
        target_name,
        detail,
        count,
      ]),
      [
        ['delete_agent', email, 'acceptance', null, 0],
        ['delete_event', email, title, { agent_id: id, agent_name: 'acceptance' }, 1],
        ['update_agent', email, 'acceptance', { tier: 'read' }, 1],
      ],
    );
    for (const { at } of seen) assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
    const numbers = seen.map((entry) => Number(entry.id));
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => b - a),
    );
  });

  it('ends with a next_cursor of null', async () => {
    const pages = await walk('/v1/admin/audit', { limit: 100 });
    assert.equal(pages.flatMap(({ entries }) => entries).length >= pages[0].total, true);
  });

  it('refuses an invalid cursor and limit', async () => {
    const answer = await administrator.get('/v1/admin/audit', { cursor: 'x', limit: 0 });
    assertInvalid(answer, ['query.limit: greater_than_equal', 'query.cursor: value_error']);
  });
});

describe('GET /v1/admin/stats', () => {
  it('counts agents and events, active agents and upcoming events', async () => {
    const agent = await newAgent();
    await agent.create(newEvent());
    const { agents, agents_active_today, events, events_upcoming, ...rest } = await get('/v1/admin/stats');
    assert.deepEqual(rest, {});
    assert.ok(agents >= 1 && agents_active_today >= 1 && agents_active_today <= agents);
    assert.ok(events_upcoming >= 1 && events_upcoming <= events);
  });
});
