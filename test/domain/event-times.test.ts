// The times of a new event: when they are refused, which instant they mean, and when the event has ended.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASSUMED_DURATION_MS, endsMs } from '../../src/domain/events/event.ts';
import { readEventCreate } from '../../src/domain/events/event-input.ts';
import { refusals } from './refusals.ts';

const NOW_MS = Date.parse('2030-06-01T12:00:00.500Z');
const BODY = {
  title: 'Lantern workshop',
  start_at: '2031-05-01T18:00:00Z',
  timezone: 'Europe/Berlin',
  location_name: 'Kulturhaus',
  lat: 52.5,
  lng: 13.4,
  event_type: 'workshop',
};

const read = (fields: Record<string, unknown> = {}) => readEventCreate({ ...BODY, ...fields }, NOW_MS);
const refused = (fields: Record<string, unknown>) => refusals(() => read(fields));

describe('the times of a create', () => {
  const table: [what: string, fields: Record<string, unknown>, refused: string[]][] = [
    ['a start in the past', { start_at: '1999-01-01T00:00:00Z' }, []],
    [
      'a start in the past with an end in the future',
      { start_at: '1999-01-01T00:00:00Z', end_at: '2030-06-01T12:00:00.501Z' },
      [],
    ],
    [
      'an end that is now',
      { start_at: '2030-01-01T00:00:00Z', end_at: '2030-06-01T12:00:00.500Z' },
      ['body.end_at: value_error'],
    ],
    [
      'an end whose fraction beyond the millisecond is cut to now',
      { start_at: '2030-01-01T00:00:00Z', end_at: '2030-06-01T12:00:00.5009Z' },
      ['body.end_at: value_error'],
    ],
    ['an end in the past', { end_at: '2030-06-01T11:00:00Z' }, ['body.end_at: value_error']],
    [
      'an end in the past, by its offset',
      { start_at: '2030-01-01T00:00:00Z', end_at: '2030-06-01T14:00:00+02:00' },
      ['body.end_at: value_error'],
    ],
    [
      'an end in the future, by its offset',
      { start_at: '2030-01-01T00:00:00Z', end_at: '2030-06-01T10:00:00-03:00' },
      [],
    ],
    [
      'an end in the past, by the timezone',
      { start_at: '2030-01-01T00:00:00Z', end_at: '2030-06-01T14:00:00' },
      ['body.end_at: value_error'],
    ],
    [
      'an end in the future, by the timezone',
      { start_at: '2030-01-01T00:00:00Z', end_at: '2030-06-01T14:00:01' },
      [],
    ],
    ['an end at the start', { end_at: '2031-05-01T18:00:00Z' }, []],
    [
      'an end a millisecond before the start',
      { end_at: '2031-05-01T17:59:59.999Z' },
      ['body.end_at: value_error'],
    ],
    [
      'an end before the start, by the timezone',
      { end_at: '2031-05-01T19:59:59' },
      ['body.end_at: value_error'],
    ],
    ['an end at the start, by the timezone', { end_at: '2031-05-01T20:00:00' }, []],
    [
      'an invalid start and an invalid end',
      { start_at: 'soon', end_at: 'later' },
      ['body.start_at: datetime_parsing', 'body.end_at: datetime_parsing'],
    ],
    [
      'an invalid start and an end in the past',
      { start_at: '2031-05-01', end_at: '2020-01-01T00:00:00Z' },
      ['body.start_at: datetime_parsing', 'body.end_at: value_error'],
    ],
    [
      'local times in an invalid timezone',
      { start_at: '2031-05-01T18:00:00', end_at: '2020-01-01T00:00:00', timezone: '+02:00' },
      ['body.timezone: value_error'],
    ],
    ['a start in the year 0', { start_at: '0000-12-31T23:59:59Z' }, ['body.start_at: datetime_parsing']],
    [
      'a start in the year 0 whose offset moves it into the year 1',
      { start_at: '0000-12-31T23:59:59-00:01' },
      [],
    ],
    [
      'a start in the year 1 whose offset moves it into the year 0',
      { start_at: '0001-01-01T00:00:00+00:01' },
      ['body.start_at: datetime_parsing'],
    ],
    [
      'a start in the year 1 whose timezone moves it into the year 0',
      { start_at: '0001-01-01T00:00:00' },
      ['body.start_at: datetime_parsing'],
    ],
    [
      'an end in the year 9999 whose offset moves it beyond',
      { end_at: '9999-12-31T23:59:59-00:01' },
      ['body.end_at: datetime_parsing'],
    ],
    [
      'an end in the year 9999 whose timezone moves it beyond',
      { end_at: '9999-12-31T23:59:59', timezone: 'America/New_York' },
      ['body.end_at: datetime_parsing'],
    ],
    ['an end in the last millisecond', { end_at: '9999-12-31T23:59:59.999Z' }, []],
    [
      'both outside the years 1 to 9999',
      { start_at: '9999-12-31T23:59:59-01:00', end_at: '9999-12-31T23:59:59-02:00' },
      ['body.start_at: datetime_parsing', 'body.end_at: datetime_parsing'],
    ],
  ];
  for (const [what, fields, expected] of table) {
    it(`${expected.length === 0 ? 'accept' : 'refuse'} ${what}`, () =>
      assert.deepEqual(refused(fields), expected));
  }

  it('are local to the timezone if they have no offset', () => {
    const { start_ms, end_ms } = read({
      start_at: '2031-03-30T02:30:00',
      end_at: '2031-10-26T02:30:00.0019',
    });
    assert.equal(start_ms, Date.parse('2031-03-30T01:30:00Z'), 'in a gap: an hour later');
    assert.equal(end_ms, Date.parse('2031-10-26T00:30:00.001Z'), 'in an overlap: the earlier one');
  });
});

describe('endsMs', () => {
  it('is the end, or three hours after the start', () => {
    assert.equal(ASSUMED_DURATION_MS, 10_800_000);
    assert.equal(endsMs({ start_ms: 5, end_ms: 7 }), 7);
    assert.equal(endsMs({ start_ms: 5, end_ms: 0 }), 0);
    assert.equal(endsMs({ start_ms: 5, end_ms: null }), 10_800_005);
  });
});
