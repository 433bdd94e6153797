// Creating an event: what the body may contain, and what is stored. Its times are in event-times.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUDIENCES, EVENT_TYPES, encodeEvent } from '../../src/domain/events/event.ts';
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

describe('readEventCreate', () => {
  it('accepts the required fields alone and fills in the others', () => {
    assert.deepEqual(read(), {
      title: 'Lantern workshop',
      description: null,
      start_ms: Date.parse('2031-05-01T18:00:00Z'),
      end_ms: null,
      timezone: 'Europe/Berlin',
      location_name: 'Kulturhaus',
      address: null,
      lat: 52.5,
      lng: 13.4,
      url: null,
      cost: null,
      audience: 'all',
      event_type: 'workshop',
      status: 'scheduled',
    });
  });

  it('accepts every field', () => {
    const optional = { description: 'd', address: 'a', url: 'not a url', cost: 'whatever', audience: 'kids' };
    const fields = read({ ...optional, end_at: '2031-05-01T20:00:00.123Z' });
    assert.deepEqual(fields, { ...read(), ...optional, end_ms: Date.parse('2031-05-01T20:00:00.123Z') });
  });

  it('accepts null for the nullable fields', () => {
    const nothing = { description: null, end_at: null, address: null, url: null, cost: null };
    assert.deepEqual(read(nothing), read());
  });

  it('ignores all other fields of the body', () => {
    const extra = {
      event_id: 'x',
      agent_id: 'y',
      created_at: 'z',
      tier: 'admin',
      version: 9,
      start_ms: 1,
      end_ms: 2,
    };
    assert.deepEqual(read(extra), read());
  });

  it('turns -0 into 0', () => {
    const { lat, lng } = read({ lat: -0, lng: -0 });
    assert.ok(Object.is(lat, 0) && Object.is(lng, 0));
  });

  it("keeps a timezone, links included, in IANA's spelling", () => {
    for (const timezone of ['Asia/Calcutta', 'US/Pacific', 'UTC', 'EST5EDT']) {
      assert.equal(read({ timezone }).timezone, timezone);
      assert.equal(read({ timezone: timezone.toLowerCase() }).timezone, timezone);
    }
  });

  it('accepts every event_type and audience', () => {
    const types =
      'workshop performance festival market competition game social meetup club support talk conference exhibition tour ceremony';
    assert.deepEqual([...EVENT_TYPES], types.split(' '));
    assert.deepEqual([...AUDIENCES], ['kids', 'adults', 'all']);
    for (const event_type of types.split(' ')) assert.equal(read({ event_type }).event_type, event_type);
    for (const audience of ['kids', 'adults', 'all']) assert.equal(read({ audience }).audience, audience);
  });
});

describe('the limits of a create', () => {
  const lengths: [field: string, least: number, most: number][] = [
    ['title', 1, 200],
    ['description', 0, 10_000],
    ['location_name', 1, 200],
    ['address', 0, 500],
    ['url', 0, 2_000],
    ['cost', 0, 200],
  ];
  for (const [field, least, most] of lengths) {
    it(`${field} has ${least} to ${most} characters`, () => {
      for (const letter of ['a', '😀']) {
        assert.deepEqual(refused({ [field]: letter.repeat(least) }), []);
        assert.deepEqual(refused({ [field]: letter.repeat(most) }), []);
        assert.deepEqual(refused({ [field]: letter.repeat(most + 1) }), [`body.${field}: string_too_long`]);
      }
      if (least > 0) assert.deepEqual(refused({ [field]: '' }), [`body.${field}: string_too_short`]);
    });
  }

  for (const [field, bound] of [
    ['lat', 90],
    ['lng', 180],
  ] as const) {
    it(`${field} is from -${bound} to ${bound}`, () => {
      for (const value of [-bound, bound, 0]) assert.deepEqual(refused({ [field]: value }), []);
      assert.deepEqual(refused({ [field]: bound + 1e-9 }), [`body.${field}: less_than_equal`]);
      assert.deepEqual(refused({ [field]: -bound - 1e-9 }), [`body.${field}: greater_than_equal`]);
      assert.deepEqual(refused({ [field]: String(bound) }), [`body.${field}: float_type`]);
    });
  }

  for (const field of Object.keys(BODY)) {
    it(`${field} is required and not null`, () => {
      const { [field as keyof typeof BODY]: _, ...rest } = BODY;
      assert.deepEqual(
        refusals(() => readEventCreate(rest, NOW_MS)),
        [`body.${field}: missing`],
      );
      const type = field === 'lat' || field === 'lng' ? 'float_type' : 'string_type';
      assert.deepEqual(refused({ [field]: null }), [`body.${field}: ${type}`]);
    });
  }

  it('audience is not null', () =>
    assert.deepEqual(refused({ audience: null }), ['body.audience: string_type']));

  it('names all failing fields together, times included', () => {
    const body = {
      title: '',
      end_at: '2020-01-01T00:00:00Z',
      timezone: 'PST',
      location_name: 'x'.repeat(201),
      lat: 91,
      lng: '0',
      audience: 'everyone',
      event_type: 'party',
    };
    assert.deepEqual(refusals(() => readEventCreate(body, NOW_MS)).sort(), [
      'body.audience: enum',
      'body.end_at: value_error',
      'body.event_type: enum',
      'body.lat: less_than_equal',
      'body.lng: float_type',
      'body.location_name: string_too_long',
      'body.start_at: missing',
      'body.timezone: value_error',
      'body.title: string_too_short',
    ]);
  });
});

describe('encodeEvent', () => {
  it('has the fields of the interface, instants in UTC with milliseconds', () => {
    const row = {
      event_id: 'E',
      agent_id: 'A',
      version: 3,
      created_ms: 0,
      updated_ms: 0,
      ...read({ end_at: '2031-05-02T00:00:00.5+05:30' }),
    };
    assert.deepEqual(JSON.parse(encodeEvent(row)), {
      event_id: 'E',
      agent_id: 'A',
      ...BODY,
      description: null,
      start_at: '2031-05-01T18:00:00.000Z',
      end_at: '2031-05-01T18:30:00.500Z',
      address: null,
      url: null,
      cost: null,
      audience: 'all',
      created_at: '1970-01-01T00:00:00.000Z',
    });
    assert.equal(JSON.parse(encodeEvent({ ...row, end_ms: null })).end_at, null);
    const cancelled = encodeEvent({ ...row, status: 'cancelled' });
    assert.equal(cancelled, `${encodeEvent(row).slice(0, -1)},"status":"cancelled"}`);
  });

  it('writes instants of every year with four digits', () => {
    const row = {
      event_id: 'E',
      agent_id: 'A',
      version: 1,
      created_ms: 0,
      updated_ms: 0,
      ...read({ start_at: '0001-01-01T00:00:00Z' }),
    };
    assert.equal(JSON.parse(encodeEvent(row)).start_at, '0001-01-01T00:00:00.000Z');
  });
});
