// DELETE /v1/events/{event_id}: permanent, and only for the owner.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, administrator, newAgent, reader } from './client.ts';
import { assertError, fullEvent, newEvent, randomPlace, UNKNOWN_ULID } from './samples.ts';

describe('DELETE /v1/events/{event_id}', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  describe('204', () => {
    it('returns no body', async () => {
      const { event_id } = await agent.create(newEvent());
      const answer = await agent.delete(`/v1/events/${event_id}`);
      assert.equal(answer.status, 204);
      assert.equal(answer.text, '');
      assert.equal(answer.headers['content-type'], undefined);
    });

    it('removes the event from reads, searches and counts at once', async () => {
      const place = randomPlace();
      const owner = await newAgent();
      const { event_id } = await owner.create(newEvent(place));
      const kept = await owner.create(newEvent(place));
      assert.equal((await owner.findSummary()).event_count, 2);
      await owner.delete(`/v1/events/${event_id}`);
      assertError(await reader.get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
      const page = await reader.nearby({ ...place, radius: 0.1 });
      assert.deepEqual(page, { events: [kept], count: 1, total: 1, next_cursor: null });
      assert.equal((await owner.findSummary()).event_count, 1);
    });

    it('removes an event that has ended', async () => {
      const { event_id } = await agent.create(newEvent({ start_at: '1999-12-31T23:00:00Z' }));
      assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
      assertError(await agent.get(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
    });

    it('takes a JSON content type without a body', async () => {
      const { event_id } = await agent.create(newEvent());
      const headers = { 'content-type': 'application/json' };
      assert.equal((await agent.send('DELETE', `/v1/events/${event_id}`, { headers })).status, 204);
    });
  });

  describe('404', () => {
    it('responds NOT_FOUND the second time', async () => {
      const { event_id } = await agent.create(newEvent());
      assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
      assertError(await agent.delete(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
    });

    it('responds NOT_FOUND to an unknown ID', async () => {
      for (const eventId of [UNKNOWN_ULID, 'nonsense', '7']) {
        assertError(await agent.delete(`/v1/events/${eventId}`), 404, 'NOT_FOUND');
      }
    });

    it('responds NOT_FOUND to an agent that does not own the event, whatever its tier', async () => {
      const event = await agent.create(fullEvent());
      const stranger = await newAgent();
      assertError(await stranger.delete(`/v1/events/${event.event_id}`), 404, 'NOT_FOUND');
      await administrator.patch(`/v1/admin/agents/${await stranger.id()}`, { tier: 'admin' });
      assertError(await stranger.delete(`/v1/events/${event.event_id}`), 404, 'NOT_FOUND');
      assert.deepEqual(await agent.read(event.event_id), event);
    });
  });
});
