// The identity tuple of agent, title, start and place: one event per tuple, however often and with whatever else it is sent.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { assertError, assertInvalid, type Fields, fullEvent, ids, newEvent, randomPlace } from './samples.ts';

describe('the idempotency of POST /v1/events', () => {
  let agent: Agent;
  let other: Agent;
  before(async () => {
    [agent, other] = [await newAgent(), await newAgent()];
  });

  it('returns the existing event for a repeated create', async () => {
    const sent = fullEvent();
    const event = await agent.create(sent);
    assert.deepEqual(await agent.create(sent), event);
    assert.equal(
      (await agent.nearby({ lat: sent.lat as number, lng: sent.lng as number, radius: 0.1 })).total,
      1,
    );
  });

  it('says whether a create found an existing event', async () => {
    const sent = newEvent();
    const first = await agent.post('/v1/events', sent);
    assert.equal(first.headers['idempotent-replayed'], undefined);
    const second = await agent.post('/v1/events', { ...sent, cost: 'free' });
    assert.equal(second.headers['idempotent-replayed'], 'true');
    assert.equal(second.headers.etag, first.headers.etag);
  });

  it('leaves the event unchanged when other fields of the repeated create differ', async () => {
    const sent = fullEvent();
    const event = await agent.create(sent);
    const different = {
      description: 'another',
      end_at: null,
      timezone: 'Asia/Tokyo',
      location_name: 'elsewhere',
      address: null,
      url: null,
      cost: 'free',
      audience: 'kids',
      event_type: 'tour',
    };
    assert.deepEqual(await agent.create({ ...sent, ...different }), event);
    assert.deepEqual(await agent.read(event.event_id), event);
  });

  const start_at = '2031-05-01T18:00:00Z';
  const same: [name: string, first: Fields, second: Fields][] = [
    ['start_at with another offset', { start_at }, { start_at: '2031-05-01T20:00:00+02:00' }],
    ['start_at as local time', { start_at }, { start_at: '2031-05-01T20:00:00', timezone: 'Europe/Berlin' }],
    ['start_at with a fraction that is cut', { start_at }, { start_at: '2031-05-01T18:00:00.0009Z' }],
  ];
  for (const [name, first, second] of same) {
    it(`treats ${name} as the same instant`, async () => {
      const sent = newEvent();
      const event = await agent.create({ ...sent, ...first });
      assert.equal((await agent.create({ ...sent, ...second })).event_id, event.event_id);
    });
  }

  it('compares lat and lng as numbers, however they are written', async () => {
    const text = JSON.stringify(newEvent({ lat: 111, lng: 222 }));
    const send = async (lat: string, lng: string) => {
      const raw = text.replace('111', lat).replace('222', lng);
      return (await agent.send('POST', '/v1/events', { raw })).body.event_id;
    };
    const first = await send('10', '0');
    for (const [lat, lng] of [
      ['10.0', '-0'],
      ['1e1', '0.000'],
      ['1.0E+1', '0e5'],
    ] as const) {
      assert.equal(await send(lat, lng), first, `${lat} ${lng}`);
    }
  });

  const place = randomPlace();
  const different: [name: string, first: Fields, second: Fields][] = [
    ['another title', { title: 'a' }, { title: 'b' }],
    ['a title in another case', { title: 'Party' }, { title: 'party' }],
    ['a title with one more space', { title: 'Party' }, { title: 'Party ' }],
    ['a title with another form of the same letter', { title: '\u00e9' }, { title: 'e\u0301' }],
    ['a title in capitals', { title: 'e\u0301' }, { title: 'E\u0301' }],
    ['a title with a space before it', { title: '\u00e9' }, { title: ' \u00e9' }],
    ['a title with a byte order mark', { title: '\u00e9' }, { title: '\ufeff\u00e9' }],
    ['a title with a space without width', { title: '\u00e9' }, { title: '\u00e9\u200b' }],
    ['a start one millisecond later', { start_at }, { start_at: '2031-05-01T18:00:00.001Z' }],
    ['another latitude', place, { ...place, lat: place.lat + 1e-9 }],
    ['another longitude', place, { ...place, lng: place.lng - 1e-9 }],
  ];
  for (const [name, first, second] of different) {
    it(`creates a new event for ${name}`, async () => {
      const sent = newEvent();
      const event = await agent.create({ ...sent, ...first });
      assert.notEqual((await agent.create({ ...sent, ...second })).event_id, event.event_id);
    });
  }

  it('creates a new event for another agent', async () => {
    const sent = newEvent();
    const [mine, theirs] = [await agent.create(sent), await other.create(sent)];
    assert.notEqual(theirs.event_id, mine.event_id);
    assert.notEqual(theirs.agent_id, mine.agent_id);
  });

  it('creates one event for many concurrent creates, whatever their spelling and other fields', async () => {
    for (let round = 0; round < 10; round++) {
      const sent = newEvent({ start_at: '2031-05-01T18:00:00Z' });
      const spellings = [
        sent,
        { ...sent, start_at: '2031-05-01T20:00:00+02:00' },
        { ...sent, start_at: '2031-05-01T20:00:00', timezone: 'Europe/Berlin' },
        { ...sent, start_at: '2031-05-01T18:00:00.000999Z', cost: 'free' },
        { ...sent, event_type: 'game' },
      ].slice(0, 1 + round);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => agent.post('/v1/events', spellings[at % spellings.length])),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      const page = await agent.nearby({ lat: sent.lat as number, lng: sent.lng as number, radius: 0.1 });
      assert.deepEqual(ids(page), [answers[0]!.body.event_id]);
    }
  });

  it('creates one event for each of several agents that create it at the same time', async () => {
    const sent = newEvent();
    const agents = [agent, other, await newAgent()];
    const events = await Promise.all(Array.from({ length: 48 }, (_, at) => agents[at % 3]!.create(sent)));
    const owners = new Map(events.map(({ event_id, agent_id }) => [event_id, agent_id]));
    assert.equal(owners.size, 3);
    assert.equal(new Set(owners.values()).size, 3);
    const page = await agent.nearby({ lat: sent.lat as number, lng: sent.lng as number, radius: 0.1 });
    assert.deepEqual(ids(page).sort(), [...owners.keys()].sort());
  });

  it('creates a new event once the old one is deleted', async () => {
    const sent = newEvent();
    const { event_id } = await agent.create(sent);
    assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
    assert.notEqual((await agent.create(sent)).event_id, event_id);
  });

  it('checks the body before it looks for the event', async () => {
    const sent = newEvent();
    await agent.create(sent);
    assertInvalid(await agent.post('/v1/events', { ...sent, audience: 'x' }), ['body.audience: enum']);
    assertInvalid(await agent.post('/v1/events', { ...sent, end_at: '2001-01-01T00:00:00Z' }), [
      'body.end_at: value_error',
    ]);
  });

  it('compares with the current values of a changed event', async () => {
    const sent = newEvent();
    const { event_id } = await agent.create(sent);
    await agent.update(event_id, { title: `${sent.title} moved` });
    assert.equal((await agent.create({ ...sent, title: `${sent.title} moved` })).event_id, event_id);
    assert.notEqual((await agent.create(sent)).event_id, event_id);
  });
});

describe('409 on PATCH /v1/events/{event_id}', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  const changes: [name: string, first: Fields, second: Fields][] = [
    ['title', { title: 'first' }, { title: 'second' }],
    ['start_at', { start_at: '2031-05-01T18:00:00Z' }, { start_at: '2031-05-02T18:00:00Z' }],
    ['lat', { lat: 1 }, { lat: 2 }],
    ['lng', { lng: 1 }, { lng: 2 }],
  ];
  for (const [name, first, second] of changes) {
    it(`refuses a ${name} that makes two events the same, and names the other`, async () => {
      const sent = newEvent();
      const [one, two] = [
        await agent.create({ ...sent, ...first }),
        await agent.create({ ...sent, ...second }),
      ];
      const answer = await agent.patch(`/v1/events/${two.event_id}`, { ...first, cost: 'changed' });
      assertError(answer, 409, 'DUPLICATE_EVENT');
      assert.ok(answer.body.error.message.includes(one.event_id), answer.text);
      assert.deepEqual(await agent.read(two.event_id), two);
      assert.deepEqual(await agent.read(one.event_id), one);
    });
  }

  it('lets an event keep its own tuple', async () => {
    const sent = newEvent();
    const event = await agent.create(sent);
    const { title, start_at, lat, lng } = sent;
    const changed = await agent.update(event.event_id, { title, start_at, lat, lng, cost: 'free' });
    assert.deepEqual(changed, { ...event, cost: 'free' });
  });

  it('ignores the events of other agents', async () => {
    const sent = newEvent();
    await (await newAgent()).create(sent);
    const { event_id } = await agent.create({ ...sent, title: 'other' });
    assert.equal((await agent.update(event_id, { title: sent.title })).title, sent.title);
  });

  it('is checked after the rules that involve the stored event', async () => {
    const sent = newEvent();
    await agent.create(sent);
    const earlier = { start_at: '2031-04-01T18:00:00Z', end_at: '2031-04-01T20:00:00Z' };
    const { event_id } = await agent.create({ ...sent, title: 'other', ...earlier });
    const { title, start_at } = sent;
    assertInvalid(await agent.patch(`/v1/events/${event_id}`, { title, start_at }), [
      'body.start_at: value_error',
    ]);
    assertError(
      await agent.patch(`/v1/events/${event_id}`, { title, start_at, end_at: null }),
      409,
      'DUPLICATE_EVENT',
    );
  });
});
