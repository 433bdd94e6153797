// Which error comes first if a request has several: each case also has every later error.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  type Agent,
  type Answer,
  administrator,
  anyone,
  newAgent,
  reader,
  type SendOptions,
} from './client.ts';
import { assertError, newEvent, UNKNOWN_ULID, UNKNOWN_UUID } from './samples.ts';

const TOO_LARGE: SendOptions = {
  raw: 'x'.repeat(1_048_577),
  headers: { 'content-type': 'application/json' },
};
const NO_JSON_TYPE: SendOptions = { raw: 'x', headers: { 'content-type': 'text/plain' } };
const INVALID: SendOptions = { body: { title: null, end_at: '2001-01-01T00:00:00Z' } };

describe('the order of checks', () => {
  let agent: Agent;
  /** An event of another agent; its start is after 2031-05-01T17:00:00Z. */
  let foreign: string;
  before(async () => {
    agent = await newAgent();
    foreign = (await (await newAgent()).create(newEvent({ start_at: '2031-05-01T18:00:00Z' }))).event_id;
  });
  const expect = async (answer: Promise<Answer>, status: number, code: string) =>
    assertError(await answer, status, code);

  it('has the route before the key', async () => {
    await expect(anyone.send('POST', '/v1/nothing', TOO_LARGE), 404, 'NOT_FOUND');
    await expect(anyone.send('GET', '/v1/admin/nothing'), 404, 'NOT_FOUND');
    await expect(anyone.send('PUT', '/v1/events', INVALID), 405, 'METHOD_NOT_ALLOWED');
    await expect(anyone.send('PUT', `/v1/admin/agents/${UNKNOWN_UUID}`, INVALID), 405, 'METHOD_NOT_ALLOWED');
  });

  it('has the key before size, type, body, query and path', async () => {
    for (const options of [TOO_LARGE, NO_JSON_TYPE, INVALID]) {
      await expect(anyone.send('POST', '/v1/events', options), 401, 'MISSING_API_KEY');
      await expect(anyone.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, options), 401, 'MISSING_API_KEY');
      await expect(anyone.send('PATCH', '/v1/admin/agents/nonsense', options), 401, 'MISSING_TOKEN');
    }
    await expect(anyone.get('/v1/events/nearby', { lat: 'x' }), 401, 'MISSING_API_KEY');
    await expect(anyone.get('/v1/admin/agents/nonsense/events'), 401, 'MISSING_TOKEN');
    await expect(anyone.delete(`/v1/events/${foreign}`), 401, 'MISSING_API_KEY');
  });

  it('has the tier before size, type and body', async () => {
    for (const options of [TOO_LARGE, NO_JSON_TYPE, INVALID]) {
      await expect(reader.send('POST', '/v1/events', options), 403, 'INSUFFICIENT_TIER');
      await expect(reader.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, options), 403, 'INSUFFICIENT_TIER');
    }
    await expect(reader.delete(`/v1/events/${UNKNOWN_ULID}`), 403, 'INSUFFICIENT_TIER');
  });

  it('has size and type before body and path', async () => {
    await expect(agent.send('POST', '/v1/events', TOO_LARGE), 413, 'PAYLOAD_TOO_LARGE');
    await expect(agent.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, TOO_LARGE), 413, 'PAYLOAD_TOO_LARGE');
    await expect(agent.send('POST', '/v1/events', NO_JSON_TYPE), 415, 'UNSUPPORTED_MEDIA_TYPE');
    await expect(
      agent.send('PATCH', `/v1/events/${UNKNOWN_ULID}`, NO_JSON_TYPE),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
    const path = '/v1/admin/agents/nonsense';
    await expect(administrator.send('PATCH', path, TOO_LARGE), 413, 'PAYLOAD_TOO_LARGE');
    await expect(administrator.send('PATCH', path, NO_JSON_TYPE), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });

  it('has the validation of the request before existence and ownership', async () => {
    for (const eventId of [UNKNOWN_ULID, 'nonsense', foreign]) {
      const answer = await agent.send('PATCH', `/v1/events/${eventId}`, INVALID);
      assertError(answer, 422, 'VALIDATION_ERROR');
      assert.equal(answer.body.detail.length, 2);
    }
    const answer = administrator.patch(`/v1/admin/agents/${UNKNOWN_UUID}`, { tier: 'root' });
    await expect(answer, 422, 'VALIDATION_ERROR');
  });

  it('has existence and ownership before the rules that involve the stored event', async () => {
    await expect(agent.patch(`/v1/events/${foreign}`, { end_at: '2031-05-01T17:00:00Z' }), 404, 'NOT_FOUND');
  });

  it('has the rules that involve the stored event before duplicates', async () => {
    const sent = newEvent({ start_at: '2031-05-01T18:00:00Z' });
    await agent.create(sent);
    const other = { ...sent, start_at: '2031-04-01T18:00:00Z', end_at: '2031-04-01T19:00:00Z' };
    const path = `/v1/events/${(await agent.create(other)).event_id}`;
    await expect(agent.patch(path, { start_at: sent.start_at }), 422, 'VALIDATION_ERROR');
    await expect(agent.patch(path, { start_at: sent.start_at, end_at: null }), 409, 'DUPLICATE_EVENT');
  });
});
