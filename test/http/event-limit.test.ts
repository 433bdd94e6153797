// MAX_EVENTS_PER_AGENT: how many events an agent may have.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, newEvent } from '../support/client.ts';
import { useTestService } from '../support/service.ts';

describe('EVENT_LIMIT_REACHED', () => {
  const service = useTestService({ MAX_EVENTS_PER_AGENT: '2' });

  it('refuses one event more than the limit, and does not affect other agents', async () => {
    const agent = await service.newAgent();
    await agent.create();
    await agent.create({ start_at: '1999-01-01T00:00:00Z' });
    assertError(await agent.post('/v1/events', newEvent()), 403, 'EVENT_LIMIT_REACHED');
    await (await service.newAgent()).create();
  });

  it('lets an agent at its limit repeat a create, change an event, and create again after a delete', async () => {
    const agent = await service.newAgent();
    const sent = newEvent();
    const event = await agent.create(sent);
    const { event_id } = await agent.create();
    assert.deepEqual(await agent.create(sent), event);
    assert.equal((await agent.patch(`/v1/events/${event_id}`, { cost: 'free' })).status, 200);
    assert.equal((await agent.delete(`/v1/events/${event_id}`)).status, 204);
    await agent.create();
    assertError(await agent.post('/v1/events', newEvent()), 403, 'EVENT_LIMIT_REACHED');
  });

  it('comes after validation', async () => {
    const agent = await service.newAgent();
    await agent.create();
    await agent.create();
    assertError(await agent.post('/v1/events', newEvent({ lat: 91 })), 422, 'VALIDATION_ERROR');
  });
});
