// X-Unknown-Fields: which fields of a create or an update were ignored.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, newAgent } from './client.ts';
import { newEvent, UNKNOWN_ULID } from './samples.ts';

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
