// Timezones: which names are accepted, and which instant a clock time means, especially when clocks change.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ianaName, isTimezone, isWithinYears, resolveLocal } from '../../src/domain/datetime.ts';
import { anyText } from '../support/any-text.ts';
import { SEED } from './refusals.ts';

const ZONES = Intl.supportedValuesOf('timeZone');

describe('isTimezone', () => {
  it('accepts every zone of the runtime', () => {
    assert.ok(ZONES.length > 400);
    assert.deepEqual(
      ZONES.filter((name) => !isTimezone(name)),
      [],
    );
  });

  it('accepts links, in any case', () => {
    const links = [
      'UTC',
      'GMT',
      'Etc/UTC',
      'Zulu',
      'US/Pacific',
      'Asia/Calcutta',
      'Asia/Kolkata',
      'Europe/Kiev',
      'Europe/Kyiv',
      'EST5EDT',
      'Etc/GMT+12',
      'GMT-0',
      'NZ-CHAT',
      'America/Argentina/ComodRivadavia',
      'America/Port-au-Prince',
      'europe/berlin',
      'EUROPE/BERLIN',
    ];
    for (const name of links) assert.equal(isTimezone(name), true, name);
  });

  it('knows the spelling of every zone and link, and keeps links', () => {
    for (const name of [...ZONES, 'Asia/Calcutta', 'US/Pacific', 'EST5EDT', 'Etc/GMT+12', 'NZ-CHAT', 'UTC']) {
      assert.equal(ianaName(name.toLowerCase()), name);
      assert.equal(ianaName(name.toUpperCase()), name);
    }
    assert.equal(ianaName('PST'), undefined);
  });

  const refused: Record<string, string[]> = {
    'fixed offsets': ['+05:30', '-08:00', '+00', '+0000', '-00:00', 'Z', 'UTC+1', 'UTC+01:00', 'GMT+1', '0'],
    'abbreviations that are not IANA names': [
      'PST',
      'IST',
      'CST',
      'BST',
      'JST',
      'CEST',
      'EDT',
      'SystemV/PST8PDT',
    ],
    'unknown names': ['Mars/Phobos', 'Europe/Atlantis', 'Berlin', 'Europe', 'local', 'localtime'],
    'names that are almost right': [
      '',
      ' ',
      ' Europe/Berlin',
      'Europe/Berlin ',
      'Europe/Berlin\n',
      'Europe/Berlin\0',
      'Europe/Ber',
      'Europe//Berlin',
      'Europe\\Berlin',
      '/Europe/Berlin',
      'America/New York',
      '../UTC',
      'posix/Europe/Berlin',
    ],
    'letters of other scripts that fold to ASCII': ['Asia/\u212aolkata', 'Asia/\uff2bolkata', '\uff35TC'],
    'names of object members': ['constructor', 'toString', '__proto__', 'hasOwnProperty'],
    'date-times instead of names': ['2031-05-01T18:00:00Z', '2031-05-01T18:00:00+02:00[Europe/Berlin]'],
  };
  for (const [what, names] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      for (const name of names) assert.equal(isTimezone(name), false, JSON.stringify(name));
    });
  }

  it('accepts nothing in which a clock time cannot be resolved', () => {
    const mutated = fc
      .tuple(fc.constantFrom(...ZONES, 'PST', 'UTC'), fc.nat(20), anyText({ maxLength: 2 }))
      .map(([name, at, text]) => name.slice(0, at) + text + name.slice(at + 1));
    const property = fc.property(fc.oneof(mutated, fc.string()), (name) => {
      if (isTimezone(name)) resolveLocal('2031-05-01T18:00:00.000', name);
    });
    fc.assert(property, { seed: SEED, numRuns: 5_000 });
  });
});

describe('resolveLocal', () => {
  it('may leave the years 0001 to 9999 at both ends', () => {
    assert.equal(isWithinYears(resolveLocal('0001-01-01T00:00:00.000', 'Asia/Tokyo')), false);
    assert.equal(isWithinYears(resolveLocal('0001-01-01T00:00:00.000', 'America/New_York')), true);
    assert.equal(isWithinYears(resolveLocal('0000-12-31T23:00:00.000', 'America/New_York')), true);
    assert.equal(isWithinYears(resolveLocal('9999-12-31T23:59:59.999', 'Asia/Tokyo')), true);
    assert.equal(isWithinYears(resolveLocal('9999-12-31T23:59:59.999', 'America/New_York')), false);
  });

  it('returns the earliest instant at which the clocks of the zone show that time', () => {
    const instants = fc.date({
      min: new Date('1920-01-01T00:00:00Z'),
      max: new Date('2100-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    const property = fc.property(fc.constantFrom(...ZONES), instants, (timezone, instant) => {
      const local = clockOf(instant.getTime(), timezone);
      const resolved = resolveLocal(local, timezone);
      assert.equal(clockOf(resolved, timezone), local);
      assert.ok(resolved <= instant.getTime());
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });
});

/** The clock time in the zone, from Intl, which is independent of Temporal. */
function clockOf(ms: number, timezone: string): string {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  }).formatToParts(ms);
  const part = (type: string) => parts.find((item) => item.type === type)!.value;
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  return `${date}T${part('hour')}:${part('minute')}:${part('second')}.${part('fractionalSecond')}`;
}
