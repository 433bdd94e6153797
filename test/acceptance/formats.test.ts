// Beyond the interface: other formats of an event and of a search, chosen by Accept or by `format`; the URL of the next
// page; distances; and the names of unknown parameters.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import ICAL from 'ical.js';
import { type Agent, type Answer, anyone, newAgent } from './client.ts';
import { assertInvalid, fullEvent, iso, newEvent, ownDay, randomPlace } from './samples.ts';

const TYPES = {
  json: 'application/json; charset=utf-8',
  geojson: 'application/geo+json',
  ics: 'text/calendar; charset=utf-8',
  jsonld: 'application/ld+json',
} as const;
type Format = keyof typeof TYPES;
const OTHERS = ['geojson', 'ics', 'jsonld'] as const;

/** IDs of the events in a response of any format. */
function idsIn(format: Format, { text }: Answer): string[] {
  if (format === 'ics') {
    const calendar = new ICAL.Component(ICAL.parse(text));
    const uids = calendar
      .getAllSubcomponents('vevent')
      .map((component) => String(component.getFirstPropertyValue('uid')));
    return uids.map((uid) => /^(.+)@local-events$/.exec(uid)![1]!);
  }
  const body = JSON.parse(text);
  if (format === 'geojson') return body.features.map(({ id }: { id: string }) => id);
  if (format === 'jsonld') return body['@graph'].map(({ identifier }: { identifier: string }) => identifier);
  return body.events.map(({ event_id }: { event_id: string }) => event_id);
}

describe('formats', () => {
  const place = randomPlace();
  const { startMs } = ownDay('here');
  const near = `/v1/events/nearby?lat=${place.lat}&lng=${place.lng}&radius=0.1`;
  let agent: Agent;
  let events: Answer['body'][];
  before(async () => {
    agent = await newAgent();
    events = [];
    for (let number = 0; number < 3; number++) {
      const start_at = iso(startMs + number * 60_000);
      const end_at = iso(startMs + 3_600_000 + number * 60_000);
      const title = `Ünï, "${number}"; 😀\nnext\\line </script>`;
      events.push(await agent.create(fullEvent({ ...place, title, start_at, end_at })));
    }
  });
  const ids = () => events.map(({ event_id }) => event_id);
  const accept = (path: string, type: string) => agent.send('GET', path, { headers: { accept: type } });

  for (const format of OTHERS) {
    it(`return a search and an event as ${format}, by Accept and by format alike`, async () => {
      for (const path of [`${near}&`, `/v1/events/${events[0].event_id}?`]) {
        const named = await agent.get(`${path}format=${format}`);
        assert.equal(named.status, 200, named.text);
        assert.equal(named.headers['content-type'], TYPES[format]);
        assert.equal(named.headers.vary, 'Accept');
        assert.equal(named.headers['content-length'], String(Buffer.byteLength(named.text)));
        const accepted = await accept(path, TYPES[format]);
        assert.deepEqual([accepted.status, accepted.text], [200, named.text]);
      }
      assert.deepEqual(idsIn(format, await agent.get(`${near}&format=${format}`)), ids());
    });
  }

  it('contain the same bytes of each event in a page as in a read, in JSON', async () => {
    const texts = await Promise.all(ids().map(async (id) => (await agent.get(`/v1/events/${id}`)).text));
    const page = await agent.get(near);
    assert.equal(page.text, `{"events":[${texts.join()}],"count":3,"total":3,"next_cursor":null}`);
    for (const path of [`${near}&format=json`, near]) assert.equal((await agent.get(path)).text, page.text);
    const { count, total, next_cursor } = (await agent.get(`${near}&format=geojson`)).body;
    assert.deepEqual([count, total, next_cursor], [3, 3, null]);
  });

  for (const type of ['*/*', 'application/json', 'application/*', 'text/html, */*;q=0.8', 'image/png', '']) {
    it(`return JSON, the same bytes, for Accept ${JSON.stringify(type)}`, async () => {
      for (const path of [near, `/v1/events/${events[0].event_id}`]) {
        const plain = await agent.get(path);
        const accepted = await accept(path, type);
        assert.deepEqual([accepted.status, accepted.text], [200, plain.text]);
        assert.equal(accepted.headers['content-type'], TYPES.json);
      }
    });
  }

  it('follow format first, then the qualities of Accept, and prefer JSON in a tie', async () => {
    const asked: [accept: string, query: string, format: Format][] = [
      ['application/geo+json;q=0.5, text/calendar;q=0.6', '', 'ics'],
      ['application/geo+json, application/json', '', 'json'],
      ['application/geo+json, */*;q=0.1', '', 'geojson'],
      ['application/ld+json;q=0', '', 'json'],
      ['text/calendar', '&format=jsonld', 'jsonld'],
      ['text/calendar', '&format=json', 'json'],
    ];
    for (const [type, query, format] of asked) {
      const answer = await accept(near + query, type);
      assert.equal(answer.headers['content-type'], TYPES[format], `${type} ${query}`);
      assert.deepEqual(idsIn(format, answer), ids());
    }
  });

  it('contain all fields of an event', async () => {
    const [event] = events;
    const path = `/v1/events/${event.event_id}`;
    const { lat, lng, ...properties } = event;
    const geojson = (await agent.get(`${path}?format=geojson`)).body;
    assert.deepEqual(geojson, {
      ...{ type: 'Feature', id: event.event_id, geometry: { type: 'Point', coordinates: [lng, lat] } },
      properties,
    });

    const calendar = new ICAL.Component(ICAL.parse((await agent.get(`${path}?format=ics`)).text));
    const found = new ICAL.Event(calendar.getFirstSubcomponent('vevent')!);
    assert.deepEqual(
      [found.summary, found.description, found.location],
      [event.title, event.description, `${event.location_name}, ${event.address}`],
    );
    assert.equal(found.startDate.toUnixTime(), Math.floor(Date.parse(event.start_at) / 1000));
    assert.equal(found.endDate.toUnixTime(), Math.floor(Date.parse(event.end_at) / 1000));
    assert.equal(found.startDate.zone.tzid, 'UTC');

    const jsonld = await agent.get(`${path}?format=jsonld`);
    assert.ok(!jsonld.text.includes('<'), 'it can be put into a page as it is');
    const { name, startDate, endDate, location } = jsonld.body;
    const instants = [startDate, endDate].map((time) => new Date(time).toISOString());
    assert.deepEqual([name, ...instants], [event.title, event.start_at, event.end_at]);
    assert.match(startDate, /\+0[12]:00$/, 'local time');
    assert.deepEqual([location.name, location.address], [event.location_name, event.address]);
    assert.deepEqual([location.geo.latitude, location.geo.longitude], [lat, lng]);
  });

  for (const format of ['json', ...OTHERS] as const) {
    it(`link each page to the next by Link, in ${format}`, async () => {
      const seen: string[] = [];
      let url: string | undefined = `${near}&limit=1&format=${format}`;
      while (url !== undefined) {
        const page: Answer = await agent.get(url);
        assert.equal(page.headers['content-type'], TYPES[format]);
        seen.push(...idsIn(format, page));
        assert.ok(seen.length <= 3, 'the pages do not end');
        const { link } = page.headers;
        url = link === undefined ? undefined : /^<(\/[^>]+)>; rel="next"$/.exec(link)![1];
      }
      assert.deepEqual(seen, ids());
    });
  }

  it('repeat the search in Link with only the cursor replaced, and without unknown parameters', async () => {
    const search = `${near}&limit=1&event_type=talk&event_type=%74our`;
    // An unknown parameter may be a key.
    const first = await agent.get(`${search}&api_key=${agent.key}&${agent.key}=1`);
    assert.equal(first.headers['x-unknown-parameters'], 'api_key, ?');
    const linkTo = (cursor: string) => `<${search}&cursor=${cursor}>; rel="next"`;
    assert.equal(first.headers.link, linkTo(first.body.next_cursor));
    const second = await agent.get(`${search}&cursor=${first.body.next_cursor}`);
    assert.equal(second.headers.link, linkTo(second.body.next_cursor));
    const third = await agent.get(`${search}&c%75rsor=${second.body.next_cursor}`);
    assert.deepEqual([third.body.next_cursor, third.headers.link], [null, undefined]);
    assert.equal((await agent.get(near)).headers.link, undefined);
  });

  it('refuse an unknown format, before a 404 and with all other errors', async () => {
    const event = `/v1/events/${events[0].event_id}`;
    for (const format of ['xml', 'JSON', 'ical', '']) {
      for (const path of [`${near}&`, `${event}?`, '/v1/events/nothing?'])
        assertInvalid(await agent.get(`${path}format=${format}`), ['query.format: enum']);
    }
    assertInvalid(await agent.get('/v1/events/nearby?format=ics&format=ics&include=all&radius=0&lat=1'), [
      'query.format: value_error',
      'query.include.0: enum',
      'query.lng: missing',
      'query.radius: greater_than_equal',
    ]);
  });

  it('do not apply to errors and writes, which are JSON and do not vary', async () => {
    const headers = { accept: 'text/calendar' };
    const answers = [
      await agent.send('GET', '/v1/events/nothing?format=ics', { headers }),
      await agent.send('GET', '/v1/events/nearby?format=ics', { headers }),
      await anyone.send('GET', near, { headers }),
      await agent.send('GET', '/nothing', { headers }),
      await agent.send('GET', '/v1/events/%zz', { headers }),
      await agent.send('POST', '/v1/events?format=ics', { body: newEvent(), headers }),
      await agent.send('PATCH', `/v1/events/${events[0].event_id}`, { body: {}, headers }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 422, 401, 404, 404, 200, 200],
    );
    for (const answer of answers) {
      assert.equal(answer.headers['content-type'], TYPES.json);
      assert.equal(answer.headers.vary, undefined);
    }
    assert.equal(answers[5]!.headers['x-unknown-parameters'], 'format');
  });

  it('give HEAD the headers of GET', async () => {
    for (const query of ['format=geojson', 'format=ics', 'format=jsonld', 'foo=1']) {
      for (const path of [`/v1/events/${events[0].event_id}?${query}`, `${near}&limit=1&${query}`]) {
        const [get, head] = [await agent.get(path), await agent.send('HEAD', path)];
        for (const name of ['content-type', 'content-length', 'etag', 'link', 'vary', 'x-unknown-parameters'])
          assert.equal(head.headers[name], get.headers[name], `${path} ${name}`);
      }
    }
  });
});

describe('include=distance', () => {
  it('adds distance_miles to each event, and changes nothing else', async () => {
    const agent = await newAgent();
    const { lat, lng } = randomPlace();
    // Ten miles around, there may be an event of another test, but not on this day.
    const { starts_after, starts_before } = ownDay('here');
    await agent.create(newEvent({ lat, lng, start_at: starts_after }));
    await agent.create(newEvent({ lat: lat + 0.1, lng, start_at: starts_after }));
    const query = { lat, lng, radius: 10, starts_after, starts_before };
    const plain = await agent.get('/v1/events/nearby', query);
    const included = await agent.get('/v1/events/nearby', { ...query, include: 'distance' });
    const miles = included.body.events.map((event: { distance_miles: number }) => event.distance_miles);
    assert.deepEqual(miles.sort(), [0, 6.909342]);
    assert.equal(included.text.replaceAll(/,"distance_miles":[\d.]+/g, ''), plain.text);
    const geojson = await agent.get('/v1/events/nearby', {
      ...query,
      include: 'distance',
      format: 'geojson',
    });
    for (const { properties } of geojson.body.features) assert.ok(miles.includes(properties.distance_miles));
    for (const format of ['ics', 'jsonld']) {
      const [without, withDistance] = [
        await agent.get('/v1/events/nearby', { ...query, format }),
        await agent.get('/v1/events/nearby', { ...query, format, include: 'distance' }),
      ];
      assert.equal(withDistance.text, without.text);
    }
  });

  it('has six decimals, on the whole globe, as the last member', async () => {
    const agent = await newAgent();
    const { starts_after, starts_before } = ownDay();
    const at = async (lat: number, lng: number) =>
      agent.create(newEvent({ lat, lng, start_at: starts_after }));
    for (const lat of [0, 1, -1, 90]) await at(lat, 180);
    await at(0, 0);
    const query = { lat: 0, lng: -180, starts_after, starts_before, include: ['distance', 'distance'] };
    const { events } = await agent.nearby(query);
    const degreeMiles = (6_371_008.771415059 * Math.PI) / 180 / 1_609.344;
    assert.deepEqual(
      events.map(({ distance_miles }: { distance_miles: number }) => distance_miles),
      [0, 1, 1, 90, 180].map((degrees) => Math.round(degrees * degreeMiles * 1e6) / 1e6),
    );
    for (const event of events) assert.equal(Object.keys(event).at(-1), 'distance_miles');
  });

  it('is that of the coordinates, even if a text looks like coordinates', async () => {
    const agent = await newAgent();
    const text = '","lat":1,"lng":2,"url":",\\","lat":3,\\"lng\\":4,"';
    const place = randomPlace();
    const { starts_after, starts_before } = ownDay('here');
    const texts = {
      title: text,
      description: text,
      location_name: text,
      address: text,
      url: text,
      cost: text,
    };
    const { event_id } = await agent.create(newEvent({ ...texts, ...place, start_at: starts_after }));
    const query = { ...place, radius: 1, starts_after, starts_before, include: 'distance' };
    const [event] = (await agent.nearby(query)).events;
    assert.deepEqual([event.event_id, event.distance_miles], [event_id, 0]);
  });

  it('is refused with unknown values', async () => {
    const agent = await newAgent();
    for (const [include, issue] of [
      ['weather', 'query.include.0: enum'],
      [['distance', 'weather'], 'query.include.1: enum'],
      ['', 'query.include.0: enum'],
    ] as const)
      assertInvalid(await agent.get('/v1/events/nearby', { lat: 0, lng: 0, include }), [issue]);
  });
});
