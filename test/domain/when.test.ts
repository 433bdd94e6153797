// The intervals that words name, against a table written by hand: local times with their offsets, as a calendar on the wall shows them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commonInterval, localInterval, WHENS, type When } from '../../src/domain/events/when.ts';
import { intervalOf, TIMEZONES } from '../memory/search-oracle.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';

type Span = readonly [from: string, before: string];

interface Row {
  readonly what: string;
  readonly timezone: string;
  readonly now: string;
  readonly today: Span;
  readonly tonight: Span;
  readonly tomorrow: Span;
  readonly this_weekend: Span;
}

const TABLE: readonly Row[] = [
  {
    what: 'a Monday at noon',
    timezone: 'UTC',
    now: '2026-11-16T12:00Z',
    today: ['2026-11-16T00:00Z', '2026-11-17T00:00Z'],
    tonight: ['2026-11-16T17:00Z', '2026-11-17T04:00Z'],
    tomorrow: ['2026-11-17T00:00Z', '2026-11-18T00:00Z'],
    this_weekend: ['2026-11-21T00:00Z', '2026-11-23T00:00Z'],
  },
  {
    what: 'the day before a day of 23 hours',
    timezone: 'Europe/Berlin',
    now: '2026-03-28T12:00+01:00',
    today: ['2026-03-28T00:00+01:00', '2026-03-29T00:00+01:00'],
    tonight: ['2026-03-28T17:00+01:00', '2026-03-29T04:00+02:00'],
    tomorrow: ['2026-03-29T00:00+01:00', '2026-03-30T00:00+02:00'],
    this_weekend: ['2026-03-28T00:00+01:00', '2026-03-30T00:00+02:00'],
  },
  {
    what: 'half an hour after the clock was set forward',
    timezone: 'Europe/Berlin',
    now: '2026-03-29T03:30+02:00',
    today: ['2026-03-29T00:00+01:00', '2026-03-30T00:00+02:00'],
    tonight: ['2026-03-28T17:00+01:00', '2026-03-29T04:00+02:00'],
    tomorrow: ['2026-03-30T00:00+02:00', '2026-03-31T00:00+02:00'],
    this_weekend: ['2026-03-28T00:00+01:00', '2026-03-30T00:00+02:00'],
  },
  {
    what: 'the first 02:30 of a day of 25 hours',
    timezone: 'Europe/Berlin',
    now: '2026-10-25T02:30+02:00',
    today: ['2026-10-25T00:00+02:00', '2026-10-26T00:00+01:00'],
    tonight: ['2026-10-24T17:00+02:00', '2026-10-25T04:00+01:00'],
    tomorrow: ['2026-10-26T00:00+01:00', '2026-10-27T00:00+01:00'],
    this_weekend: ['2026-10-24T00:00+02:00', '2026-10-26T00:00+01:00'],
  },
  {
    what: 'the second 02:30 of that day',
    timezone: 'Europe/Berlin',
    now: '2026-10-25T02:30+01:00',
    today: ['2026-10-25T00:00+02:00', '2026-10-26T00:00+01:00'],
    tonight: ['2026-10-24T17:00+02:00', '2026-10-25T04:00+01:00'],
    tomorrow: ['2026-10-26T00:00+01:00', '2026-10-27T00:00+01:00'],
    this_weekend: ['2026-10-24T00:00+02:00', '2026-10-26T00:00+01:00'],
  },
  {
    what: 'a Sunday on which the clock was set forward',
    timezone: 'America/New_York',
    now: '2026-03-08T03:15-04:00',
    today: ['2026-03-08T00:00-05:00', '2026-03-09T00:00-04:00'],
    tonight: ['2026-03-07T17:00-05:00', '2026-03-08T04:00-04:00'],
    tomorrow: ['2026-03-09T00:00-04:00', '2026-03-10T00:00-04:00'],
    this_weekend: ['2026-03-07T00:00-05:00', '2026-03-09T00:00-04:00'],
  },
  {
    what: 'the last second of a Sunday on which the clock was set back',
    timezone: 'America/New_York',
    now: '2026-11-01T23:59:59-05:00',
    today: ['2026-11-01T00:00-04:00', '2026-11-02T00:00-05:00'],
    tonight: ['2026-11-01T17:00-05:00', '2026-11-02T04:00-05:00'],
    tomorrow: ['2026-11-02T00:00-05:00', '2026-11-03T00:00-05:00'],
    this_weekend: ['2026-10-31T00:00-04:00', '2026-11-02T00:00-05:00'],
  },
  {
    what: 'west of the date line, where it is Monday already',
    timezone: 'Pacific/Kiritimati',
    now: '2026-11-15T10:30Z',
    today: ['2026-11-16T00:00+14:00', '2026-11-17T00:00+14:00'],
    tonight: ['2026-11-15T17:00+14:00', '2026-11-16T04:00+14:00'],
    tomorrow: ['2026-11-17T00:00+14:00', '2026-11-18T00:00+14:00'],
    this_weekend: ['2026-11-21T00:00+14:00', '2026-11-23T00:00+14:00'],
  },
  {
    what: 'east of the date line at the same instant, where it is still Saturday',
    timezone: 'Pacific/Pago_Pago',
    now: '2026-11-15T10:30Z',
    today: ['2026-11-14T00:00-11:00', '2026-11-15T00:00-11:00'],
    tonight: ['2026-11-14T17:00-11:00', '2026-11-15T04:00-11:00'],
    tomorrow: ['2026-11-15T00:00-11:00', '2026-11-16T00:00-11:00'],
    this_weekend: ['2026-11-14T00:00-11:00', '2026-11-16T00:00-11:00'],
  },
  {
    what: 'the day before a day that was left out at the date line: tomorrow is empty',
    timezone: 'Pacific/Apia',
    now: '2011-12-29T12:00-10:00',
    today: ['2011-12-29T00:00-10:00', '2011-12-31T00:00+14:00'],
    tonight: ['2011-12-29T17:00-10:00', '2011-12-31T04:00+14:00'],
    tomorrow: ['2011-12-31T00:00+14:00', '2011-12-31T00:00+14:00'],
    this_weekend: ['2011-12-31T00:00+14:00', '2012-01-02T00:00+14:00'],
  },
  {
    what: 'the day before one that begins at 01:00',
    timezone: 'America/Havana',
    now: '2026-03-07T20:00-05:00',
    today: ['2026-03-07T00:00-05:00', '2026-03-08T01:00-04:00'],
    tonight: ['2026-03-07T17:00-05:00', '2026-03-08T04:00-04:00'],
    tomorrow: ['2026-03-08T01:00-04:00', '2026-03-09T00:00-04:00'],
    this_weekend: ['2026-03-07T00:00-05:00', '2026-03-09T00:00-04:00'],
  },
  {
    what: 'a day with midnight twice, after the second one',
    timezone: 'America/Havana',
    now: '2026-11-01T00:30-05:00',
    today: ['2026-11-01T00:00-04:00', '2026-11-02T00:00-05:00'],
    tonight: ['2026-10-31T17:00-04:00', '2026-11-01T04:00-05:00'],
    tomorrow: ['2026-11-02T00:00-05:00', '2026-11-03T00:00-05:00'],
    this_weekend: ['2026-10-31T00:00-04:00', '2026-11-02T00:00-05:00'],
  },
  {
    what: 'the last millisecond of a night',
    timezone: 'Asia/Kathmandu',
    now: '2026-11-20T03:59:59.999+05:45',
    today: ['2026-11-20T00:00+05:45', '2026-11-21T00:00+05:45'],
    tonight: ['2026-11-19T17:00+05:45', '2026-11-20T04:00+05:45'],
    tomorrow: ['2026-11-21T00:00+05:45', '2026-11-22T00:00+05:45'],
    this_weekend: ['2026-11-21T00:00+05:45', '2026-11-23T00:00+05:45'],
  },
  {
    what: 'the end of a night',
    timezone: 'Asia/Kathmandu',
    now: '2026-11-20T04:00+05:45',
    today: ['2026-11-20T00:00+05:45', '2026-11-21T00:00+05:45'],
    tonight: ['2026-11-20T17:00+05:45', '2026-11-21T04:00+05:45'],
    tomorrow: ['2026-11-21T00:00+05:45', '2026-11-22T00:00+05:45'],
    this_weekend: ['2026-11-21T00:00+05:45', '2026-11-23T00:00+05:45'],
  },
  {
    what: 'a Sunday on which the clock was set forward by half an hour',
    timezone: 'Australia/Lord_Howe',
    now: '2026-10-04T12:00+11:00',
    today: ['2026-10-04T00:00+10:30', '2026-10-05T00:00+11:00'],
    tonight: ['2026-10-04T17:00+11:00', '2026-10-05T04:00+11:00'],
    tomorrow: ['2026-10-05T00:00+11:00', '2026-10-06T00:00+11:00'],
    this_weekend: ['2026-10-03T00:00+10:30', '2026-10-05T00:00+11:00'],
  },
  {
    what: 'the begin of a night on a Saturday',
    timezone: 'America/St_Johns',
    now: '2026-07-04T17:00-02:30',
    today: ['2026-07-04T00:00-02:30', '2026-07-05T00:00-02:30'],
    tonight: ['2026-07-04T17:00-02:30', '2026-07-05T04:00-02:30'],
    tomorrow: ['2026-07-05T00:00-02:30', '2026-07-06T00:00-02:30'],
    this_weekend: ['2026-07-04T00:00-02:30', '2026-07-06T00:00-02:30'],
  },
  {
    what: 'a minute before midnight is left out',
    timezone: 'America/Santiago',
    now: '2026-09-05T23:59-04:00',
    today: ['2026-09-05T00:00-04:00', '2026-09-06T01:00-03:00'],
    tonight: ['2026-09-05T17:00-04:00', '2026-09-06T04:00-03:00'],
    tomorrow: ['2026-09-06T01:00-03:00', '2026-09-07T00:00-03:00'],
    this_weekend: ['2026-09-05T00:00-04:00', '2026-09-07T00:00-03:00'],
  },
  {
    what: 'the second 23:30 of a Saturday',
    timezone: 'America/Santiago',
    now: '2026-04-04T23:30-04:00',
    today: ['2026-04-04T00:00-03:00', '2026-04-05T00:00-04:00'],
    tonight: ['2026-04-04T17:00-03:00', '2026-04-05T04:00-04:00'],
    tomorrow: ['2026-04-05T00:00-04:00', '2026-04-06T00:00-04:00'],
    this_weekend: ['2026-04-04T00:00-03:00', '2026-04-06T00:00-04:00'],
  },
  {
    what: 'a Friday before a weekend with a clock change at 02:45',
    timezone: 'Pacific/Chatham',
    now: '2026-09-25T10:00+12:45',
    today: ['2026-09-25T00:00+12:45', '2026-09-26T00:00+12:45'],
    tonight: ['2026-09-25T17:00+12:45', '2026-09-26T04:00+12:45'],
    tomorrow: ['2026-09-26T00:00+12:45', '2026-09-27T00:00+12:45'],
    this_weekend: ['2026-09-26T00:00+12:45', '2026-09-28T00:00+13:45'],
  },
  {
    what: 'the last second of a year',
    timezone: 'Asia/Kolkata',
    now: '2026-12-31T23:59:59+05:30',
    today: ['2026-12-31T00:00+05:30', '2027-01-01T00:00+05:30'],
    tonight: ['2026-12-31T17:00+05:30', '2027-01-01T04:00+05:30'],
    tomorrow: ['2027-01-01T00:00+05:30', '2027-01-02T00:00+05:30'],
    this_weekend: ['2027-01-02T00:00+05:30', '2027-01-04T00:00+05:30'],
  },
];

const LOCAL = ['today', 'tonight', 'tomorrow', 'this_weekend'] as const;

describe('localInterval', () => {
  for (const row of TABLE) {
    it(`${row.timezone}, ${row.now}: ${row.what}`, () => {
      for (const when of LOCAL) {
        const { fromMs, beforeMs } = localInterval(when, Date.parse(row.now), row.timezone);
        const shown = [fromMs, beforeMs].map((ms) => new Date(ms).toISOString());
        const expected = row[when].map((time) => new Date(time).toISOString());
        assert.deepEqual(shown, expected, when);
      }
    });
  }

  it('is the same until it says, and for all timezones what trying offsets finds', () => {
    const chance = new Chance(5);
    for (let count = 0; count < size(400, 20_000); count++) {
      const timezone = chance.pick(TIMEZONES);
      const when = chance.pick(LOCAL);
      const nowMs = chance.integer(Date.UTC(2009), Date.UTC(2034));
      const { fromMs, beforeMs, untilMs } = localInterval(when, nowMs, timezone);
      assert.ok(untilMs > nowMs);
      for (const laterMs of [nowMs, chance.integer(nowMs, untilMs - 1), untilMs - 1]) {
        const where = `${when} ${timezone} ${new Date(laterMs).toISOString()}`;
        assert.deepEqual(intervalOf(when, laterMs, timezone), [fromMs, beforeMs], where);
      }
    }
  });

  it('ends to be the same when a clock change leads back to the day before', () => {
    const nowMs = Date.parse('2010-11-07T00:00:30-02:30');
    const { fromMs, untilMs } = localInterval('today', nowMs, 'America/St_Johns');
    assert.equal(fromMs, Date.parse('2010-11-07T00:00-02:30'));
    assert.equal(untilMs, Date.parse('2010-11-07T00:01-02:30'));
    const after = localInterval('today', untilMs, 'America/St_Johns');
    assert.equal(after.fromMs, Date.parse('2010-11-06T00:00-02:30'));
  });
});

describe('commonInterval', () => {
  it('has the words that mean the same everywhere', () => {
    const nowMs = Date.parse('2026-11-16T12:00Z');
    const found = WHENS.flatMap((when: When): [When, unknown][] => {
      const interval = commonInterval(when, nowMs);
      return interval ? [[when, interval]] : [];
    });
    assert.deepEqual(found, [
      ['now', { fromMs: nowMs, beforeMs: nowMs + 1 }],
      ['next_7_days', { fromMs: nowMs, beforeMs: Date.parse('2026-11-23T12:00Z') }],
    ]);
  });
});
