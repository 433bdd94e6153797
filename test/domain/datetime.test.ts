// Date-times as text, with Temporal as the oracle: what is accepted, and which instant is meant. Examples are in test/acceptance/date-times.test.ts.
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
  it('has the first and the last instant of four-digit years as its bounds', () => {
    assert.equal(EARLIEST_MS, Temporal.Instant.from('0001-01-01T00:00:00Z').epochMilliseconds);
    assert.equal(LATEST_MS, Temporal.Instant.from('9999-12-31T23:59:59.999Z').epochMilliseconds);
    const cases = [EARLIEST_MS - 1, EARLIEST_MS, LATEST_MS, LATEST_MS + 1].map(isWithinYears);
    assert.deepEqual(cases, [false, true, true, false]);
  });
});
