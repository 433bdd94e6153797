// X-Unknown-Fields and X-Unknown-Parameters: which fields of a create or an update, and which parameters, were ignored.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  type Agent,
  type Answer,
  administrator,
  anyone,
  type Client,
  newAgent,
  RUN,
  reader,
  register,
} from './client.ts';
import { assertInvalid, newEvent, UNKNOWN_ULID } from './samples.ts';

describe('X-Unknown-Fields', () => {
  let agent: Agent;
  let path: string;
  before(async () => {
    agent = await newAgent();
    path = `/v1/events/${(await agent.create(newEvent())).event_id}`;
  });
  const named = ({ headers }: Answer) => headers['x-unknown-fields'];

  it('is absent if every field is known', async () => {
    assert.equal(named(await agent.post('/v1/events', newEvent())), undefined);
    assert.equal(named(await agent.patch(path, { cost: 'free' })), undefined);
  });

  it('names the others, which are ignored', async () => {
    const created = await agent.post('/v1/events', { ...newEvent(), latitude: 1, 'end-at': null });
    assert.equal(created.status, 200);
    assert.equal(named(created), 'latitude, end-at');
    const changed = await agent.patch(path, { prize: 'free', event_id: UNKNOWN_ULID });
    assert.equal(changed.status, 200);
    assert.equal(named(changed), 'prize, event_id');
    assert.ok(!('prize' in changed.body));
  });

  it('names them in errors, too', async () => {
    const invalid = await agent.post('/v1/events', { titel: 'Lantern workshop' });
    assert.equal(invalid.status, 422);
    assert.equal(named(invalid), 'titel');
    const missing = await agent.patch(`/v1/events/${UNKNOWN_ULID}`, { prize: 'free' });
    assert.equal(missing.status, 404);
    assert.equal(named(missing), 'prize');
  });

  it('repeats plain, short names only, and at most ten', async () => {
    const secret = `lev_${'a'.repeat(43)}`;
    const odd = await agent.patch(path, { [secret]: 1, 'a b': 2, ['x'.repeat(51)]: 3, 'ü\r\n': 4, plain: 5 });
    assert.equal(named(odd), '?, plain');
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, at]));
    assert.equal(named(await agent.patch(path, many))!.split(', ').length, 10);
  });

  it('is absent if the body is no object', async () => {
    for (const body of [[{ titel: 'x' }], 'titel', null]) {
      assert.equal(named(await agent.post('/v1/events', body)), undefined);
    }
  });

  it('can be read by pages of other origins, as Idempotent-Replayed can', async () => {
    const { headers } = await agent.send('POST', '/v1/events', {
      body: newEvent(),
      headers: { origin: 'https://example.com' },
    });
    const exposed = headers['access-control-expose-headers'] ?? '';
    for (const name of ['X-Unknown-Fields', 'Idempotent-Replayed'])
      assert.ok(exposed.split(', ').includes(name));
  });
});

describe('X-Unknown-Parameters', () => {
  const named = ({ headers }: Answer) => headers['x-unknown-parameters'];

  it('names parameters that an operation does not know, on every route under /v1', async () => {
    const agent = await newAgent();
    const [one, other] = [await agent.create(newEvent()), await agent.create(newEvent())];
    const query = '?guess=1&limit=1&format=json';
    const ofAgent = `/v1/admin/agents/${one.agent_id}`;
    const registration = { email: `unknown@${RUN}.example.com`, agent_name: 'a' };
    const calls: [client: Client, method: string, path: string, names: string, body?: object][] = [
      [agent, 'GET', `/v1/events/nearby${query}&lat=0&lng=0`, 'guess'],
      [agent, 'GET', `/v1/events/${one.event_id}${query}`, 'guess, limit'],
      [agent, 'POST', `/v1/events${query}`, 'guess, limit, format', newEvent()],
      [agent, 'PATCH', `/v1/events/${one.event_id}${query}`, 'guess, limit, format', {}],
      [agent, 'DELETE', `/v1/events/${other.event_id}${query}`, 'guess, limit, format'],
      [administrator, 'GET', `/v1/admin/me${query}`, 'guess, limit, format'],
      [administrator, 'GET', `/v1/admin/stats${query}`, 'guess, limit, format'],
      [administrator, 'GET', `/v1/admin/agents${query}`, 'guess, format'],
      [administrator, 'GET', `/v1/admin/audit${query}`, 'guess, format'],
      [administrator, 'GET', `${ofAgent}/events${query}`, 'guess, format'],
      [administrator, 'PATCH', ofAgent + query, 'guess, limit, format', {}],
      [administrator, 'DELETE', `${ofAgent}/events${query}`, 'guess, limit, format'],
      [administrator, 'DELETE', ofAgent + query, 'guess, limit, format'],
    ];
    for (const [client, method, path, names, body] of calls) {
      const answer = await client.send(method, path, { body });
      assert.ok(answer.status < 300, answer.text);
      assert.equal(named(answer), names, `${method} ${path}`);
    }
    const { status, headers } = await register(registration, {}, query);
    assert.deepEqual([status, headers['x-unknown-parameters']], [200, 'guess, limit, format']);
  });

  it('names them on errors too, so that clients can correct a guess', async () => {
    const agent = await newAgent();
    const wrong = await agent.get('/v1/events/nearby?latitude=1&lng=2&%66oo=3&b%C3%A4r=4');
    assertInvalid(wrong, ['query.lat: missing']);
    assert.equal(named(wrong), 'latitude, foo, ?');
    const missing = await agent.get('/v1/events/nothing?a=1');
    assert.deepEqual([missing.status, named(missing)], [404, 'a']);
    const typed = { raw: 'x', headers: { 'content-type': 'text/plain' } };
    const refused = await agent.send('POST', '/v1/events?a=1', typed);
    assert.deepEqual([refused.status, named(refused)], [415, 'a']);
  });

  it('is absent if all are known, without a key, and outside of /v1', async () => {
    const known = [
      '/v1/events/nearby?lat=0&lng=0',
      '/v1/events/nearby?lat=0&lng=0&include=distance&format=ics',
    ];
    for (const path of known) assert.equal(named(await reader.get(path)), undefined);
    const list = '/v1/admin/agents?q=&sort=email&limit=1';
    assert.equal(named(await administrator.get(list)), undefined);
    for (const path of ['/v1/events/nearby?a=1', '/health?a=1', '/openapi.json?a=1', '/v1/nothing?a=1'])
      assert.equal(named(await anyone.get(path)), undefined);
  });

  it('is one line of plain characters, whatever bytes are sent', async () => {
    const target = '/v1/events/nearby?lat=0&lng=0&a%0d%0aX-Evil:1=2&%22=1&%c3%a9=1&b%2Cc=1';
    const answer = await reader.get(target);
    assert.deepEqual([answer.status, named(answer), answer.headers['x-evil']], [200, '?', undefined]);
  });
});
