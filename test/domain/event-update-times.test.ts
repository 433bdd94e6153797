// An update's start_at, end_at and timezone, each sent or not, local or with an offset, combined with the stored times:
// the instructive cases in a table, then every combination against a model of the rules.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENT_DEFAULTS, type EventRow, type EventUpdate } from '../../src/domain/events/event.ts';
import { applyEventUpdate, readEventUpdate } from '../../src/domain/events/event-input.ts';
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

const START = { together: ['body.start_at: value_error'] };
const END = { together: ['body.end_at: value_error'] };

describe('an update together with the stored event', () => {
  const kept: [what: string, times: StoredTimes, body: EventUpdate, start: string, end: string | null][] = [
    [
      'a start before the stored end',
      CLOSED,
      { start_at: '2031-05-01T11:00:00Z' },
      '2031-05-01T11:00:00Z',
      '2031-05-01T12:00:00Z',
    ],
    [
      'a start at the stored end',
      CLOSED,
      { start_at: '2031-05-01T12:00:00Z' },
      '2031-05-01T12:00:00Z',
      '2031-05-01T12:00:00Z',
    ],
    [
      'any start if no end is stored',
      OPEN,
      { start_at: '2039-01-01T00:00:00Z' },
      '2039-01-01T00:00:00Z',
      null,
    ],
    [
      'a start in the past',
      CLOSED,
      { start_at: '1999-01-01T00:00:00Z' },
      '1999-01-01T00:00:00Z',
      '2031-05-01T12:00:00Z',
    ],
    [
      'an end at the stored start',
      OPEN,
      { end_at: '2031-05-01T10:00:00Z' },
      '2031-05-01T10:00:00Z',
      '2031-05-01T10:00:00Z',
    ],
    [
      'a local start in the stored timezone',
      CLOSED,
      { start_at: '2031-05-01T20:30:00' },
      '2031-05-01T11:30:00Z',
      '2031-05-01T12:00:00Z',
    ],
    [
      'a local end in the timezone sent with it',
      CLOSED,
      { end_at: '2031-05-01T20:30:00', timezone: 'America/Phoenix' },
      '2031-05-01T10:00:00Z',
      '2031-05-02T03:30:00Z',
    ],
    [
      'a timezone alone, which changes no instant',
      CLOSED,
      { timezone: 'America/Phoenix' },
      '2031-05-01T10:00:00Z',
      '2031-05-01T12:00:00Z',
    ],
    [
      'a later start with the end cleared',
      CLOSED,
      { start_at: '2031-06-01T00:00:00Z', end_at: null },
      '2031-06-01T00:00:00Z',
      null,
    ],
    [
      'a later start and end',
      CLOSED,
      { start_at: '2031-06-01T00:00:00Z', end_at: '2031-06-02T00:00:00Z' },
      '2031-06-01T00:00:00Z',
      '2031-06-02T00:00:00Z',
    ],
    [
      'a new timezone of an ended event',
      ENDED,
      { timezone: 'America/Phoenix' },
      '2030-05-01T10:00:00Z',
      '2030-05-01T12:00:00Z',
    ],
    [
      'an earlier start of an ended event',
      ENDED,
      { start_at: '2030-05-01T09:00:00Z' },
      '2030-05-01T09:00:00Z',
      '2030-05-01T12:00:00Z',
    ],
    [
      'a new end of an ended event',
      ENDED,
      { end_at: '2030-06-01T12:00:00.001Z' },
      '2030-05-01T10:00:00Z',
      '2030-06-01T12:00:00.001Z',
    ],
  ];
  for (const [what, times, body, start, end] of kept) {
    it(`accepts ${what}`, () => {
      const timezone = body.timezone ?? 'Asia/Tokyo';
      assert.deepEqual(outcome(times, body), { ...stored(start, end), timezone });
    });
  }

  it('does not check the stored times if neither is sent', () => {
    const turned = stored('2031-05-01T12:00:00Z', '2031-05-01T10:00:00Z');
    assert.deepEqual(outcome(turned, { timezone: 'Asia/Tokyo' }), turned);
    assert.deepEqual(outcome(turned, { start_at: '2031-05-01T11:00:00Z' }), START);
  });

  const refused: [what: string, times: StoredTimes, body: EventUpdate, outcome: Outcome][] = [
    ['a start after the stored end', CLOSED, { start_at: '2031-05-01T12:00:00.001Z' }, START],
    ['a local start after the stored end', CLOSED, { start_at: '2031-05-01T21:00:00.001' }, START],
    ['a start after the end of an ended event', ENDED, { start_at: '2030-05-02T00:00:00Z' }, START],
    ['an end before the stored start', OPEN, { end_at: '2031-05-01T09:59:59.999Z' }, END],
    ['a local end before the stored start', OPEN, { end_at: '2031-05-01T18:59:59' }, END],
    ['a local end in the past', CLOSED, { end_at: '2030-06-01T21:00:00' }, END],
    [
      'a local start and end the wrong way round',
      OPEN,
      { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T17:00:00' },
      END,
    ],
    [
      'a local start after an end with an offset',
      OPEN,
      { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T08:00:00Z' },
      END,
    ],
    [
      'a local start outside the years 1 to 9999',
      OPEN,
      { start_at: '0001-01-01T00:00:00' },
      { together: ['body.start_at: datetime_parsing'] },
    ],
    [
      'a local start outside the years 1 to 9999, without an issue for the end',
      OPEN,
      { start_at: '0001-01-01T00:00:00', end_at: '2031-01-01T00:00:00Z' },
      { together: ['body.start_at: datetime_parsing'] },
    ],
    [
      'a local end outside the years 1 to 9999',
      { ...OPEN, timezone: 'America/Phoenix' },
      { end_at: '9999-12-31T23:59:59' },
      { together: ['body.end_at: datetime_parsing'] },
    ],
  ];
  for (const [what, times, body, expected] of refused) {
    it(`refuses ${what}`, () => assert.deepEqual(outcome(times, body), expected));
  }
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
