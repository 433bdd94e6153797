// Times of creates and updates, exactly at the clock: what is refused, and every combination of an update's start_at, end_at and timezone with
// the stored times against a model of the rules. The other rules about fields are in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ASSUMED_DURATION_MS,
  EVENT_DEFAULTS,
  type EventRow,
  type EventUpdate,
  endsMs,
} from '../../src/domain/events/event.ts';
import { applyEventUpdate, readEventCreate, readEventUpdate } from '../../src/domain/events/event-input.ts';
import { refusals } from './refusals.ts';

const NOW_MS = Date.parse('2030-06-01T12:00:00Z');

/** Zones without clock changes, so that the model needs no calendar. */
const OFFSET_HOURS: Record<string, number> = { 'Asia/Tokyo': 9, 'America/Phoenix': -7 };

type StoredTimes = Pick<EventRow, 'start_ms' | 'end_ms' | 'timezone'>;

function stored(start: string, end: string | null): StoredTimes {
  return {
    start_ms: Date.parse(start),
    end_ms: end === null ? null : Date.parse(end),
    timezone: 'Asia/Tokyo',
  };
}

const OPEN = stored('2031-05-01T10:00:00Z', null);
const CLOSED = stored('2031-05-01T10:00:00Z', '2031-05-01T12:00:00Z');
const ENDED = stored('2030-05-01T10:00:00Z', '2030-05-01T12:00:00Z');

function row(times: StoredTimes): EventRow {
  return {
    ...EVENT_DEFAULTS,
    event_id: '01ARYZ6S41TSV4RRFFQ69G5FAV',
    agent_id: '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    version: 1,
    created_ms: 0,
    updated_ms: 0,
    title: 't',
    location_name: 'l',
    lat: 0,
    lng: 0,
    event_type: 'talk',
    ...times,
  };
}

/** The stage and reasons of a refusal, or the times as they would be stored. */
function outcome(times: StoredTimes, body: EventUpdate): Outcome {
  const alone = refusals(() => readEventUpdate(body, NOW_MS));
  if (alone.length > 0) return { alone };
  const update = readEventUpdate(body, NOW_MS);
  const together = refusals(() => applyEventUpdate(row(times), update, NOW_MS));
  if (together.length > 0) return { together };
  const { start_ms, end_ms, timezone } = applyEventUpdate(row(times), update, NOW_MS);
  return { start_ms, end_ms, timezone };
}

type Outcome = { alone: string[] } | { together: string[] } | StoredTimes;

const CREATE = {
  title: 't',
  timezone: 'Europe/Berlin',
  location_name: 'l',
  lat: 0,
  lng: 0,
  event_type: 'talk',
};

it('-0 in a place becomes 0, in a create and in an update', () => {
  const place = { lat: -0, lng: -0 };
  const created = readEventCreate({ ...CREATE, ...place, start_at: '2031-05-01T18:00:00Z' }, NOW_MS);
  const updated = applyEventUpdate({ ...row(OPEN), lat: 1, lng: 1 }, readEventUpdate(place, NOW_MS), NOW_MS);
  for (const { lat, lng } of [created, updated]) assert.ok(Object.is(lat, 0) && Object.is(lng, 0));
});

describe('the times of a create', () => {
  const PAST = '2030-01-01T00:00:00Z';
  const START = 'body.start_at: datetime_parsing';
  const [END, PASSED] = ['body.end_at: datetime_parsing', 'body.end_at: value_error'];
  const table: [what: string, start_at: string, end_at: string, ...refused: string[]][] = [
    ['an end a millisecond from now', PAST, '2030-06-01T12:00:00.001Z'],
    ['an end that is now', PAST, '2030-06-01T12:00:00Z', PASSED],
    ['an end whose fraction beyond the millisecond is cut to now', PAST, '2030-06-01T12:00:00.0009Z', PASSED],
    ['an end in the past, by its offset', PAST, '2030-06-01T13:59:59+02:00', PASSED],
    ['an end in the future, by its offset', PAST, '2030-06-01T10:00:00-03:00'],
    ['an end in the past, by the timezone', PAST, '2030-06-01T14:00:00', PASSED],
    ['an end in the future, by the timezone', PAST, '2030-06-01T14:00:01'],
    ['an invalid start and end', 'soon', 'later', START, END],
    ['an invalid start and an end in the past', '2031-05-01', '2020-01-01T00:00:00Z', START, PASSED],
    ['both outside the years', '9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59-02:00', START, END],
  ];
  for (const [what, start_at, end_at, ...expected] of table) {
    it(`${expected.length === 0 ? 'accept' : 'refuse'} ${what}`, () =>
      assert.deepEqual(
        refusals(() => readEventCreate({ ...CREATE, start_at, end_at }, NOW_MS)),
        expected,
      ));
  }
});

describe('an update', () => {
  it('is later than the one before, within a millisecond and after the clock was set back', () => {
    const { updated_ms } = row(OPEN);
    for (const nowMs of [updated_ms, updated_ms - 1_000])
      assert.equal(applyEventUpdate(row(OPEN), { title: 'other' }, nowMs).updated_ms, updated_ms + 1);
  });

  it('does not modify the stored event object', () => {
    const before = Object.freeze(row(OPEN));
    applyEventUpdate(before, { title: 'other', lat: 1 }, NOW_MS);
    assert.deepEqual(before, row(OPEN));
  });

  it('does not check the stored times if neither is sent', () => {
    const turned = stored('2031-05-01T12:00:00Z', '2031-05-01T10:00:00Z');
    assert.deepEqual(outcome(turned, { timezone: 'Asia/Tokyo' }), turned);
    const refused = { together: ['body.start_at: value_error'] };
    assert.deepEqual(outcome(turned, { start_at: '2031-05-01T11:00:00Z' }), refused);
  });

  const [FIRST, LAST] = ['0001-01-01T00:00:00', '9999-12-31T23:59:59'];
  const refused: [what: string, body: EventUpdate, outcome: Outcome][] = [
    ['a local start', { start_at: FIRST }, { together: ['body.start_at: datetime_parsing'] }],
    [
      'a local start, without an issue for the end',
      { start_at: FIRST, end_at: '2031-01-01T00:00:00Z' },
      { together: ['body.start_at: datetime_parsing'] },
    ],
    [
      'a local end, by the timezone sent with it',
      { end_at: LAST, timezone: 'America/Phoenix' },
      { alone: ['body.end_at: datetime_parsing'] },
    ],
  ];
  for (const [what, body, expected] of refused) {
    it(`refuses ${what}, outside the years 1 to 9999`, () => assert.deepEqual(outcome(OPEN, body), expected));
  }

  it('refuses a local end outside these years by the stored timezone', () => {
    const times = { ...OPEN, timezone: 'America/Phoenix' };
    assert.deepEqual(outcome(times, { end_at: LAST }), { together: ['body.end_at: datetime_parsing'] });
  });
});

it('an event ends at its end, or three hours after its start', () => {
  assert.equal(ASSUMED_DURATION_MS, 10_800_000);
  assert.equal(endsMs({ start_ms: 5, end_ms: 7 }), 7);
  assert.equal(endsMs({ start_ms: 5, end_ms: 0 }), 0);
  assert.equal(endsMs({ start_ms: 5, end_ms: null }), 10_800_005);
});

/** The instant of a text; undefined if it is local and the timezone is unknown. */
function instant(text: string, timezone: string | undefined): number | undefined {
  if (/(Z|[+-]\d{2}:\d{2})$/.test(text)) return Date.parse(text);
  return timezone === undefined ? undefined : Date.parse(`${text}Z`) - OFFSET_HOURS[timezone]! * 3_600_000;
}

/** The rules, implemented a second time. */
function model(times: StoredTimes, sent: EventUpdate): Outcome {
  const issues = (start: number | undefined, end: number | null | undefined): string[] => {
    const touched = sent.start_at !== undefined || sent.end_at !== undefined;
    if (!touched || typeof end !== 'number') return [];
    if (typeof sent.end_at === 'string' && end <= NOW_MS) return ['body.end_at: value_error'];
    if (start === undefined || end >= start) return [];
    return [`body.${typeof sent.end_at === 'string' ? 'end_at' : 'start_at'}: value_error`];
  };
  const read = (text: string | null | undefined, timezone: string | undefined) =>
    typeof text === 'string' ? instant(text, timezone) : text;
  const alone = issues(read(sent.start_at, sent.timezone) ?? undefined, read(sent.end_at, sent.timezone));
  if (alone.length > 0) return { alone };
  const timezone = sent.timezone ?? times.timezone;
  const start_ms = read(sent.start_at, timezone) ?? times.start_ms;
  const end_ms = sent.end_at === undefined ? times.end_ms : read(sent.end_at, timezone)!;
  const together = issues(start_ms, end_ms);
  return together.length > 0 ? { together } : { start_ms, end_ms, timezone };
}

describe('every combination of start_at, end_at and timezone', () => {
  const texts = [
    '2030-05-01T00:00:00Z',
    '2031-05-01T09:00:00Z',
    '2031-05-01T12:00:00Z', // the stored end
    '2031-05-01T20:00:00+09:00',
    '2031-05-01T13:00:00Z',
    '2030-06-01T20:59:59', // past in Tokyo, future in Phoenix
    '2031-05-01T20:00:00',
    '2031-05-01T02:00:00',
  ];
  for (const [name, times] of Object.entries({
    'no end': OPEN,
    'an end': CLOSED,
    'an end in the past': ENDED,
  })) {
    it(`has the outcome of the model if ${name} is stored`, () => {
      const seen = new Map<string, number>();
      for (const start_at of [undefined, ...texts]) {
        for (const end_at of [undefined, null, ...texts]) {
          for (const timezone of [undefined, 'Asia/Tokyo', 'America/Phoenix']) {
            const all = { start_at, end_at, timezone };
            const body = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
            const expected = model(times, body);
            assert.deepEqual(outcome(times, body), expected, JSON.stringify(body));
            const kind =
              'alone' in expected ? 'alone' : 'together' in expected ? expected.together.join() : 'stored';
            seen.set(kind, (seen.get(kind) ?? 0) + 1);
          }
        }
      }
      const kinds = ['alone', 'body.end_at: value_error', 'stored'];
      if (times.end_ms !== null) kinds.push('body.start_at: value_error');
      assert.deepEqual([...seen.keys()].sort(), kinds.sort());
    });
  }
});
