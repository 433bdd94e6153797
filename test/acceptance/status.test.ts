// Events that are called off, and when events last changed: status and updated_at on every path.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, type Answer, administrator, newAgent } from './client.ts';
import type { Query } from './json-client.ts';
import { assertInvalid, type Fields, newEvent, ownDay, randomPlace } from './samples.ts';

type Body = Answer['body'];

const idsOf = ({ events }: Body): string[] => events.map(({ event_id }: Body) => event_id);

describe('a cancelled event', () => {
  let agent: Agent;
  let scheduled: Body;
  let cancelled: Body;
  const place = randomPlace();
  const day = ownDay();
  const near: Query = {
    ...place,
    radius: 1,
    starts_after: day.starts_after,
    starts_before: day.starts_before,
  };
  const everywhere: Query = {
    lat: 0,
    lng: 0,
    starts_after: day.starts_after,
    starts_before: day.starts_before,
  };

  before(async () => {
    agent = await newAgent();
    const body = newEvent({ ...place, start_at: day.starts_after });
    scheduled = await agent.create(body);
    cancelled = await agent.create({ ...body, title: `${body.title} off`, status: 'cancelled' });
  });

  it('says so, as its last member, and a scheduled one says nothing', async () => {
    assert.equal(cancelled.status, 'cancelled');
    assert.equal(Object.keys(cancelled).at(-1), 'status');
    assert.ok(!('status' in scheduled));
    const explicit = await agent.create(newEvent({ status: 'scheduled' }));
    assert.deepEqual(Object.keys(explicit), Object.keys(scheduled));
  });

  it('is found by searches only if they ask for it, with exact totals and pages', async () => {
    const both = [scheduled, cancelled].map(({ event_id }) => event_id).sort();
    for (const query of [near, everywhere]) {
      for (const [status, ids] of [
        [undefined, [scheduled.event_id]],
        ['scheduled', [scheduled.event_id]],
        ['cancelled', [cancelled.event_id]],
        ['any', both],
      ] as const) {
        const page = await agent.nearby(status ? { ...query, status } : query);
        assert.deepEqual([idsOf(page), page.total], [ids, ids.length], String(status));
      }
      const first = await agent.nearby({ ...query, status: 'any', limit: 1 });
      const second = await agent.nearby({ ...query, status: 'any', limit: 1, cursor: first.next_cursor });
      assert.deepEqual([...idsOf(first), ...idsOf(second)], both);
      assert.deepEqual([first.total, second.total, second.next_cursor], [2, 2, null]);
    }
  });

  it('carries its status wherever it appears', async () => {
    assert.deepEqual((await agent.get(`/v1/events/${cancelled.event_id}`)).body, cancelled);
    assert.deepEqual((await agent.nearby({ ...near, status: 'any' })).events.find(isCancelled), cancelled);
    assert.deepEqual((await agent.get('/v1/agents/me/events')).body.events.find(isCancelled), cancelled);
    const path = `/v1/admin/agents/${await agent.id()}/events`;
    for (const query of [{}, { when: 'upcoming' }, { q: cancelled.title }]) {
      const { body } = await administrator.get(path, query as Query);
      assert.deepEqual(body.events.find(isCancelled), cancelled);
    }
    const feature = (await agent.get(`/v1/events/${cancelled.event_id}?format=geojson`)).body;
    assert.equal(feature.properties.status, 'cancelled');
  });

  const isCancelled = ({ event_id }: Body) => event_id === cancelled.event_id;

  it('can be called off and put on again, each with a new ETag', async () => {
    const place = randomPlace();
    const { event_id } = await agent.create(newEvent(place));
    const path = `/v1/events/${event_id}`;
    const tags = [(await agent.get(path)).headers.etag];
    for (const [status, total] of [
      ['cancelled', 0],
      ['scheduled', 1],
      ['cancelled', 0],
    ] as const) {
      const { body, headers } = await agent.patch(path, { status });
      assert.equal(body.status, status === 'cancelled' ? status : undefined);
      assert.equal((await agent.nearby({ ...place, radius: 1 })).total, total);
      assert.equal((await agent.nearby({ ...place, radius: 1, status: 'cancelled' })).total, 1 - total);
      assert.equal((await agent.nearby({ ...place, radius: 1, status: 'any' })).total, 1);
      assert.ok(!tags.includes(headers.etag));
      tags.push(headers.etag);
    }
    const same = await agent.patch(path, { status: 'cancelled' });
    assert.equal(same.headers.etag, tags.at(-1));
    assert.equal((await agent.patch(path, { cost: 'free' })).body.status, 'cancelled');
  });

  it('is what a repeated create returns, and a status is no other event', async () => {
    const body = newEvent();
    const { event_id } = await agent.create(body);
    await agent.patch(`/v1/events/${event_id}`, { status: 'cancelled' });
    for (const fields of [{}, { status: 'scheduled' }, { status: 'cancelled' }] as Fields[]) {
      const { body: found, headers } = await agent.post('/v1/events', { ...body, ...fields });
      assert.deepEqual([found.event_id, found.status], [event_id, 'cancelled']);
      assert.equal(headers['idempotent-replayed'], 'true');
    }
  });

  it('is a cancelled event in the other formats', async () => {
    const path = `/v1/events/${cancelled.event_id}?format=`;
    assert.match((await agent.get(`${path}ics`)).text, /\r\nSTATUS:CANCELLED\r\n/);
    assert.equal((await agent.get(`${path}jsonld`)).body.eventStatus, 'https://schema.org/EventCancelled');
    const others = `/v1/events/${scheduled.event_id}?format=`;
    assert.match((await agent.get(`${others}ics`)).text, /\r\nSTATUS:CONFIRMED\r\n/);
    assert.equal((await agent.get(`${others}jsonld`)).body.eventStatus, 'https://schema.org/EventScheduled');
    const found = await agent.get('/v1/events/nearby', { ...near, status: 'cancelled', format: 'ics' });
    assert.deepEqual(found.text.match(/STATUS:\w+/g), ['STATUS:CANCELLED']);
  });

  it('has no other status, and null is none', async () => {
    const { event_id } = scheduled;
    for (const [status, type] of [
      [null, 'string_type'],
      ['postponed', 'enum'],
      ['', 'enum'],
    ]) {
      assertInvalid(await agent.post('/v1/events', newEvent({ status })), [`body.status: ${type}`]);
      assertInvalid(await agent.patch(`/v1/events/${event_id}`, { status }), [`body.status: ${type}`]);
    }
    assertInvalid(await agent.get('/v1/events/nearby', { ...near, status: 'all' }), ['query.status: enum']);
  });
});

describe('include=status and include=updated_at', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  it('add the status, and when the event last changed: at first, when it was created', async () => {
    const event = await agent.create(newEvent());
    const path = `/v1/events/${event.event_id}`;
    const read = async () => (await agent.get(`${path}?include=status,updated_at`)).body;
    assert.deepEqual(await read(), { ...event, status: 'scheduled', updated_at: event.created_at });
    const changed = (await agent.patch(path, { cost: 'free' })).body;
    assert.deepEqual({ ...changed, cost: null }, event);
    const { updated_at } = await read();
    assert.ok(updated_at > event.created_at);
    await agent.patch(path, { cost: 'free' });
    assert.equal((await read()).updated_at, updated_at);
    await agent.patch(path, { status: 'cancelled' });
    const last = await read();
    assert.ok(last.updated_at > updated_at);
    assert.equal(last.status, 'cancelled');
  });

  it('are the same on reads, searches and lists, with the other names, and in GeoJSON', async () => {
    const other = await newAgent();
    const place = randomPlace();
    const { event_id } = await other.create(newEvent(place));
    await other.patch(`/v1/events/${event_id}`, { cost: 'free' });
    const include = 'updated_at,local,status';
    const read = (await other.get(`/v1/events/${event_id}?include=${include}`)).body;
    assert.deepEqual(Object.keys(read).slice(-4), ['status', 'updated_at', 'start_local', 'end_local']);
    assert.deepEqual((await other.get(`/v1/agents/me/events?include=${include}`)).body.events, [read]);
    const near = { ...place, radius: 1 };
    assert.deepEqual((await other.nearby({ ...near, include: include.split(',') })).events, [read]);
    const found = { ...read, distance_miles: 0 };
    assert.deepEqual((await other.nearby({ ...near, include: `distance,${include}` })).events, [found]);
    const { features } = (await other.get('/v1/events/nearby', { ...near, include, format: 'geojson' })).body;
    const { lat, lng, ...properties } = read;
    assert.deepEqual(features[0].properties, properties);
  });

  it('change nothing else: without them, responses have the same bytes as before', async () => {
    const { event_id } = await agent.create(newEvent());
    const path = `/v1/events/${event_id}`;
    const plain = (await agent.get(path)).text;
    const included = (await agent.get(`${path}?include=status&include=updated_at`)).text;
    const added = /,"status":"scheduled","updated_at":"[\d\-T:.]+Z"\}$/;
    assert.match(included, added);
    assert.equal(included.replace(added, '}'), plain);
  });

  it('reach iCalendar and JSON-LD', async () => {
    const { event_id } = await agent.create(newEvent());
    const path = `/v1/events/${event_id}`;
    for (const cost of ['1', '2']) await agent.patch(path, { cost });
    const { updated_at } = (await agent.get(`${path}?include=updated_at`)).body;
    const { text } = await agent.get(`${path}?format=ics`);
    const stamp = `${updated_at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    for (const line of [`DTSTAMP:${stamp}`, `LAST-MODIFIED:${stamp}`, 'SEQUENCE:2'])
      assert.ok(text.includes(`\r\n${line}\r\n`), line);
    assert.equal((await agent.get(`${path}?format=jsonld`)).body.dateModified, updated_at);
  });

  it('show an end three hours after the start in iCalendar if there is none, and say so', async () => {
    const { event_id } = await agent.create(newEvent({ start_at: '2031-05-01T22:30:00Z' }));
    const { text } = await agent.get(`/v1/events/${event_id}?format=ics`);
    assert.ok(text.includes('\r\nDTEND:20310502T013000Z\r\n'));
    assert.ok(text.includes('\r\nX-LOCAL-EVENTS-END-ASSUMED:TRUE\r\n'));
  });
});
