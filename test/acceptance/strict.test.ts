// Prefer: handling=strict: what is otherwise ignored is a 422.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, anyone, type Client, newAgent } from './client.ts';
import { assertInvalid, HOUR_MS, iso, newEvent } from './samples.ts';

const STRICT = { prefer: 'handling=strict' };

describe('Prefer: handling=strict', () => {
  let agent: Agent;
  let event: Answer['body'];
  let path: string;
  before(async () => {
    agent = await newAgent();
    event = await agent.create(newEvent());
    path = `/v1/events/${event.event_id}`;
  });
  const strict = (method: string, to: string, body?: unknown, client: Client = agent) =>
    client.send(method, to, { headers: STRICT, ...(body !== undefined && { body }) });
  const assertApplied = ({ headers }: Answer) => {
    assert.equal(headers['preference-applied'], 'handling=strict');
    assert.equal(headers['x-unknown-parameters'], undefined);
    assert.equal(headers['x-unknown-fields'], undefined);
  };
  const assertRefused = (answer: Answer, issues: string[]) => {
    assertInvalid(answer, issues);
    assertApplied(answer);
  };

  it('refuses unknown parameters, and names those that the request takes', async () => {
    const search = await strict('GET', '/v1/events/nearby?lat=1&lng=2&max_cost=5&near=Kreuzberg');
    assertRefused(search, ['query.max_cost: extra_forbidden', 'query.near: extra_forbidden']);
    assert.match(
      search.body.detail[0].msg,
      /^unknown parameter; this request takes: lat, lng, radius, .*\bwhen\b/,
    );
    assertRefused(await strict('GET', `${path}?fields=title`), ['query.fields: extra_forbidden']);
    assertRefused(await strict('GET', '/v1/agents/me/events?page=2'), ['query.page: extra_forbidden']);
    const me = await strict('GET', '/v1/agents/me?verbose=1');
    assertRefused(me, ['query.verbose: extra_forbidden']);
    assert.match(me.body.error.message, /unknown parameter; this request takes none/);
    assertRefused(await strict('DELETE', `${path}?sure=yes`), ['query.sure: extra_forbidden']);
    assert.equal((await agent.get(path)).status, 200);
  });

  it('refuses unknown fields, and changes nothing', async () => {
    const created = await strict('POST', '/v1/events', { ...newEvent(), price: '5', titel: 'x' });
    assertRefused(created, ['body.price: extra_forbidden', 'body.titel: extra_forbidden']);
    assert.match(created.body.detail[0].msg, /^unknown field; this request takes: title, /);
    assertRefused(await strict('PATCH', path, { title: 'Changed', price: '5' }), [
      'body.price: extra_forbidden',
    ]);
    assert.deepEqual((await agent.get(path)).body, event);
    const registration = { email: 'a@example.com', agent_name: 'a', tier: 'admin' };
    assertRefused(await strict('POST', '/v1/auth/register', registration, anyone), [
      'body.tier: extra_forbidden',
    ]);
    assertRefused(await strict('POST', '/v1/auth/rotate', { overlap: 1 }), ['body.overlap: extra_forbidden']);
  });

  it('names everything else that is wrong in the same response', async () => {
    assertRefused(await strict('GET', '/v1/events/nearby?lat=91&latitude=1&limit=x'), [
      'query.latitude: extra_forbidden',
      'query.limit: int_parsing',
      'query.lat: less_than_equal',
      'query.lng: missing',
    ]);
    assertRefused(await strict('PATCH', `${path}?x=1`, { title: null, prize: '5' }), [
      'query.x: extra_forbidden',
      'body.prize: extra_forbidden',
      'body.title: string_type',
    ]);
  });

  it('refuses a create of an event that has ended, with and without further faults', async () => {
    const over = newEvent({ start_at: iso(Date.now() - 4 * HOUR_MS) });
    const refused = await strict('POST', '/v1/events', over);
    assertRefused(refused, ['body.start_at: value_error']);
    assert.match(refused.body.error.message, /the event has ended: .*Send a later start_at/);
    assertRefused(await strict('POST', '/v1/events', { ...over, cost: 5, end_at: null }), [
      'body.cost: string_type',
      'body.start_at: value_error',
    ]);
    assertRefused(await strict('POST', '/v1/events', { ...over, end_at: 'soon' }), [
      'body.end_at: datetime_parsing',
    ]);
    const isOn = { ...over, end_at: iso(Date.now() + HOUR_MS) };
    assert.equal((await strict('POST', '/v1/events', isOn)).status, 200);
    const lately = newEvent({ start_at: iso(Date.now() - 2 * HOUR_MS) });
    assert.equal((await strict('POST', '/v1/events', lately)).status, 200);
    assert.equal((await agent.post('/v1/events', over)).status, 200);
  });

  it('is applied to requests without a fault, and they get the same body', async () => {
    const known = `/v1/events/nearby?lat=${event.lat}&lng=${event.lng}&radius=1`;
    for (const to of [path, known, '/v1/agents/me/events']) {
      const answer = await strict('GET', to);
      assertApplied(answer);
      assert.deepEqual(answer.body, (await agent.get(to)).body);
    }
    const repeated = await strict('PATCH', path, {});
    assertApplied(repeated);
    assert.deepEqual(repeated.body, event);
    const missing = await strict('GET', '/v1/events/nothing');
    assert.equal(missing.status, 404);
    assertApplied(missing);
  });

  it('works for administrators', async () => {
    const { agent_id } = event;
    const audit = await strict('GET', '/v1/admin/audit?agent=x&limit=0', undefined, administrator);
    assertRefused(audit, ['query.agent: extra_forbidden', 'query.limit: greater_than_equal']);
    const at = `/v1/admin/agents/${agent_id}`;
    assertRefused(await strict('PATCH', at, { active: false, tier: 'x' }, administrator), [
      'body.active: extra_forbidden',
      'body.tier: enum',
    ]);
    assertRefused(await strict('DELETE', `${at}/events?forgood=true`, undefined, administrator), [
      'query.forgood: extra_forbidden',
    ]);
    assertRefused(await strict('GET', '/v1/admin/agents/x?y', undefined, administrator), [
      'query.y: extra_forbidden',
      'path.agent_id: uuid_parsing',
    ]);
    assert.equal((await strict('GET', at, undefined, administrator)).status, 200);
  });

  it('is read as RFC 7240 says', async () => {
    const isApplied = async (prefer: string) => {
      const { status, headers } = await agent.send('GET', `${path}?x=1`, { headers: { prefer } });
      assert.equal(status, headers['preference-applied'] === undefined ? 200 : 422, prefer);
      return status === 422;
    };
    for (const prefer of [
      'handling=strict',
      'Handling = Strict',
      'handling="strict"',
      'respond-async, wait=10, handling=strict; a=b',
      'foo="a, \\"handling=lenient, b", handling=strict',
      'handling=strict, handling=lenient',
    ])
      assert.equal(await isApplied(prefer), true, prefer);
    for (const prefer of [
      'handling=lenient',
      'handling=lenient, handling=strict',
      'handling',
      'strict',
      'x-handling=strict',
      'foo="a, handling=strict, b"',
      'foo; handling=strict',
      'handling=strictly',
      '"',
      '"\\',
      '"\\"',
      'foo="a, handling=strict',
      'foo="a\\", handling=strict',
      ', ,',
    ])
      assert.equal(await isApplied(prefer), false, prefer);
    assert.equal(await isApplied('foo="a\\\\", handling=strict'), true);
  });

  it('shows a name only if that is safe', async () => {
    const secret = `lev_${'a'.repeat(43)}`;
    const answer = await strict('PATCH', `${path}?${secret}=1&a%20b=2`, { [secret]: 1, ['x'.repeat(51)]: 1 });
    assertRefused(answer, ['query.?: extra_forbidden', 'body.?: extra_forbidden', 'body.?: extra_forbidden']);
    assert.ok(!answer.text.includes(secret));
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, at]));
    const { body } = await strict('PATCH', path, many);
    assert.equal(body.detail.length, 10);
  });
});
