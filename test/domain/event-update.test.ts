// Changing an event: which fields may be null, what happens to the others, and what is refused without the stored event.
// event-update-times.test.ts combines new and stored times.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_DEFAULTS, type EventRow } from '../../src/domain/events/event.ts';
import { applyEventUpdate, readEventUpdate } from '../../src/domain/events/event-input.ts';
import { refusals } from './refusals.ts';

const NOW_MS = Date.parse('2030-06-01T12:00:00Z');
const STORED: EventRow = {
  ...EVENT_DEFAULTS,
  event_id: '01ARYZ6S41TSV4RRFFQ69G5FAV',
  agent_id: '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
  version: 4,
  created_ms: 1_000,
  updated_ms: 1_000,
  title: 'Lantern workshop',
  description: 'd',
  start_ms: Date.parse('2031-05-01T10:00:00Z'),
  end_ms: Date.parse('2031-05-01T12:00:00Z'),
  timezone: 'Asia/Tokyo',
  location_name: 'Kulturhaus',
  address: 'a',
  lat: 52.5,
  lng: 13.4,
  url: 'u',
  cost: 'c',
  audience: 'kids',
  event_type: 'workshop',
};

/** What every change changes. */
const NEXT = { version: 5, updated_ms: NOW_MS };

const update = (body: unknown) => applyEventUpdate(STORED, readEventUpdate(body, NOW_MS), NOW_MS);
const refused = (body: unknown) => refusals(() => readEventUpdate(body, NOW_MS));

describe('an update', () => {
  const changes: [field: string, sent: unknown, column: keyof EventRow, stored: unknown][] = [
    ['title', 'other', 'title', 'other'],
    ['description', 'other', 'description', 'other'],
    ['description', '', 'description', ''],
    ['start_at', '2031-05-01T11:00:00Z', 'start_ms', Date.parse('2031-05-01T11:00:00Z')],
    ['start_at', '2031-05-01T11:00:00', 'start_ms', Date.parse('2031-05-01T02:00:00Z')],
    ['end_at', '2031-05-01T13:00:00Z', 'end_ms', Date.parse('2031-05-01T13:00:00Z')],
    ['end_at', '2031-05-01T23:00:00', 'end_ms', Date.parse('2031-05-01T14:00:00Z')],
    ['timezone', 'Asia/Calcutta', 'timezone', 'Asia/Calcutta'],
    ['location_name', 'other', 'location_name', 'other'],
    ['address', 'other', 'address', 'other'],
    ['lat', -90, 'lat', -90],
    ['lat', -0, 'lat', 0],
    ['lng', 180, 'lng', 180],
    ['lng', -0, 'lng', 0],
    ['url', 'other', 'url', 'other'],
    ['cost', 'other', 'cost', 'other'],
    ['audience', 'adults', 'audience', 'adults'],
    ['event_type', 'talk', 'event_type', 'talk'],
    ['status', 'cancelled', 'status', 'cancelled'],
  ];
  for (const [field, sent, column, stored] of changes) {
    it(`of ${field} to ${Object.is(sent, -0) ? '-0' : JSON.stringify(sent)} changes nothing else`, () => {
      assert.deepEqual(update({ [field]: sent }), { ...STORED, [column]: stored, ...NEXT });
    });
  }

  it('changes several fields at once', () => {
    const next = update({ title: 'other', url: null, lng: 0 });
    assert.deepEqual(next, { ...STORED, title: 'other', url: null, lng: 0, ...NEXT });
  });

  it('is later than the one before, within a millisecond and after the clock was set back', () => {
    const { updated_ms } = STORED;
    for (const nowMs of [updated_ms, updated_ms - 1_000]) {
      assert.equal(applyEventUpdate(STORED, { title: 'other' }, nowMs).updated_ms, updated_ms + 1);
    }
  });

  it('does not modify the stored event object', () => {
    const stored = Object.freeze({ ...STORED });
    applyEventUpdate(stored, { title: 'other', lat: 1 }, NOW_MS);
    assert.deepEqual(stored, STORED);
  });

  it('cannot set fields that the server assigns', () => {
    const body = {
      event_id: 'x',
      agent_id: 'y',
      created_at: 'z',
      updated_at: '2031-05-01T18:00:00Z',
      updated_ms: 1,
      version: 1,
      start_ms: 1,
      end_ms: 1,
      tier: 'admin',
    };
    assert.deepEqual(readEventUpdate(body, NOW_MS), {});
    assert.deepEqual(update({ ...body, title: 'other' }), { ...STORED, title: 'other', ...NEXT });
  });

  it('may be empty, and then applies no defaults', () => {
    assert.deepEqual(readEventUpdate({}, NOW_MS), {});
  });
});

describe('null in an update', () => {
  const columns = {
    description: 'description',
    end_at: 'end_ms',
    address: 'address',
    url: 'url',
    cost: 'cost',
  };
  for (const [field, column] of Object.entries(columns)) {
    it(`clears ${field}`, () => {
      assert.deepEqual(update({ [field]: null }), { ...STORED, [column]: null, ...NEXT });
    });
  }

  const types = {
    title: 'string_type',
    start_at: 'string_type',
    timezone: 'string_type',
    location_name: 'string_type',
    lat: 'float_type',
    lng: 'float_type',
    audience: 'string_type',
    event_type: 'string_type',
    status: 'string_type',
  };
  for (const [field, type] of Object.entries(types)) {
    it(`is refused for ${field}`, () =>
      assert.deepEqual(refused({ [field]: null }), [`body.${field}: ${type}`]));
  }
});

describe('reading an update without the stored event', () => {
  const table: [what: string, body: unknown, refused: string[]][] = [
    ['no body', undefined, ['body: missing']],
    ['null as the body', null, ['body: dict_type']],
    ['a list as the body', [], ['body: dict_type']],
    ['an empty title', { title: '' }, ['body.title: string_too_short']],
    [
      'a description that is too long',
      { description: 'x'.repeat(10_001) },
      ['body.description: string_too_long'],
    ],
    ['an address that is too long', { address: 'x'.repeat(501) }, ['body.address: string_too_long']],
    ['a url that is too long', { url: 'x'.repeat(2_001) }, ['body.url: string_too_long']],
    ['a cost that is too long', { cost: 'x'.repeat(201) }, ['body.cost: string_too_long']],
    ['an empty location_name', { location_name: '' }, ['body.location_name: string_too_short']],
    ['a latitude beyond the pole', { lat: 90.1 }, ['body.lat: less_than_equal']],
    ['a longitude in text', { lng: '13.4' }, ['body.lng: float_type']],
    ['an unknown timezone', { timezone: 'PST' }, ['body.timezone: value_error']],
    ['an unknown audience', { audience: 'ALL' }, ['body.audience: enum']],
    ['an unknown event_type', { event_type: '' }, ['body.event_type: enum']],
    ['NUL in the cost', { cost: 'a\0' }, ['body.cost: string_unicode']],
    ['a start that is a date', { start_at: '2031-05-01' }, ['body.start_at: datetime_parsing']],
    ['an end in the past', { end_at: '2030-06-01T12:00:00Z' }, ['body.end_at: value_error']],
    [
      'an end in the past, by the timezone sent',
      { end_at: '2030-06-01T13:00:00', timezone: 'Europe/Berlin' },
      ['body.end_at: value_error'],
    ],
    [
      'a start outside the years 1 to 9999',
      { start_at: '9999-12-31T23:59:59-01:00' },
      ['body.start_at: datetime_parsing'],
    ],
    [
      'an end outside the years 1 to 9999, by the timezone sent',
      { end_at: '9999-12-31T23:59:59', timezone: 'US/Pacific' },
      ['body.end_at: datetime_parsing'],
    ],
    [
      'an end before the start sent with it',
      { start_at: '2031-05-01T18:00:00Z', end_at: '2031-05-01T17:00:00Z' },
      ['body.end_at: value_error'],
    ],
    [
      'an end before the start, by the timezone sent',
      { start_at: '2031-05-01T18:00:00Z', end_at: '2031-05-01T18:00:00', timezone: 'Asia/Tokyo' },
      ['body.end_at: value_error'],
    ],
    [
      'everything at once',
      { title: null, lat: 'x', timezone: 'x', start_at: 'x', end_at: '2020-01-01T00:00:00Z' },
      [
        'body.title: string_type',
        'body.start_at: datetime_parsing',
        'body.timezone: value_error',
        'body.lat: float_type',
        'body.end_at: value_error',
      ],
    ],
  ];
  for (const [what, body, expected] of table) {
    it(`refuses ${what}`, () => assert.deepEqual(refused(body), expected));
  }

  it('accepts what depends on the stored event', () => {
    const bodies = [
      { start_at: '2031-05-01T18:00:00Z' },
      { end_at: '2030-06-01T13:00:00' },
      { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T17:00:00Z' },
      { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T19:00:00' },
      { start_at: '0001-01-01T00:00:00' },
      { end_at: '9999-12-31T23:59:59' },
    ];
    for (const body of bodies) assert.deepEqual(refused(body), [], JSON.stringify(body));
  });
});
