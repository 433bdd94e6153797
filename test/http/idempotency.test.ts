// The same create many times at once, over HTTP: one row, one event_id, 200 for all.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readRows } from '../sqlite/files.ts';
import { type Client, newEvent } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const ROUNDS = size(15, 100);

describe('POST /v1/events, the same 50 times at once', () => {
  let service: TestService;
  let agent: Client;
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
  });
  after(() => service.close());

  const rowsWith = (title: unknown) =>
    readRows(join(service.folder, 'local-events.db'), 'SELECT * FROM events WHERE title = ?', String(title));

  it(`creates one event and returns it to all, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const body = newEvent();
      const answers = await Promise.all(Array.from({ length: 50 }, () => agent.post('/v1/events', body)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      const rows = rowsWith(body.title);
      assert.deepEqual(
        rows.map(({ event_id }) => event_id),
        [answers[0]!.body.event_id],
      );
    }
  });

  it('creates one event for different spellings of the same tuple, even if other fields differ', async () => {
    for (let round = 0; round < 10; round++) {
      const body = newEvent({ start_at: '2031-05-01T18:00:00Z', lat: 0, lng: 10 });
      const spellings = [
        body,
        { ...body, start_at: '2031-05-01T20:00:00+02:00' },
        { ...body, start_at: '2031-05-01T20:00:00', timezone: 'Europe/Berlin' },
        { ...body, start_at: '2031-05-01T18:00:00.000999Z', cost: 'free' },
        { ...body, event_type: 'game' },
      ].map((spelling) => JSON.stringify(spelling));
      spellings.push(spellings[0]!.replace('"lat":0', '"lat":-0.0').replace('"lng":10', '"lng":1e1'));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          agent.send('POST', '/v1/events', { raw: spellings[at % spellings.length]! }),
        ),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(rowsWith(body.title).length, 1);
    }
  });

  it('creates one event for each of several agents', async () => {
    const body = newEvent();
    const agents = [agent, await service.newAgent(), await service.newAgent()];
    const answers = await Promise.all(
      Array.from({ length: 48 }, (_, at) => agents[at % 3]!.post('/v1/events', body)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const owners = new Map(answers.map((answer) => [answer.body.event_id, answer.body.agent_id]));
    assert.equal(owners.size, 3);
    assert.equal(new Set(owners.values()).size, 3);
    assert.equal(rowsWith(body.title).length, 3);
  });
});
