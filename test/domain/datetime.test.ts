// Date-times as text: what is accepted, what is refused, and which instant is meant, with Temporal as the oracle.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  EARLIEST_MS,
  formatInstant,
  isWithinYears,
  LATEST_MS,
  parseDateTime,
} from '../../src/domain/datetime.ts';
import { anyText } from '../support/any-text.ts';
import { SEED } from './refusals.ts';

describe('parseDateTime', () => {
  const instants: [text: string, utc: string][] = [
    ['2031-05-01T18:00:00Z', '2031-05-01T18:00:00.000Z'],
    ['2031-05-01T18:00:00+00:00', '2031-05-01T18:00:00.000Z'],
    ['2031-05-01T18:00:00-00:00', '2031-05-01T18:00:00.000Z'],
    ['2031-05-01T18:00:00+05:30', '2031-05-01T12:30:00.000Z'],
    ['2031-05-01T18:07Z', '2031-05-01T18:07:00.000Z'],
    ['2031-05-01T18:00+05:30', '2031-05-01T12:30:00.000Z'],
    ['2031-05-01T18:00-09:30', '2031-05-02T03:30:00.000Z'],
    ['2031-05-01T18:00:00-09:30', '2031-05-02T03:30:00.000Z'],
    ['2031-05-01T00:00:00+23:59', '2031-04-30T00:01:00.000Z'],
    ['2031-05-01T00:00:00-23:59', '2031-05-01T23:59:00.000Z'],
    ['2028-02-29T23:59:59Z', '2028-02-29T23:59:59.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['2031-05-01T18:00:00.5Z', '2031-05-01T18:00:00.500Z'],
    ['2031-05-01T18:00:00.05Z', '2031-05-01T18:00:00.050Z'],
    ['2031-05-01T18:00:00.123456789+02:00', '2031-05-01T16:00:00.123Z'],
    ['2031-05-01T18:00:00.9999Z', '2031-05-01T18:00:00.999Z'],
    [`2031-05-01T18:00:00.${'9'.repeat(500)}Z`, '2031-05-01T18:00:00.999Z'],
    [`2031-05-01T18:00:00.001${'0'.repeat(500)}1Z`, '2031-05-01T18:00:00.001Z'],
    ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
    ['1969-12-31T23:59:59.0009Z', '1969-12-31T23:59:59.000Z'],
    ['1955-11-05T06:00:00.0019-08:00', '1955-11-05T14:00:00.001Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, utc] of instants) {
    it(`reads ${text.slice(0, 60)} as ${utc}`, () => {
      const time = parseDateTime(text);
      assert.ok(time && 'ms' in time);
      assert.equal(formatInstant(time.ms), utc);
    });
  }

  const clockTimes: [text: string, local: string][] = [
    ['2031-05-01T18:00:00', '2031-05-01T18:00:00.000'],
    ['2031-05-01T18:00:00.5', '2031-05-01T18:00:00.500'],
    ['2031-05-01T18:07', '2031-05-01T18:07:00.000'],
    ['2031-05-01T18:00:00.0019999', '2031-05-01T18:00:00.001'],
    ['0001-01-01T00:00:00', '0001-01-01T00:00:00.000'],
  ];
  for (const [text, local] of clockTimes) {
    it(`reads ${text} as a clock time`, () => assert.deepEqual(parseDateTime(text), { local }));
  }

  const refused: Record<string, string[]> = {
    'a lower-case t or z': ['2031-05-01t18:00:00Z', '2031-05-01T18:00:00z', '2031-05-01t18:00:00z'],
    'a space or underscore in place of the T': ['2031-05-01 18:00:00Z', '2031-05-01_18:00:00Z'],
    'a plus that became a space': ['2031-05-01T18:00:00 02:00', '2031-05-01T18:00:00.5 02:00'],
    'space around it': [' 2031-05-01T18:00:00Z', '2031-05-01T18:00:00Z ', '2031-05-01T18:00:00Z\n'],
    'several lines': ['2031-05-01T18:00:00Z\n2031-05-01T18:00:00Z', '\n2031-05-01T18:00:00Z'],
    'a date or a time alone': ['2031-05-01', '2031-05-01Z', '18:00:00Z', '2031-05-01T', '2031'],
    'missing minutes, or a part of a minute': [
      ...['2031-05-01T18Z', '2031-05-01T18', '2031-05-01T18:00:Z', '2031-05-01T18:00:', '2031-05-01T18:00:0'],
      ...['2031-05-01T18:00.5Z', '2031-05-01T18:00.5', '2031-05-01T18:60Z', '2031-05-01T24:00'],
    ],
    'the basic format': ['20310501T180000Z', '2031-05-01T180000Z', '20310501T18:00:00Z'],
    'week and ordinal dates': ['2031-W18-4T18:00:00Z', '2031-121T18:00:00Z'],
    'too few or too many digits': [
      '31-05-01T18:00:00Z',
      '2031-5-01T18:00:00Z',
      '2031-05-1T18:00:00Z',
      '2031-05-01T8:00:00Z',
      '2031-005-01T18:00:00Z',
      '12031-05-01T18:00:00Z',
    ],
    'years with a sign': ['+002031-05-01T18:00:00Z', '-000001-05-01T18:00:00Z', '-2031-05-01T18:00:00Z'],
    'invalid months': ['2031-00-01T18:00:00Z', '2031-13-01T18:00:00Z', '2031-99-01T18:00:00Z'],
    'invalid days': [
      '2031-05-00T18:00:00Z',
      '2031-05-32T18:00:00Z',
      '2031-04-31T18:00:00Z',
      '2031-06-31T18:00:00Z',
      '2031-09-31T18:00:00Z',
      '2031-11-31T18:00:00Z',
      '2031-02-30T18:00:00Z',
    ],
    '29 February outside leap years': [
      '2031-02-29T18:00:00Z',
      '1900-02-29T18:00:00Z',
      '2100-02-29T18:00:00Z',
      '2031-02-29T18:00:00',
    ],
    'invalid times': [
      '2031-05-01T24:00:00Z',
      '2031-05-01T25:00:00Z',
      '2031-05-01T18:60:00Z',
      '2031-05-01T18:00:60Z',
      '2016-12-31T23:59:60Z',
      '2031-05-01T24:00:00',
    ],
    'a fraction without digits or with a comma': [
      '2031-05-01T18:00:00.Z',
      '2031-05-01T18:00:00,5Z',
      '2031-05-01T18:00:00.5.5Z',
      '2031-05-01T18:00.5Z',
    ],
    'invalid offsets': [
      '2031-05-01T18:00:00+24:00',
      '2031-05-01T18:00:00+23:60',
      '2031-05-01T18:00:00-99:99',
      '2031-05-01T18:00:00+0200',
      '2031-05-01T18:00:00+02',
      '2031-05-01T18:00:00+2:00',
      '2031-05-01T18:00:00+02:00:00',
      '2031-05-01T18:00:00Z+02:00',
      '2031-05-01T18:00:00+02:00Z',
      '2031-05-01T18:00:00ZZ',
      '2031-05-01T18:00:00\u221202:00',
      '2031-05-01T18:00:00 Z',
      '2031-05-01T18:00:00UTC',
      '2031-05-01T18:00:00 Europe/Berlin',
      '2031-05-01T18:00:00+02:00[Europe/Berlin]',
    ],
    'digits of other scripts': [
      '\uff12\uff10\uff13\uff11-05-01T18:00:00Z',
      '\u0662\u0660\u0663\u0661-05-01T18:00:00Z',
    ],
    'other notations and empty text': ['', ' ', 'now', 'null', '1935244800', 'Thu, 01 May 2031 18:00:00 GMT'],
  };
  for (const [what, texts] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      for (const text of texts) assert.equal(parseDateTime(text), undefined, JSON.stringify(text));
    });
  }
});

const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');

/** Date-times in the right format, many with values that no calendar or clock has. */
const wellFormed = fc
  .record({
    year: fc.integer({ min: 0, max: 9999 }),
    month: fc.integer({ min: 0, max: 13 }),
    day: fc.integer({ min: 0, max: 32 }),
    hour: fc.integer({ min: 0, max: 24 }),
    minute: fc.integer({ min: 0, max: 60 }),
    second: fc.integer({ min: 0, max: 59 }),
    fraction: fc.stringMatching(/^(\.[0-9]{1,30})?$/),
    offset: fc.stringMatching(/^(Z|[+-](0[0-9]|1[0-9]|2[0-4]):([0-5][0-9]|60))?$/),
  })
  .map((t) => ({
    ...t,
    clock: `${pad(t.year, 4)}-${pad(t.month)}-${pad(t.day)}T${pad(t.hour)}:${pad(t.minute)}:${pad(t.second)}`,
  }));

/** Temporal reads at most nine digits; the rest is cut off anyway. */
function oracle(clock: string, fraction: string, offset: string): number | string | undefined {
  const text = `${clock}${fraction.slice(0, 10)}`;
  try {
    if (offset !== '') return Temporal.Instant.from(text + offset).epochMilliseconds;
    return Temporal.PlainDateTime.from(text)
      .round({ smallestUnit: 'millisecond', roundingMode: 'floor' })
      .toString({ fractionalSecondDigits: 3 });
  } catch {
    return undefined;
  }
}

describe('parseDateTime, compared with Temporal', () => {
  it('has the right length for every month of every year', () => {
    for (let year = 0; year <= 9999; year++) {
      for (let month = 1; month <= 12; month++) {
        const days = Temporal.PlainYearMonth.from({ year, month }).daysInMonth;
        const on = (day: number) => parseDateTime(`${pad(year, 4)}-${pad(month)}-${pad(day)}T00:00:00Z`);
        assert.ok(on(days) && !on(days + 1), `${year}-${month}`);
      }
    }
  });

  it('accepts the same calendar and clock values and returns the same instant', () => {
    let accepted = 0;
    const property = fc.property(wellFormed, ({ clock, fraction, offset }) => {
      const time = parseDateTime(clock + fraction + offset);
      if (time) accepted++;
      assert.equal(time && ('ms' in time ? time.ms : time.local), oracle(clock, fraction, offset));
    });
    fc.assert(property, { seed: SEED, numRuns: 8_000 });
    assert.ok(accepted > 2_000, `only ${accepted} accepted`);
  });

  it('writes every instant as Date does', () => {
    const instants = fc.oneof(
      fc.integer({ min: EARLIEST_MS, max: LATEST_MS }),
      fc.integer({ min: -2_000, max: 2_000 }).map((ms) => ms * 1_000),
      fc.integer({ min: -100, max: 100 }).map((day) => day * 86_400_000 - 1),
    );
    const property = fc.property(instants, (ms) =>
      assert.equal(formatInstant(ms), new Date(ms).toISOString()),
    );
    fc.assert(property, { seed: SEED, numRuns: 5_000 });
  });

  it('reads back every instant that it writes, with any offset', () => {
    const instants = fc.integer({ min: EARLIEST_MS, max: LATEST_MS });
    const offsetMinutes = fc.integer({ min: -1439, max: 1439 });
    const property = fc.property(instants, offsetMinutes, (ms, minutes) => {
      assert.deepEqual(parseDateTime(formatInstant(ms)), { ms });
      const local = ms + minutes * 60_000;
      if (!isWithinYears(local)) return;
      const size = Math.abs(minutes);
      const offset = `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
      assert.deepEqual(parseDateTime(formatInstant(local).replace('Z', offset)), { ms });
    });
    fc.assert(property, { seed: SEED, numRuns: 3_000 });
  });

  it('never throws, and accepts nothing that Temporal refuses', () => {
    const almost = fc
      .tuple(wellFormed, fc.nat(40), anyText({ maxLength: 2 }), fc.nat(2))
      .map(([t, at, text, cut]) => {
        const whole = t.clock + t.fraction + t.offset;
        return whole.slice(0, at) + text + whole.slice(at + cut);
      });
    const property = fc.property(fc.oneof(almost, anyText()), (text) => {
      const time = parseDateTime(text);
      if (!time) return;
      const shortened = text.replace(/(\.\d{9})\d+/, '$1');
      if ('ms' in time) assert.equal(Temporal.Instant.from(shortened).epochMilliseconds, time.ms);
      else assert.ok(Temporal.PlainDateTime.from(shortened).toString().startsWith(time.local.slice(0, 16)));
    });
    fc.assert(property, { seed: SEED, numRuns: 5_000 });
  });
});

describe('isWithinYears', () => {
  const cases: [text: string, within: boolean][] = [
    ['0001-01-01T00:00:00Z', true],
    ['0001-01-01T00:00:00+00:01', false],
    ['0001-01-01T00:00:00-00:01', true],
    ['0000-12-31T23:59:59.999Z', false],
    ['0000-12-31T23:59:59.999-00:01', true],
    ['0000-12-31T01:00:00-23:59', true],
    ['0000-01-01T00:00:00Z', false],
    ['9999-12-31T23:59:59.999Z', true],
    ['9999-12-31T23:59:59.9999999Z', true],
    ['9999-12-31T23:59:59-00:01', false],
    ['9999-12-31T23:59:59+00:01', true],
    ['9999-12-31T00:01:00-23:59', false],
  ];
  for (const [text, within] of cases) {
    it(`${within ? 'holds' : 'does not hold'} for ${text}`, () => {
      const time = parseDateTime(text);
      assert.ok(time && 'ms' in time);
      assert.equal(isWithinYears(time.ms), within);
    });
  }

  it('has the first and the last instant of four-digit years as its bounds', () => {
    assert.equal(EARLIEST_MS, Temporal.Instant.from('0001-01-01T00:00:00Z').epochMilliseconds);
    assert.equal(LATEST_MS, Temporal.Instant.from('9999-12-31T23:59:59.999Z').epochMilliseconds);
  });
});
