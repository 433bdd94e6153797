// Beyond the interface: ETag on every response with a single event, If-None-Match on reads, If-Match on changes and deletes.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, newAgent } from './client.ts';
import { assertError, assertInvalid, newEvent, UNKNOWN_ULID } from './samples.ts';

describe('ETag', () => {
  let agent: Agent;
  let other: Agent;
  before(async () => {
    [agent, other] = [await newAgent(), await newAgent()];
  });

  /** Creates an event; returns its path and its tag. */
  async function create(fields: object = {}) {
    const created = await agent.post('/v1/events', newEvent({ ...fields }));
    assert.equal(created.status, 200, created.text);
    return { path: `/v1/events/${created.body.event_id}`, tag: created.headers.etag!, body: created.body };
  }
  const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    agent.send(method, path, { headers, ...(body && { body }) });
  const tagOf = ({ headers }: Answer) => headers.etag;

  it('is the same until the event changes, and differs for each format', async () => {
    const { path, tag, body } = await create();
    assert.match(tag, /^"[^"]+"$/);
    assert.equal(tagOf(await agent.get(path)), tag);
    assert.equal(tagOf(await agent.send('HEAD', path)), tag);
    assert.equal(tagOf(await other.get(path)), tag);
    assert.equal(tagOf(await agent.patch(path, {})), tag);
    const { event_id, agent_id, created_at, ...sent } = body;
    assert.equal(tagOf(await agent.post('/v1/events', sent)), tag, 'a create that finds it');
    const forms = await Promise.all(
      ['json', 'geojson', 'ics', 'jsonld'].map((format) => agent.get(`${path}?format=${format}`)),
    );
    assert.equal(new Set(forms.map(tagOf)).size, 4);
    const changed = await agent.patch(path, { cost: 'more' });
    assert.notEqual(tagOf(changed), tag);
    assert.equal(tagOf(await agent.get(path)), tagOf(changed));
  });

  it('gives a 304 without a body in If-None-Match while it is current', async () => {
    const { path, tag } = await create();
    for (const condition of [tag, `W/${tag}`, '*', `"other", ${tag}`]) {
      for (const method of ['GET', 'HEAD']) {
        const known = await send(method, path, { 'if-none-match': condition });
        assert.deepEqual([known.status, known.text, tagOf(known)], [304, '', tag], condition);
        assert.equal(known.headers.vary, 'Accept');
      }
    }
    const calendar = { accept: 'text/calendar' };
    assert.equal((await send('GET', path, { ...calendar, 'if-none-match': tag })).status, 200);
    await agent.patch(path, { cost: 'more' });
    const changed = await send('GET', path, { 'if-none-match': tag });
    assert.deepEqual([changed.status, changed.body.cost], [200, 'more']);
    assertError(await send('GET', '/v1/events/nothing', { 'if-none-match': '*' }), 404, 'NOT_FOUND');
  });

  it('lets a change through in If-Match only while it is current', async () => {
    const { path, tag } = await create();
    const first = await send('PATCH', path, { 'if-match': tag }, { cost: 'first' });
    assert.equal(first.status, 200);
    for (const condition of [tag, `W/${tagOf(first)}`, 'nonsense', '""']) {
      const late = await send('PATCH', path, { 'if-match': condition }, { cost: 'late' });
      assertError(late, 412, 'PRECONDITION_FAILED');
    }
    assert.equal((await agent.get(path)).body.cost, 'first');
    const calendarTag = tagOf(await agent.get(`${path}?format=ics`))!;
    const second = await send('PATCH', path, { 'if-match': `"x", ${calendarTag}` }, { cost: 'second' });
    assert.equal(second.status, 200);
    assert.equal((await send('PATCH', path, { 'if-match': '*' }, { cost: 'third' })).status, 200);
  });

  it('lets a delete through in If-Match only while it is current', async () => {
    const { path, tag } = await create();
    const changed = await agent.patch(path, { cost: 'more' });
    assertError(await send('DELETE', path, { 'if-match': tag }), 412, 'PRECONDITION_FAILED');
    assert.equal((await agent.get(path)).status, 200);
    assert.equal((await send('DELETE', path, { 'if-match': tagOf(changed)! })).status, 204);
    assertError(await send('DELETE', path, { 'if-match': '*' }), 404, 'NOT_FOUND');
  });

  it('is checked after existence and ownership, and before the rules that involve the stored event', async () => {
    const { path } = await create({ end_at: '2031-05-01T20:00:00Z' });
    const stale = { 'if-match': '"stale"' };
    assertInvalid(await send('PATCH', path, stale, { title: '' }), ['body.title']);
    assertError(await send('PATCH', `/v1/events/${UNKNOWN_ULID}`, stale, {}), 404, 'NOT_FOUND');
    assertError(await other.send('PATCH', path, { headers: stale, body: {} }), 404, 'NOT_FOUND');
    assertError(await other.send('DELETE', path, { headers: stale }), 404, 'NOT_FOUND');
    const late = { start_at: '2031-05-02T00:00:00Z' };
    assertError(await send('PATCH', path, stale, late), 412, 'PRECONDITION_FAILED');
    assertInvalid(await agent.patch(path, late), ['body.start_at']);
  });

  it('lets exactly one of many changes of the same version through', async () => {
    const { path, tag } = await create();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => send('PATCH', path, { 'if-match': tag }, { cost: `${at}` })),
    );
    const winners = answers.filter(({ status }) => status === 200);
    assert.equal(winners.length, 1);
    assert.equal(answers.filter(({ status }) => status === 412).length, 9);
    assert.equal((await agent.get(path)).body.cost, winners[0]!.body.cost);
  });
});
