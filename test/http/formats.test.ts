// Which format a response has, by Accept and by `format`; without either it is JSON, byte for byte as before.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import ICAL from 'ical.js';
import { acceptedFormat, type Format } from '../../src/http/response/formats.ts';
import { type Answer, assertError, assertInvalid, type Client } from '../support/client.ts';
import { exchange, request } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

const TYPES: Record<Format, string> = {
  json: 'application/json; charset=utf-8',
  geojson: 'application/geo+json',
  ics: 'text/calendar; charset=utf-8',
  jsonld: 'application/ld+json',
};

const ACCEPTED: [accept: string | undefined, format: Format][] = [
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['text/*', 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
  ['image/png', 'json'],
  ['application/xml, text/plain', 'json'],
  ['nonsense', 'json'],
  ['application/geo+json', 'geojson'],
  ['text/calendar', 'ics'],
  ['application/ld+json', 'jsonld'],
  ['APPLICATION/Geo+JSON', 'geojson'],
  ['text/calendar; charset=utf-8', 'ics'],
  ['application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted, x;q=0"', 'jsonld'],
  ['application/geo+json-seq', 'json'],
  ['x-application/geo+json', 'json'],
  ['text/calendar2', 'json'],
  // Qualities.
  ['application/geo+json;q=0.5, text/calendar;q=0.8', 'ics'],
  ['application/geo+json;q=0.8, text/calendar;q=0.5', 'geojson'],
  ['application/geo+json;q=0.001', 'geojson'],
  ['application/geo+json;q=0', 'json'],
  ['application/geo+json;q=0.000', 'json'],
  ['application/geo+json; Q=0.5, text/calendar ; q=0.6', 'ics'],
  ['application/json;q=0.5, application/geo+json', 'geojson'],
  ['application/json;q=0, application/geo+json;q=0.1', 'geojson'],
  ['application/geo+json;q=0.9, application/json', 'json'],
  ['application/geo+json, */*;q=0.8', 'geojson'],
  ['application/geo+json;q=0.5, */*;q=0.8', 'json'],
  ['application/geo+json;q=0.5, application/*;q=0.2, */*', 'geojson'],
  ['application/geo+json;q=0.5, application/json;q=0.2, */*', 'geojson'],
  // Ties: JSON first, then in order.
  ['application/geo+json, application/json', 'json'],
  ['application/geo+json, */*', 'json'],
  ['text/calendar, application/geo+json', 'ics'],
  ['application/geo+json, text/calendar', 'geojson'],
  // A range with an invalid quality is ignored.
  ['application/geo+json;q=2', 'json'],
  ['application/geo+json;q=high, text/calendar;q=0.1', 'ics'],
  ['application/geo+json;q=', 'json'],
  ['application/geo+json;q=0.1234', 'json'],
  // Unterminated quotes.
  ['application/ld+json;profile="a, text/calendar', 'jsonld'],
  ['text/calendar;a="\\", application/json', 'ics'],
  [', ,application/geo+json,', 'geojson'],
];

describe('Accept', () => {
  for (const [accept, format] of ACCEPTED) {
    it(`${JSON.stringify(accept)} gets ${format}`, () => assert.equal(acceptedFormat(accept), format));
  }

  it('is parsed whatever it contains', () => {
    for (const piece of ['"', '\\"', '"\\', ',', ';', ';q=', 'application/geo+json,', '"a\\"']) {
      const long = `text/calendar;a=${piece.repeat(16_000 / piece.length)}`;
      assert.ok(['json', 'ics', 'geojson'].includes(acceptedFormat(long)));
    }
  });
});

describe('formats', () => {
  let service: TestService;
  let agent: Client;
  const ids: string[] = [];
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
    for (let number = 0; number < 3; number++) {
      const start_at = `2031-05-0${number + 1}T18:00:00Z`;
      const { event_id } = await agent.create({ title: `Ünï "${number}" 😀`, start_at, description: '<b>' });
      ids.push(event_id);
    }
  });
  after(() => service.close());

  const accepting = (accept: string) => agent.with({ accept });
  const search = (client: Client, query = '') => client.get(`/v1/events/nearby?lat=52.5&lng=13.4${query}`);
  const shape = ({ status, text, headers }: Answer) => [status, text, headers.get('content-type')];

  it('leave JSON unchanged, byte for byte, when no other format is requested', async () => {
    const page = await search(agent, '&limit=2');
    const single = await Promise.all(ids.map((id) => agent.get(`/v1/events/${id}`)));
    const [first, second] = single.map(({ text }) => text);
    const { next_cursor } = page.body;
    assert.equal(
      page.text,
      `{"events":[${first},${second}],"count":2,"total":3,"next_cursor":"${next_cursor}"}`,
    );
    for (const accept of ['*/*', 'application/json', 'text/html, */*;q=0.1', 'image/png', 'text/*']) {
      assert.deepEqual(shape(await search(accepting(accept), '&limit=2')), shape(page), accept);
      const event = await accepting(accept).get(`/v1/events/${ids[0]}`);
      assert.deepEqual(shape(event), shape(single[0]!), accept);
    }
    assert.deepEqual(shape(await search(agent, '&limit=2&format=json')), shape(page));
    assert.deepEqual(shape(await agent.get(`/v1/events/${ids[0]}?format=json`)), shape(single[0]!));
  });

  for (const format of ['geojson', 'ics', 'jsonld'] as const) {
    it(`are the same by Accept and by format: ${format}`, async () => {
      const accept = TYPES[format].split(';')[0]!;
      for (const path of ['/v1/events/nearby?lat=0&lng=0&', `/v1/events/${ids[0]}?`]) {
        const byName = await agent.get(`${path}format=${format}`);
        assert.equal(byName.status, 200);
        assert.equal(byName.headers.get('content-type'), TYPES[format]);
        assert.equal(byName.headers.get('content-length'), String(Buffer.byteLength(byName.text)));
        assert.deepEqual(shape(await accepting(accept).get(path)), shape(byName));
      }
    });
  }

  it('are chosen by format even if Accept differs', async () => {
    const answer = await search(accepting('application/geo+json'), '&format=ics');
    assert.equal(answer.headers.get('content-type'), TYPES.ics);
    assert.equal(ICAL.parse(answer.text)[2].length, 3);
    const json = await agent.send('GET', `/v1/events/${ids[0]}?format=json`, {
      headers: { accept: 'text/calendar' },
    });
    assert.equal(json.headers.get('content-type'), TYPES.json);
  });

  it('contain all events of the page, in order', async () => {
    const geojson = (await search(agent, '&format=geojson')).body;
    assert.deepEqual(
      geojson.features.map(({ id }: { id: string }) => id),
      ids,
    );
    assert.deepEqual([geojson.count, geojson.total, geojson.next_cursor], [3, 3, null]);
    const jsonld = (await search(agent, '&format=jsonld')).body;
    assert.deepEqual(
      jsonld['@graph'].map(({ identifier }: { identifier: string }) => identifier),
      ids,
    );
    const [, , components] = ICAL.parse((await search(agent, '&format=ics')).text);
    assert.deepEqual(
      components.map(([, properties]: [string, unknown[][]]) => properties[0]![3]),
      ids.map((id) => `${id}@local-events`),
    );
  });

  it('stay the same from page to page, following Link', async () => {
    for (const format of ['json', 'geojson', 'ics', 'jsonld']) {
      let url: string | undefined = `/v1/events/nearby?limit=1&lat=0&format=${format}&lng=0&include=distance`;
      const seen: string[] = [];
      while (url !== undefined) {
        const answer: Answer = await agent.get(url);
        assert.equal(answer.headers.get('content-type'), TYPES[format as Format]);
        seen.push(ids.find((id) => answer.text.includes(id))!);
        url = /^<(\/v1\/events\/nearby\?[^>]*)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      assert.deepEqual(seen, ids, format);
    }
  });

  it('repeat the search in Link with only the cursor replaced', async () => {
    const first = await search(agent, '&limit=1&event_type=talk&event_type=%74our&radius=5&nonsense=1');
    const { next_cursor } = first.body;
    const base = '</v1/events/nearby?lat=52.5&lng=13.4&limit=1&event_type=talk&event_type=%74our&radius=5';
    assert.equal(first.headers.get('link'), `${base}&cursor=${next_cursor}>; rel="next"`);
    const second = await search(agent, `&limit=1&cursor=${next_cursor}`);
    assert.equal(
      second.headers.get('link'),
      `</v1/events/nearby?lat=52.5&lng=13.4&limit=1&cursor=${second.body.next_cursor}>; rel="next"`,
    );
    const third = await search(agent, `&limit=1&c%75rsor=${second.body.next_cursor}`);
    assert.equal(third.body.next_cursor, null);
    assert.equal(third.headers.get('link'), null);
    assert.equal((await search(agent)).headers.get('link'), null);
  });

  it('do not repeat unknown parameters in Link, as they may contain a key', async () => {
    const key = agent.headers['x-api-key']!;
    const answer = await search(agent, `&limit=1&api_key=${key}&${key}=1`);
    assert.ok(answer.headers.get('link'));
    assert.ok(!JSON.stringify([...answer.headers]).includes(key));
    assert.equal(answer.headers.get('x-unknown-parameters'), 'api_key, ?');
  });

  it('make responses vary by Accept, and by Origin too if CORS_ORIGINS is a list', async () => {
    const event = `/v1/events/${ids[0]}`;
    for (const path of [event, `${event}?format=ics`, '/v1/events/nearby?lat=0&lng=0']) {
      assert.equal((await agent.get(path)).headers.get('vary'), 'Accept', path);
    }
    assert.equal((await agent.get('/v1/events/nothing')).headers.get('vary'), null);
    assert.equal((await agent.patch(event, {})).headers.get('vary'), null);
    const other = await startTestService({ CORS_ORIGINS: 'https://calendar.example' });
    const page = (await other.newAgent()).with({ origin: 'https://calendar.example' });
    const { event_id } = await page.create();
    assert.equal((await page.nearby()).headers.get('vary'), 'Origin, Accept');
    const known = page.with({ 'if-none-match': '*' });
    assert.equal((await known.get(`/v1/events/${event_id}`)).headers.get('vary'), 'Origin, Accept');
    assert.equal((await page.get('/v1/events/nothing')).headers.get('vary'), 'Origin');
    await other.close();
  });

  describe('422', () => {
    for (const format of ['xml', 'JSON', 'ical', '']) {
      it(`refuses format=${format}`, async () => {
        assert.deepEqual(assertInvalid(await search(agent, `&format=${format}`)), ['query.format: enum']);
        const answer = await agent.get(`/v1/events/${ids[0]}?format=${format}`);
        assert.deepEqual(assertInvalid(answer), ['query.format: enum']);
      });
    }

    it('refuses format twice, and lists it with all other errors', async () => {
      const answer = await agent.get('/v1/events/nearby?format=ics&format=ics&include=all&radius=0&lat=1');
      assert.deepEqual(assertInvalid(answer).sort(), [
        'query.format: value_error',
        'query.include.0: enum',
        'query.lng: missing',
        'query.radius: greater_than_equal',
      ]);
    });

    it('comes before 404', async () => {
      assertInvalid(await agent.get('/v1/events/nothing?format=xml'));
    });
  });

  it('do not apply to errors, which are JSON', async () => {
    const client = accepting('text/calendar');
    const key = client.headers['x-api-key']!;
    const failures: [Answer, number, string][] = [
      [await client.get('/v1/events/nothing?format=ics'), 404, 'NOT_FOUND'],
      [await client.get('/v1/events/nearby?format=ics'), 422, 'VALIDATION_ERROR'],
      [await service.client.with({ accept: 'text/calendar' }).nearby(), 401, 'MISSING_API_KEY'],
      [await client.get('/nothing'), 404, 'NOT_FOUND'],
      [await exchange(service.url, request('GET', '/v1/events/%zz', { 'x-api-key': key })), 404, 'NOT_FOUND'],
    ];
    for (const [answer, status, code] of failures) {
      assertError(answer, status, code);
      assert.equal(answer.headers.get('content-type'), TYPES.json);
    }
  });

  it('do not apply to the responses of writes, which are JSON', async () => {
    const client = accepting('application/geo+json');
    const created = await client.post('/v1/events?format=ics', {
      ...(await agent.get(`/v1/events/${ids[0]}`)).body,
    });
    assert.equal(created.headers.get('content-type'), TYPES.json);
    assert.equal(created.body.event_id, ids[0]);
    assert.equal(created.headers.get('x-unknown-parameters'), 'format');
    const patched = await client.patch(`/v1/events/${ids[0]}`, {});
    assert.equal(patched.headers.get('content-type'), TYPES.json);
  });

  it('give HEAD the headers of GET', async () => {
    for (const query of ['format=geojson', 'format=ics', 'format=jsonld', 'foo=1']) {
      for (const path of [
        `/v1/events/${ids[0]}?${query}`,
        `/v1/events/nearby?lat=0&lng=0&limit=1&${query}`,
      ]) {
        const [get, head] = [await agent.get(path), await agent.send('HEAD', path)];
        assert.equal(head.text, '');
        const names = ['content-type', 'content-length', 'etag', 'link', 'vary', 'x-unknown-parameters'];
        for (const name of names)
          assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
      }
    }
  });

  it('contain a page of the longest events in full', async () => {
    const other = await service.newAgent();
    const description = '🎪,\n'.repeat(3_333);
    for (let number = 0; number < 30; number++)
      await other.create({ title: `${number}`, description, lat: -70 });
    const answers = await Promise.all(
      ['geojson', 'ics', 'jsonld'].map((format) =>
        other.nearby({ lat: -70, lng: 13.405, radius: 1, format }),
      ),
    );
    const [geojson, ics, jsonld] = answers;
    assert.equal(geojson!.body.features.length, 30);
    for (const { properties } of geojson!.body.features) assert.equal(properties.description, description);
    for (const part of jsonld!.body['@graph']) assert.equal(part.description, description);
    const [, , components] = ICAL.parse(ics!.text);
    assert.equal(components.length, 30);
    for (const [, properties] of components) {
      assert.equal(properties.find(([name]: string[]) => name === 'description')[3], description);
    }
  });
});

describe('include=distance', () => {
  let service: TestService;
  let agent: Client;
  before(async () => {
    service = await startTestService();
    agent = await service.newAgent();
    // A degree of latitude is 69.09332... miles.
    for (const lat of [0, 1, -1, 90]) await agent.create({ lat, lng: 180 });
    await agent.create({ lat: 0, lng: 0 });
  });
  after(() => service.close());

  const DEGREE_MILES = (6_371_008.771415059 * Math.PI) / 180 / 1_609.344;

  it('adds the distance as the last member of each event, to six decimals', async () => {
    const { body } = await agent.nearby({ lat: 0, lng: -180, include: 'distance' });
    const miles = body.events.map((event: { distance_miles: number }) => event.distance_miles);
    const expected = [0, 1, 1, 90, 180].map((degrees) => Math.round(degrees * DEGREE_MILES * 1e6) / 1e6);
    assert.deepEqual(miles, expected);
    for (const event of body.events) assert.equal(Object.keys(event).at(-1), 'distance_miles');
  });

  it('changes nothing else, and is not the default', async () => {
    const [plain, included] = [await agent.nearby(), await agent.nearby({ include: 'distance' })];
    assert.ok(!plain.text.includes('distance'));
    assert.equal(included.text.replaceAll(/,"distance_miles":[\d.]+/g, ''), plain.text);
  });

  it('adds the distance to the properties in GeoJSON, and does nothing in the other formats', async () => {
    const { features } = (await agent.nearby({ lat: 1, include: 'distance', format: 'geojson' })).body;
    assert.equal(features.length, 5);
    for (const { properties } of features) assert.equal(typeof properties.distance_miles, 'number');
    for (const format of ['ics', 'jsonld']) {
      const [plain, included] = [
        await agent.nearby({ format }),
        await agent.nearby({ format, include: 'distance' }),
      ];
      assert.equal(included.text, plain.text);
    }
  });

  it('uses the coordinates of an event even if its texts look like coordinates', async () => {
    const text = '","lat":1,"lng":2,"url":",\\","lat":3,\\"lng\\":4,"';
    const { event_id } = await agent.create({
      ...{ title: text, description: text, location_name: text, address: text, url: text, cost: text },
      ...{ lat: 45, lng: 45 },
    });
    const found = (await agent.nearby({ lat: 45, lng: 45, radius: 1, include: 'distance' })).body.events;
    assert.deepEqual(
      found.map((event: { event_id: string; distance_miles: number }) => [
        event.event_id,
        event.distance_miles,
      ]),
      [[event_id, 0]],
    );
  });

  it('may be repeated, and refuses unknown values', async () => {
    const twice = await agent.nearby({ include: ['distance', 'distance'] });
    assert.equal(twice.status, 200);
    assert.deepEqual(assertInvalid(await agent.nearby({ include: ['distance', 'weather'] })), [
      'query.include.1: enum',
    ]);
    assert.deepEqual(assertInvalid(await agent.nearby({ include: '' })), ['query.include.0: enum']);
  });
});
