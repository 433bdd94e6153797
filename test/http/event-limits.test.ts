// MAX_EVENTS_PER_AGENT and MAX_MB_PER_AGENT: how many events an agent may have, and how much it may store.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError, newEvent } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { useTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

/** 40,000 bytes in UTF-8. */
const LONG = '\u{1f600}'.repeat(10_000);

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  describe(`EVENT_LIMIT_REACHED for bytes, on ${engine}`, () => {
    const service = useTestService(async () => ({ ...(await ENGINES[engine]()), MAX_MB_PER_AGENT: '1' }));

    it('refuses creates and growing changes beyond the limit, and nothing else', async () => {
      const agent = await service.newAgent();
      const first = newEvent({ description: LONG });
      const stored = await agent.create(first);
      const small = await agent.create();
      for (let count = 1; count < 25; count++) await agent.create({ description: LONG }); // 25 × 40.4 KB
      const refused = await agent.post('/v1/events', newEvent({ description: LONG }));
      assertError(refused, 403, 'EVENT_LIMIT_REACHED');
      assert.match(
        refused.body.error.message,
        /at most 1 MB in total.* Delete some that have ended, or shorten/,
      );
      assert.equal(refused.headers.get('retry-after'), null);
      const growing = await agent.patch(`/v1/events/${small.event_id}`, { description: LONG });
      assertError(growing, 403, 'EVENT_LIMIT_REACHED');
      assert.deepEqual(await agent.create(first), stored);
      assert.equal((await agent.patch(`/v1/events/${small.event_id}`, { lat: 1.5, lng: 1.5 })).status, 200);
      assert.equal((await agent.get(`/v1/events/${stored.event_id}`)).status, 200);
      assertError(await agent.post('/v1/events', newEvent({ lat: 91 })), 422, 'VALIDATION_ERROR');
      await (await service.newAgent()).create({ description: LONG });
      assert.equal((await agent.delete(`/v1/events/${stored.event_id}`)).status, 204);
      assert.equal((await agent.patch(`/v1/events/${small.event_id}`, { description: LONG })).status, 200);
      assertError(
        await agent.post('/v1/events', newEvent({ description: LONG })),
        403,
        'EVENT_LIMIT_REACHED',
      );
    });
  });
}

describe('EVENT_LIMIT_REACHED for the number of events', () => {
  const service = useTestService({ MAX_EVENTS_PER_AGENT: '2' });

  it('refuses one event more than the limit, and does not affect other agents', async () => {
    const agent = await service.newAgent();
    await agent.create();
    await agent.create({ start_at: '1999-01-01T00:00:00Z' });
    assertError(await agent.post('/v1/events', newEvent()), 403, 'EVENT_LIMIT_REACHED');
    await (await service.newAgent()).create();
  });
});
