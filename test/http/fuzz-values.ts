// Odd values for the fuzzer: texts, numbers, JSON, escapes, headers and URLs that clients get wrong or attackers try.
import fc from 'fast-check';
import { anyText } from '../support/any-text.ts';

const words = (text: string): string[] => text.trim().split(/\s+/);

export const LONG = [200, 201, 255, 501, 2_001, 10_001].map((length) => 'x'.repeat(length));

const PLAIN_TEXT = words(`
  __proto__ constructor toString null NaN ../../etc/passwd %s%n%x <script> {"a":1} [] ａ e\u0301 \u{10ffff} \u202ex
  2031-05-01 0000-01-01T00:00:00Z +275760-09-13T00:00:00Z 9999-12-31T23:59:59-23:59 2031-13-01T00:00:00Z
  2031-02-30T00:00:00Z Europe/Nowhere UTC +05:30 admin ALL Talk a@b @ http://[::1 javascript:alert(1)
`);
const SPACED_TEXT = [
  '',
  ' ',
  '\u2028',
  '\ufeff',
  '\x1b[31m',
  '\r\n',
  'a@b.c\n',
  '2031-05-01 18:00',
  '😀'.repeat(201),
];
const BROKEN_TEXT = [
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  'a\udc00',
  "'; DROP TABLE events; --",
  '" OR 1=1 --',
];
export const ODD_TEXT = [...PLAIN_TEXT, ...SPACED_TEXT, ...BROKEN_TEXT];

export const ODD_NUMBERS = words(`
  0 -0 1e308 -1e308 1e400 -1e400 5e-324 90.0000001 -180.0000001 9007199254740993 1E5 1e-400 00 01 .5 1. +1 0x10
  1_000 NaN Infinity - 1e ٣ １
`);

const NOT_JSON = ['', '"\n"', ...words(`undefined 'a' /**/1 {"a":1,} [1,] "\\x" "\\ud8" tru`)];

export const DEEP = [
  '['.repeat(10_000) + ']'.repeat(10_000),
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  '['.repeat(10_000),
];

/** A value in JSON text, often invalid. */
export const jsonValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...ODD_TEXT).map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: anyText({ maxLength: 40 }).map((text) => JSON.stringify(text)) },
  { weight: 5, arbitrary: fc.constantFrom(...ODD_NUMBERS) },
  { weight: 2, arbitrary: fc.double().map(String) },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.constantFrom('null', 'true', '[]', '{}', '{"__proto__":{"tier":"admin"}}') },
  { weight: 1, arbitrary: fc.constantFrom(...LONG).map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: fc.constantFrom(...NOT_JSON) },
);

/** Field names that no body has, or that mean something to JavaScript or to the store. */
export const ODD_NAMES = [
  '',
  '\0',
  'title ',
  ...words(
    '__proto__ constructor prototype toString hasOwnProperty event_id agent_id version tier is_active TITLE',
  ),
];

const visible = fc.integer({ min: 0x21, max: 0x7e });
const high = fc.integer({ min: 0x80, max: 0xff });
/** Bytes of a request line or a header, mostly ASCII. */
export const rawText: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 30, arbitrary: visible }, { weight: 1, arbitrary: high }), { maxLength: 20 })
  .map((codes) => String.fromCharCode(...codes));

const ESCAPES = words('% %zz %00 %ff %c3%28 %ed%a0%80 %2f %2e%2e %25 %u0041 %F0%9F%98%80 +');

/** A value in a path or a query, as bytes. */
export function targetValue(known: readonly string[], keys: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...known) },
    { weight: 3, arbitrary: fc.constantFrom(...ODD_TEXT).map(percentEncode) },
    { weight: 3, arbitrary: fc.constantFrom(...ODD_NUMBERS).map(percentEncode) },
    { weight: 1, arbitrary: fc.constantFrom(...ESCAPES) },
    { weight: 1, arbitrary: rawText },
    { weight: 1, arbitrary: fc.constantFrom(...keys) },
    { weight: 1, arbitrary: fc.constantFrom(...LONG) },
  );
}

function percentEncode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80';
}

const QUERY_NAMES = words(
  'lat lng radius event_type audience starts_after starts_before limit cursor format include',
);
const ODD_QUERY_NAMES = ['', ...words('__proto__ constructor lat[] lat[a] LAT api_key %ff x lat%00')];
const QUERY_VALUES = words(
  '0 10 -12.5 1 100 0.1 talk all kids 2031-01-01T00:00:00Z 5 30 geojson ics jsonld distance',
);
const ODD_QUERIES = ['', `?${'a=1&'.repeat(900)}`, ...words('? ?&&& ?= ?lat ?lat=1&lat=2&lng=1')];

export function queries(keys: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...QUERY_NAMES) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_QUERY_NAMES) },
    { weight: 1, arbitrary: fc.constantFrom(...keys) },
  );
  const pair = fc.tuple(name, targetValue(QUERY_VALUES, keys)).map((parts) => parts.join('='));
  const loose = fc.array(pair, { maxLength: 6 }).map((pairs) => pairs.join('&'));
  return fc.oneof(
    { weight: 6, arbitrary: loose.map((rest) => `?lat=10&lng=20&${rest}`) },
    { weight: 3, arbitrary: loose.map((rest) => `?${rest}`) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_QUERIES) },
  );
}

const LIST_NAMES = words('limit cursor q sort when');
const LIST_VALUES = words(`
  1 30 all past upcoming title -title agent_name -email start_at last_used_at created_at %25 _ e %C3%84
  MTphdWRpdDotYXQ6MToxMg MTphdWRpdDotYXQ6MTox MTphZ2VudHM6ZW1haWw6MDE5N2QyZTgtOWE0MC03YzU1LThmM2UtNWIxZDJjNmE3ZTkwOgA
`);

/** Query strings of lists for administrators; often empty. */
export function listQueries(keys: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...LIST_NAMES) },
    fc.constantFrom(...ODD_QUERY_NAMES),
  );
  const pair = fc.tuple(name, targetValue(LIST_VALUES, keys)).map((parts) => parts.join('='));
  return fc.array(pair, { maxLength: 4 }).map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`));
}

export const ODD_TARGETS = words(`
  * / // x /v1 /v1/admin /v1/events/ /v1//events /v1/events/../admin/me /%2e%2e/%2e%2e/etc/passwd /docs /docs/..%2fx
  http://localhost/v1/events/nearby /v1/%65vents/nearby /v1/%61dmin/me /.env /wp-login.php /favicon.ico
  /v1/events;a=b /v1/events#x /openapi.json?x=%
`);

export type Header = readonly [name: string, value: string];

const named = (name: string, values: readonly string[]): Header[] => values.map((value) => [name, value]);

export const ODD_HEADERS: readonly Header[] = [
  ...named('Content-Type', ['', ';', '\xff', 'application/json; charset=utf-16', 'text/plain', 'a/b/c']),
  ...named('Content-Encoding', ['gzip', 'br', 'identity', 'x']),
  ...named('Authorization', [
    'Bearer',
    'Bearer a.b.c',
    'bearer\tx',
    'Basic YTpi',
    'Bearer eyJhbGciOiJub25lIn0.e30.',
  ]),
  ...named('X-API-Key', ['', 'x', '\xe9', `lev_${'0'.repeat(38)}`, '__proto__', 'x'.repeat(3_000)]),
  ...named('Origin', ['null', 'https://elsewhere.example']),
  ...named('Connection', ['close', 'upgrade', 'x-api-key']),
  ...named('Accept', ['text/html', 'text/calendar', 'application/geo+json;q="', ',;="\\', '\xff']),
  ['Accept-Encoding', 'gzip'],
  ['Expect', '100-continue'],
  ...named('If-Match', ['"1"', '*', 'W/"1"', '"', '\xff']),
  ...named('If-None-Match', ['*', '"1", "1-ics"', '"', '\xff']),
  ['Range', 'bytes=0-1'],
  ['X-Forwarded-For', "1.2.3.4, '"],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-Request-Id', 'mine'],
  ['__proto__', 'x'],
  ['Upgrade', 'h2c'],
  ['Cookie', 'a=b'],
  ['Bad Name', 'x'],
  ['A', 'x'.repeat(20_000)],
];
