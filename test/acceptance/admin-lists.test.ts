// Beyond the interface, for administrators: paged lists, the audit log, statistics, and deletes of selected events. Searches
// find only agents of this run, whatever else the service holds.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, newAgent, type Query, RUN, reader } from './client.ts';
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

  it('are returned only if a parameter asks for them', async () => {
    assert.deepEqual(Object.keys(await get(path)).sort(), ['agents', 'total']);
  });

  it('refuse an invalid sort, limit and cursor', async () => {
    const { next_cursor: cursor } = await get(path, { q: RUN, limit: 1 });
    const answer = await administrator.get(path, { sort: 'colour', limit: 101 });
    assertInvalid(answer, ['query.limit: less_than_equal', 'query.sort: enum']);
    assertInvalid(await administrator.get(path, { cursor: `${cursor}x` }), ['query.cursor: value_error']);
    assertInvalid(await administrator.get(path, { cursor, sort: 'email' }), ['query.cursor: value_error']);
  });
});

describe('pages of the events of an agent', () => {
  let path: string;
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
    const titles = ['Zürich', 'abc', 'ABC 2', 'zÜrich 2'];
    for (const [day, title] of titles.entries()) {
      await agent.create(newEvent({ title, start_at: `2031-05-0${4 - day}T00:00:00Z` }));
    }
    await agent.create(newEvent({ title: 'over', start_at: '1999-01-01T00:00:00Z' }));
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
    assert.deepEqual(titlesOf([await get(path, { q: 'ZÜR' })]), ['zÜrich 2', 'Zürich']);
  });

  it('are returned only if a parameter asks for them', async () => {
    assert.deepEqual(Object.keys(await get(path)).sort(), ['agent', 'events']);
  });

  it('are 404 for an unknown agent', async () => {
    const answer = await administrator.get(`/v1/admin/agents/${UNKNOWN_UUID}/events`, { limit: 1 });
    assertError(answer, 404, 'NOT_FOUND');
  });
});

describe('POST /v1/admin/agents/{agent_id}/events/delete', () => {
  it('deletes the listed events that exist, and records it in the audit log', async () => {
    const agent = await newAgent();
    const events = [await agent.create(newEvent()), await agent.create(newEvent())];
    const other = await (await newAgent()).create(newEvent());
    const id = await agent.id();
    const event_ids = [events[0].event_id, UNKNOWN_ULID, other.event_id];
    const answer = await administrator.post(`/v1/admin/agents/${id}/events/delete`, { event_ids });
    assert.deepEqual([answer.status, answer.body], [200, { deleted: 1 }]);
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

  it('refuses a body without event IDs', async () => {
    const id = await (await newAgent()).id();
    const answer = await administrator.post(`/v1/admin/agents/${id}/events/delete`, { event_ids: [] });
    assertInvalid(answer, ['body.event_ids: too_short']);
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
