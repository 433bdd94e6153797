// GET /v1/admin/stats, exactly: the data of one test alone, and a clock that it moves.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ENGINES } from '../support/engines.ts';
import { startTestService } from '../support/service.ts';

for (const [engine, newData] of Object.entries(ENGINES)) {
  it(`counts agents, events, agents active today and upcoming events on ${engine}`, async (t) => {
    const service = await startTestService(await newData(), { until: t });
    const [first, second] = [await service.newAgent(), await service.newAgent(), await service.newAgent()];
    const stats = async () => {
      const { status, body, text } = await (await service.newAdministrator()).get('/v1/admin/stats');
      assert.equal(status, 200, text);
      return body;
    };
    await first.create();
    await first.create({ start_at: '2020-05-01T18:00:00Z' });
    assert.deepEqual(await stats(), { agents: 3, agents_active_today: 1, events: 2, events_upcoming: 1 });
    assert.equal((await second.nearby()).status, 200);
    await first.create({ start_at: '2020-01-01T00:00:00Z' });
    await first.create({ start_at: new Date(service.clock.nowMs()).toISOString() });
    assert.deepEqual(await stats(), { agents: 3, agents_active_today: 2, events: 4, events_upcoming: 2 });
    service.clock.advance(4 * 3_600_000);
    assert.equal((await stats()).events_upcoming, 1);
  });
}
