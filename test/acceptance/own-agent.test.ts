// GET /v1/agents/me and /v1/agents/me/events: what an agent sees of itself and of its events.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, anyone, type Client, newAgent, reader } from './client.ts';
import type { Query } from './json-client.ts';
import { assertError, assertInvalid, HOUR_MS, ids, iso, newEvent } from './samples.ts';

const ME = '/v1/agents/me';
const EVENTS = '/v1/agents/me/events';

describe('GET /v1/agents/me', () => {
  it('returns the agent as administrators see it, its key, its quota and the memory for its words, and nothing else', async () => {
    const agent = await newAgent();
    await agent.create(newEvent());
    const { status, body, text, headers } = await agent.get(ME);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['agent', 'key', 'quota', 'words']);
    // PostgreSQL nodes limit no agent's words.
    if (body.words !== null) {
      assert.deepEqual(Object.keys(body.words), ['memory_bytes', 'share']);
      assert.ok(body.words.memory_bytes > 0 && body.words.share >= 0 && body.words.share < 1, text);
    }
    const { last_used_at, ...same } = await agent.findSummary();
    assert.deepEqual({ ...body.agent, last_used_at }, { ...same, last_used_at });
    assert.deepEqual([body.agent.email, body.agent.event_count], [agent.email, 1]);
    assert.deepEqual(body.key, {
      prefix: agent.key.slice(0, 8),
      created_at: body.agent.created_at,
      expires_at: null,
    });
    assert.ok(!text.includes(agent.key.slice(8)));
    const { resets_at, ...quota } = body.quota;
    assert.deepEqual(quota, { limit: 10_000, remaining: 9_998 });
    assert.match(headers.ratelimit!, /^"default";r=9998;t=\d+$/);
    const leftMs = Date.parse(resets_at) - Date.parse(headers.date!);
    assert.ok(leftMs > 0 && leftMs <= HOUR_MS + 1_000, `${leftMs}`);
  });

  it('allows HEAD, and responds 401 without a key', async () => {
    const agent = await newAgent();
    assert.equal((await agent.send('HEAD', ME)).status, 200);
    assert.equal((await agent.get(ME)).body.quota.remaining, 9_998, 'HEAD counts, too');
    assertError(await anyone.get(ME), 401, 'MISSING_API_KEY');
    assertError(await administrator.get(ME), 401, 'MISSING_API_KEY');
  });
});

describe('GET /v1/agents/me/events', () => {
  let agent: Agent;
  let ended: string[];
  let upcoming: string[];
  before(async () => {
    agent = await newAgent();
    const nowMs = Date.now();
    /** Creates an event for each start, in this order; returns the IDs by start, then by ID. */
    const create = async (...starts: number[]): Promise<string[]> => {
      const events: { start_at: string; event_id: string }[] = [];
      for (const hours of starts)
        events.push(await agent.create(newEvent({ start_at: iso(nowMs + hours * HOUR_MS) })));
      return events
        .toSorted((a, b) => (a.start_at + a.event_id < b.start_at + b.event_id ? -1 : 1))
        .map(({ event_id }) => event_id);
    };
    // Without an end_at they end three hours after their start.
    upcoming = await create(500, -1, 2, 500, 9_000, 500);
    ended = await create(-4, -5_000);
    await (await newAgent()).create(newEvent());
  });

  const list = async (query: Query = {}): Promise<Answer['body']> => {
    const { status, body, text } = await agent.get(EVENTS, query);
    assert.equal(status, 200, text);
    return body;
  };

  it('lists its own events that have not ended, by start', async () => {
    for (const query of [{}, { include_ended: 'false' }, { limit: 6 }] as Query[]) {
      const page = await list(query);
      assert.deepEqual(Object.keys(page), ['events', 'count', 'total', 'next_cursor']);
      assert.deepEqual(ids(page), upcoming);
      assert.deepEqual([page.count, page.total, page.next_cursor], [6, 6, null]);
    }
  });

  it('lists ended events too with include_ended', async () => {
    const page = await list({ include_ended: 'true' });
    assert.deepEqual([ids(page), page.total], [[...ended, ...upcoming], 8]);
  });

  for (const limit of [1, 2, 3, 6]) {
    it(`lists each event once, ${limit} at a time, with the total on every page`, async () => {
      const seen: string[] = [];
      for (let query: Query = { limit, include_ended: 'true' }; ; ) {
        const page = await list(query);
        assert.deepEqual([page.total, page.count], [8, page.events.length]);
        seen.push(...ids(page));
        if (page.next_cursor === null) break;
        assert.equal(page.count, limit);
        query = { ...query, cursor: page.next_cursor };
      }
      assert.deepEqual(seen, [...ended, ...upcoming]);
    });
  }

  it('lets limit and include_ended change from page to page', async () => {
    const { next_cursor } = await list({ limit: 2 });
    const page = await list({ cursor: next_cursor, include_ended: 'true' });
    assert.deepEqual([ids(page), page.total], [upcoming.slice(2), 8]);
  });

  it('shows a write in the next request', async () => {
    const writer = await newAgent();
    const listed = async () => (await writer.get(EVENTS)).body.events;
    const event = await writer.create(newEvent());
    assert.deepEqual(await listed(), [event]);
    const changed = await writer.update(event.event_id, { title: 'é' });
    assert.deepEqual(await listed(), [changed]);
    await writer.delete(`/v1/events/${event.event_id}`);
    assert.deepEqual(await listed(), []);
  });

  it('lists an event exactly as a GET of it returns it', async () => {
    const [event] = (await list({ limit: 1 })).events;
    assert.deepEqual(await agent.read(event.event_id), event);
  });

  it('is empty for an agent without events', async () => {
    const { body } = await (await newAgent()).get(EVENTS);
    assert.deepEqual(body, { events: [], count: 0, total: 0, next_cursor: null });
  });

  const refusals: [query: string, ...issues: string[]][] = [
    ['limit=0', 'query.limit: greater_than_equal'],
    ['limit=101', 'query.limit: less_than_equal'],
    ['limit=a', 'query.limit: int_parsing'],
    ['limit=1e1', 'query.limit: int_parsing'],
    ['limit=1&limit=1', 'query.limit: value_error'],
    ['include_ended', 'query.include_ended: bool_parsing'],
    ['include_ended=', 'query.include_ended: bool_parsing'],
    ['include_ended=yes', 'query.include_ended: bool_parsing'],
    ['include_ended=1', 'query.include_ended: bool_parsing'],
    ['include_ended=True', 'query.include_ended: bool_parsing'],
    ['include_ended=true%20', 'query.include_ended: bool_parsing'],
    ['include_ended=true&include_ended=true', 'query.include_ended: value_error'],
    ['cursor=', 'query.cursor: value_error'],
    ['cursor=nonsense', 'query.cursor: value_error'],
    [
      'limit=x&include_ended=yes&cursor=y',
      ...['query.cursor: value_error', 'query.include_ended: bool_parsing', 'query.limit: int_parsing'],
    ],
  ];
  for (const [query, ...issues] of refusals) {
    it(`refuses ${query}`, async () => assertInvalid(await agent.get(`${EVENTS}?${query}`), issues));
  }

  it('refuses the cursors of other lists, and other lists refuse its cursors', async () => {
    const lists: [client: Client, path: string, query: Query][] = [
      [administrator, `/v1/admin/agents/${await agent.id()}/events`, {}],
      [agent, '/v1/events/nearby', { lat: 0, lng: 0 }],
    ];
    const own = (await list({ limit: 1 })).next_cursor;
    for (const [client, path, query] of lists) {
      const cursor = (await client.get(path, { ...query, limit: 1 })).body.next_cursor;
      assert.equal(typeof cursor, 'string');
      assertInvalid(await agent.get(EVENTS, { cursor }), ['query.cursor: value_error']);
      assertInvalid(await client.get(path, { ...query, cursor: own }), ['query.cursor: value_error']);
    }
  });

  it('needs a key, of any tier, and allows HEAD', async () => {
    assertError(await anyone.get(EVENTS), 401, 'MISSING_API_KEY');
    assert.equal((await reader.get(EVENTS)).status, 200);
    assert.equal((await reader.send('HEAD', EVENTS)).status, 200);
  });
});
