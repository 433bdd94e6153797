import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestService, type TestService } from '../support/service.ts';

describe('the service', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.close());

  it('finds an event that an agent created', async () => {
    const agent = await service.newAgent();
    const event = await agent.create({ lat: 10, lng: 20 });
    const answer = await agent.nearby({ lat: 10, lng: 20, radius: 1 });
    assert.deepEqual(answer.body, { events: [event], count: 1, total: 1, next_cursor: null });
  });
});
