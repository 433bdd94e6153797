// PATCH /v1/events/{event_id}: what it changes, clears and refuses, and for whom. Duplicates are in idempotency.test.ts.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, administrator, newAgent, reader } from './client.ts';
import { KEPT, REFUSED, TEXT_SAMPLES } from './field-rules.ts';
import {
  assertError,
  assertInvalid,
  type Fields,
  fullEvent,
  HOUR_MS,
  ids,
  iso,
  NULLABLE,
  newEvent,
  randomPlace,
  SETTABLE,
  UNKNOWN_ULID,
} from './samples.ts';

describe('PATCH /v1/events/{event_id}', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });
  const patch = (eventId: string, body: unknown) => agent.patch(`/v1/events/${eventId}`, body);

  describe('200', () => {
    const changes: Fields = {
      title: 'changed',
      description: 'changed',
      start_at: '2031-05-01T19:00:00.000Z',
      end_at: '2031-05-01T23:00:00.000Z',
      timezone: 'Asia/Tokyo',
      location_name: 'changed',
      address: 'changed',
      lat: -12.5,
      lng: 99.25,
      url: 'changed',
      cost: 'changed',
      audience: 'kids',
      event_type: 'tour',
    };
    assert.deepEqual(Object.keys(changes), SETTABLE);

    for (const [field, value] of Object.entries(changes)) {
      it(`changes ${field} and nothing else`, async () => {
        const event = await agent.create(fullEvent());
        assert.notEqual(event[field], value);
        const changed = await agent.update(event.event_id, { [field]: value });
        assert.deepEqual(changed, { ...event, [field]: value });
        assert.deepEqual(await reader.read(event.event_id), changed);
      });
    }

    it('changes nothing, the ETag included, if every value is what it was', async () => {
      const sent = fullEvent();
      const event = await agent.create(sent);
      const before = (await agent.get(`/v1/events/${event.event_id}`)).headers.etag;
      for (const same of [
        {},
        { title: sent.title },
        { ...sent, timezone: String(sent.timezone).toLowerCase() },
      ]) {
        const { body, headers } = await patch(event.event_id, same);
        assert.deepEqual(body, event);
        assert.equal(headers.etag, before);
      }
      const { headers } = await patch(event.event_id, { ...sent, cost: 'changed' });
      assert.notEqual(headers.etag, before);
    });

    it('changes all fields at once', async () => {
      const event = await agent.create(fullEvent());
      const all = { ...changes, ...randomPlace() };
      assert.deepEqual(await agent.update(event.event_id, all), { ...event, ...all });
    });

    for (const field of NULLABLE) {
      it(`clears ${field} with null`, async () => {
        const event = await agent.create(fullEvent());
        const changed = await agent.update(event.event_id, { [field]: null });
        assert.equal(changed[field] ?? null, null);
        assert.deepEqual({ ...changed, [field]: event[field] }, event);
        assert.deepEqual(await agent.read(event.event_id), changed);
      });
    }

    it('takes null for a field that is already empty', async () => {
      const event = await agent.create(newEvent());
      assert.deepEqual(await agent.update(event.event_id, { cost: null, end_at: null }), event);
    });

    it('changes nothing with an empty body', async () => {
      const event = await agent.create(fullEvent());
      assert.deepEqual(await agent.update(event.event_id, {}), event);
      assert.deepEqual(await agent.read(event.event_id), event);
    });

    it('ignores unknown fields, so that nobody changes what the server assigned', async () => {
      const event = await agent.create(fullEvent());
      const assigned = { event_id: UNKNOWN_ULID, agent_id: 'other', created_at: '2001-01-01T00:00:00Z' };
      assert.deepEqual(await agent.update(event.event_id, { ...assigned, extra: 1 }), event);
      assert.deepEqual(await agent.update(event.event_id, { ...assigned, cost: 'new' }), {
        ...event,
        cost: 'new',
      });
    });

    it('does not apply the default audience', async () => {
      const event = await agent.create(newEvent({ audience: 'kids' }));
      assert.equal((await agent.update(event.event_id, { cost: 'free' })).audience, 'kids');
    });

    it('changes an event that has ended', async () => {
      const event = await agent.create(newEvent({ start_at: '1999-12-31T23:00:00Z' }));
      assert.deepEqual(await agent.update(event.event_id, { cost: 'free' }), { ...event, cost: 'free' });
    });

    it('is visible at once to a search', async () => {
      const [from, to] = [randomPlace(), randomPlace()];
      const { event_id } = await agent.create(newEvent({ ...from, audience: 'kids', event_type: 'talk' }));
      await agent.update(event_id, { ...to, audience: 'adults', event_type: 'club' });
      assert.equal((await reader.nearby({ ...from, radius: 0.1 })).total, 0);
      const found = await reader.nearby({ ...to, radius: 0.1, audience: 'adults', event_type: 'club' });
      assert.deepEqual(ids(found), [event_id]);
      assert.equal((await reader.nearby({ ...to, radius: 0.1, audience: 'kids' })).total, 0);
    });

    it('keeps every one of many concurrent changes', async () => {
      const { event_id } = await agent.create(newEvent());
      const parts = {
        description: 'a',
        address: 'b',
        url: 'c',
        cost: 'd',
        location_name: 'e',
        audience: 'kids',
      };
      await Promise.all(
        Object.entries(parts).map(([field, value]) => agent.update(event_id, { [field]: value })),
      );
      const { description, address, url, cost, location_name, audience } = await agent.read(event_id);
      assert.deepEqual({ description, address, url, cost, location_name, audience }, parts);
    });

    it('applies each of many concurrent changes of one field exactly once', async () => {
      const { event_id } = await agent.create(newEvent());
      const costs = Array.from({ length: 30 }, (_, at) => String(at));
      const answers = await Promise.all(costs.map((cost) => agent.patch(`/v1/events/${event_id}`, { cost })));
      // Every response shows the change that its request made, in a version of its own.
      assert.deepEqual(
        answers.map(({ body }) => body.cost),
        costs,
      );
      assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, costs.length);
      const last = await agent.get(`/v1/events/${event_id}`);
      const winner = answers.find(({ headers }) => headers.etag === last.headers.etag);
      assert.equal(winner?.body.cost, last.body.cost);
    });

    for (const [name, fields] of KEPT) {
      it(`takes ${name}`, async () => {
        const { event_id } = await agent.create(newEvent());
        const changed = await agent.update(event_id, fields);
        for (const [field, value] of Object.entries(fields)) assert.equal(changed[field], value);
      });
    }

    it('keeps text byte for byte', async () => {
      for (const [name, text] of TEXT_SAMPLES) {
        const { event_id } = await agent.create(newEvent());
        const texts = {
          title: text,
          description: text,
          location_name: text,
          address: text,
          url: text,
          cost: text,
        };
        await agent.update(event_id, texts);
        const event = await agent.read(event_id);
        for (const field of Object.keys(texts)) assert.equal(event[field], text, `${name} in ${field}`);
      }
    });

    it('stores -0 as 0', async () => {
      const { event_id } = await agent.create(newEvent());
      const { text } = await agent.send('PATCH', `/v1/events/${event_id}`, { raw: '{"lat":-0,"lng":-0.0}' });
      assert.match(text, /"lat":0,"lng":0,/);
    });
  });

  describe('422', () => {
    let eventId: string;
    before(async () => {
      eventId = (await agent.create(fullEvent())).event_id;
    });

    for (const [name, fields, issues] of REFUSED) {
      it(`refuses ${name}`, async () => {
        assertInvalid(await patch(eventId, fields), issues);
      });
    }

    const neverNull = SETTABLE.filter((field) => !NULLABLE.includes(field));
    for (const field of neverNull) {
      it(`refuses null as ${field}`, async () => {
        assertInvalid(await patch(eventId, { [field]: null }), [`body.${field}`]);
      });
    }

    it('lists every null that it refuses, and changes nothing', async () => {
      const event = await agent.read(eventId);
      const answer = await patch(eventId, Object.fromEntries(SETTABLE.map((field) => [field, null])));
      assertInvalid(
        answer,
        neverNull.map((field) => `body.${field}`),
      );
      assert.deepEqual(await agent.read(eventId), event);
    });

    it('refuses a request without a body', async () => {
      assertInvalid(await agent.send('PATCH', `/v1/events/${eventId}`), ['body: missing']);
    });

    for (const body of [null, [], 'text', 7]) {
      it(`refuses ${JSON.stringify(body)} instead of an object`, async () => {
        assertInvalid(await patch(eventId, body), ['body']);
      });
    }

    const stored = { start_at: '2031-05-01T18:00:00Z', end_at: '2031-05-01T20:00:00Z' };
    const pairs: [name: string, change: Fields, issue: string][] = [
      ['an end_at in the past', { end_at: '2001-01-01T00:00:00Z' }, 'body.end_at: value_error'],
      [
        'an end_at before the stored start_at',
        { end_at: '2031-05-01T17:59:59.999Z' },
        'body.end_at: value_error',
      ],
      [
        'a start_at after the stored end_at',
        { start_at: '2031-05-01T20:00:00.001Z' },
        'body.start_at: value_error',
      ],
      [
        'an end_at before the start_at that is sent with it',
        { start_at: '2031-06-01T18:00:00Z', end_at: '2031-06-01T17:00:00Z' },
        'body.end_at: value_error',
      ],
      [
        'a local end_at before the stored start_at',
        { end_at: '2031-05-01T19:59:59' },
        'body.end_at: value_error',
      ],
      [
        'an end_at in the past, by the timezone that is sent with it',
        { end_at: '2001-05-01T19:59:59', timezone: 'Asia/Tokyo' },
        'body.end_at: value_error',
      ],
      ['null as status', { status: null }, 'body.status: string_type'],
    ];
    for (const [name, change, issue] of pairs) {
      it(`refuses ${name}`, async () => {
        const event = await agent.create(newEvent({ ...stored, timezone: 'Europe/Berlin' }));
        assertInvalid(await patch(event.event_id, change), [issue]);
        assert.deepEqual(await agent.read(event.event_id), event);
      });
    }

    const allowed: [name: string, change: Fields][] = [
      ['an end_at at the stored start_at', { end_at: stored.start_at }],
      ['a start_at at the stored end_at', { start_at: stored.end_at }],
      [
        'a start_at after the stored end_at that null clears',
        { start_at: '2031-06-01T18:00:00Z', end_at: null },
      ],
      ['both after the stored times', { start_at: '2031-06-01T18:00:00Z', end_at: '2031-06-01T19:00:00Z' }],
      ['a start_at in the past', { start_at: iso(Date.now() - 48 * HOUR_MS) }],
    ];
    for (const [name, change] of allowed) {
      it(`does not refuse ${name}`, async () => {
        const { event_id } = await agent.create(newEvent(stored));
        await agent.update(event_id, change);
      });
    }
  });

  describe('404', () => {
    it('responds NOT_FOUND to an unknown ID', async () => {
      for (const eventId of [UNKNOWN_ULID, 'nonsense', '7']) {
        assertError(await patch(eventId, { title: 'a' }), 404, 'NOT_FOUND');
        assertError(await patch(eventId, {}), 404, 'NOT_FOUND');
      }
    });

    it('responds NOT_FOUND to an agent that does not own the event, whatever its tier', async () => {
      const event = await agent.create(fullEvent());
      const stranger = await newAgent();
      const attempt = () => stranger.patch(`/v1/events/${event.event_id}`, { title: 'taken' });
      assertError(await attempt(), 404, 'NOT_FOUND');
      assertError(await stranger.patch(`/v1/events/${event.event_id}`, {}), 404, 'NOT_FOUND');
      await administrator.patch(`/v1/admin/agents/${await stranger.id()}`, { tier: 'admin' });
      assertError(await attempt(), 404, 'NOT_FOUND');
      assert.deepEqual(await agent.read(event.event_id), event);
    });

    it('comes after the validation of the request', async () => {
      assertInvalid(await patch(UNKNOWN_ULID, { title: null }), ['body.title']);
      assertInvalid(await patch(UNKNOWN_ULID, { end_at: '2001-01-01T00:00:00Z' }), [
        'body.end_at: value_error',
      ]);
      const { event_id } = await (await newAgent()).create(newEvent());
      assertInvalid(await patch(event_id, { lat: 91 }), ['body.lat: less_than_equal']);
    });

    it('comes before the rules that involve the stored event', async () => {
      const { event_id } = await (await newAgent()).create(newEvent({ start_at: '2031-05-01T18:00:00Z' }));
      assertError(await patch(event_id, { end_at: '2031-05-01T17:00:00Z' }), 404, 'NOT_FOUND');
    });

    it('responds NOT_FOUND once the event is deleted', async () => {
      const { event_id } = await agent.create(newEvent());
      await agent.delete(`/v1/events/${event_id}`);
      assertError(await patch(event_id, { title: 'a' }), 404, 'NOT_FOUND');
    });
  });
});
