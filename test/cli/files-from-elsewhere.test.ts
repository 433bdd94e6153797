// Calendars and GeoJSON as well-known programs write them, with everything around the few lines that matter.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEventCreate } from '../../src/domain/events/event-input.ts';
import { readItems } from './item-reading.ts';

const given = {
  event_type: 'club',
  timezone: 'Europe/Lisbon',
  location_name: 'Club',
  lat: 38.7,
  lng: -9.1,
} as const;

const ics = (lines: readonly string[]) => lines.join('\r\n').concat('\r\n');

const OUTLOOK_DESKTOP = ics([
  ...['BEGIN:VCALENDAR', 'PRODID:-//Microsoft Corporation//Outlook 16.0 MIMEDIR//EN', 'VERSION:2.0'],
  ...[
    'METHOD:PUBLISH',
    'X-MS-OLK-FORCEINSPECTOROPEN:TRUE',
    'BEGIN:VTIMEZONE',
    'TZID:W. Europe Standard Time',
  ],
  ...['BEGIN:STANDARD', 'DTSTART:16011028T030000', 'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10'],
  ...['TZOFFSETFROM:+0200', 'TZOFFSETTO:+0100', 'END:STANDARD', 'END:VTIMEZONE'],
  ...['BEGIN:VEVENT', 'ATTENDEE;CN="Kim";RSVP=TRUE:mailto:kim@example.com', 'CLASS:PUBLIC'],
  ...['CREATED:20300101T000000Z', 'DESCRIPTION: \\n', 'DTEND;TZID="W. Europe Standard Time":20310501T200000'],
  ...['DTSTAMP:20300101T000000Z', 'DTSTART;TZID="W. Europe Standard Time":20310501T180000'],
  ...['LAST-MODIFIED:20300101T000000Z', 'LOCATION:Kulturhaus', 'PRIORITY:5', 'SEQUENCE:0'],
  ...['SUMMARY;LANGUAGE=de:Laternen', 'TRANSP:OPAQUE', 'UID:040000008200E00074C5B7101A82E008'],
  ...[
    'X-ALT-DESC;FMTTYPE=text/html:<html xmlns:v="urn:schemas-microsoft-com:vml">',
    '\t<body></body></html>',
  ],
  ...['X-MICROSOFT-CDO-BUSYSTATUS:BUSY', 'BEGIN:VALARM', 'TRIGGER:-PT15M', 'ACTION:DISPLAY'],
  ...['DESCRIPTION:Reminder', 'END:VALARM', 'END:VEVENT', 'END:VCALENDAR'],
]);

const OUTLOOK_WEB = ics([
  ...['BEGIN:VCALENDAR', 'METHOD:PUBLISH', 'PRODID:Microsoft Exchange Server 2010', 'VERSION:2.0'],
  ...['X-WR-CALNAME:Calendar', 'BEGIN:VTIMEZONE', 'TZID:Eastern Standard Time', 'END:VTIMEZONE'],
  ...['BEGIN:VEVENT', 'DESCRIPTION:\\n', 'UID:1', 'SUMMARY:Chess', 'LOCATION:'],
  ...[
    'DTSTART;TZID=Eastern Standard Time:20310501T180000',
    'DTEND;TZID=Eastern Standard Time:20310501T193000',
  ],
  ...['CLASS:PUBLIC', 'STATUS:CONFIRMED', 'X-MICROSOFT-CDO-APPT-SEQUENCE:0', 'END:VEVENT'],
  ...['BEGIN:VEVENT', 'UID:2', 'SUMMARY:Call', 'DTSTART;TZID="tzone://Microsoft/Utc":20310501T180000'],
  ...['X-MICROSOFT-LOCATIONS:[]', 'END:VEVENT', 'END:VCALENDAR'],
]);

const GOOGLE = ics([
  ...['BEGIN:VCALENDAR', 'PRODID:-//Google Inc//Google Calendar 70.9054//EN', 'VERSION:2.0'],
  ...['CALSCALE:GREGORIAN', 'METHOD:PUBLISH', 'X-WR-CALNAME:Club', 'X-WR-TIMEZONE:Europe/Berlin'],
  ...['BEGIN:VEVENT', 'DTSTART:20310501T160000Z', 'DTEND:20310501T180000Z', 'UID:a@google.com'],
  ...['ATTENDEE;CUTYPE=INDIVIDUAL;CN=Kim "K Lee;X-NUM-GUESTS=0:mailto:kim@example.com'],
  ...['DESCRIPTION:<b>Bring</b> scissors\\, please', 'LOCATION:', 'SUMMARY:Lanterns', 'END:VEVENT'],
  ...['BEGIN:VEVENT', 'DTSTART;VALUE=DATE:20310502', 'DTEND;VALUE=DATE:20310503', 'SUMMARY:Open day'],
  ...['END:VEVENT', 'END:VCALENDAR'],
]);

const APPLE = ics([
  ...['BEGIN:VCALENDAR', 'CALSCALE:GREGORIAN', 'PRODID:-//Apple Inc.//macOS 15.0//EN', 'VERSION:2.0'],
  ...['X-APPLE-CALENDAR-COLOR:#FF2968', 'BEGIN:VTIMEZONE', 'TZID:Europe/Berlin', 'END:VTIMEZONE'],
  ...[
    'BEGIN:VEVENT',
    'DTEND;TZID=Europe/Berlin:20310501T200000',
    'DTSTART;TZID=Europe/Berlin:20310501T180000',
  ],
  ...['LOCATION:Kulturhaus\\nAuguststr. 21\\, 10117 Berlin', 'SUMMARY:Lanterns', 'URL;VALUE=URI:'],
  ...['X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-ADDRESS="Auguststr. 21\\\\n10117 '],
  ...[' Berlin";X-APPLE-RADIUS=70.5;X-TITLE=Kulturhaus:geo:52.526400,-13.395500'],
  ...['X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC', 'END:VEVENT', 'END:VCALENDAR'],
]);

const MEETUP = ics([
  ...[
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Meetup//RemoteApi//EN',
    'X-ORIGINAL-URL:https://example.com',
  ],
  ...['BEGIN:VTIMEZONE', 'TZID:Europe/Berlin', 'TZURL:http://tzurl.org/zoneinfo-outlook/Europe/Berlin'],
  ...['X-LIC-LOCATION:Europe/Berlin', 'END:VTIMEZONE', 'BEGIN:VEVENT', 'DTSTAMP:20300101T000000Z'],
  ...['DTSTART;TZID=Europe/Berlin:20310501T180000', 'DTEND;TZID=Europe/Berlin:20310501T200000'],
  ...['STATUS:CONFIRMED', 'SUMMARY:Lanterns', 'CLASS:PUBLIC', 'GEO:52.53;13.40'],
  ...['LOCATION:Kulturhaus (Auguststr. 21\\, Berlin\\, Germany)', 'URL:https://example.com/events/1/'],
  ...['UID:event_1@meetup.com', 'END:VEVENT', 'END:VCALENDAR'],
]);

const EVENTBRITE = ics([
  ...[
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Eventbrite//EN',
    'BEGIN:VEVENT',
    'UID:1',
    'SUMMARY:Lanterns',
  ],
  ...['DTSTART;TZID=America/New_York;VALUE=DATE-TIME:20310501T180000', 'DURATION:PT2H'],
  ...['ORGANIZER;CN=Club: of lanterns:mailto:noreply@example.com', 'GEO:', 'END:VEVENT', 'END:VCALENDAR'],
]);

const NEXTCLOUD = ics([
  ...['BEGIN:VCALENDAR', 'PRODID:-//IDN nextcloud.com//Calendar app 5.0//EN', 'X-WR-CALNAME:Club'],
  ...['REFRESH-INTERVAL;VALUE=DURATION:PT4H', 'BEGIN:VEVENT', 'SUMMARY:Lanterns', 'CATEGORIES:Fun,Workshop'],
  ...['DTSTART;TZID=Europe/Berlin:20310501T180000', 'DTEND;TZID=Europe/Berlin:20310501T200000'],
  ...['ATTACH;FMTTYPE=image/png;FILENAME=a.png:/f/1', 'END:VEVENT', 'BEGIN:VTIMEZONE'],
  ...['TZID:Europe/Berlin', 'END:VTIMEZONE', 'END:VCALENDAR'],
]);

const QGIS = `{
"type": "FeatureCollection",
"name": "markets",
"crs": { "type": "name", "properties": { "name": "urn:ogc:def:crs:OGC:1.3:CRS84" } },
"features": [
{ "type": "Feature", "properties": { "fid": 1, "title": "Flea market", "start_at": "2031-05-04T08:00:00", "url": null }, "geometry": { "type": "MultiPoint", "coordinates": [ [ 13.4, 52.5 ] ] } }
]
}
`;

const OVERPASS = JSON.stringify({
  type: 'FeatureCollection',
  generator: 'overpass-turbo',
  timestamp: '2030-01-01T00:00:00Z',
  features: [
    {
      type: 'Feature',
      properties: { '@id': 'node/1', title: 'Flea market', start_at: '2031-05-04T08:00:00Z', name: 'x' },
      geometry: { type: 'Point', coordinates: [13.4, 52.5] },
      id: 'node/1',
    },
  ],
});

const BERLIN = {
  ...{ title: 'Lanterns', start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T20:00:00' },
  timezone: 'Europe/Berlin',
};
const CLUB = { location_name: 'Club', lat: 38.7, lng: -9.1 };
const MARKET = { title: 'Flea market', location_name: 'Club', lat: 52.5, lng: 13.4 };

const shapes: [name: string, format: 'ics' | 'geojson', content: string, expected: object[]][] = [
  [
    ...(['Outlook', 'ics', OUTLOOK_DESKTOP] as const),
    [{ ...BERLIN, ...CLUB, title: 'Laternen', description: ' \n', location_name: 'Kulturhaus' }],
  ],
  [
    ...(['Outlook on the web', 'ics', OUTLOOK_WEB] as const),
    [
      {
        ...{ title: 'Chess', start_at: '2031-05-01T18:00:00', end_at: '2031-05-01T19:30:00', ...CLUB },
        ...{ timezone: 'America/New_York', description: '\n' },
      },
      { title: 'Call', start_at: '2031-05-01T18:00:00Z', timezone: 'UTC', ...CLUB },
    ],
  ],
  [
    ...(['Google', 'ics', GOOGLE] as const),
    [
      {
        ...{ ...BERLIN, start_at: '2031-05-01T16:00:00Z', end_at: '2031-05-01T18:00:00Z', ...CLUB },
        description: '<b>Bring</b> scissors, please',
      },
      {
        ...{ title: 'Open day', start_at: '2031-05-02T00:00:00', end_at: '2031-05-03T00:00:00' },
        ...{ timezone: 'Europe/Berlin', ...CLUB },
      },
    ],
  ],
  [
    ...(['Apple', 'ics', APPLE] as const),
    [{ ...BERLIN, location_name: 'Kulturhaus\nAuguststr. 21, 10117 Berlin', lat: 52.5264, lng: -13.3955 }],
  ],
  [
    ...(['Meetup', 'ics', MEETUP] as const),
    [
      {
        ...{ ...BERLIN, location_name: 'Kulturhaus (Auguststr. 21, Berlin, Germany)', lat: 52.53, lng: 13.4 },
        url: 'https://example.com/events/1/',
      },
    ],
  ],
  [
    ...(['Eventbrite', 'ics', EVENTBRITE] as const),
    [{ ...BERLIN, end_at: '2031-05-02T00:00:00.000Z', timezone: 'America/New_York', ...CLUB }],
  ],
  [...(['Nextcloud', 'ics', NEXTCLOUD] as const), [{ ...BERLIN, ...CLUB, event_type: 'workshop' }]],
  [
    ...(['QGIS', 'geojson', QGIS] as const),
    [{ ...MARKET, start_at: '2031-05-04T08:00:00', timezone: 'Europe/Lisbon', fid: 1 }],
  ],
  [
    ...(['Overpass', 'geojson', OVERPASS] as const),
    [
      {
        ...{ ...MARKET, start_at: '2031-05-04T08:00:00Z', timezone: 'Europe/Lisbon' },
        ...{ '@id': 'node/1', name: 'x' },
      },
    ],
  ],
];

describe('a file', () => {
  for (const [program, format, content, expected] of shapes) {
    it(`of ${program} becomes events`, async () => {
      const bodies = (await readItems(format, content, { given })).map(([, body]) => body);
      assert.deepEqual(
        bodies,
        expected.map((fields) => ({ event_type: 'club', ...fields })),
      );
      for (const body of bodies) readEventCreate(body, 0);
    });
  }
});
