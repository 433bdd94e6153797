// Event-Warnings: an event whose timezone does not fit its place is stored, and the response says so.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, newAgent } from './client.ts';
import { newEvent } from './samples.ts';

const BERLIN = { lat: 52.52, lng: 13.405, timezone: 'Europe/Berlin' };
const LONDON = { lat: 51.507, lng: -0.128 };
const SUMMER = '2031-07-01T18:00:00Z';
const WINTER = '2031-01-15T18:00:00Z';

describe('Event-Warnings', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });
  const create = (fields: object) => agent.post('/v1/events', newEvent({ ...fields }));
  const warningsOf = (answer: Answer) => {
    assert.equal(answer.status, 200, answer.text);
    return answer.headers['event-warnings'];
  };

  it('are absent if the clocks of place and timezone agree at start_at', async () => {
    for (const fields of [
      BERLIN,
      { ...BERLIN, timezone: 'Europe/Paris' },
      { lat: 22.57, lng: 88.36, timezone: 'Asia/Calcutta' },
      { ...LONDON, timezone: 'UTC', start_at: WINTER },
    ])
      assert.equal(warningsOf(await create(fields)), undefined, JSON.stringify(fields));
  });

  it('name timezone_mismatch if they differ, and the event is stored as sent', async () => {
    for (const fields of [
      { ...BERLIN, lat: BERLIN.lng, lng: BERLIN.lat },
      { ...BERLIN, timezone: 'America/New_York' },
      { ...LONDON, timezone: 'UTC', start_at: SUMMER },
    ]) {
      const answer = await create(fields);
      assert.equal(warningsOf(answer), 'timezone_mismatch', JSON.stringify(fields));
      const { event_id, lat, lng, timezone } = answer.body;
      assert.deepEqual([lat, lng, timezone], [fields.lat, fields.lng, fields.timezone]);
      const read = await agent.get(`/v1/events/${event_id}`);
      assert.deepEqual(read.body, answer.body);
      assert.equal(read.headers['event-warnings'], undefined);
    }
  });

  it('judge the event of the response: after an update, and if a create is repeated', async () => {
    const sent = newEvent({ ...LONDON, timezone: 'UTC', start_at: WINTER });
    const { event_id } = await agent.create(sent);
    const change = (fields: object) => agent.patch(`/v1/events/${event_id}`, fields);
    assert.equal(warningsOf(await change({ start_at: SUMMER })), 'timezone_mismatch');
    assert.equal(warningsOf(await change({ cost: 'free' })), 'timezone_mismatch');
    assert.equal(warningsOf(await change({})), 'timezone_mismatch');
    assert.equal(warningsOf(await change({ timezone: 'Europe/London' })), undefined);
    assert.equal(warningsOf(await change({ start_at: WINTER, timezone: 'Asia/Tokyo' })), 'timezone_mismatch');
    const repeated = await agent.post('/v1/events', { ...sent, timezone: 'Europe/London' });
    assert.equal(repeated.body.timezone, 'Asia/Tokyo');
    assert.equal(warningsOf(repeated), 'timezone_mismatch');
  });

  it('take every place: the poles, the oceans and ±180°', async () => {
    for (const lat of [-90, 0, 90]) {
      for (const lng of [-180, -40, 0, 180]) {
        const found = warningsOf(await create({ lat, lng, timezone: 'Asia/Kathmandu' }));
        assert.equal(found, 'timezone_mismatch');
      }
    }
  });

  it('can be read by pages of other origins', async () => {
    const { headers } = await agent.send('POST', '/v1/events', {
      body: newEvent(),
      headers: { origin: 'https://example.com' },
    });
    assert.ok(headers['access-control-expose-headers']?.split(', ').includes('Event-Warnings'));
  });

  it('are absent from errors', async () => {
    const answer = await agent.post('/v1/events', newEvent({ ...BERLIN, timezone: 'Asia/Tokyo', title: '' }));
    assert.deepEqual([answer.status, answer.headers['event-warnings']], [422, undefined]);
  });
});
