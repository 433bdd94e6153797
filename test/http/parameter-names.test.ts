// Unknown query parameters: a header names them, and never their values, on every route.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { ParameterNames, parseQuery, withCursor } from '../../src/http/request/query.ts';
import { anyText } from '../support/any-text.ts';
import { type Answer, assertError, assertInvalid, type Client, newEvent } from '../support/client.ts';
import { exchange, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const KNOWN = new ParameterNames(new Set(['lat', 'lng', 'cursor']));
const NONE = new ParameterNames(new Set());

const nameUnknown = (query: string, known: ParameterNames) => parseQuery(query, known).unknown;

describe('unknown parameters', () => {
  const cases: [query: string, names: string | undefined][] = [
    ['', undefined],
    ['lat=1&lng=2&cursor=x', undefined],
    ['lat&lng', undefined],
    ['lat=1&lng', undefined],
    ['lat=1=2&lng==', undefined],
    ['lat=1&latlng=2', 'latlng'],
    ['lat=1&x', 'x'],
    ['&&lat=1&', undefined],
    ['l%61t=1', undefined],
    ['latitude=1', 'latitude'],
    ['latitude', 'latitude'],
    ['LAT=1', 'LAT'],
    ['b=1&lat=2&a=3', 'b, a'],
    ['a=1&a=2&b=3&a', 'a, b'],
    ['lat%00=1', '?'],
    ['lat+=1', '?'],
    ['=5', '?'],
    ['%zz=1&%ff=2', '?'],
    ['a,b=1&c d=2&"x"=3&é=4&<b>=5', '?'],
    ['filter[lat]=1&ok=2', '?, ok'],
    ['a.b-c_D9=1', 'a.b-c_D9'],
    ['__proto__=1&constructor=2&toString=3', '__proto__, constructor, toString'],
    [`${'x'.repeat(50)}=1`, 'x'.repeat(50)],
    [`${'x'.repeat(51)}=1`, '?'],
    [`lev_${'x'.repeat(38)}=1&lev_=2`, '?'],
    ['a=lat', 'a'],
    ['%6cev_secret=1', '?'],
    [Array.from({ length: 12 }, (_, at) => `p${at}=1`).join('&'), 'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9'],
  ];
  for (const [query, names] of cases) {
    it(`are ${names} in ${JSON.stringify(query.slice(0, 60))}`, () => {
      assert.equal(nameUnknown(query, KNOWN), names);
    });
  }

  it('are all parameters if none is known', () => {
    assert.equal(nameUnknown('', NONE), undefined);
    assert.equal(nameUnknown('&', NONE), undefined);
    assert.equal(nameUnknown('lat=1&=2', NONE), 'lat, ?');
  });

  it('are shown only as short names of plain characters, at most ten, whatever is sent', () => {
    const piece = fc.oneof(
      anyText({ maxLength: 60 }),
      fc.constantFrom('lat', 'lng', '%', '&', '=', '+', '%0d%0a', '%E2%80%A8', 'lev_'),
    );
    const property = fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const names = nameUnknown(pieces.join(''), KNOWN)?.split(', ') ?? [];
      assert.ok(names.length <= 10);
      for (const name of names) assert.match(name, /^(?:\?|(?!lev_)[A-Za-z0-9_.-]{1,50})$/);
    });
    fc.assert(property, { seed: 20_261_115, numRuns: 500 });
  });
});

describe('withCursor', () => {
  const cases: [query: string, kept: string][] = [
    ['lat=1&lng=2', 'lat=1&lng=2'],
    ['lat=1&&lng=2', 'lat=1&&lng=2'],
    ['cursor=old&lat=1', 'lat=1'],
    ['lat=1&cursor=old&lng=%32', 'lat=1&lng=%32'],
    ['c%75rsor=old&l%61t=1', 'l%61t=1'],
    ['lat=1&secret=x&&lng=2&%zz=1&', 'lat=1&lng=2'],
  ];
  for (const [query, kept] of cases) {
    it(`leaves ${kept} of ${query}`, () =>
      assert.equal(withCursor(parseQuery(query, KNOWN), 'new'), `${kept}&cursor=new`));
  }
});

describe('X-Unknown-Parameters', () => {
  let service: TestService;
  let agent: Client;
  let administrator: Client;
  let event: { event_id: string; agent_id: string };
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
    administrator = await service.newAdministrator();
    event = await agent.create();
  });
  after(() => service.close());

  const unknown = ({ headers }: Answer) => headers.get('x-unknown-parameters');

  it('names them on every route under /v1', async () => {
    const { event_id, agent_id } = event;
    const query = '?guess=1&limit=1&format=json';
    const ofAgent = `/v1/admin/agents/${agent_id}`;
    const registration = { email: 'a@example.com', agent_name: 'a' };
    const spare = (await agent.create()).event_id;
    const calls: [names: string, answer: Answer][] = [
      ['guess', await agent.get(`/v1/events/nearby${query}&lat=0&lng=0`)],
      ['guess, limit', await agent.get(`/v1/events/${event_id}${query}`)],
      ['guess, limit, format', await agent.post(`/v1/events${query}`, newEvent())],
      ['guess, limit, format', await agent.patch(`/v1/events/${event_id}${query}`, {})],
      ['guess, limit, format', await agent.delete(`/v1/events/${spare}${query}`)],
      ['guess, limit, format', await service.client.post(`/v1/auth/register${query}`, registration)],
      ['guess, limit, format', await administrator.get(`/v1/admin/me${query}`)],
      ['guess, limit, format', await administrator.get(`/v1/admin/stats${query}`)],
      ['guess, format', await administrator.get(`/v1/admin/agents${query}`)],
      ['guess, format', await administrator.get(`/v1/admin/audit${query}`)],
      ['guess, format', await administrator.get(`${ofAgent}/events${query}`)],
      ['guess, limit, format', await administrator.patch(ofAgent + query, {})],
      ['guess, limit, format', await administrator.delete(`${ofAgent}/events${query}`)],
      ['guess, limit, format', await administrator.delete(ofAgent + query)],
    ];
    for (const [names, answer] of calls) {
      assert.ok(answer.status < 300, answer.text);
      assert.equal(unknown(answer), names, answer.text.slice(0, 100));
    }
  });

  it('is absent if all are known, or none is sent', async () => {
    const client = await service.newAgent();
    for (const path of [
      '/v1/events/nearby?lat=0&lng=0',
      '/v1/events/nearby?lat=0&lng=0&include=distance&format=ics',
    ]) {
      assert.equal(unknown(await client.get(path)), null);
    }
    assert.equal(unknown(await administrator.get('/v1/admin/agents?q=&sort=email&limit=1')), null);
    assert.equal(unknown(await client.post('/v1/events', newEvent())), null);
  });

  it('is on the errors of an endpoint too, so that clients can correct a guess', async () => {
    const client = await service.newAgent();
    const guessed = await client.get('/v1/events/nearby?latitude=1&longitude=2');
    assert.deepEqual(assertInvalid(guessed), ['query.lat: missing', 'query.lng: missing']);
    assert.equal(unknown(guessed), 'latitude, longitude');
    const missing = await client.get('/v1/events/nothing?a=1');
    assertError(missing, 404, 'NOT_FOUND');
    assert.equal(unknown(missing), 'a');
    const typed = await client.send('POST', '/v1/events?a=1', {
      raw: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    assertError(typed, 415, 'UNSUPPORTED_MEDIA_TYPE');
    assert.equal(unknown(typed), 'a');
  });

  it('is absent without a key, and outside of /v1', async () => {
    assert.equal(unknown(await service.client.get('/v1/events/nearby?a=1')), null);
    for (const path of ['/health?a=1', '/openapi.json?a=1', '/v1/nothing?a=1']) {
      assert.equal(unknown(await service.client.get(path)), null);
    }
  });

  it('is one line of plain characters, whatever bytes are sent', async () => {
    const key = (await service.newAgent()).headers['x-api-key']!;
    const target = '/v1/events/nearby?lat=0&lng=0&a%0d%0aX-Evil:1=2&%22=1&%c3%a9=1&b%2Cc=1';
    const answer = await exchange(service.url, request('GET', target, { 'x-api-key': key }));
    assert.equal(answer.status, 200);
    assert.equal(unknown(answer), '?');
    assert.equal(answer.headers.get('x-evil'), null);
  });
});
