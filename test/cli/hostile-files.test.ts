// Files that try to fill the memory: `import` reads them with little memory, whatever is repeated or long in them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { fileOf, NEW_AGENT, runFed, summaryOf } from './bulk.ts';

const LONG = 'x'.repeat(1_000_000);
/** More than the heap holds if one string of each item were kept. */
const COUNT = size(70, 150);
const SMALL_HEAP = `--max-old-space-size=${size(48, 96)}`;
const GIVEN = ['--event-type=talk', '--timezone=UTC', '--location-name=Hall', '--lat=1', '--lng=2'];

function many(lines: (at: number) => string[]): string[] {
  return Array.from({ length: COUNT }, (_, at) => lines(at)).flat();
}

const calendar = (lines: string[]) => ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR'];
const event = (lines: string[]) => ['BEGIN:VEVENT', 'SUMMARY:x', ...lines, 'END:VEVENT'];
const zone = (lines: string[]) => ['BEGIN:VTIMEZONE', ...lines, 'END:VTIMEZONE'];
/** The name of the timezone with different upper and lower case every time. */
const spelled = (at: number) =>
  [...'america/new_york'].map((letter, bit) => (at & (1 << bit) ? letter.toUpperCase() : letter)).join('');

const calendars: [name: string, lines: string[], imported: number, refused: number][] = [
  [
    'long names of timezones',
    calendar(many((at) => zone([`TZID:${at}${LONG}`, 'X-LIC-LOCATION:Asia/Seoul']))),
    ...([0, 0] as const),
  ],
  [
    'timezones in long lines',
    calendar(
      many((at) => zone([`TZID;X=${LONG}:The timezone ${at}`, `X-LIC-LOCATION;X=${LONG}:America/New_York`])),
    ),
    ...([0, 0] as const),
  ],
  [
    'one endless event',
    calendar(event(['DTSTART:20310501T180000Z', ...many(() => [`DESCRIPTION:${LONG}`])])),
    ...([0, 1] as const),
  ],
  [
    'events of many short properties that wait for a timezone',
    calendar(
      Array.from({ length: 5 }, () =>
        event(['DTSTART;TZID=Nowhere:20310501T180000', ...Array(size(60_000, 120_000)).fill('GEO;A=:')]),
      ).flat(),
    ),
    ...([0, 5] as const),
  ],
  [
    'calendars with a timezone in a long line',
    many((at) =>
      calendar([
        `X-WR-TIMEZONE;X=${LONG}:America/New_York`,
        ...event([`DTSTART:20310501T${180_000 + (at % 60)}`, `GEO:${at % 90};1`]),
      ]),
    ),
    ...([COUNT, 0] as const),
  ],
  [
    'events with a timezone in a long line, in many spellings',
    calendar(many((at) => event([`DTSTART;X=${LONG};TZID=${spelled(at)}:20310501T180000`, `GEO:0;${at}`]))),
    ...([COUNT, 0] as const),
  ],
];

describe('import with little memory', { concurrency: 2 }, () => {
  // A short run has every second of these files: each needs a busy process.
  const isDue = (_file: unknown, at: number) => size(at % 2 === 1, true);

  for (const [name, lines, imported, refused] of calendars.filter(isDue)) {
    it(`reads a calendar of ${name}`, async () => {
      const ended = await importFrom('ics', lines.join('\n'));
      assert.deepEqual(summaryOf(ended), {
        ...{ end: 'done', read: imported + refused, imported, existing: 0, refused },
      });
    });
  }

  for (const [name, lines] of (
    [
      ['empty lines', '\n'.repeat(size(1_500_000, 3_000_000))],
      ['a line of many folds', `X:${'\n '.repeat(size(500_000, 1_000_000))}`],
    ] as const
  ).filter(isDue)) {
    it(`reads a calendar of ${name}`, async () => {
      const file = fileOf(calendar([lines]).join('\n'), 'ics');
      const ended = await run(['import', file, ...NEW_AGENT], newEnvironment());
      assert.equal(summaryOf(ended).end, 'done');
    });
  }

  it('reads GeoJSON with long names and texts', async () => {
    const members = many((at) => [`"features":[],"${at}":"x"`]).join(',');
    const ended = await importFrom('geojson', `{"type":"FeatureCollection",${members},"a":"${LONG}"}`);
    assert.equal(summaryOf(ended).end, 'done');
  });
});

function importFrom(format: string, content: string) {
  return runFed(['import', '-', '--format', format, ...NEW_AGENT, ...GIVEN], newEnvironment(), content);
}

function newEnvironment(): Record<string, string> {
  return { DATA_DIR: join(temporaryFolder(), 'data'), NODE_OPTIONS: SMALL_HEAP };
}
