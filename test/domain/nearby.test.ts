// The parameters of a search, after their types were read, and the JSON of a page.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/domain/errors.ts';
import { encodeCursor, encodeDistanceCursor } from '../../src/domain/events/cursor.ts';
import { encodePage } from '../../src/domain/events/event-page.ts';
import { addDistances, readNearby } from '../../src/domain/events/nearby.ts';
import { fromWire, toWire } from '../../src/domain/wire.ts';
import { newEvent } from './formats/events.ts';
import { refusals } from './refusals.ts';

const CENTRE = { lat: 52.5, lng: 13.4 };
const POSITION = { startMs: 1_935_244_800_000, id: '01ARYZ6S41TSV4RRFFQ69G5FAV' };

const TIME = '2031-05-01T18:00:00Z';
const DISTANCE_CURSOR = encodeDistanceCursor({ ...POSITION, chord: 0.1, centre: CENTRE });
const read = (parameters: object = {}) => readNearby({ ...CENTRE, ...parameters }, 'query');
const refused = (parameters: object) => refusals(() => read(parameters));

describe('readNearby', () => {
  it('accepts only a centre: any distance, any kind, any time, 30 per page', () => {
    assert.deepEqual(read(), {
      lat: 52.5,
      lng: 13.4,
      radiusMiles: undefined,
      types: undefined,
      audiences: undefined,
      startsFromMs: undefined,
      startsBeforeMs: undefined,
      status: 'scheduled',
      terms: undefined,
      activeFromMs: undefined,
      activeBeforeMs: undefined,
      when: undefined,
      sort: 'start',
      after: undefined,
      limit: 30,
      details: false,
    });
  });

  it('accepts every parameter', () => {
    const parameters = {
      lat: -90,
      lng: 180,
      radius: 0.1,
      event_type: ['talk', 'tour', 'talk'],
      audience: ['all'],
      starts_after: '2031-05-01T18:00:00.1239+02:00',
      starts_before: '2031-06-01T00:00:00Z',
      status: 'any',
      q: 'Jazz',
      active_after: '2031-05-02T00:00:00',
      active_before: '2031-05-02T00:00:00.001Z',
      sort: 'start',
      limit: 100,
      cursor: encodeCursor(POSITION),
    };
    assert.deepEqual(read(parameters), {
      lat: -90,
      lng: 180,
      radiusMiles: 0.1,
      types: ['talk', 'tour', 'talk'],
      audiences: ['all'],
      startsFromMs: Date.parse('2031-05-01T16:00:00.123Z'),
      startsBeforeMs: Date.parse('2031-06-01T00:00:00Z'),
      status: 'any',
      terms: [{ isNegative: false, words: ['jazz'], prefix: undefined }],
      activeFromMs: Date.parse('2031-05-02T00:00:00Z'),
      activeBeforeMs: Date.parse('2031-05-02T00:00:00.001Z'),
      when: undefined,
      sort: 'start',
      after: POSITION,
      limit: 100,
      details: false,
    });
  });

  it('accepts each word, and the cursor of its order and centre', () => {
    for (const when of ['now', 'today', 'tonight', 'tomorrow', 'this_weekend', 'next_7_days'])
      assert.equal(read({ when }).when, when);
    const { sort, after } = read({ sort: 'distance', cursor: DISTANCE_CURSOR });
    assert.deepEqual({ sort, after }, { sort: 'distance', after: { ...POSITION, chord: 0.1 } });
  });

  it('turns -0 into 0', () => {
    const { lat, lng } = read({ lat: -0, lng: -0 });
    assert.ok(Object.is(lat, 0) && Object.is(lng, 0));
  });

  it('ignores unknown parameters', () => assert.deepEqual(read({ page: 2, toString: 'x' }), read()));

  it('reads a time without an offset as UTC', () => {
    const { startsFromMs, startsBeforeMs } = read({
      starts_after: '2031-05-01T18:00:00',
      starts_before: '0001-01-01T00:00:00.0009',
    });
    assert.equal(startsFromMs, Date.parse('2031-05-01T18:00:00Z'));
    assert.equal(startsBeforeMs, Date.parse('0001-01-01T00:00:00Z'));
  });

  it('accepts a window that ends before it begins', () => {
    const { startsFromMs, startsBeforeMs } = read({
      starts_after: '2031-05-01T18:00:00Z',
      starts_before: '2031-05-01T17:00:00Z',
    });
    assert.ok(startsFromMs! > startsBeforeMs!);
  });

  const accepted: [name: string, values: number[]][] = [
    ['lat', [-90, 0, 90]],
    ['lng', [-180, 0, 180]],
    ['radius', [0.1, 1, 99.999, 100]],
    ['limit', [1, 30, 100]],
  ];
  for (const [name, values] of accepted) {
    it(`accepts ${name} up to its bounds`, () => {
      for (const value of values) assert.deepEqual(refused({ [name]: value }), [], String(value));
    });
  }

  const table: [what: string, parameters: object, refused: string[]][] = [
    ['lat below -90', { lat: -90.0001 }, ['query.lat: greater_than_equal']],
    ['lat above 90', { lat: 90.0001 }, ['query.lat: less_than_equal']],
    ['lng below -180', { lng: -180.0001 }, ['query.lng: greater_than_equal']],
    ['lng above 180', { lng: 180.0001 }, ['query.lng: less_than_equal']],
    ['an infinite lat', { lat: Number('1e999') }, ['query.lat: less_than_equal']],
    ['a radius of 0', { radius: 0 }, ['query.radius: greater_than_equal']],
    ['a radius below 0.1', { radius: 0.0999 }, ['query.radius: greater_than_equal']],
    ['a negative radius', { radius: -5 }, ['query.radius: greater_than_equal']],
    ['a radius above 100', { radius: 100.001 }, ['query.radius: less_than_equal']],
    ['a limit of 0', { limit: 0 }, ['query.limit: greater_than_equal']],
    ['a limit above 100', { limit: 101 }, ['query.limit: less_than_equal']],
    ['a limit with a fraction', { limit: 5.5 }, ['query.limit: int_from_float']],
    ['an unknown event_type, by its index', { event_type: ['talk', 'party'] }, ['query.event_type.1: enum']],
    ['an empty event_type', { event_type: [''] }, ['query.event_type.0: enum']],
    ['an unknown audience', { audience: ['All'] }, ['query.audience.0: enum']],
    ['a date alone', { starts_after: '2031-05-01' }, ['query.starts_after: datetime_parsing']],
    ['an empty time', { starts_before: '' }, ['query.starts_before: datetime_parsing']],
    [
      'a time before the year 1',
      { starts_after: '0001-01-01T00:00:00+00:01' },
      ['query.starts_after: datetime_parsing'],
    ],
    [
      'a local time in the year 0',
      { starts_after: '0000-12-31T23:59:59' },
      ['query.starts_after: datetime_parsing'],
    ],
    [
      'a time after the year 9999',
      { starts_before: '9999-12-31T23:59:59-00:01' },
      ['query.starts_before: datetime_parsing'],
    ],
    ['an unknown word', { when: 'soon' }, ['query.when: enum']],
    ['a word in capitals', { when: 'Today' }, ['query.when: enum']],
    ['an unknown order', { sort: 'title' }, ['query.sort: enum']],
    [
      'a date alone as active_after',
      { active_after: '2031-05-01' },
      ['query.active_after: datetime_parsing'],
    ],
    ['when with active_after', { when: 'now', active_after: TIME }, ['query.when: value_error']],
    ['when with active_before', { when: 'today', active_before: TIME }, ['query.when: value_error']],
    [
      'active_before at active_after',
      { active_after: TIME, active_before: TIME },
      ['query.active_before: value_error'],
    ],
    [
      'active_before before active_after',
      { active_after: TIME, active_before: '2031-05-01T19:59:59+02:00' },
      ['query.active_before: value_error'],
    ],
    [
      'a cursor of sort=start with sort=distance',
      { sort: 'distance', cursor: encodeCursor(POSITION) },
      ['query.cursor: value_error'],
    ],
    ['a cursor of sort=distance without it', { cursor: DISTANCE_CURSOR }, ['query.cursor: value_error']],
    [
      'a cursor of sort=distance with another centre',
      { sort: 'distance', lat: 52.6, cursor: DISTANCE_CURSOR },
      ['query.cursor: value_error'],
    ],
    ['an empty cursor', { cursor: '' }, ['query.cursor: value_error']],
    ['an invalid cursor', { cursor: 'next' }, ['query.cursor: value_error']],
    ['a cursor that was cut', { cursor: encodeCursor(POSITION).slice(0, -1) }, ['query.cursor: value_error']],
  ];
  for (const [what, parameters, expected] of table) {
    it(`refuses ${what}`, () => assert.deepEqual(refused(parameters), expected));
  }

  it('needs a centre', () => {
    assert.deepEqual(
      refusals(() => readNearby({}, 'query')),
      ['query.lat: missing', 'query.lng: missing'],
    );
  });

  it('names all failing parameters together', () => {
    const parameters = {
      lng: 181,
      radius: 0,
      event_type: ['x', 'talk', 'y'],
      audience: ['x'],
      starts_after: 'x',
      starts_before: '0000-01-01T00:00:00Z',
      limit: 0,
      cursor: 'x',
    };
    assert.deepEqual(refusals(() => readNearby(parameters, 'arguments')).sort(), [
      'arguments.audience.0: enum',
      'arguments.cursor: value_error',
      'arguments.event_type.0: enum',
      'arguments.event_type.2: enum',
      'arguments.lat: missing',
      'arguments.limit: greater_than_equal',
      'arguments.lng: less_than_equal',
      'arguments.radius: greater_than_equal',
      'arguments.starts_after: datetime_parsing',
      'arguments.starts_before: datetime_parsing',
    ]);
  });

  it('mentions %2B only if a plus became a space', () => {
    const messageOf = (starts_after: string) => {
      try {
        read({ starts_after });
      } catch (error) {
        if (error instanceof AppError) return error.message;
      }
      return assert.fail('it was accepted');
    };
    assert.match(messageOf('2031-05-01T18:00:00 02:00'), /%2B/);
    assert.match(messageOf('2031-05-01T18:00:00.25 05:30'), /%2B/);
    assert.doesNotMatch(messageOf('2031-05-01'), /%2B/);
    assert.doesNotMatch(messageOf('2031-05-01 18:00:00Z'), /%2B/);
  });
});

describe('encodePage', () => {
  it('joins encoded events', () => {
    assert.deepEqual(JSON.parse(encodePage([toWire('{"a":1}'), toWire('{"b":2}')], 7, 'next')), {
      events: [{ a: 1 }, { b: 2 }],
      count: 2,
      total: 7,
      next_cursor: 'next',
    });
  });

  it('returns an empty page if nothing matches', () => {
    assert.deepEqual(JSON.parse(encodePage([], 0, undefined)), {
      events: [],
      count: 0,
      total: 0,
      next_cursor: null,
    });
  });
});

describe('addDistances', () => {
  const measured = (events: readonly ReturnType<typeof newEvent>[]) => {
    const wires = events.map((event) => toWire(JSON.stringify(event)));
    return addDistances(wires, events, { lat: 0, lng: 0 }).map(fromWire);
  };

  it('adds the distance to each event as the last field, and changes nothing else', () => {
    const events = [
      newEvent({ title: 'é 🎪', lat: 1, lng: 0 }),
      newEvent({ lat: 0, lng: 0, description: null }),
    ];
    const [far, here] = measured(events);
    assert.equal(far, `${JSON.stringify(events[0]).slice(0, -1)},"distance_miles":69.093419}`);
    assert.equal(here, `${JSON.stringify(events[1]).slice(0, -1)},"distance_miles":0}`);
  });

  it('rounds to six decimals, and never writes an exponent', () => {
    const miles = (lng: number) => {
      const [wire] = measured([newEvent({ lat: 0, lng })]);
      return /"distance_miles":(.*)}$/.exec(wire!)![1];
    };
    assert.equal(miles(1e-8), '0.000001');
    assert.equal(miles(1e-12), '0');
    assert.equal(miles(5e-324), '0');
    assert.equal(miles(180), '12436.815468');
  });
});
