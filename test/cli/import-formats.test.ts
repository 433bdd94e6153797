// `import` of GeoJSON and iCalendar as an operator runs it: by extension and by option, with defaults, and repeatedly.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatOfFile } from '../../src/cli/import/import-formats.ts';
import { EVENT_TYPES } from '../../src/domain/events/event.ts';
import { newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { countsIn, fileOf, importNew, NEW_AGENT, refusalsOf, summaryOf } from './bulk.ts';

const newFolder = () => join(temporaryFolder(), 'data');

const CLUB = [
  ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//example//EN', 'X-WR-TIMEZONE:Europe/Berlin'],
  ...[
    'BEGIN:VEVENT',
    'UID:1',
    'DTSTART:20310501T180000',
    'DTEND:20310501T200000',
    'SUMMARY:Blitz',
    'END:VEVENT',
  ],
  ...['BEGIN:VEVENT', 'UID:2', 'DTSTART;VALUE=DATE:20310502', 'SUMMARY:Open day', 'GEO:1.5;-2.5'],
  ...['LOCATION:Old\\, far', ' away 🎪', 'CATEGORIES:FESTIVAL', 'END:VEVENT'],
  ...[
    'BEGIN:VEVENT',
    'UID:3',
    'DTSTART:20310503T180000Z',
    'RRULE:FREQ=WEEKLY',
    'SUMMARY:Weekly',
    'END:VEVENT',
  ],
  ...['BEGIN:VEVENT', 'UID:4', 'DTSTART:20200503T180000Z', 'DTEND:20200503T190000Z', 'END:VEVENT'],
  'END:VCALENDAR',
].join('\r\n');
const GIVEN = [
  ...['--event-type', 'club', '--audience', 'adults', '--location-name', 'Chess club'],
  ...['--address', 'Street 1', '--lat=-33.9', '--lng=151.2'],
];

const MARKETS = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13.4, 52.5] },
      properties: { title: 'Flea market', start_at: '2031-05-04T08:00:00', location_name: 'Square' },
    },
    { type: 'Feature', geometry: { type: 'Polygon', coordinates: [] }, properties: { title: 'Area' } },
    { type: 'Feature', geometry: null, properties: { start_at: '2031-05-04T08:00:00Z', event_type: 'x' } },
  ],
};

describe('import of other formats', () => {
  it('reads a calendar, fills in what its events lack, and imports nothing twice', async () => {
    const folder = newFolder();
    const ended = await importNew(CLUB, { DATA_DIR: folder }, { ending: 'ics', options: GIVEN });
    assert.equal(ended.code, 1);
    assert.deepEqual(refusalsOf(ended), [
      [20, 'RRULE: recurring events are not expanded; write each occurrence as a separate event'],
      [26, 'title: is required; end_at: must lie in the future'],
    ]);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 4, imported: 2, existing: 0, refused: 2 });

    const again = await runHere(
      ['import', fileOf(CLUB, 'txt'), '--format', 'ics', '--key-stdin', ...GIVEN],
      { DATA_DIR: folder },
      `${ended.key}\n`,
    );
    assert.deepEqual(summaryOf(again), { end: 'done', read: 4, imported: 0, existing: 2, refused: 2 });

    const service = await startTestService({ DATA_DIR: folder });
    const { body } = await service.client.with({ 'x-api-key': ended.key }).nearby({ lat: 0, lng: 0 });
    const shown = body.events.map(
      ({ event_id, agent_id, created_at, ...fields }: Record<string, unknown>) => fields,
    );
    const empty = { description: null, url: null, cost: null };
    assert.deepEqual(shown, [
      {
        ...empty,
        ...{ title: 'Blitz', start_at: '2031-05-01T16:00:00.000Z', end_at: '2031-05-01T18:00:00.000Z' },
        ...{ timezone: 'Europe/Berlin', location_name: 'Chess club', address: 'Street 1' },
        ...{ lat: -33.9, lng: 151.2, audience: 'adults', event_type: 'club' },
      },
      {
        ...empty,
        ...{ title: 'Open day', start_at: '2031-05-01T22:00:00.000Z', end_at: '2031-05-02T22:00:00.000Z' },
        ...{ timezone: 'Europe/Berlin', location_name: 'Old, faraway 🎪', address: null },
        ...{ lat: 1.5, lng: -2.5, audience: 'adults', event_type: 'festival' },
      },
    ]);
    await service.close();
  });

  it('reads GeoJSON and names each refused feature, with the option that would help', async () => {
    const folder = newFolder();
    const options = ['--timezone', 'Europe/Berlin', '--event-type', 'market'];
    const ended = await importNew(
      JSON.stringify(MARKETS, null, 1),
      { DATA_DIR: folder },
      { ending: 'GeoJSON', options },
    );
    assert.equal(ended.code, 1);
    const missing = ['location_name', 'lat', 'lng'].map(
      (name) => `${name}: is required (--${name.replace('_', '-')} sets a default)`,
    );
    assert.deepEqual(refusalsOf(ended), [
      [2, 'geometry: must be a Point'],
      [
        3,
        ['title: is required', ...missing, `event_type: must be one of: ${EVENT_TYPES.join(', ')}`].join(
          '; ',
        ),
      ],
    ]);
    assert.match(ended.stderr, /^feature 2: /m);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 3, imported: 1, existing: 0, refused: 2 });
    assert.deepEqual(countsIn(folder), { events: 1, counted: 1 });
  });

  it('reads standard input by --format', async () => {
    const folder = newFolder();
    const args = [
      'import',
      '-',
      '--format',
      'geojson',
      ...NEW_AGENT,
      '--timezone=UTC',
      '--event-type=market',
    ];
    const ended = await runHere(args, { DATA_DIR: folder }, JSON.stringify(MARKETS.features[0]));
    assert.deepEqual([ended.code, summaryOf(ended).imported], [0, 1]);
  });

  for (const [ending, content, reason] of [
    ['ics', CLUB.slice(0, 150), /import failed: the file is not valid iCalendar: it ends inside/],
    ['geojson', '{"type":"FeatureCollection","features":[', /not valid GeoJSON: it is incomplete/],
    ['ics', '\r\n', /not valid iCalendar: it is empty/],
    ['geojson', '', /not valid GeoJSON: it is empty/],
  ] as const) {
    it(`ends with the reason if a .${ending} is ${content.trim() ? 'broken' : 'empty'}`, async () => {
      const ended = await importNew(content, { DATA_DIR: newFolder() }, { ending });
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, reason);
    });
  }

  for (const [ending, content] of [
    ['ics', `${CLUB}\r\n\x1a`],
    ['geojson', `${JSON.stringify({ ...MARKETS, features: MARKETS.features.slice(0, 1) })}\0`],
  ] as const) {
    it(`imports the items before an error in a .${ending}, and recognises them in the fixed file`, async () => {
      const folder = newFolder();
      const options = ['--timezone', 'Europe/Berlin', ...GIVEN];
      const ended = await importNew(content, { DATA_DIR: folder }, { ending, options });
      assert.equal(ended.code, 1);
      const count = ending === 'ics' ? 2 : 1;
      assert.match(
        ended.stderr,
        new RegExp(`^failed in .*: ${count * count} read, ${count} imported, `, 'm'),
      );
      assert.match(ended.stderr, /import failed: the file is not valid .* Imported events are kept/);
      assert.deepEqual(countsIn(folder), { events: count, counted: count });
      const again = await runHere(
        ['import', fileOf(content.slice(0, -1), ending), '--key-stdin', ...options],
        { DATA_DIR: folder },
        `${ended.key}\n`,
      );
      assert.deepEqual([summaryOf(again).imported, summaryOf(again).existing], [0, count]);
    });
  }

  it('prints no terminal control sequences from a file', async () => {
    const evil = '\x1b[2J\x1b[31mevil\u202e';
    const content = [
      ...['BEGIN:VCALENDAR', 'BEGIN:VEVENT', `DTSTART;TZID=${evil}:20310501T180000`, 'END:VEVENT'],
      `END:${evil}`,
    ].join('\r\n');
    const ended = await importNew(content, { DATA_DIR: newFolder() }, { ending: 'ics' });
    assert.equal(ended.code, 1);
    assert.doesNotMatch(ended.stderr, /[^\P{C}\n]/u);
    assert.match(ended.stderr, /^line 2: DTSTART: must be in a known timezone, not " \[2J \[31mevil "/m);
    assert.match(
      ended.stderr,
      /import failed: .*: line 5 has END: \[2J \[31MEVIL {2}without a matching BEGIN\. Imported/,
    );
  });

  for (const [ending, content, format] of [
    ['json', JSON.stringify(MARKETS, null, 2), 'geojson'],
    ['ndjson', `\ufeff${JSON.stringify(MARKETS.features[0])}\n`, 'geojson'],
    ['json', '\n{ "features": [\n', 'geojson'],
    ['txt', CLUB, 'ics'],
    ['geojson', `\ufeff\r\n${CLUB}`, 'ics'],
    ['ICAL', JSON.stringify(MARKETS), 'geojson'],
  ] as const) {
    it(`says that a .${ending} is ${format} if its content looks like it`, async () => {
      const folder = newFolder();
      const ended = await importNew(content, { DATA_DIR: folder }, { ending });
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, new RegExp(`looks like ${format}: add --format ${format}\\. Imported`));
      assert.deepEqual(countsIn(folder), { events: 0, counted: 0 });
    });
  }

  it('trusts --format, whatever the content looks like', async () => {
    const content = `{"type":"Feature",${JSON.stringify(newEvent()).slice(1)}\n`;
    const ended = await importNew(content, { DATA_DIR: newFolder() }, { options: ['--format', 'ndjson'] });
    assert.deepEqual([ended.code, summaryOf(ended).imported], [0, 1]);
  });

  it('recognises file extensions, in either case', () => {
    const formats = [
      'a.ics',
      'a.b.ICAL',
      'a.ifb',
      'a.GeoJSON',
      'a.geojsonl',
      'a.jsonl',
      'a.json',
      'ics',
      '-',
    ];
    assert.deepEqual(formats.map(formatOfFile), [
      ...['ics', 'ics', 'ics', 'geojson', 'geojson', 'ndjson', 'ndjson', 'ndjson', 'ndjson'],
    ]);
  });

  it('says that a place must be a number', async () => {
    for (const value of ['abc', '', 'Infinity', '1,5']) {
      const args = ['a.ics', ...NEW_AGENT, '--lat=1', `--lng=${value}`];
      const { code, stderr } = await runHere(['import', ...args]);
      assert.equal(code, 2);
      assert.ok(stderr.startsWith('--lng must be a number such as --lng=52.5264.\n'), stderr);
    }
  });
});
