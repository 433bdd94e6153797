// Values for the operations: places where searches find events, times around now, texts, and valid and invalid bodies of
// events.
import { AUDIENCES, EVENT_TYPES, STATUSES } from '../../src/domain/events/event.ts';
import type { Chance } from '../support/random.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export type Body = Record<string, unknown>;

interface Place {
  readonly lat: number;
  readonly lng: number;
}

/** Few, so that searches find events; the poles and the antimeridian in several notations. */
const SPOTS: readonly (readonly [lat: number, lng: number])[] = [
  [52.52, 13.405],
  [52.52, 13.405],
  [40.7128, -74.006],
  [-33.8688, 151.2093],
  [-17.7134, 178.065],
  [65.3, 179.99],
  [65.3, -179.99],
  [0, 180],
  [0, -180],
  [90, 0],
  [90, -137.5],
  [-90, 45],
  [89.9, 10],
  [89.9, -170],
  [0, 0],
];

export function placeOf(chance: Chance): Place {
  const [lat, lng] = chance.pick(SPOTS);
  const kind = chance.next();
  if (kind < 0.5) return { lat, lng };
  if (kind < 0.95) return around(chance, lat, lng, chance.pick([0.001, 0.05, 1]));
  return { lat: chance.between(-90, 90), lng: chance.between(-180, 180) };
}

function around(chance: Chance, lat: number, lng: number, degrees: number): Place {
  const north = lat + chance.between(-degrees, degrees);
  const east = lng + chance.between(-degrees, degrees);
  return {
    lat: Math.max(-90, Math.min(90, north)),
    lng: east > 180 ? east - 360 : east < -180 ? east + 360 : east,
  };
}

const ODD_NUMBERS = [90, -90, 90.000001, -0, 5e-324, 1e-9, 89.999999999999, 1e308, '1', null, true];

/** Similar, but not equal. */
const TITLES = [
  'Lantern workshop',
  'lantern workshop',
  'Lantern workshop ',
  'Caf\u00e9',
  'Cafe\u0301',
  'stra\u00dfe',
  'strasse',
  'O\'Neill \\ "quoted" %s \u2028 \u0001',
  '\u{1f3ae}'.repeat(200),
];

const TIMEZONES = ['Europe/Berlin', 'America/New_York', 'Pacific/Apia', 'UTC', 'Asia/Kolkata'];

const BROKEN_TEXT = ['', 'a\0b', '\ud800', 'x'.repeat(10_001), 7, null, ['x'], {}];

/** Writes an instant in one of the valid notations. */
export function writeInstant(chance: Chance, ms: number): string {
  const text = new Date(ms).toISOString();
  const kind = chance.next();
  if (kind < 0.6) return text;
  if (kind < 0.7) return text.replace('Z', '999Z'); // cut to the millisecond
  if (kind < 0.9) return new Date(ms + 5.5 * HOUR_MS).toISOString().replace('Z', '+05:30');
  return ms % 1000 === 0 ? text.replace('.000Z', 'Z') : text;
}

/** Mostly soon and often on the hour, so that starts are shared; sometimes long ago or far in the future. */
export function startMsOf(chance: Chance, nowMs: number): number {
  const kind = chance.next();
  const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
  if (kind < 0.5) return hour + chance.integer(-4, 30) * HOUR_MS;
  if (kind < 0.8) return nowMs + chance.integer(-3 * HOUR_MS, 3 * DAY_MS);
  if (kind < 0.96) return hour + chance.integer(-20, 60) * DAY_MS;
  return Date.parse(
    chance.pick(['0001-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:00:00Z']),
  );
}

/** From the start to weeks later, and some invalid ends. */
function endMsOf(chance: Chance, startMs: number, nowMs: number): number {
  const from = Math.max(startMs, nowMs);
  const kind = chance.next();
  if (kind < 0.08) return startMs;
  if (kind < 0.12) return nowMs + chance.integer(-1, 1);
  if (kind < 0.6) return from + chance.integer(1, 6) * (HOUR_MS / 2);
  if (kind < 0.75) return startMs + DAY_MS + chance.integer(-1, 1);
  return from + chance.integer(1, 30 * DAY_MS);
}

export function textOf(chance: Chance): string {
  const kind = chance.next();
  if (kind < 0.9)
    return chance.pick(['plain', 'd\u00e9j\u00e0 vu', '{"a":[1,2]}', ' \t\r\n\u007f', '\u{1f600}\u200d']);
  return 'x'.repeat(chance.pick([200, 201, 500, 501, 2_000, 2_001]));
}

/** A search for words of these titles and texts; some are refused. */
export function wordsOf(chance: Chance): string {
  const words = [
    'lantern',
    'WORKSHOP',
    'cafe',
    'caf\u00e9',
    'strasse',
    'event',
    'ev*',
    'w*',
    "o'neill",
    'vu',
    'deja',
    'some*',
    '4*',
    '42',
  ];
  const terms = Array.from(
    { length: chance.integer(1, 3) },
    () => `${chance.chance(0.2) ? '-' : ''}${chance.pick(words)}`,
  );
  return terms.join(' ');
}

/** The fields of an event; all, or nearly all, are valid. */
export function fieldsOf(chance: Chance, nowMs: number): Body {
  const startMs = startMsOf(chance, nowMs);
  const timezone = chance.pick(TIMEZONES);
  const isLocal = chance.chance(0.05);
  const fields: Body = {
    title: chance.chance(0.5) ? chance.pick(TITLES) : `event ${chance.integer(1, 5_000)}`,
    start_at: isLocal ? new Date(startMs).toISOString().slice(0, -1) : writeInstant(chance, startMs),
    timezone,
    location_name: chance.pick(['somewhere', 'Somewhere', 'D\u00c9J\u00c0 "vu" \\', 'null']),
    ...placeOf(chance),
    event_type: chance.pick(EVENT_TYPES),
  };
  if (chance.chance(0.5)) fields.end_at = writeInstant(chance, endMsOf(chance, startMs, nowMs));
  if (chance.chance(0.7)) fields.audience = chance.pick(AUDIENCES);
  if (chance.chance(0.2)) fields.status = chance.pick(STATUSES);
  for (const name of chance.some(OPTIONAL_TEXT, 0.15))
    fields[name] = chance.chance(0.2) ? null : textOf(chance);
  return fields;
}

const OPTIONAL_TEXT = ['description', 'address', 'url', 'cost'];

/** The fields with one or two of them removed or invalid. */
export function spoil(chance: Chance, fields: Body): Body {
  const spoilt = { ...fields };
  for (let count = chance.integer(1, 2); count > 0; count--) {
    const name = chance.pick([...Object.keys(fields), 'description', 'audience']);
    if (chance.chance(0.2)) delete spoilt[name];
    else if (name === 'lat' || name === 'lng') spoilt[name] = chance.pick(ODD_NUMBERS);
    else if (name === 'start_at' || name === 'end_at')
      spoilt[name] = chance.pick(['2031-02-30T00:00:00Z', '2031-05-01', '10000-01-01T00:00:00Z', null]);
    else spoilt[name] = chance.pick(BROKEN_TEXT);
  }
  return spoilt;
}
