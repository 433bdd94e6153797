// POST /v1/events: the response, and what each field may contain. Times and idempotency have their own files.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent, reader } from './client.ts';
import { KEPT, REFUSED, TEXT_SAMPLES } from './field-rules.ts';
import {
  assertInvalid,
  EVENT_FIELDS,
  type Fields,
  fullEvent,
  iso,
  NULLABLE,
  newEvent,
  randomPlace,
  SETTABLE,
} from './samples.ts';

describe('POST /v1/events', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });
  const post = (body: unknown) => agent.post('/v1/events', body);
  const postRaw = (raw: string) => agent.send('POST', '/v1/events', { raw });
  const required = SETTABLE.filter((field) => !NULLABLE.includes(field) && field !== 'audience');

  describe('200', () => {
    it('returns the event as sent, with the fields that the server assigns', async () => {
      const sent = fullEvent();
      const { event_id, agent_id, created_at, ...event } = await agent.create(sent);
      assert.deepEqual(event, {
        ...sent,
        start_at: '2031-05-01T18:00:00.000Z',
        end_at: '2031-05-01T20:00:00.000Z',
      });
      assert.match(event_id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      assert.equal(agent_id, await agent.id());
      assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 300_000, created_at);
    });

    it('returns only fields that the interface names', async () => {
      const event = await agent.create(fullEvent());
      assert.deepEqual(Object.keys(event).sort(), [...EVENT_FIELDS].sort());
    });

    it('needs only the required fields, and sets audience to all and the other fields to null', async () => {
      const event = await agent.create(newEvent());
      assert.equal(event.audience, 'all');
      for (const field of NULLABLE) assert.equal(event[field] ?? null, null, field);
    });

    it('takes null for the optional fields', async () => {
      const event = await agent.create(newEvent(Object.fromEntries(NULLABLE.map((field) => [field, null]))));
      for (const field of NULLABLE) assert.equal(event[field] ?? null, null, field);
    });

    it("takes a timezone in any case, and returns IANA's spelling", async () => {
      for (const timezone of ['Asia/Calcutta', 'US/Pacific', 'UTC', 'EST5EDT']) {
        const { event_id, ...event } = await agent.create(newEvent({ timezone: timezone.toLowerCase() }));
        assert.equal(event.timezone, timezone);
        assert.equal((await agent.update(event_id, { timezone: timezone.toLowerCase() })).timezone, timezone);
      }
    });

    it('gives every event its own ID', async () => {
      const events = await Promise.all(Array.from({ length: 20 }, () => agent.create(newEvent())));
      assert.equal(new Set(events.map((event) => event.event_id)).size, 20);
    });

    it('ignores unknown fields, so that nobody sets what the server assigns', async () => {
      const assigned = { event_id: 'mine', agent_id: 'other', created_at: '2001-01-01T00:00:00.000Z' };
      const event = await agent.create(newEvent({ ...assigned, tier: 'admin', version: 9, extra: [1] }));
      assert.deepEqual(Object.keys(event).sort(), [...EVENT_FIELDS].sort());
      assert.equal(event.agent_id, await agent.id());
      for (const [field, value] of Object.entries(assigned)) assert.notEqual(event[field], value);
    });

    it('is visible at once to a read and to a search', async () => {
      const place = randomPlace();
      for (let count = 1; count <= 5; count++) {
        const event = await agent.create(newEvent(place));
        assert.deepEqual(await reader.read(event.event_id), event);
        assert.equal((await reader.nearby({ ...place, radius: 0.1 })).total, count);
      }
    });

    for (const [name, fields] of KEPT) {
      it(`takes ${name}`, async () => {
        const event = await agent.create(newEvent(fields));
        for (const [field, value] of Object.entries(fields)) assert.equal(event[field], value);
        assert.deepEqual(await agent.read(event.event_id), event);
      });
    }

    for (const [name, text] of TEXT_SAMPLES) {
      it(`keeps text byte for byte: ${name}`, async () => {
        const texts = {
          title: text,
          description: text,
          location_name: text,
          address: text,
          url: text,
          cost: text,
        };
        const { event_id } = await agent.create(newEvent(texts));
        const event = await agent.read(event_id);
        for (const field of Object.keys(texts)) assert.equal(event[field], text, field);
        const { lat, lng } = event;
        assert.deepEqual((await agent.nearby({ lat, lng, radius: 0.1 })).events, [event]);
      });
    }

    it('reads escaped and plain JSON alike', async () => {
      const sent = JSON.stringify(newEvent({ title: 'TITLE' }));
      const { body } = await postRaw(sent.replace('TITLE', '\\u00e9\\ud83c\\udfaa\\/'));
      assert.equal(body.title, 'é🎪/');
      const plain = await postRaw(sent.replace('TITLE', 'é🎪/'));
      assert.equal(plain.body.event_id, body.event_id);
    });

    it('stores -0 as 0', async () => {
      const raw = JSON.stringify(newEvent({ lat: 1, lng: 2 })).replace(
        '"lat":1,"lng":2',
        '"lat":-0,"lng":-0.0',
      );
      const { text } = await postRaw(raw);
      assert.match(text, /"lat":0,"lng":0,/);
    });
  });

  describe('422', () => {
    for (const [name, fields, issues] of REFUSED) {
      it(`refuses ${name}`, async () => {
        assertInvalid(await post(newEvent(fields)), issues);
      });
    }

    for (const field of required) {
      it(`refuses a body without ${field}`, async () => {
        assertInvalid(await post(newEvent({ [field]: undefined })), [`body.${field}: missing`]);
      });
    }

    it('lists every field that is missing', async () => {
      assertInvalid(
        await post({}),
        required.map((field) => `body.${field}: missing`),
      );
    });

    for (const field of [...required, 'audience']) {
      it(`refuses null as ${field}`, async () => {
        assertInvalid(await post(newEvent({ [field]: null })), [`body.${field}`]);
      });
    }

    it('refuses a number that is too large for a double', async () => {
      const raw = JSON.stringify(newEvent({ lat: 7 })).replace('"lat":7', '"lat":1e999');
      assertInvalid(await postRaw(raw), ['body.lat']);
    });

    it('does not read fields from the prototype of a body', async () => {
      const { title: _left, ...rest } = newEvent();
      const raw = `{"__proto__":{"title":"a"},${JSON.stringify(rest).slice(1)}`;
      assertInvalid(await postRaw(raw), ['body.title: missing']);
    });

    for (const body of [null, [], [newEvent()], 'text', 7, true]) {
      it(`refuses ${JSON.stringify(body).slice(0, 10)} instead of an object`, async () => {
        assertInvalid(await post(body), ['body']);
      });
    }

    it('refuses a request without a body', async () => {
      assertInvalid(await agent.send('POST', '/v1/events'), ['body: missing']);
    });

    const ago = (ms: number) => iso(Date.now() - ms);
    const ends: [name: string, fields: () => Fields][] = [
      ['an end_at in the past', () => ({ start_at: ago(7_200_000), end_at: ago(3_600_000) })],
      ['an end_at a second ago', () => ({ start_at: ago(7_200_000), end_at: ago(1_000) })],
      ['an end_at in a past century', () => ({ start_at: ago(7_200_000), end_at: '1901-01-01T00:00:00Z' })],
      [
        'an end_at before start_at',
        () => ({ start_at: '2031-05-01T18:00:00.001Z', end_at: '2031-05-01T18:00:00Z' }),
      ],
      [
        'an end_at before start_at only by its offset',
        () => ({ start_at: '2031-05-01T18:00:00Z', end_at: '2031-05-01T18:30:00+01:00' }),
      ],
    ];
    for (const [name, fields] of ends) {
      it(`refuses ${name}`, async () => {
        assertInvalid(await post(newEvent(fields())), ['body.end_at: value_error']);
      });
    }

    it('stores nothing of a refused event', async () => {
      const place = randomPlace();
      assertInvalid(await post(newEvent({ ...place, cost: 5 })), ['body.cost: string_type']);
      assert.equal((await agent.nearby({ ...place, radius: 0.1 })).total, 0);
    });
  });

  describe('times that are allowed', () => {
    it('lets an event end when it starts', async () => {
      const at = '2031-05-01T18:00:00.000Z';
      assert.equal((await agent.create(newEvent({ start_at: at, end_at: at }))).end_at, at);
    });

    it('lets start_at lie in the past', async () => {
      const event = await agent.create(newEvent({ start_at: '1999-12-31T23:00:00Z' }));
      assert.equal(event.start_at, '1999-12-31T23:00:00.000Z');
    });
  });
});
