// Date-times in a create, in an update and in a search.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type Agent, newAgent } from './client.ts';
import { assertInvalid, iso, newEvent, ownDay } from './samples.ts';

const BERLIN = 'Europe/Berlin';

/** The date-time sent, the timezone of the event, and the instant returned. */
const READ: [name: string, sent: string, timezone: string, instant: string][] = [
  ['Z', '2031-05-01T18:00:00Z', BERLIN, '2031-05-01T18:00:00.000Z'],
  ['an offset to the east', '2031-05-01T18:00:00+02:00', 'UTC', '2031-05-01T16:00:00.000Z'],
  ['an offset to the west with minutes', '2031-05-01T18:00:00-03:30', 'UTC', '2031-05-01T21:30:00.000Z'],
  ['an offset of zero', '2031-05-01T18:00:00+00:00', BERLIN, '2031-05-01T18:00:00.000Z'],
  ['a negative offset of zero', '2031-05-01T18:00:00-00:00', BERLIN, '2031-05-01T18:00:00.000Z'],
  ['the largest offset', '2031-05-01T18:00:00+23:59', 'UTC', '2031-04-30T18:01:00.000Z'],
  ['an offset that changes the year', '2031-01-01T00:30:00+01:00', 'UTC', '2030-12-31T23:30:00.000Z'],
  ['no seconds, in UTC', '2031-05-01T18:00Z', BERLIN, '2031-05-01T18:00:00.000Z'],
  ['no seconds, with an offset', '2031-05-01T18:05-03:30', 'UTC', '2031-05-01T21:35:00.000Z'],
  ['no seconds, in local time', '2031-07-01T18:59', BERLIN, '2031-07-01T16:59:00.000Z'],
  ['no seconds, in an hour that DST skips', '2031-03-30T02:30', BERLIN, '2031-03-30T01:30:00.000Z'],
  ['a tenth of a second', '2031-05-01T18:00:00.1Z', 'UTC', '2031-05-01T18:00:00.100Z'],
  ['milliseconds', '2031-05-01T18:00:00.123Z', 'UTC', '2031-05-01T18:00:00.123Z'],
  ['a fraction that is cut, not rounded', '2031-05-01T18:00:00.9999Z', 'UTC', '2031-05-01T18:00:00.999Z'],
  [
    'five hundred digits of a second',
    `2031-05-01T18:00:00.${'9'.repeat(500)}Z`,
    'UTC',
    '2031-05-01T18:00:00.999Z',
  ],
  ['twenty digits of a second', `2031-05-01T18:00:00.${'12'.repeat(10)}Z`, 'UTC', '2031-05-01T18:00:00.121Z'],
  ['a fraction before 1970', '1961-05-01T18:00:00.1239Z', 'UTC', '1961-05-01T18:00:00.123Z'],
  ['a leap day', '2032-02-29T12:00:00Z', 'UTC', '2032-02-29T12:00:00.000Z'],
  ['the leap day of a century', '2400-02-29T12:00:00Z', 'UTC', '2400-02-29T12:00:00.000Z'],
  ['the first instant', '0001-01-01T00:00:00Z', 'UTC', '0001-01-01T00:00:00.000Z'],
  ['the last instant', '9999-12-31T23:59:59.999Z', 'UTC', '9999-12-31T23:59:59.999Z'],
  ['a year below 100', '0099-06-01T00:00:00Z', 'UTC', '0099-06-01T00:00:00.000Z'],
  ['local time in summer', '2031-07-01T18:00:00', BERLIN, '2031-07-01T16:00:00.000Z'],
  ['local time in winter', '2031-01-15T18:00:00', BERLIN, '2031-01-15T17:00:00.000Z'],
  ['local time with a fraction', '2031-07-01T18:00:00.5', BERLIN, '2031-07-01T16:00:00.500Z'],
  ['local time in UTC', '2031-07-01T18:00:00', 'UTC', '2031-07-01T18:00:00.000Z'],
  ['local time at a half-hour offset', '2031-07-01T18:00:00', 'Asia/Kolkata', '2031-07-01T12:30:00.000Z'],
  ['local time in an hour that DST skips', '2031-03-30T02:30:00', BERLIN, '2031-03-30T01:30:00.000Z'],
  ['local time in an hour that DST repeats', '2031-10-26T02:30:00', BERLIN, '2031-10-26T00:30:00.000Z'],
  ['local time on a day that is skipped', '2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'],
  ['local mean time', '1800-01-01T00:00:00', BERLIN, '1799-12-31T23:06:32.000Z'],
  ['a gap of half an hour', '2024-10-06T02:15:00', 'Australia/Lord_Howe', '2024-10-05T15:45:00.000Z'],
  [
    'local time in an hour that DST skips in New York',
    '2031-03-09T02:30:00',
    'America/New_York',
    '2031-03-09T07:30:00.000Z',
  ],
];

/** Values that are refused as a date-time, in a body and in a query. */
const REFUSED: [name: string, sent: string][] = [
  ['a date alone', '2031-05-01'],
  ['a time alone', '18:00:00Z'],
  ['no minutes', '2031-05-01T18Z'],
  ['a colon without seconds', '2031-05-01T18:00:Z'],
  ['a fraction of a minute', '2031-05-01T18:00.5Z'],
  ['one digit of seconds', '2031-05-01T18:00:0Z'],
  ['a space for T', '2031-05-01 18:00:00Z'],
  ['t in lower case', '2031-05-01t18:00:00Z'],
  ['z in lower case', '2031-05-01T18:00:00z'],
  ['month 0', '2031-00-01T18:00:00Z'],
  ['month 13', '2031-13-01T18:00:00Z'],
  ['day 0', '2031-05-00T18:00:00Z'],
  ['the 31st of April', '2031-04-31T18:00:00Z'],
  ['the 29th of February in a common year', '2031-02-29T18:00:00Z'],
  ['the 29th of February of 2100', '2100-02-29T18:00:00Z'],
  ['hour 24', '2031-05-01T24:00:00Z'],
  ['minute 60', '2031-05-01T18:60:00Z'],
  ['second 60', '2031-06-30T23:59:60Z'],
  ['a point without a fraction', '2031-05-01T18:00:00.Z'],
  ['a comma', '2031-05-01T18:00:00,5Z'],
  ['an offset without minutes', '2031-05-01T18:00:00-02'],
  ['an offset without a colon', '2031-05-01T18:00:00-0200'],
  ['an offset of 24 hours', '2031-05-01T18:00:00-24:00'],
  ['an offset of 60 minutes', '2031-05-01T18:00:00-01:60'],
  ['Z and an offset', '2031-05-01T18:00:00Z-01:00'],
  ['a timezone in brackets', '2031-05-01T18:00:00Z[UTC]'],
  ['a year of two digits', '31-05-01T18:00:00Z'],
  ['a year of five digits', '12031-05-01T18:00:00Z'],
  ['a basic format', '20310501T180000Z'],
  ['a week date', '2031-W18-4T18:00:00Z'],
  ['an ordinal date', '2031-121T18:00:00Z'],
  ['a year with a sign', '+002031-05-01T18:00:00Z'],
  ['an offset with seconds', '2031-05-01T18:00:00-02:00:00'],
  ['an offset with the sign minus', '2031-05-01T18:00:00\u221202:00'],
  ['a line end after it', '2031-05-01T18:00:00Z\n'],
  ['a fraction in two parts', '2031-05-01T18:00:00.5.5Z'],
  ['a space before it', ' 2031-05-01T18:00:00Z'],
  ['a space after it', '2031-05-01T18:00:00Z '],
  ['digits of another script', '２０３１-05-01T18:00:00Z'],
  ['seconds since 1970', '1935511200'],
  ['words', 'tomorrow'],
  ['nothing', ''],
  ['the year 0000', '0000-12-31T23:59:59Z'],
  ['an instant before the year 0001', '0001-01-01T00:59:59+01:00'],
  ['an instant after the year 9999', '9999-12-31T23:00:00-01:00'],
];

describe('date-times', () => {
  let agent: Agent;
  before(async () => {
    agent = await newAgent();
  });

  describe('in a create', () => {
    for (const [name, start_at, timezone, instant] of READ) {
      it(`reads ${name}`, async () => {
        const event = await agent.create(newEvent({ start_at, timezone }));
        assert.equal(event.start_at, instant);
        assert.equal(event.timezone, timezone);
      });
    }

    it('reads end_at by the same rules', async () => {
      const times = { start_at: '2031-07-01T18:00:00', end_at: '2031-07-01T20:30:00.9999' };
      const event = await agent.create(newEvent({ ...times, timezone: 'America/New_York' }));
      assert.equal(event.start_at, '2031-07-01T22:00:00.000Z');
      assert.equal(event.end_at, '2031-07-02T00:30:00.999Z');
    });

    for (const [name, start_at] of REFUSED) {
      it(`refuses ${name}`, async () => {
        assertInvalid(await agent.post('/v1/events', newEvent({ start_at })), [
          'body.start_at: datetime_parsing',
        ]);
      });
    }

    it('refuses for end_at what it refuses for start_at', async () => {
      for (const [name, end_at] of REFUSED) {
        const answer = await agent.post('/v1/events', newEvent({ start_at: '2001-01-01T00:00:00Z', end_at }));
        assert.equal(answer.status, 422, name);
        assert.deepEqual(answer.body.detail[0].loc, ['body', 'end_at'], name);
      }
    });

    const localEdges: [name: string, start_at: string, timezone: string][] = [
      ['before the year 0001', '0001-01-01T00:00:00', 'Asia/Tokyo'],
      ['after the year 9999', '9999-12-31T23:59:59', 'America/New_York'],
    ];
    for (const [name, start_at, timezone] of localEdges) {
      it(`refuses local time that lies ${name} in UTC`, async () => {
        const answer = await agent.post('/v1/events', newEvent({ start_at, timezone }));
        assertInvalid(answer, ['body.start_at: datetime_parsing']);
      });
    }
  });

  describe('in an update', () => {
    it('reads local time in the stored timezone', async () => {
      const { event_id } = await agent.create(newEvent({ timezone: 'Asia/Tokyo' }));
      const times = { start_at: '2031-07-01T18:00:00', end_at: '2031-07-01T19:00:00' };
      const event = await agent.update(event_id, times);
      assert.equal(event.start_at, '2031-07-01T09:00:00.000Z');
      assert.equal(event.end_at, '2031-07-01T10:00:00.000Z');
    });

    it('reads local time in a timezone sent with it', async () => {
      const { event_id } = await agent.create(newEvent({ timezone: 'Asia/Tokyo' }));
      const event = await agent.update(event_id, { start_at: '2031-07-01T18:00:00', timezone: BERLIN });
      assert.equal(event.start_at, '2031-07-01T16:00:00.000Z');
      assert.equal(event.timezone, BERLIN);
    });

    it('keeps the instants if only the timezone changes', async () => {
      const sent = newEvent({
        start_at: '2031-07-01T18:00:00',
        end_at: '2031-07-01T19:00:00',
        timezone: BERLIN,
      });
      const stored = await agent.create(sent);
      const event = await agent.update(stored.event_id, { timezone: 'Asia/Tokyo' });
      assert.deepEqual(event, { ...stored, timezone: 'Asia/Tokyo' });
    });

    for (const [name, start_at] of REFUSED) {
      it(`refuses ${name}`, async () => {
        const { event_id } = await agent.create(newEvent());
        const answer = await agent.patch(`/v1/events/${event_id}`, { start_at });
        assertInvalid(answer, ['body.start_at: datetime_parsing']);
      });
    }

    it('refuses local time that lies outside the years in the stored timezone', async () => {
      const { event_id } = await agent.create(newEvent({ timezone: 'America/New_York' }));
      const answer = await agent.patch(`/v1/events/${event_id}`, { start_at: '9999-12-31T23:59:59' });
      assertInvalid(answer, ['body.start_at: datetime_parsing']);
    });
  });

  describe('in a search', () => {
    const search = (query: Record<string, string>) =>
      agent.get('/v1/events/nearby', { lat: 0, lng: 0, limit: 1, ...query });

    it('are UTC without an offset, and may have offsets and fractions', async () => {
      const { startMs } = ownDay();
      const { event_id } = await agent.create(newEvent({ start_at: iso(startMs) }));
      const utc = iso(startMs).slice(0, -1);
      const east = iso(startMs + 5.5 * 3_600_000).replace('Z', '+05:30');
      const west = iso(startMs - 3_600_000).replace('Z', '-01:00');
      const withoutSeconds = [`${utc.slice(0, 16)}Z`, utc.slice(0, 16), east.replace(':00.000', '')];
      for (const starts_after of [`${utc}Z`, utc, east, west, `${utc}999Z`, ...withoutSeconds]) {
        const page = await agent.nearby({ starts_after, starts_before: iso(startMs + 1) });
        assert.equal(page.events[0]?.event_id, event_id, starts_after);
        assert.equal((await agent.nearby({ starts_after, starts_before: starts_after })).total, 0);
      }
    });

    for (const field of ['starts_after', 'starts_before']) {
      for (const [name, value] of REFUSED) {
        it(`refuses ${name} as ${field}`, async () => {
          assertInvalid(await search({ [field]: value }), [`query.${field}: datetime_parsing`]);
        });
      }

      it(`suggests %2B if the plus of an offset in ${field} became a space`, async () => {
        const answer = await agent.send(
          'GET',
          `/v1/events/nearby?lat=0&lng=0&${field}=2031-05-01T18:00:00+02:00`,
        );
        assertInvalid(answer, [`query.${field}: datetime_parsing`]);
        assert.match(answer.body.detail[0].msg, /%2B/);
      });
    }

    it('may lack seconds in every parameter', async () => {
      const times = { starts_after: '2031-05-01T18:00', active_before: '2031-05-01T18:01+02:00' };
      assert.equal((await search(times)).status, 200);
      const raw = await agent.send(
        'GET',
        '/v1/events/nearby?lat=0&lng=0&starts_after=2031-05-01T18:00+02:00',
      );
      assert.match(raw.body.detail[0].msg, /%2B/);
    });

    it('takes the first and the last instant', async () => {
      const answer = await search({
        starts_after: '0001-01-01T00:00:00Z',
        starts_before: '9999-12-31T23:59:59.999Z',
      });
      assert.equal(answer.status, 200);
    });
  });

  it('are shown as local time in an error about a body, without the hint about queries', async () => {
    const answer = await agent.post('/v1/events', { ...newEvent(), start_at: '2031-05-01T18:00:00 02:00' });
    assertInvalid(answer, ['body.start_at: datetime_parsing']);
    assert.match(answer.body.detail[0].msg, /2031-05-01T18:00:00 \(local to timezone\)/);
    assert.doesNotMatch(answer.body.detail[0].msg, /%2B/);
  });
});
