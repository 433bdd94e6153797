// iCalendar to bodies of creates: lines, texts, times and places, and each reason for a refusal.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { readCalendar } from '../../src/cli/import/calendar-items.ts';
import { chunksOf, readItems, readUntilBroken } from './item-reading.ts';

const read = (content: string | Buffer, options = {}) => readItems('ics', content, options);
const START = 'DTSTART:20310501T160000Z';

function calendar(events: readonly string[][], around: readonly string[] = []): string {
  const components = events.flatMap((lines) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT']);
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...around, ...components, 'END:VCALENDAR', ''].join('\r\n');
}

function timezones(count: number): string[] {
  return Array.from({ length: count }, (_, at) => [
    ...['BEGIN:VTIMEZONE', `TZID:Zone ${at}`, 'X-LIC-LOCATION:Asia/Seoul', 'END:VTIMEZONE'],
  ]).flat();
}

async function readOne(lines: string[], around: readonly string[] = [], given = {}) {
  const [item, ...others] = await read(calendar([lines], around), { given });
  assert.deepEqual(others, []);
  return item![1] as Record<string, unknown>;
}

describe('iCalendar', () => {
  it('becomes the fields of an event', async () => {
    const lines = [
      ...['UID:1@example.com', 'DTSTAMP:20260101T000000Z', START, 'DTEND:20310501T180000Z'],
      ...['SUMMARY;LANGUAGE=en:Lanterns\\, big\\; small', 'DESCRIPTION:One\\nTwo\\NThree \\\\n \\"x\\" \\q'],
      ...['LOCATION:Kulturhaus\\, Berlin', 'GEO:52.5264;-13.3955', 'URL:https://example.com/a;b,c'],
      ...['CATEGORIES:City,Workshop', 'categories:talk', 'X-OTHER:what', 'STATUS:CONFIRMED', 'CLASS:PUBLIC'],
      ...['BEGIN:VALARM', 'TRIGGER:-PT15M', 'SUMMARY:not this', 'END:VALARM'],
    ];
    assert.deepEqual(await readOne(lines, [], { timezone: 'Europe/Berlin' }), {
      title: 'Lanterns, big; small',
      description: 'One\nTwo\nThree \\n "x" \\q',
      start_at: '2031-05-01T16:00:00Z',
      end_at: '2031-05-01T18:00:00Z',
      timezone: 'Europe/Berlin',
      location_name: 'Kulturhaus, Berlin',
      lat: 52.5264,
      lng: -13.3955,
      url: 'https://example.com/a;b,c',
      event_type: 'workshop',
    });
  });

  it('has its events numbered by their first line, in every calendar of the file', async () => {
    const one = calendar([[START], [START]]);
    const items = await read(`\ufeff\r\n\r\n${one}\r\n${one}`);
    assert.deepEqual(
      items.map(([line]) => line),
      [5, 8, 15, 18],
    );
  });

  it('has no events in to-dos, journals and timezones', async () => {
    const others = ['VTODO', 'VJOURNAL', 'VFREEBUSY', 'X-MINE'].flatMap((name) => [
      ...[`BEGIN:${name}`, 'SUMMARY:x', 'BEGIN:VEVENT', 'SUMMARY:inside', 'END:VEVENT', `END:${name}`],
    ]);
    assert.deepEqual(await read(calendar([], others)), []);
  });

  it('may be folded anywhere, even inside a character, and end its lines with LF', async () => {
    const title = 'Zirkus 🎪, für Ältere; 漢字 \\ "x": y';
    const escaped = title.replaceAll(/[\\;,]/g, '\\$&');
    const bytes = Buffer.from(calendar([[START, `SUMMARY;X-A="a;b:c,d";X-B=e:${escaped}`]]));
    const property = fc.asyncProperty(
      fc.array(fc.nat(bytes.length), { maxLength: 12 }),
      fc.constantFrom('\r\n ', '\n ', '\r\n\t', '\n\t'),
      fc.integer({ min: 1, max: 100 }),
      async (places, fold, chunkBytes) => {
        // Not at the end of a line: nothing would be left to fold.
        const cuts = [...new Set(places)].filter(
          (at) => at > 0 && !/[\r\n]/.test(bytes.toString('latin1', at - 1, at + 1)),
        );
        const ends = [...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
        const folded = Buffer.concat(
          pieces.flatMap((piece, at) => (at ? [Buffer.from(fold), piece] : [piece])),
        );
        const [item] = await read(folded, { chunkBytes });
        assert.equal((item![1] as { title: string }).title, title);
      },
    );
    await fc.assert(property, { seed: 20_261_115, numRuns: 300 });
    assert.equal((await read(calendar([[START, 'SUMMARY:x']]).replaceAll('\r\n', '\n'))).length, 1);
  });

  it('may have many timezones and deeply nested components', async () => {
    const name = 'A'.repeat(100);
    const deep = [...Array(19).fill(`BEGIN:${name}`), ...Array(19).fill(`END:${name}`)];
    const event = ['DTSTART;TZID=Zone 999:20310501T180000'];
    assert.equal((await readOne(event, [...deep, ...timezones(1_000), ...deep])).timezone, 'Asia/Seoul');
  });

  describe('times', () => {
    const ZONE = ['BEGIN:VTIMEZONE', 'TZID:Home', 'X-LIC-LOCATION:America/New_York', 'END:VTIMEZONE'];
    const AMSTERDAM = '(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna';
    const cases: [name: string, lines: string[], around: string[], expected: object][] = [
      ['in UTC', ['DTSTART:20310501T160000Z'], [], { start_at: '2031-05-01T16:00:00Z' }],
      [
        'with a TZID, which is the timezone too',
        ['DTSTART;TZID=Europe/Berlin:20310501T180000', 'DTEND;TZID="Europe/Berlin":20310501T200000'],
        [],
        { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T20:00:00', timezone: 'Europe/Berlin' },
      ],
      [
        'with another TZID at the end',
        ['DTSTART;TZID=Europe/Berlin:20310501T180000', 'DTEND;TZID=Europe/London:20310501T190000'],
        [],
        { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T18:00:00.000Z', timezone: 'Europe/Berlin' },
      ],
      [
        'with the name of the issuer of the TZID',
        ['DTSTART;TZID=/example.org/20310101_1/America/Argentina/Buenos_Aires:20310501T180000'],
        [],
        { start_at: '2031-05-01T18:00:00', timezone: 'America/Argentina/Buenos_Aires' },
      ],
      [
        'with a TZID in quotes that the calendar defines, beside other parameters',
        ['DTSTART;X-A="b,c;TZID=d:e","f";tzid="Home, sweet; home: x";X-G=h,i:20310501T180000'],
        ['BEGIN:VTIMEZONE', 'TZID:Home, sweet; home: x', 'X-LIC-LOCATION:Asia/Seoul', 'END:VTIMEZONE'],
        { start_at: '2031-05-01T18:00:00', timezone: 'Asia/Seoul' },
      ],
      [
        'with a TZID that the calendar defines, with its X-LIC-LOCATION',
        ['DTSTART;TZID=Home:20310501T180000'],
        ZONE,
        { start_at: '2031-05-01T18:00:00', timezone: 'America/New_York' },
      ],
      [
        'with a TZID whose X-LIC-LOCATION comes before its name',
        ['DTSTART;TZID=Home:20310501T180000'],
        ['BEGIN:VTIMEZONE', 'X-LIC-LOCATION:Asia/Seoul', 'TZID:Home', 'END:VTIMEZONE'],
        { start_at: '2031-05-01T18:00:00', timezone: 'Asia/Seoul' },
      ],
      [
        'with a TZID of words that has an X-LIC-LOCATION, beside timezones that are IANA names',
        [`DTSTART;TZID="${AMSTERDAM}":20310501T180000`],
        [
          ...['BEGIN:VTIMEZONE', 'TZID:Home', 'X-LIC-LOCATION:Asia/Seoul', 'END:VTIMEZONE'],
          ...['BEGIN:VTIMEZONE', `TZID:${AMSTERDAM.replaceAll(',', '\\,')}`],
          ...['X-LIC-LOCATION:W. Europe Standard Time', 'END:VTIMEZONE'],
          ...['BEGIN:VTIMEZONE', 'TZID:Other', 'END:VTIMEZONE'],
        ],
        { start_at: '2031-05-01T18:00:00', timezone: 'Europe/Berlin' },
      ],
      [
        'with a TZID without its quotes',
        [
          `DTSTART;TZID=${AMSTERDAM}:20310501T180000`,
          `dtend;tzid=${AMSTERDAM};value=date-time:20310501T190000`,
        ],
        [...['BEGIN:VTIMEZONE', `TZID:${AMSTERDAM}`, 'X-LIC-LOCATION:Europe/Berlin', 'END:VTIMEZONE']],
        { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T19:00:00', timezone: 'Europe/Berlin' },
      ],
      [
        'with a Windows name, quoted or not, in either case',
        [
          'DTSTART;TZID="w. europe standard time":20310501T180000',
          'DTEND;TZID=GMT Standard Time:20310501T190000',
        ],
        [],
        { start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T18:00:00.000Z', timezone: 'Europe/Berlin' },
      ],
      [
        'with the Windows name of a timezone that its largest city has left',
        ['DTSTART;TZID=Central Asia Standard Time:20310501T180000'],
        [],
        { start_at: '2031-05-01T18:00:00', timezone: 'Asia/Bishkek' },
      ],
      [
        'floating, in the timezone that the calendar gives by its Windows name',
        ['DTSTART:20310501T180000'],
        ['X-WR-TIMEZONE:Tokyo Standard Time'],
        { start_at: '2031-05-01T18:00:00', timezone: 'Asia/Tokyo' },
      ],
      [
        'with UTC as a TZID',
        ['DTSTART;TZID=UTC:20310501T180000', 'DTEND;TZID=Etc/UTC:20310501T190000'],
        [],
        { start_at: '2031-05-01T18:00:00Z', end_at: '2031-05-01T19:00:00.000Z', timezone: 'UTC' },
      ],
      [
        'in UTC with a TZID, which is the timezone only',
        ['DTSTART;TZID=Europe/Berlin:20310501T160000Z', 'DTEND;TZID=Nowhere:20310501T180000Z'],
        [],
        { start_at: '2031-05-01T16:00:00Z', end_at: '2031-05-01T18:00:00Z', timezone: 'Europe/Berlin' },
      ],
      [
        'of a whole day with a TZID',
        ['DTSTART;VALUE=DATE;TZID=Europe/Berlin:20310501'],
        ['X-WR-TIMEZONE:Asia/Tokyo'],
        { start_at: '2031-05-01T00:00:00', end_at: '2031-05-02T00:00:00', timezone: 'Europe/Berlin' },
      ],
      [
        'floating, in the timezone of the calendar',
        ['DTSTART:20310501T180000'],
        ['X-WR-TIMEZONE:Asia/Tokyo'],
        { start_at: '2031-05-01T18:00:00', timezone: 'Asia/Tokyo' },
      ],
      ['floating, in no timezone', ['DTSTART:20310501T180000'], [], { start_at: '2031-05-01T18:00:00' }],
      [
        'of a whole day',
        ['DTSTART;VALUE=DATE:20310501'],
        ['X-WR-TIMEZONE:Europe/Berlin'],
        { start_at: '2031-05-01T00:00:00', end_at: '2031-05-02T00:00:00', timezone: 'Europe/Berlin' },
      ],
      [
        'of whole days',
        ['DTSTART;VALUE=DATE:20311230', 'DTEND;VALUE=DATE:20320102'],
        [],
        { start_at: '2031-12-30T00:00:00', end_at: '2032-01-02T00:00:00' },
      ],
      [
        'with a duration of hours, across a change of the clocks',
        ['DTSTART;TZID=Europe/Berlin:20310330T000000', 'DURATION:PT24H'],
        [],
        { start_at: '2031-03-30T00:00:00', end_at: '2031-03-30T23:00:00.000Z', timezone: 'Europe/Berlin' },
      ],
      [
        'with a duration of days, across a change of the clocks',
        ['DTSTART;TZID=Europe/Berlin:20310330T000000', 'DURATION:P1D'],
        [],
        { start_at: '2031-03-30T00:00:00', end_at: '2031-03-30T22:00:00.000Z', timezone: 'Europe/Berlin' },
      ],
      [
        'with a duration of all parts',
        ['DTSTART:20310501T160000Z', 'DURATION:+P1DT2H3M4S'],
        [],
        { start_at: '2031-05-01T16:00:00Z', end_at: '2031-05-02T18:03:04.000Z' },
      ],
      [
        'of a date with a duration of weeks',
        ['DTSTART;VALUE=DATE:20310501', 'DURATION:P2W'],
        ['X-WR-TIMEZONE:UTC'],
        { start_at: '2031-05-01T00:00:00', end_at: '2031-05-15T00:00:00.000Z', timezone: 'UTC' },
      ],
    ];
    for (const [name, lines, around, expected] of cases) {
      it(name, async () => assert.deepEqual(await readOne(lines, around), expected));
    }

    const LATE = 'DTSTART;TZID=Home:20310501T180000';

    it('are in a timezone that the calendar defines after the event, wherever a chunk ends', async () => {
      const content = calendar([[LATE], [START]]).replace(
        'END:VCALENDAR',
        `${ZONE.join('\r\n')}\r\nEND:VCALENDAR`,
      );
      for (const chunkBytes of [1, 100, 65_536]) {
        const items = await read(content, { chunkBytes });
        assert.deepEqual(items, [
          [6, { start_at: '2031-05-01T16:00:00Z' }],
          [3, { start_at: '2031-05-01T18:00:00', timezone: 'America/New_York' }],
        ]);
      }
    });

    it('wait for a timezone only up to a limit, the end of the calendar, or a syntax error', async () => {
      const many = calendar(Array(10_001).fill([LATE]), ['X-WR-TIMEZONE:Asia/Seoul']);
      assert.equal((await readUntilBroken('ics', many.slice(0, -15), 1_000)).items.length, 10_001);
      const large = calendar([...Array(5).fill([LATE, `X:${'x'.repeat(1_000_000)}`]), [LATE]]);
      const batches = await Array.fromAsync(readCalendar(chunksOf(large, 65_536), {}));
      const lengths = batches.map((items) => items.length).filter((length) => length > 0);
      assert.deepEqual(lengths, [5, 1]);
      const two = `${calendar([[LATE]])}${calendar([], ZONE)}`;
      assert.match(String((await read(two, { chunkBytes: 1 }))[0]![1]), /must be in a known timezone/);
    });

    it('are in the timezone of the options if the calendar names none', async () => {
      const given = { timezone: 'Asia/Tokyo' };
      assert.equal((await readOne(['DTSTART:20310501T180000'], [], given)).timezone, 'Asia/Tokyo');
      const zoned = await readOne(['DTSTART;TZID=Europe/Paris:20310501T180000'], [], given);
      assert.equal(zoned.timezone, 'Europe/Paris');
      const named = await readOne(['DTSTART:20310501T180000'], ['X-WR-TIMEZONE:Asia/Seoul'], given);
      assert.equal(named.timezone, 'Asia/Seoul');
    });
  });

  const ONCE = 'recurring events are not expanded; write each occurrence as a separate event';
  const refused: [name: string, lines: string[], reason: string][] = [
    ['a rule of recurrence', [START, 'RRULE:FREQ=DAILY'], `body.RRULE: ${ONCE}`],
    ['dates of recurrence', [START, 'RDATE:20310502T160000Z'], `body.RDATE: ${ONCE}`],
    ['one occurrence', [START, 'RECURRENCE-ID:20310501T160000Z'], `body.RECURRENCE-ID: ${ONCE}`],
    ['a private event', [START, 'CLASS:PRIVATE'], 'body.CLASS: the event is not public'],
    ['no start', ['SUMMARY:x'], 'body.DTSTART: is required'],
    ['two starts', [START, START], 'body.DTSTART: must not appear twice'],
    [
      'an invalid start',
      ['DTSTART:tomorrow'],
      'body.DTSTART: must be one date or date-time such as 20310501T180000Z',
    ],
    [
      'a day that does not exist',
      ['DTSTART:20310230T000000Z'],
      'body.DTSTART: must be a valid date and time',
    ],
    ['second 60', ['DTSTART:20311231T235960Z'], 'body.DTSTART: must be a valid date and time'],
    [
      'an unknown timezone',
      ['DTSTART;TZID="Customized Time Zone":20310501T160000'],
      'body.DTSTART: must be in a known timezone, not "Customized Time Zone": use an IANA name such as Europe/Berlin, ' +
        'a Windows name such as W. Europe Standard Time, or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION',
    ],
    [
      'a timezone after a long issuer name',
      [`DTSTART;TZID=${'/a'.repeat(100_000)}:20310501T160000`],
      'body.DTSTART: must be in a known timezone, not a TZID of 200000 characters: use an IANA name such as Europe/Berlin, ' +
        'a Windows name such as W. Europe Standard Time, or the TZID of a VTIMEZONE with one of these as its X-LIC-LOCATION',
    ],
    ['a period', [START, 'DTEND:x'], 'body.DTEND: must be one date or date-time such as 20310501T180000Z'],
    ['a negative duration', [START, 'DURATION:-PT1H'], 'body.DURATION: must be a duration such as PT1H30M'],
    ['an empty duration', [START, 'DURATION:P'], 'body.DURATION: must be a duration such as PT1H30M'],
    [
      'a duration that is too long',
      [START, 'DURATION:P999999999W'],
      'body.DURATION: must end within the years 0001 to 9999 UTC',
    ],
    [
      'an invalid place',
      [START, 'GEO:52'],
      'body.GEO: must be latitude and longitude such as 52.5264;13.3955',
    ],
    [
      'an invalid place with many digits',
      [START, `GEO:${'1'.repeat(1_000_000)}x;1`],
      'body.GEO: must be latitude and longitude such as 52.5264;13.3955',
    ],
    [
      'a title that cannot be read',
      [START, 'SUMMARY;X="a:b'],
      'body: line 5 must have a name, a colon and a value',
    ],
    ['no property', [START, 'what'], 'body: line 5 must have a name, a colon and a value'],
    [
      'a line that is too long',
      [START, `X:${'x'.repeat(1_048_576)}`],
      'body: line 5 must not be longer than 1 MiB',
    ],
    [
      'too many lines',
      [START, ...Array<string>(1_100).fill(`X:${'x'.repeat(1_000)}`)],
      'body: must not be longer than 1 MiB',
    ],
    [
      'invalid exact texts',
      [START, 'X-LOCAL-EVENTS-EXACT:{'],
      'body.X-LOCAL-EVENTS-EXACT: must be valid JSON',
    ],
    [
      'several problems at once',
      ['DTSTART:x', 'GEO:y', 'RRULE:z'],
      `body.RRULE: ${ONCE}; body.DTSTART: must be one date or date-time such as 20310501T180000Z; ` +
        'body.GEO: must be latitude and longitude such as 52.5264;13.3955',
    ],
  ];
  for (const [name, lines, reason] of refused) {
    it(`refuses ${name} and reads on`, { timeout: 30_000 }, async () => {
      const items = await read(calendar([lines, [START, 'SUMMARY:next']]));
      assert.equal(items.length, 2);
      items.sort(([one], [other]) => one - other); // it may have waited for a timezone
      assert.deepEqual(items[0], [3, reason]);
      assert.deepEqual(items[1]![1], { title: 'next', start_at: '2031-05-01T16:00:00Z' });
    });
  }

  it('refuses invalid UTF-8', async () => {
    const latin = Buffer.from(calendar([[START, 'SUMMARY:\xff']]), 'latin1');
    assert.deepEqual(await read(latin), [[3, 'body: line 5 must be valid UTF-8']]);
  });

  it('reads cancelled events as such, and those of a calendar of cancellations', async () => {
    for (const line of ['STATUS:CANCELLED', 'STATUS:Cancelled '])
      assert.equal((await readOne([START, line])).status, 'cancelled');
    assert.equal((await readOne([START], ['METHOD:CANCEL'])).status, 'cancelled');
    for (const line of ['STATUS:CONFIRMED', 'STATUS:TENTATIVE', 'SUMMARY:CANCELLED'])
      assert.equal((await readOne([START, line])).status, undefined);
  });

  it('reads an end that this service assumed as none, unless somebody has changed it', async () => {
    const mark = 'X-LOCAL-EVENTS-END-ASSUMED:TRUE';
    assert.equal((await readOne([START, 'DTEND:20310501T190000Z', mark])).end_at, undefined);
    assert.equal((await readOne([START, 'DTEND:20310501T190000Z'])).end_at, '2031-05-01T19:00:00Z');
    assert.equal((await readOne([START, 'DTEND:20310501T200000Z', mark])).end_at, '2031-05-01T20:00:00Z');
    const moved = ['DTSTART;TZID=Europe/Berlin:20310502T100000', 'DTEND;TZID=Europe/Berlin:20310502T130000'];
    assert.equal((await readOne([...moved, mark])).end_at, undefined);
  });

  it('keeps the items before a syntax error', async () => {
    const content = `${calendar([[START], [START]])}x\r\n${calendar([[START]])}`;
    for (const chunkBytes of [1, 65_536]) {
      const { items, problem } = await readUntilBroken('ics', content, chunkBytes);
      assert.deepEqual(items, [3, 6]);
      assert.match(problem, /line 10 is outside a VCALENDAR/);
    }
  });

  it('may have lines of white space around it', async () => {
    assert.equal((await read(` \r\n\t\r\n${calendar([[START]])}\r\n \r\n\r\n`)).length, 1);
  });

  const broken: [name: string, content: string, reason: RegExp][] = [
    ['an empty file', '', /not valid iCalendar: it is empty/],
    ['white space', '\ufeff \r\n\r\n\t', /not valid iCalendar: it is empty/],
    ['a text', 'hello', /line 1 is outside a VCALENDAR/],
    [
      'a calendar within another',
      'BEGIN:VCALENDAR\nBEGIN:VCALENDAR\nBEGIN:VEVENT\n',
      /line 2 begins a VCALENDAR inside another one/,
    ],
    ['an event without a calendar', 'BEGIN:VEVENT\nEND:VEVENT\n', /line 1 is outside a VCALENDAR/],
    ['half a file', calendar([[START]]).slice(0, 70), /ends inside a VEVENT/],
    ['an unfinished calendar', calendar([[START]]).replace('END:VCALENDAR', ''), /ends inside a VCALENDAR/],
    [
      'components nested too deeply',
      `BEGIN:VCALENDAR\n${'BEGIN:A\n'.repeat(1_000)}`,
      /: line 21 nests components more than 20 deep$/,
    ],
    [
      'a component with a long name',
      `BEGIN:VCALENDAR\nBEGIN:${'A'.repeat(101)}\n`,
      /: line 2 has a component name longer than 100 characters$/,
    ],
    [
      'an end with a long name',
      `BEGIN:VCALENDAR\nEND:${'A'.repeat(101)}\n`,
      /: line 2 has a component name longer than 100 characters$/,
    ],
    [
      'too many timezones',
      calendar([], timezones(1_001)),
      /: line 4006 exceeds the limit of 1000 timezones per calendar$/,
    ],
    [
      'crossed components',
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR\n',
      /line 3 has END:VCALENDAR without a matching BEGIN/,
    ],
  ];
  for (const [name, content, reason] of broken) {
    it(`refuses the file: ${name}`, () => assert.rejects(read(content), reason));
  }

  it('can be read as ical.js writes it', async () => {
    const property = fc.asyncProperty(
      fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 150 })
        .filter((text) => !/[\x00-\x08\x0b-\x1f\x7f]/.test(text)),
      fc.date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
      fc.double({ min: -90, max: 90, noNaN: true }).filter((lat) => !String(lat).includes('e')),
      async (text, date, lat) => {
        const component = new ICAL.Component('vcalendar');
        const event = new ICAL.Component('vevent');
        component.addSubcomponent(event);
        event.updatePropertyWithValue('summary', text);
        event.updatePropertyWithValue('location', text);
        event.updatePropertyWithValue('dtstart', ICAL.Time.fromJSDate(date, true));
        event.updatePropertyWithValue('duration', ICAL.Duration.fromSeconds(5_400));
        event.updatePropertyWithValue('geo', [lat, 2.5]);
        const [item] = await read(component.toString());
        const startMs = Math.floor(date.getTime() / 1000) * 1000;
        assert.deepEqual(item![1], {
          title: text,
          location_name: text,
          start_at: `${date.toISOString().slice(0, 19)}Z`,
          end_at: new Date(startMs + 5_400_000).toISOString(),
          lat: lat + 0,
          lng: 2.5,
        });
      },
    );
    await fc.assert(property, { seed: 20_261_115, numRuns: 200 });
  });
});

describe('our own properties', () => {
  const own = [
    ...[
      START,
      'DTEND:20310501T180000Z',
      'SUMMARY:ab',
      'LOCATION:Hall\\, Street 1',
      'GEO:0.000000000000;13.4',
    ],
    ...[
      'X-LOCAL-EVENTS-TIMEZONE:Europe/Berlin',
      'X-LOCAL-EVENTS-AUDIENCE:kids',
      'X-LOCAL-EVENTS-COST:5\\,00',
    ],
    ...[
      'X-LOCAL-EVENTS-LOCATION-NAME:Hall',
      'X-LOCAL-EVENTS-ADDRESS:Street 1',
      'X-LOCAL-EVENTS-URL:see there',
    ],
    ...['X-LOCAL-EVENTS-START:2031-05-01T16:00:00.250Z', 'X-LOCAL-EVENTS-END:2031-05-01T18:00:00.500Z'],
    ...['X-LOCAL-EVENTS-GEO:1e-20\\;13.4', 'X-LOCAL-EVENTS-EXACT:{"title":"a\\\\rb"\\,"x":1}'],
  ];
  const edited = (from: string, to: string) =>
    readOne(own.map((line) => (line.startsWith(from) ? to : line)));

  it('express what the standard cannot', async () => {
    assert.deepEqual(await readOne(own.map((line) => (line === 'SUMMARY:ab' ? 'SUMMARY:a\\nb' : line))), {
      title: 'a\rb',
      start_at: '2031-05-01T16:00:00.250Z',
      end_at: '2031-05-01T18:00:00.500Z',
      timezone: 'Europe/Berlin',
      location_name: 'Hall',
      address: 'Street 1',
      lat: 1e-20,
      lng: 13.4,
      url: 'see there',
      cost: '5,00',
      audience: 'kids',
    });
  });

  it('are ignored if the property they belong to was edited', async () => {
    assert.equal((await readOne(own)).title, 'ab');
    const moved = await edited('DTSTART', 'DTSTART:20310501T170000Z');
    assert.deepEqual([moved.start_at, moved.end_at], ['2031-05-01T17:00:00Z', '2031-05-01T18:00:00.500Z']);
    assert.equal((await edited('DTEND', 'DTEND:20310501T190000Z')).end_at, '2031-05-01T19:00:00Z');
    const elsewhere = await edited('LOCATION', 'LOCATION:Garden');
    assert.deepEqual([elsewhere.location_name, elsewhere.address], ['Garden', undefined]);
    assert.deepEqual((await edited('GEO', 'GEO:1;2')).lat, 1);
    const abroad = await edited('DTSTART', 'DTSTART;TZID=America/New_York:20310501T120000');
    assert.deepEqual([abroad.start_at, abroad.timezone], ['2031-05-01T12:00:00', 'America/New_York']);
  });

  it('count if the start is in UTC, however it is written', async () => {
    const written = await edited('DTSTART', 'DTSTART;TZID=UTC:20310501T160000');
    assert.deepEqual([written.start_at, written.timezone], ['2031-05-01T16:00:00.250Z', 'Europe/Berlin']);
    const around = ['X-WR-TIMEZONE:Asia/Tokyo'];
    assert.equal((await readOne(own, around, { timezone: 'Asia/Seoul' })).timezone, 'Europe/Berlin');
  });
});
