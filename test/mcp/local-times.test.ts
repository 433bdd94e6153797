// The times of an event in words: the weekday and the clock that people at the event see.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatLocal } from '../../src/domain/datetime.ts';
import { describeTimes } from '../../src/mcp/text.ts';
import { Chance } from '../support/random.ts';

const describeEvent = (start: string, end: string | null, timezone: string) =>
  describeTimes({
    start_local: formatLocal(Date.parse(start), timezone),
    end_local: end && formatLocal(Date.parse(end), timezone),
  });

describe('the times of an event in words', () => {
  for (const [start, end, timezone, expected] of [
    ['2031-05-01T16:00:00Z', '2031-05-01T18:00:00Z', 'Europe/Berlin', 'Thu 1 May 2031, 18:00–20:00 UTC+2'],
    ['2031-05-01T16:00:00Z', null, 'Europe/Berlin', 'Thu 1 May 2031, 18:00 UTC+2'],
    ['2031-05-01T16:00:00Z', '2031-05-01T16:00:00Z', 'UTC', 'Thu 1 May 2031, 16:00 UTC'],
    ['2031-05-01T16:00:30.5Z', null, 'Asia/Kolkata', 'Thu 1 May 2031, 21:30:30 UTC+5:30'],
    [
      '2031-05-02T02:00:00Z',
      '2031-05-02T05:00:00Z',
      'America/New_York',
      'Thu 1 May 2031, 22:00 – Fri 2 May, 01:00 UTC-4',
    ],
    [
      '2031-12-31T22:00:00Z',
      '2032-01-01T02:00:00Z',
      'UTC',
      'Wed 31 Dec 2031, 22:00 – Thu 1 Jan 2032, 02:00 UTC',
    ],
    [
      '2031-10-26T00:30:00Z',
      '2031-10-26T01:30:00Z',
      'Europe/Berlin',
      'Sun 26 Oct 2031, 02:30 UTC+2 – Sun 26 Oct 2031, 02:30 UTC+1',
    ],
    ['2031-05-01T12:00:00Z', null, 'Pacific/Kiritimati', 'Fri 2 May 2031, 02:00 UTC+14'],
    ['2031-05-01T12:00:00Z', null, 'America/St_Johns', 'Thu 1 May 2031, 09:30 UTC-2:30'],
  ] as const) {
    it(`are "${expected}"`, () => assert.equal(describeEvent(start, end, timezone), expected));
  }

  it('name the timezone if asked for', () => {
    const times = { start_local: '2031-05-01T18:00:00+02:00', end_local: '2031-05-01T20:00:00+02:00' };
    assert.equal(describeTimes(times, 'Europe/Berlin'), 'Thu 1 May 2031, 18:00–20:00 Europe/Berlin (UTC+2)');
  });

  it('agree with Intl in every timezone', () => {
    const chance = new Chance(7);
    for (const timeZone of Intl.supportedValuesOf('timeZone')) {
      const ms = chance.integer(Date.UTC(1990, 0), Date.UTC(2050, 0) - 1);
      const { weekday, day, month, year, hour, minute, second } = Object.fromEntries(
        new Intl.DateTimeFormat('en-US', {
          ...{ timeZone, weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
          ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
        })
          .formatToParts(ms)
          .map(({ type, value }) => [type, value]),
      );
      const clock = second === '00' ? `${hour}:${minute}` : `${hour}:${minute}:${second}`;
      const described = describeTimes({ start_local: formatLocal(ms, timeZone), end_local: null });
      assert.equal(
        described.replace(/ UTC\S*$/, ''),
        `${weekday} ${day} ${month} ${year}, ${clock}`,
        timeZone,
      );
    }
  });
});
