// iCalendar, parsed by ical.js and compared field by field, and its lines as RFC 5545 requires them, byte by byte.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import ICAL from 'ical.js';
import type { Event } from '../../../src/domain/events/event.ts';
import { encodeComponent, joinCalendar } from '../../../src/domain/events/formats/icalendar.ts';
import { fromWire } from '../../../src/domain/wire.ts';
import { anyEvent, EDGES, newEvent, wireOf } from './events.ts';

const unchanged = ({ created_at }: Event) => ({ version: 1, updatedMs: Date.parse(created_at) });

function calendarOf(...events: Event[]): string {
  return fromWire(joinCalendar(events.map((event) => encodeComponent(wireOf(event), unchanged(event)))));
}

/** The properties of each VEVENT by name, as ical.js reads them. */
function parse(calendar: string): Map<string, string | number[]>[] {
  const [name, properties, components] = ICAL.parse(calendar) as [
    string,
    unknown[][],
    [string, unknown[][]][],
  ];
  assert.equal(name, 'vcalendar');
  assert.deepEqual(
    properties.map(([property, , , value]) => [property, value]),
    [
      ['version', '2.0'],
      ['prodid', '-//local-events//local-events//EN'],
      ['x-wr-calname', 'Local events'],
      ['refresh-interval', 'PT1H'],
    ],
  );
  return components.map(([component, found]) => {
    assert.equal(component, 'vevent');
    const names = found.map(([property]) => property);
    assert.equal(new Set(names).size, names.length, 'a property comes twice');
    return new Map(found.map(([property, , , value]) => [property as string, value as string]));
  });
}

/** Unescapes one of our own properties, which ical.js does not unescape. */
function unescapeText(value: string): string {
  return value.replaceAll(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
}

const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/;

/** The part of a text that the type TEXT can hold. */
function plain(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(new RegExp(CONTROLS, 'g'), '');
}

/** The time to the second, as ical.js writes it. */
function seconds(instant: string): string {
  return `${instant.slice(0, 19)}Z`;
}

function assertComponent(event: Event, found: Map<string, string | number[]>): void {
  const own = (name: string) => {
    const value = found.get(`x-local-events-${name}`) as string | undefined;
    return value === undefined ? undefined : unescapeText(value);
  };
  const { start_at, description, address, lat, lng, url, cost } = event;
  const end_at = event.end_at ?? undefined;
  assert.equal(found.get('uid'), `${event.event_id}@local-events`);
  assert.equal(found.get('dtstamp'), seconds(event.created_at));
  assert.equal(found.get('last-modified'), seconds(event.created_at));
  assert.equal(found.get('sequence'), 0);
  assert.equal(found.get('status'), event.status === 'cancelled' ? 'CANCELLED' : 'CONFIRMED');
  assert.equal(found.get('dtstart'), seconds(start_at));
  assert.equal(found.get('summary'), plain(event.title));
  assert.equal(found.get('description') ?? null, description === null ? null : plain(description!));
  const place = plain(address ?? '') ? `${event.location_name}, ${address}` : event.location_name;
  assert.equal(found.get('location'), plain(place));
  assert.equal(found.get('categories'), event.event_type);
  assert.equal(own('timezone'), event.timezone);
  assert.equal(own('audience'), event.audience);

  // Times, place and address are exact, either in the standard property or in our own.
  const isLater = end_at !== undefined && seconds(end_at) > seconds(start_at);
  const assumedMs = Date.parse(start_at) + 3 * 3_600_000;
  const assumed = end_at === undefined && assumedMs < Date.parse('+010000-01-01T00:00:00Z');
  const shownEnd = isLater ? end_at : assumed ? new Date(assumedMs).toISOString() : undefined;
  assert.equal(found.get('dtend'), shownEnd && seconds(shownEnd));
  assert.equal(own('end-assumed'), assumed ? 'TRUE' : undefined);
  assert.equal(own('start') ?? start_at, start_at);
  assert.equal(own('start') !== undefined, !start_at.endsWith('.000Z'));
  assert.equal(own('end') ?? (isLater ? end_at : undefined), end_at);
  const [latitude, longitude] = found.get('geo') as number[];
  assert.ok(Math.abs(latitude! - lat) < 1e-6 && Math.abs(longitude! - lng) < 1e-6);
  assert.deepEqual(own('geo')?.split(';').map(Number) ?? [latitude, longitude], [lat, lng]);
  const exact = JSON.parse(own('exact') ?? '{}');
  for (const [name, value] of Object.entries({
    title: found.get('summary'),
    description: found.get('description'),
    location_name: own('location-name'),
    address: own('address'),
    cost: own('cost'),
    url: found.get('url') ?? own('url'),
  })) {
    const text = event[name as keyof Event] as string | null;
    assert.equal(exact[name] ?? value ?? null, text, name);
    assert.equal(name in exact, text !== null && CONTROLS.test(text), name);
  }
  assert.equal(own('cost') ?? null, cost === null ? null : plain(cost!));
  assert.ok(url === null || found.has('url') !== found.has('x-local-events-url'));
}

/** Asserts that lines have at most the permitted length, whole characters, and no control characters but their ends. */
function assertLines(calendar: string): void {
  assert.ok(calendar.endsWith('\r\n'));
  for (const line of calendar.slice(0, -2).split('\r\n')) {
    assert.ok(Buffer.byteLength(line) <= 75, line);
    assert.ok(!line.includes('\ufffd') && line.isWellFormed(), line);
    assert.doesNotMatch(line, /[\x00-\x08\x0a-\x1f\x7f]/);
    assert.notEqual(line, '');
    // Numbers in GEO have no exponent.
    if (line.startsWith('GEO:')) assert.match(line, /^GEO:-?\d+(?:\.\d+)?;-?\d+(?:\.\d+)?$/);
  }
}

function assertCalendar(events: Event[]): void {
  const calendar = calendarOf(...events);
  assertLines(calendar);
  const components = parse(calendar);
  assert.equal(components.length, events.length);
  for (const [at, component] of components.entries()) assertComponent(events[at]!, component);
}

describe('an event as iCalendar', () => {
  for (const [name, event] of Object.entries(EDGES)) {
    it(`has every field: ${name}`, () => assertCalendar([event]));
  }

  it('has every field of any event', () => {
    fc.assert(
      fc.property(anyEvent, (event) => assertCalendar([event])),
      { seed: 20_261_115 },
    );
  });

  it('is the same bytes every time', () => {
    for (const event of Object.values(EDGES)) assert.equal(calendarOf(event), calendarOf({ ...event }));
  });

  it('is written as in the standard', () => {
    const event = EDGES['every field']!;
    assert.deepEqual(calendarOf(event).split('\r\n'), [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//local-events//local-events//EN',
      'X-WR-CALNAME:Local events',
      'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
      'BEGIN:VEVENT',
      'UID:01JZ9GX4T0QW3N1V8R5Y7K2MHD@local-events',
      'DTSTAMP:20261115T093000Z',
      'LAST-MODIFIED:20261115T093000Z',
      'SEQUENCE:0',
      'STATUS:CONFIRMED',
      'DTSTART:20310501T180000Z',
      'DTEND:20310501T200000Z',
      'SUMMARY:Lantern workshop',
      'DESCRIPTION:Bring scissors. Paper and glue are there.',
      'LOCATION:Kulturhaus Mitte\\, Auguststr. 21\\, 10117 Berlin',
      'GEO:52.5264;13.3955',
      'URL:https://example.com/lanterns?day=1,2;x=%C3%A9#top',
      'CATEGORIES:workshop',
      'X-LOCAL-EVENTS-TIMEZONE:Europe/Berlin',
      'X-LOCAL-EVENTS-AUDIENCE:kids',
      'X-LOCAL-EVENTS-LOCATION-NAME:Kulturhaus Mitte',
      'X-LOCAL-EVENTS-ADDRESS:Auguststr. 21\\, 10117 Berlin',
      'X-LOCAL-EVENTS-COST:5 EUR\\; children free\\, of course',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
  });

  it('has the version and the time of the last change', () => {
    const wire = wireOf(newEvent({ status: 'cancelled' }));
    const lines = fromWire(
      encodeComponent(wire, { version: 7, updatedMs: Date.parse('2027-01-02T03:04:05.678Z') }),
    );
    for (const line of [
      'DTSTAMP:20270102T030405Z',
      'LAST-MODIFIED:20270102T030405Z',
      'SEQUENCE:6',
      'STATUS:CANCELLED',
    ])
      assert.ok(lines.split('\r\n').includes(line), line);
  });

  it('folds a line after 75 bytes, and before a character that does not fit', () => {
    const summary = (title: string) =>
      calendarOf(newEvent({ title }))
        .split('\r\n')
        .filter((line) => /^(?:SUMMARY| )/.test(line));
    // "SUMMARY:" has 8 bytes.
    assert.deepEqual(summary('x'.repeat(67)), [`SUMMARY:${'x'.repeat(67)}`]);
    assert.deepEqual(summary('x'.repeat(68)), [`SUMMARY:${'x'.repeat(67)}`, ' x']);
    assert.deepEqual(summary(`${'x'.repeat(64)}🎪`), [`SUMMARY:${'x'.repeat(64)}`, ' 🎪']);
    assert.deepEqual(summary(`${'x'.repeat(63)}🎪`), [`SUMMARY:${'x'.repeat(63)}🎪`]);
    assert.deepEqual(summary('x'.repeat(67 + 74 + 1)), [
      `SUMMARY:${'x'.repeat(67)}`,
      ` ${'x'.repeat(74)}`,
      ' x',
    ]);
  });

  it('never lets text start a new line', () => {
    const hostile = 'x\r\nEND:VEVENT\r\nBEGIN:VEVENT\nATTACH:file\rX:\u0085Y:\u2028Z:';
    const event = newEvent({
      ...{ title: hostile, description: hostile, location_name: hostile, address: hostile },
      ...{ url: hostile, cost: hostile },
    });
    const [component, ...others] = parse(calendarOf(event));
    assert.deepEqual(others, []);
    assert.ok(!component!.has('attach') && !component!.has('x'));
  });

  for (const url of [
    ...[
      'javascript:alert(1)',
      'example.com',
      'https://',
      'https://exa mple.com',
      'https://example.com/ä',
      '',
    ],
    ...[
      'https://example.com/%zz',
      'https://example.com/"',
      'https://example.com/a#b#c',
      'see https://a.example',
    ],
    ...['https://[::1', 'ftp://example.com', 'https://example.com\n'],
  ]) {
    it(`does not write ${JSON.stringify(url)} as a URL`, () => {
      const [component] = parse(calendarOf(newEvent({ url })));
      assert.equal(component!.get('url'), undefined);
      assert.ok(component!.has('x-local-events-url'));
    });
  }

  for (const url of [
    ...[
      'http://example.com',
      'https://example.com:8443/a/b;c=d,e?f=g/h?i#j/k?l',
      'https://user@example.com/%41',
    ],
    ...['https://[2001:db8::1]:80/', "https://example.com/~a!$&'()*+,;=:@"],
  ]) {
    it(`writes ${JSON.stringify(url)} as a URL`, () => {
      assert.equal(parse(calendarOf(newEvent({ url })))[0]!.get('url'), url);
    });
  }
});

describe('a page as iCalendar', () => {
  it('has one component for each event, in order', () => {
    assertCalendar(Object.values(EDGES));
    fc.assert(fc.property(fc.array(anyEvent, { maxLength: 5 }), assertCalendar), {
      seed: 20_261_115,
      numRuns: 30,
    });
  });

  it('is a calendar without events if nothing was found', () => {
    assert.deepEqual(parse(calendarOf()), []);
    assertLines(calendarOf());
  });
});
