// GET /v1/agents/me and /v1/agents/me/events: what an agent sees of itself and of its events.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, anyone, newAgent, type Query } from './client.ts';
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
    const create = async (hours: number) =>
      (await agent.create(newEvent({ start_at: iso(Date.now() + hours * HOUR_MS) }))).event_id;
    upcoming = [];
    for (const hours of [-1, 2, 500, 9_000]) upcoming.push(await create(hours));
    ended = [];
    for (const hours of [-5_000, -4]) ended.push(await create(hours));
    await (await newAgent()).create(newEvent());
  });

  const list = async (query: Query = {}): Promise<Answer['body']> => {
    const { status, body, text } = await agent.get(EVENTS, query);
    assert.equal(status, 200, text);
    return body;
  };

  it('lists its own events that have not ended, by start', async () => {
    for (const query of [{}, { include_ended: 'false' }]) {
      const page = await list(query);
      assert.deepEqual(Object.keys(page), ['events', 'count', 'total', 'next_cursor']);
      assert.deepEqual(ids(page), upcoming);
      assert.deepEqual([page.count, page.total, page.next_cursor], [4, 4, null]);
    }
  });

  it('lists ended events too with include_ended', async () => {
    const page = await list({ include_ended: 'true' });
    assert.deepEqual([ids(page), page.total], [[...ended, ...upcoming], 6]);
  });

  it('lists each event once, page by page, with the total on every page', async () => {
    const seen: string[] = [];
    for (let query: Query = { limit: 2, include_ended: 'true' }; ; ) {
      const page = await list(query);
      assert.equal(page.total, 6);
      seen.push(...ids(page));
      if (page.next_cursor === null) break;
      query = { ...query, cursor: page.next_cursor };
    }
    assert.deepEqual(seen, [...ended, ...upcoming]);
  });

  it('lists an event exactly as a GET of it returns it', async () => {
    const [event] = (await list({ limit: 1 })).events;
    assert.deepEqual(await agent.read(event.event_id), event);
  });

  it('is empty for an agent without events', async () => {
    const { body } = await (await newAgent()).get(EVENTS);
    assert.deepEqual(body, { events: [], count: 0, total: 0, next_cursor: null });
  });

  const refusals: [query: string, issue: string][] = [
    ['limit=0', 'query.limit: greater_than_equal'],
    ['limit=101', 'query.limit: less_than_equal'],
    ['limit=a', 'query.limit: int_parsing'],
    ['include_ended=yes', 'query.include_ended: bool_parsing'],
    ['include_ended=', 'query.include_ended: bool_parsing'],
    ['include_ended=true&include_ended=true', 'query.include_ended: value_error'],
    ['cursor=', 'query.cursor: value_error'],
  ];
  for (const [query, issue] of refusals) {
    it(`refuses ${query}`, async () => {
      assertInvalid(await agent.get(`${EVENTS}?${query}`), [issue]);
    });
  }

  it('refuses the cursor of a search', async () => {
    const { next_cursor } = await agent.nearby({ limit: 1 });
    assertInvalid(await agent.get(EVENTS, { cursor: next_cursor }), ['query.cursor: value_error']);
  });

  it('needs a key', async () => {
    assertError(await anyone.get(EVENTS), 401, 'MISSING_API_KEY');
  });
});
