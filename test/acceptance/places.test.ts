// Places by name: the search for them, and the search for events around one.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import type { Query } from './json-client.ts';
import { assertInvalid, HOUR_MS, iso, newEvent, ownDay, titles } from './samples.ts';

const KREUZBERG = { lat: 52.49973, lng: 13.40338 };
const RESOLVED = 'Kreuzberg, Berlin, DE; 52.49973,13.40338';

describe('GET /v1/places', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  it('finds a city by its names in several languages and scripts', async () => {
    for (const q of ['München', 'munchen', 'Muenchen', 'Munich', 'Мюнхен', 'ミュンヘン']) {
      const { status, body } = await agent.get('/v1/places', { q, limit: 1 });
      assert.equal(status, 200);
      const [{ name, region, country, timezone, population }] = body.places;
      assert.deepEqual([name, region, country, timezone], ['Munich', 'Bavaria', 'DE', 'Europe/Berlin'], q);
      assert.ok(population > 1_000_000);
    }
  });

  it('looks only in a country, and first near a point', async () => {
    const countries = async (query: Query) =>
      (await agent.get('/v1/places', { q: 'London', limit: 1, ...query })).body.places.map(
        ({ country }: { country: string }) => country,
      );
    assert.deepEqual(await countries({}), ['GB']);
    assert.deepEqual(await countries({ country: 'ca' }), ['CA']);
    assert.deepEqual(await countries({ near_lat: 43, near_lng: -81 }), ['CA']);
    assert.deepEqual(await countries({ country: 'ZZ' }), []);
  });

  const refused: [query: Query, fields: string[]][] = [
    [{}, ['q']],
    [{ q: '' }, ['q']],
    [{ q: 'x'.repeat(201) }, ['q']],
    [{ q: 'Bern', country: 'Switzerland' }, ['country']],
    [{ q: 'Bern', country: '1!' }, ['country']],
    [{ q: 'Bern', near_lat: 47 }, ['near_lng']],
    [{ q: 'Bern', near_lng: 181, near_lat: 91 }, ['near_lat', 'near_lng']],
    [{ q: 'Bern', limit: 51 }, ['limit']],
  ];
  for (const [query, fields] of refused)
    it(`refuses ${JSON.stringify(query).slice(0, 60)}`, async () => {
      const answer = await agent.get('/v1/places', query);
      assertInvalid(
        answer,
        fields.map((field) => `query.${field}`),
      );
    });
});

describe('a search with place', () => {
  const { startMs, ...window } = ownDay('here');
  const TITLES = ['here', '5 miles', '20 miles'];
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
    for (const [at, title] of TITLES.entries()) {
      const lat = KREUZBERG.lat + [0, 0.0725, 0.29][at]!;
      await agent.create(newEvent({ title, lat, lng: KREUZBERG.lng, start_at: iso(startMs + at * HOUR_MS) }));
    }
  });
  const search = (query: Query) =>
    agent.get('/v1/events/nearby', { place: 'Kreuzberg, Berlin', ...window, ...query });

  it('finds events within 10 miles of it, or within the radius, and says which place it is', async () => {
    const answer = await search({});
    assert.equal(answer.headers['resolved-place'], RESOLVED);
    assert.deepEqual(titles(answer.body), TITLES.slice(0, 2));
    assert.deepEqual(titles((await search({ radius: 25 })).body), TITLES);
    assert.deepEqual(titles((await search({ radius: 1 })).body), TITLES.slice(0, 1));
  });

  it('returns what a search with its coordinates does', async () => {
    const query = { ...window, radius: 25, sort: 'distance', include: 'distance,local', limit: 1 };
    const byName = await search(query);
    const byCoordinates = await agent.get('/v1/events/nearby', { ...KREUZBERG, ...query });
    assert.equal(byName.text, byCoordinates.text);
    assert.equal(byCoordinates.headers['resolved-place'], undefined);
  });

  it('lets pages of other origins read which place it is, and changes nothing for other requests', async () => {
    const exposed = async (query: string) => {
      const headers = { origin: 'https://map.example' };
      const answer = await agent.send('GET', `/v1/events/nearby?${query}`, { headers });
      return answer.headers['access-control-expose-headers']!.includes('Resolved-Place');
    };
    assert.equal(await exposed('limit=1&place=Bern'), true);
    assert.equal(await exposed('lat=1&lng=1'), false);
  });

  it('takes what Resolved-Place says as place', async () => {
    const answer = await search({ place: RESOLVED });
    assert.equal(answer.headers['resolved-place'], 'Kreuzberg, Berlin, DE; 52.49973,13.40338');
  });

  for (const sort of ['start', 'distance'])
    it(`continues with the cursor and the Link of a page, by ${sort}`, async () => {
      const first = await search({ sort, limit: 1 });
      const cursor = first.body.next_cursor;
      const next = await search({ sort, limit: 1, cursor });
      assert.deepEqual(titles(next.body), ['5 miles']);
      const [, link] = /^<([^>]+)>; rel="next"$/.exec(first.headers.link!)!;
      assert.equal((await agent.send('GET', link!)).text, next.text);
      // A cursor names coordinates, not the place.
      const byCoordinates = { ...KREUZBERG, ...window, radius: 10, sort, limit: 1, cursor };
      assert.equal((await agent.get('/v1/events/nearby', byCoordinates)).text, next.text);
    });

  it('refuses a cursor of another place', async () => {
    const { body } = await search({ sort: 'distance', limit: 1 });
    const answer = await search({ place: 'Hamburg', sort: 'distance', cursor: body.next_cursor });
    assertInvalid(answer, ['query.cursor']);
    assert.match(answer.body.error.message, /send the same place/);
  });

  for (const format of ['geojson', 'ics', 'jsonld'])
    it(`works in the format ${format}`, async () => {
      const { status, headers, text } = await search({ format });
      assert.deepEqual([status, headers['resolved-place']], [200, RESOLVED]);
      assert.match(text, /5 miles/);
    });

  it('works with HEAD', async () => {
    const query = new URLSearchParams({ place: 'Kreuzberg, Berlin' });
    const { status, headers } = await agent.send('HEAD', `/v1/events/nearby?${query}`);
    assert.deepEqual([status, headers['resolved-place']], [200, RESOLVED]);
  });

  it('has the name in ASCII in the header', async () => {
    const { headers } = await search({ place: 'Łódź' });
    assert.equal(headers['resolved-place'], 'Lodz, Lodz Voivodeship, PL; 51.77058,19.47395');
  });

  it('is refused with up to five candidates if several places could be meant', async () => {
    const answer = await search({ place: 'Springfield' });
    const { candidates, ...body } = answer.body;
    assertInvalid({ ...answer, body }, ['query.place']);
    assert.equal(candidates.length, 5);
    assert.deepEqual(Object.keys(candidates[0]), ['place', 'name', 'region', 'country', 'lat', 'lng']);
    assert.ok(answer.body.error.message.includes('"Springfield, Illinois, US"'));
    for (const { place, lat, lng } of candidates) {
      const { headers } = await search({ place });
      assert.ok(headers['resolved-place']!.endsWith(`; ${lat},${lng}`), place);
    }
  });

  it('is refused if no place has this name, with the advice to send coordinates', async () => {
    const answer = await search({ place: 'Xyzzyville' });
    assertInvalid(answer, ['query.place']);
    assert.match(answer.body.error.message, /send lat and lng/);
    assert.equal(answer.body.candidates, undefined);
  });

  it('is refused together with coordinates, empty, too long or sent twice', async () => {
    for (const coordinate of [{ lat: 1 }, { lng: 1 }, KREUZBERG])
      assertInvalid(await search(coordinate), ['query.place']);
    assertInvalid(await search({ place: '' }), ['query.place']);
    assertInvalid(await search({ place: 'x'.repeat(201) }), ['query.place']);
    const twice = await search({ place: ['Bern', 'Basel'] });
    assertInvalid(twice, ['query.place']);
  });

  it('is refused with everything else that is wrong', async () => {
    const answer = await search({ lat: 1, radius: 0, when: 'never', cursor: 'x' });
    assertInvalid(answer, ['query.cursor', 'query.place', 'query.radius', 'query.when']);
  });
});
