// The constraints of an event's fields, at and just beyond each limit: one table for create and update.
import { AUDIENCES, EVENT_TYPES, type Fields } from './samples.ts';

/** Fields that are accepted and returned as sent. */
export const KEPT: readonly [name: string, fields: Fields][] = [
  ['a title of 1 character', { title: 'a' }],
  ['a title of 200 characters', { title: 't'.repeat(200) }],
  ['a title of 200 characters outside the basic plane', { title: '🎪'.repeat(200) }],
  ['an empty description', { description: '' }],
  ['a description of 10000 characters', { description: 'd'.repeat(10_000) }],
  ['a description of 10000 characters outside the basic plane', { description: '🎪'.repeat(10_000) }],
  ['a location_name of 1 character', { location_name: 'a' }],
  ['a location_name of 200 characters', { location_name: 'ö'.repeat(200) }],
  ['empty texts', { address: '', url: '', cost: '' }],
  ['an address of 500 characters', { address: 'a'.repeat(500) }],
  ['a url of 2000 characters', { url: 'u'.repeat(2000) }],
  ['a url that is free text', { url: 'see the door' }],
  ['a cost of 200 characters', { cost: '€'.repeat(200) }],
  ['a cost that is free text', { cost: 'pay what you want' }],
  ['the latitude of the south pole', { lat: -90 }],
  ['the latitude of the north pole', { lat: 90 }],
  ['the longitude -180', { lng: -180 }],
  ['the longitude 180', { lng: 180 }],
  ['coordinates with every digit of a double', { lat: 0.1 + 0.2, lng: -1e-7 / 3 }],
  ...AUDIENCES.map((audience): [string, Fields] => [`the audience ${audience}`, { audience }]),
  ...EVENT_TYPES.map((event_type): [string, Fields] => [`the event_type ${event_type}`, { event_type }]),
  ['the status cancelled', { status: 'cancelled' }],
  ['the timezone UTC', { timezone: 'UTC' }],
  ['a timezone of three parts', { timezone: 'America/Argentina/Buenos_Aires' }],
  ['a timezone that is a link', { timezone: 'Asia/Calcutta' }],
  ['a timezone by its newer name', { timezone: 'Asia/Kolkata' }],
  ['a timezone such as Etc/GMT+5', { timezone: 'Etc/GMT+5' }],
];

const TEXTS = ['title', 'description', 'location_name', 'address', 'url', 'cost'];

/** Fields that are refused, with the issues that the response lists. */
export const REFUSED: readonly [name: string, fields: Fields, issues: string[]][] = [
  ['an empty title', { title: '' }, ['body.title: string_too_short']],
  ['a title of 201 characters', { title: 't'.repeat(201) }, ['body.title: string_too_long']],
  [
    'a title of 201 characters outside the basic plane',
    { title: '🎪'.repeat(201) },
    ['body.title: string_too_long'],
  ],
  [
    'a description of 10001 characters',
    { description: 'd'.repeat(10_001) },
    ['body.description: string_too_long'],
  ],
  ['an empty location_name', { location_name: '' }, ['body.location_name: string_too_short']],
  [
    'a location_name of 201 characters',
    { location_name: 'l'.repeat(201) },
    ['body.location_name: string_too_long'],
  ],
  ['an address of 501 characters', { address: 'a'.repeat(501) }, ['body.address: string_too_long']],
  ['a url of 2001 characters', { url: 'u'.repeat(2001) }, ['body.url: string_too_long']],
  ['a cost of 201 characters', { cost: 'c'.repeat(201) }, ['body.cost: string_too_long']],
  ['a latitude just above 90', { lat: 90.00000000000001 }, ['body.lat: less_than_equal']],
  ['a latitude just below -90', { lat: -90.00000000000001 }, ['body.lat: greater_than_equal']],
  ['a longitude just above 180', { lng: 180.00000000000003 }, ['body.lng: less_than_equal']],
  ['a longitude just below -180', { lng: -180.00000000000003 }, ['body.lng: greater_than_equal']],
  ['an audience that does not exist', { audience: 'teens' }, ['body.audience: enum']],
  ['an audience in capitals', { audience: 'ALL' }, ['body.audience: enum']],
  ['an event_type that does not exist', { event_type: 'party' }, ['body.event_type: enum']],
  ['an event_type in capitals', { event_type: 'Talk' }, ['body.event_type: enum']],
  ['a timezone that does not exist', { timezone: 'Mars/Olympus' }, ['body.timezone: value_error']],
  ['an offset as timezone', { timezone: '+05:30' }, ['body.timezone: value_error']],
  ['an empty event_type', { event_type: '' }, ['body.event_type: enum']],
  ['an empty timezone', { timezone: '' }, ['body.timezone']],
  ['a timezone with a space', { timezone: 'Europe/Berlin ' }, ['body.timezone: value_error']],
  ...['4', true, [], {}].flatMap((value): [string, Fields, string[]][] =>
    ['lat', 'lng'].map((field) => [
      `${JSON.stringify(value)} as ${field}`,
      { [field]: value },
      [`body.${field}: float_type`],
    ]),
  ),
  ...[4, true, [], {}].flatMap((value): [string, Fields, string[]][] =>
    [...TEXTS, 'timezone', 'audience', 'event_type', 'start_at', 'end_at'].map((field) => [
      `${JSON.stringify(value)} as ${field}`,
      { [field]: value },
      [`body.${field}: string_type`],
    ]),
  ),
  ...TEXTS.flatMap((field): [string, Fields, string[]][] => [
    [`NUL in ${field}`, { [field]: 'a\0b' }, [`body.${field}: string_unicode`]],
    [`a lone high surrogate in ${field}`, { [field]: 'a\ud83c' }, [`body.${field}: string_unicode`]],
    [`a lone low surrogate in ${field}`, { [field]: '\udfaa' }, [`body.${field}: string_unicode`]],
  ]),
  [
    'several failing fields at once, naming each',
    {
      ...{ title: '', lat: 91, lng: '0', audience: 'x', cost: 1 },
      ...{ start_at: 'x', end_at: '2001-01-01T00:00:00Z', timezone: 'PST', event_type: 'party' },
    },
    [
      'body.title: string_too_short',
      'body.start_at: datetime_parsing',
      'body.end_at: value_error',
      'body.timezone: value_error',
      'body.event_type: enum',
      'body.lat: less_than_equal',
      'body.lng: float_type',
      'body.cost: string_type',
      'body.audience: enum',
    ],
  ],
];

/** Texts that every text field must return byte for byte. */
export const TEXT_SAMPLES: readonly [name: string, text: string][] = [
  ['spaces around it', '  a b  '],
  ['tabs and line ends', '\ta\r\nb\n'],
  ['control characters', '\u0001\u001f\u007f\u0085'],
  ['quotes, backslashes and markup', `"'\\ <b>&amp;</b> \${x} %s {{y}}`],
  ['composed and decomposed accents', '\u00e9 e\u0301'],
  ['scripts from right to left, and their marks', '\u200fمرحبا שלום\u200e'],
  ['joined emoji', '👩‍👩‍👧‍👦🏳️‍🌈'],
  ['the last code point', '\u{10ffff}'],
  ['line and paragraph separators', '\u2028\u2029'],
  ['a byte order mark', '\ufeffa\ufeff'],
  ['nothing but a space', ' '],
  [
    'every control character',
    Array.from({ length: 64 }, (_, at) => String.fromCharCode(at < 31 ? at + 1 : at + 96)).join(''),
  ],
  ['line ends of every kind', 'a\nb\rc\r\nd\u0085e\u2028f\u2029g\vh\fi'],
  ['spaces of every kind', 'a\t\tb  c   d\u00a0e\u3000f\u200bg'],
  ['Latin letters with marks', 'áÀçñøßÿ Łódź İstanbul ﬁ'],
  ['letters in several forms', '\u1ea5 a\u0302\u0301 \uac00 \u1100\u1161 \u212b A\u030a'],
  ['stacked marks', `Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d${'\u0301'.repeat(50)}`],
  ['other scripts', '日本語 한국어 ไทย हिन्दी Ελληνικά Русский ქართული 𐍈 𒀀'],
  ['controls of direction', '\u202aabc\u202b\u202d\u202edef\u202c\u2066\u2067\u2068ghi\u2069\u061c'],
  ['emoji', '😀🎉❤️☕️🏳️‍🌈👩🏽‍🚀👨‍👩‍👧‍👦🇩🇪1️⃣🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['noncharacters and private use', '\ufffe\uffff\ufdd0\ue000\u{f0000}\ufffd'],
  ['the edges of the planes', '\u007f\u0080\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}'],
  [
    'what looks like code',
    `<script>alert(1)</script> '; DROP TABLE events; -- {{7*7}} %00 %s \\0 \\u0041 &amp; null`,
  ],
  ['JSON in JSON', JSON.stringify({ a: ['"', { b: null }] })],
];
