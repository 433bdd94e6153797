// Tests of the suite's own check: it passes a response of the service and refuses the same response with an error added.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { anyone, newAgent } from './client.ts';
import { Description, type Exchange } from './description.ts';
import { newEvent, UNKNOWN_ULID } from './samples.ts';

describe('the check of every response against /openapi.json', () => {
  let description: Description;
  let event: Exchange;
  let removed: Exchange;
  let unknown: Exchange;
  let unauthenticated: Exchange;
  let invalid: Exchange;
  let noRoute: Exchange;
  before(async () => {
    description = new Description((await anyone.get('/openapi.json')).body);
    const agent = await newAgent();
    const { event_id } = await agent.create(newEvent());
    event = await agent.get(`/v1/events/${event_id}`);
    removed = await agent.delete(`/v1/events/${event_id}`);
    unknown = await agent.get(`/v1/events/${UNKNOWN_ULID}`);
    invalid = await agent.get('/v1/events/nearby');
    unauthenticated = await anyone.get('/v1/events/nearby');
    noRoute = await anyone.get('/v1/nothing');
  });

  it('passes the responses of the service', () => {
    for (const answer of [event, removed, unknown, invalid, unauthenticated, noRoute]) {
      description.check(answer);
    }
  });

  const edit = (answer: Exchange, change: object, ...path: string[]): Exchange => {
    const body = JSON.parse(answer.text);
    Object.assign(
      path.reduce((at, step) => at[step], body),
      change,
    );
    return { ...answer, text: JSON.stringify(body) };
  };
  const doctored: [name: string, doctor: () => Exchange, complaint: RegExp][] = [
    ['a missing field', () => edit(event, { title: undefined }), /required property 'title'/],
    ['a field of another type', () => edit(event, { lat: '52.5' }), /lat must be number/],
    ['null in a field that is never null', () => edit(event, { timezone: null }), /timezone must be string/],
    [
      'a value outside its enumeration',
      () => edit(event, { event_type: 'party' }),
      /event_type must be equal/,
    ],
    ['a date without a time', () => edit(event, { start_at: '2031-05-01' }), /start_at must match format/],
    ['an agent_id that is not a UUID', () => edit(event, { agent_id: 'me' }), /agent_id must match format/],
    ['an issue without its type', () => edit(invalid, { type: undefined }, 'detail', '0'), /property 'type'/],
    ['a 422 without detail', () => edit(invalid, { detail: undefined }), /required property 'detail'/],
    [
      'a code that does not belong to the status',
      () => edit(unknown, { code: 'BAD_REQUEST' }, 'error'),
      /code is not/,
    ],
    ['an unknown code', () => edit(noRoute, { code: 'OOPS' }, 'error'), /error\/code must be equal/],
    [
      'an error without a message',
      () => edit(noRoute, { message: undefined }, 'error'),
      /property 'message'/,
    ],
    ['a status that is not described', () => ({ ...event, status: 418 }), /status is not described/],
    ['a body on 204', () => ({ ...removed, text: '{}' }), /a body where none/],
    ['a body on HEAD', () => ({ ...event, method: 'HEAD' }), /a body on HEAD/],
    ['a body that is not JSON', () => ({ ...event, text: '<p>' }), /not JSON/],
    [
      'a content type that is not described',
      () => ({ ...event, headers: { ...event.headers, 'content-type': 'text/html' } }),
      /"text\/html" is not described/,
    ],
    [
      'a response without X-Request-Id',
      () => ({ ...event, headers: { ...event.headers, 'x-request-id': undefined } }),
      /no X-Request-Id/,
    ],
    [
      'a 401 without WWW-Authenticate',
      () => ({ ...unauthenticated, headers: { ...unauthenticated.headers, 'www-authenticate': undefined } }),
      /no WWW-Authenticate/,
    ],
    ['success without an operation', () => ({ ...noRoute, status: 200 }), /not described/],
  ];
  for (const [name, doctor, complaint] of doctored) {
    it(`refuses ${name}`, () => {
      assert.throws(() => description.check(doctor()), complaint);
    });
  }
});
