// GET /v1/events/{event_id}: any key may read any event.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent, reader } from './client.ts';
import { assertError, EVENT_FIELDS, fullEvent, newEvent, UNKNOWN_ULID } from './samples.ts';

describe('GET /v1/events/{event_id}', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  describe('200', () => {
    it('returns the event exactly as the create returned it', async () => {
      const event = await agent.create(fullEvent());
      const answer = await agent.get(`/v1/events/${event.event_id}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, event);
      assert.deepEqual(Object.keys(answer.body).sort(), [...EVENT_FIELDS].sort());
    });

    it('allows other agents and a read key', async () => {
      const event = await agent.create(fullEvent());
      assert.deepEqual(await (await newAgent()).read(event.event_id), event);
      assert.deepEqual(await reader.read(event.event_id), event);
    });

    it('returns an event that ended long ago', async () => {
      const event = await agent.create(newEvent({ start_at: '1999-12-31T23:00:00Z' }));
      assert.deepEqual(await reader.read(event.event_id), event);
    });

    it('ignores a query', async () => {
      const event = await agent.create(newEvent());
      assert.deepEqual((await agent.get(`/v1/events/${event.event_id}`, { lat: 'x', y: 1 })).body, event);
    });
  });

  describe('404', () => {
    const unknown: [name: string, eventId: string][] = [
      ['a ULID that no event has', UNKNOWN_ULID],
      ['a text that is not a ULID', 'nonsense'],
      ['a number', '7'],
      ['a uuid', '00000000-0000-7000-8000-000000000000'],
      ['a ULID with one more character', `${UNKNOWN_ULID}0`],
      ['a ULID that is too large', `8${UNKNOWN_ULID.slice(1)}`],
      ['an escaped slash', 'a%2Fb'],
      ['an escaped NUL', '%00'],
      ['letters of another script', '%E7%94%9F'],
      ['a quote', "'%20OR%201=1--"],
      ['a thousand characters', 'A'.repeat(1000)],
    ];
    for (const [name, eventId] of unknown) {
      it(`responds NOT_FOUND to ${name}`, async () => {
        assertError(await agent.get(`/v1/events/${eventId}`), 404, 'NOT_FOUND');
      });
    }

    it('does not repeat the ID in the error', async () => {
      const { text } = await agent.get('/v1/events/surely-secret');
      assert.ok(!text.includes('surely-secret'), text);
    });
  });
});
