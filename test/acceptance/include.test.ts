// include=local: the times of an event with the offset of its timezone, on searches, reads and lists of own events.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { assertInvalid, newEvent, ownDay, randomPlace } from './samples.ts';

/** Timezone, the date-time sent, and the local time returned. */
const LOCAL: [timezone: string, sent: string, local: string][] = [
  ['Europe/Berlin', '2031-05-01T18:00:00', '2031-05-01T18:00:00+02:00'],
  ['Europe/Berlin', '2031-12-01T18:00:00Z', '2031-12-01T19:00:00+01:00'],
  ['America/St_Johns', '2031-05-01T18:00:00.250', '2031-05-01T18:00:00.250-02:30'],
  ['Asia/Kathmandu', '2031-05-01T00:00:00', '2031-05-01T00:00:00+05:45'],
  ['Pacific/Kiritimati', '2031-05-01T00:30:00Z', '2031-05-01T14:30:00+14:00'],
  ['UTC', '2031-05-01T18:00:00', '2031-05-01T18:00:00+00:00'],
  ['America/New_York', '2031-11-02T05:30:00Z', '2031-11-02T01:30:00-04:00'],
  ['America/New_York', '2031-11-02T06:30:00Z', '2031-11-02T01:30:00-05:00'],
  ['America/New_York', '1880-01-01T00:00:00Z', '1879-12-31T19:04:00-04:56'], // 4:56:02
  ['Asia/Tokyo', '9999-12-31T23:00:00Z', '9999-12-31T23:00:00.000Z'], // local time is in the year 10000
];

describe('include=local', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  for (const [timezone, start_at, local] of LOCAL) {
    it(`shows ${start_at} in ${timezone} as ${local}, the same instant`, async () => {
      const event = await agent.create(newEvent({ start_at, timezone }));
      const { body } = await agent.get(`/v1/events/${event.event_id}?include=local`);
      assert.deepEqual(body, { ...event, start_local: local, end_local: null });
      assert.equal(Date.parse(body.start_local), Date.parse(event.start_at));
    });
  }

  it('shows the end, too', async () => {
    const times = {
      start_at: '2031-10-26T00:30:00Z',
      end_at: '2031-10-26T01:30:00Z',
      timezone: 'Europe/Berlin',
    };
    const { event_id } = await agent.create(newEvent(times));
    const { body } = await agent.get(`/v1/events/${event_id}?include=local`);
    assert.deepEqual(
      [body.start_local, body.end_local],
      ['2031-10-26T02:30:00+02:00', '2031-10-26T02:30:00+01:00'],
    );
  });

  it('is the same on reads, searches and lists, alone and with distance, repeated and separated by commas', async () => {
    const other = await newAgent();
    const day = ownDay();
    const place = randomPlace();
    const event = await other.create(newEvent({ ...place, start_at: day.starts_after }));
    const read = (await other.get(`/v1/events/${event.event_id}?include=local`)).body;
    assert.deepEqual((await other.get('/v1/agents/me/events?include=local')).body.events, [read]);
    const search = async (include: string | string[]) =>
      (await other.nearby({ ...place, ...day, include })).events;
    assert.deepEqual(await search('local'), [read]);
    const both = [{ ...read, distance_miles: 0 }];
    for (const include of [['local', 'distance'], ['distance', 'local'], 'distance,local']) {
      assert.deepEqual(await search(include), both);
    }
    assert.deepEqual(await search('distance'), [{ ...event, distance_miles: 0 }]);
  });

  it('is a property of GeoJSON', async () => {
    const { event_id } = await agent.create(newEvent());
    const path = `/v1/events/${event_id}?include=local`;
    const { start_local, end_local } = (await agent.get(path)).body;
    const { properties } = (await agent.get(`${path}&format=geojson`)).body;
    assert.deepEqual([properties.start_local, properties.end_local], [start_local, end_local]);
  });

  it('is refused if it names something else', async () => {
    const { event_id } = await agent.create(newEvent());
    const paths = [`/v1/events/${event_id}?`, '/v1/agents/me/events?', '/v1/events/nearby?lat=0&lng=0&'];
    for (const path of paths) {
      assertInvalid(await agent.get(`${path}include=locale`), ['query.include.0: enum']);
      assertInvalid(await agent.get(`${path}include=local,`), ['query.include.1: enum']);
    }
    // A distance needs a centre.
    assertInvalid(await agent.get(`${paths[0]}include=distance`), ['query.include.0: enum']);
  });
});
