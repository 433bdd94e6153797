// Beyond the interface: ETag on every response with a single event, If-None-Match on reads, If-Match on changes and deletes.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, anyone, newAgent } from './client.ts';
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

  it('is absent from searches, errors and deletes', async () => {
    const { path } = await create();
    for (const answer of [
      await agent.get('/v1/events/nearby?lat=0&lng=0'),
      await agent.get('/v1/events/nothing'),
      await agent.patch(path, { title: 1 }),
      await agent.delete(path),
    ])
      assert.equal(tagOf(answer), undefined);
  });

  it('gives a 304 without a body in If-None-Match while it is current', async () => {
    const { path, tag } = await create();
    for (const condition of [tag, `W/${tag}`, '*', `"other", ${tag}`]) {
      for (const method of ['GET', 'HEAD']) {
        const known = await send(method, path, { 'if-none-match': condition });
        assert.deepEqual([known.status, known.text, tagOf(known)], [304, '', tag], condition);
        assert.equal(known.headers.vary, 'Accept');
        for (const name of ['content-type', 'content-length']) assert.equal(known.headers[name], undefined);
        assert.ok(known.headers['x-request-id']);
      }
    }
    const calendar = { accept: 'text/calendar' };
    const calendarTag = tagOf(await send('GET', path, calendar))!;
    for (const [condition, status] of [
      [tag, 200],
      [calendarTag, 304],
      [`W/${calendarTag}`, 304],
      ['*', 304],
    ] as const)
      assert.equal((await send('GET', path, { ...calendar, 'if-none-match': condition })).status, status);
    await agent.patch(path, { cost: 'more' });
    const changed = await send('GET', path, { 'if-none-match': tag });
    assert.deepEqual([changed.status, changed.body.cost], [200, 'more']);
    const any = { 'if-none-match': '*' };
    assertError(await send('GET', '/v1/events/nothing', any), 404, 'NOT_FOUND');
    assertInvalid(await send('GET', `${path}?format=x`, any), ['query.format: enum']);
    assertError(await anyone.send('GET', path, { headers: any }), 401, 'MISSING_API_KEY');
  });

  it('is ignored in If-None-Match of writes and searches, and in If-Match of a create', async () => {
    const { path, tag } = await create();
    const none = { 'if-none-match': '*' };
    assert.equal((await send('PATCH', path, none, { cost: '1' })).status, 200);
    assert.equal((await send('GET', '/v1/events/nearby?lat=0&lng=0', { 'if-none-match': tag })).status, 200);
    assert.equal((await send('DELETE', path, none)).status, 204);
    assert.equal((await send('POST', '/v1/events', { 'if-match': '"9"' }, newEvent())).status, 200);
  });

  it('lets a change through in If-Match only while it is current', async () => {
    const { path, tag } = await create();
    const first = await send('PATCH', path, { 'if-match': tag }, { cost: 'first' });
    assert.equal(first.status, 200);
    for (const condition of [tag, `W/${tagOf(first)}`, 'nonsense', '""', '']) {
      for (const body of [{ cost: 'late' }, {}])
        assertError(await send('PATCH', path, { 'if-match': condition }, body), 412, 'PRECONDITION_FAILED');
    }
    const same = await send('PATCH', path, { 'if-match': tagOf(first)! }, {});
    assert.deepEqual([same.status, tagOf(same)], [200, tagOf(first)]);
    assert.equal((await agent.get(path)).body.cost, 'first');
    const calendarTag = tagOf(await agent.get(`${path}?format=ics`))!;
    const second = await send('PATCH', path, { 'if-match': `"x", ${calendarTag}` }, { cost: 'second' });
    assert.equal(second.status, 200);
    assert.equal((await send('PATCH', path, { 'if-match': '*' }, { cost: 'third' })).status, 200);
  });

  it('lets a delete through in If-Match only while it is current', async () => {
    const { path, tag } = await create();
    const changed = await agent.patch(path, { cost: 'more' });
    for (const condition of [tag, `W/${tagOf(changed)}`, 'nonsense'])
      assertError(await send('DELETE', path, { 'if-match': condition }), 412, 'PRECONDITION_FAILED');
    assert.equal((await agent.get(path)).status, 200);
    const calendarTag = tagOf(await agent.get(`${path}?format=ics`))!;
    assert.equal((await send('DELETE', path, { 'if-match': calendarTag })).status, 204);
    assertError(await send('DELETE', path, { 'if-match': '*' }), 404, 'NOT_FOUND');
  });

  it('is checked after existence and ownership, and before the rules that involve the stored event', async () => {
    const { path, tag } = await create({ end_at: '2031-05-01T20:00:00Z' });
    const stale = { 'if-match': '"stale"' };
    assertInvalid(await send('PATCH', path, stale, { title: '' }), ['body.title']);
    assertError(await send('PATCH', `/v1/events/${UNKNOWN_ULID}`, stale, {}), 404, 'NOT_FOUND');
    assertError(await other.send('PATCH', path, { headers: stale, body: {} }), 404, 'NOT_FOUND');
    assertError(await other.send('DELETE', path, { headers: stale }), 404, 'NOT_FOUND');
    assertError(
      await other.send('PATCH', path, { headers: { 'if-match': '*' }, body: {} }),
      404,
      'NOT_FOUND',
    );
    assertError(await send('DELETE', `/v1/events/${UNKNOWN_ULID}`, stale), 404, 'NOT_FOUND');
    const late = { start_at: '2031-05-02T00:00:00Z' };
    assertError(await send('PATCH', path, stale, late), 412, 'PRECONDITION_FAILED');
    assertInvalid(await send('PATCH', path, { 'if-match': tag }, late), ['body.start_at']);
    const { body: twin } = await create();
    const { event_id, agent_id, created_at, ...taken } = twin;
    assertError(await send('PATCH', path, stale, taken), 412, 'PRECONDITION_FAILED');
    assertError(await send('PATCH', path, { 'if-match': tag }, taken), 409, 'DUPLICATE_EVENT');
    assert.equal(tagOf(await agent.get(path)), tag);
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
