// Events for tests of formats: named edge cases, and any event that the service could hold.
import fc from 'fast-check';
import { AUDIENCES, EVENT_TYPES, type Event } from '../../../src/domain/events/event.ts';
import { toWire, type Wire } from '../../../src/domain/wire.ts';

/** An event whose optional fields are null unless given. */
export function newEvent(fields: Partial<Event> = {}): Event {
  return {
    event_id: '01JZ9GX4T0QW3N1V8R5Y7K2MHD',
    agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90',
    title: 'Lantern workshop',
    description: null,
    start_at: '2031-05-01T18:00:00.000Z',
    end_at: null,
    timezone: 'Europe/Berlin',
    location_name: 'Kulturhaus Mitte',
    address: null,
    lat: 52.5264,
    lng: 13.3955,
    url: null,
    cost: null,
    audience: 'all',
    event_type: 'workshop',
    created_at: '2026-11-15T09:30:00.123Z',
    ...fields,
  };
}

export function wireOf(event: Event): Wire {
  return toWire(JSON.stringify(event));
}

export const EDGES: Readonly<Record<string, Event>> = {
  'nothing optional': newEvent(),
  'every field': newEvent({
    description: 'Bring scissors. Paper and glue are there.',
    end_at: '2031-05-01T20:00:00.000Z',
    address: 'Auguststr. 21, 10117 Berlin',
    url: 'https://example.com/lanterns?day=1,2;x=%C3%A9#top',
    cost: '5 EUR; children free, of course',
    audience: 'kids',
  }),
  'a cancelled event': newEvent({ status: 'cancelled' }),
  'empty text': newEvent({ description: '', address: '', url: '', cost: '' }),
  'midnight to midnight': newEvent({
    start_at: '2031-12-31T00:00:00.000Z',
    end_at: '2032-01-01T00:00:00.000Z',
  }),
  'the last second of a day': newEvent({ start_at: '2031-02-28T23:59:59.000Z' }),
  'the hour that is skipped in spring': newEvent({
    start_at: '2031-03-30T01:00:00.000Z',
    end_at: '2031-03-30T01:30:00.000Z',
  }),
  'the hour that is repeated in autumn': newEvent({
    start_at: '2031-10-26T00:30:00.000Z',
    end_at: '2031-10-26T01:30:00.000Z',
    timezone: 'Europe/Berlin',
  }),
  'an end equal to the start': newEvent({ end_at: '2031-05-01T18:00:00.000Z' }),
  'milliseconds within one second': newEvent({
    start_at: '2031-05-01T18:00:00.001Z',
    end_at: '2031-05-01T18:00:00.999Z',
  }),
  'milliseconds at the end': newEvent({ end_at: '2031-05-01T20:00:00.500Z' }),
  'the first and the last instant': newEvent({
    start_at: '0001-01-01T00:00:00.000Z',
    end_at: '9999-12-31T23:59:59.999Z',
    created_at: '1970-01-01T00:00:00.000Z',
  }),
  'commas, semicolons, colons, backslashes and quotes': newEvent({
    title: 'a,b;c:d\\e"f\\n\\,\\;\\\\',
    description: '\\\\n,;,;"":\\',
    location_name: 'x;y,z',
    address: ',;\\',
    cost: '"5,00"; \\n',
  }),
  'line ends of every kind': newEvent({
    title: 'one\ntwo',
    description: 'unix\nwindows\r\nold\rmac\n\n\r\n\r\rend\n',
    location_name: '\nfirst',
    address: 'street\r\ntown',
  }),
  'tabs and outer spaces': newEvent({ title: ' \t a \t ', description: '  ', cost: '\t' }),
  'control characters': newEvent({
    title: 'bell\u0007 escape\u001b[31m delete\u007f',
    description: '\u0001\u0008\u000b\u000c\u000e\u001f\u0080\u0085\u009f\u2028\u2029\ufeff',
    url: 'https://example.com/\u0001',
    cost: '\r',
  }),
  'nothing but control characters': newEvent({ title: '\u0001', location_name: '\u0002', address: '\u0003' }),
  emoji: newEvent({ title: '🎪👩‍👩‍👧‍👦🏳️‍🌈', description: '🎪'.repeat(200), location_name: '👍🏽' }),
  'text from right to left': newEvent({
    title: 'סדנת פנסים',
    description: 'ورشة عمل \u202e backwards \u202c',
    address: 'רחוב אלנבי 1, תל אביב',
  }),
  'letters of one, two, three and four bytes': newEvent({ title: 'aé漢𝄞'.repeat(40) }),
  'the longest text': newEvent({
    title: 'x'.repeat(200),
    description: '漢,\n'.repeat(3_333),
    location_name: 'ü'.repeat(200),
    address: '🎪'.repeat(500),
    url: `https://example.com/${'x'.repeat(1_980)}`,
    cost: 'y'.repeat(200),
  }),
  'a description of 10,000 letters in one line': newEvent({ description: 'a'.repeat(10_000) }),
  'the antimeridian': newEvent({ lat: -16.5, lng: 180 }),
  'the other side of the antimeridian': newEvent({ lat: -16.5, lng: -180 }),
  'the north pole': newEvent({ lat: 90, lng: 0 }),
  'the south pole': newEvent({ lat: -90, lng: -180 }),
  'coordinates with many digits': newEvent({ lat: 0.1 + 0.2, lng: -Math.PI }),
  'coordinates close to zero': newEvent({ lat: 5e-324, lng: -1.234567890123456e-7 }),
  'a URL in capitals': newEvent({ url: 'HTTPS://EXAMPLE.COM/A' }),
  'markup in every text': newEvent({
    title: '</script><!--',
    description: '<img src=x onerror=alert(1)>',
    cost: '<b>',
  }),
};

const text = (least: number, most: number) =>
  fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }) },
        { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }) },
        {
          weight: 2,
          arbitrary: fc.constantFrom('\n', '\r\n', '\r', '\t', ',', ';', ':', '\\', '\\n', '"', ' '),
        },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 0x9f }).map((code) => String.fromCharCode(code)) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('🎪', '\u202e', '\u2028', '\ufeff', '漢'.repeat(30), 'é'.repeat(80)),
        },
      ),
      { maxLength: 20 },
    )
    .map((parts) => [...parts.join('')].slice(0, most).join(''))
    .filter((made) => made.length >= least && made.isWellFormed() && !made.includes('\ufffd'));

const instant = fc
  .oneof(
    fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
    fc.integer({ min: 1_900_000_000, max: 2_000_000_000 }).map((seconds) => seconds * 1000),
  )
  .map((ms) => new Date(ms).toISOString());

const degrees = (most: number) =>
  fc
    .oneof(
      fc.double({ min: -most, max: most, noNaN: true }),
      fc.integer({ min: -most, max: most }),
      fc.double({ min: -1e-5, max: 1e-5, noNaN: true }),
    )
    .map((number) => number + 0); // -0 is stored as 0

const url = fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), text(0, 200));

/** Any event that the service could hold. */
export const anyEvent: fc.Arbitrary<Event> = fc
  .record({
    title: text(1, 200),
    description: fc.option(text(0, 400)),
    start_at: instant,
    end_at: fc.option(instant),
    timezone: fc.constantFrom('Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+1', 'UTC'),
    location_name: text(1, 200),
    address: fc.option(text(0, 200)),
    lat: degrees(90),
    lng: degrees(180),
    url: fc.option(url),
    cost: fc.option(text(0, 100)),
    audience: fc.constantFrom(...AUDIENCES),
    event_type: fc.constantFrom(...EVENT_TYPES),
    created_at: instant,
    isCancelled: fc.boolean(),
  })
  .map(({ isCancelled, ...fields }) => ({ ...fields, ...(isCancelled && { status: 'cancelled' as const }) }))
  .map((fields) => {
    const { start_at, end_at } = fields;
    // An event does not end before it starts.
    return newEvent(
      end_at !== null && end_at < start_at ? { ...fields, start_at: end_at, end_at: start_at } : fields,
    );
  });
