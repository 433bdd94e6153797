// Bodies, places and times that no other test uses, and the assertions that most tests share.
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import type { Answer } from './client.ts';

export const EVENT_TYPES = [
  'workshop',
  'performance',
  'festival',
  'market',
  'competition',
  'game',
  'social',
  'meetup',
  'club',
  'support',
  'talk',
  'conference',
  'exhibition',
  'tour',
  'ceremony',
];
export const AUDIENCES = ['kids', 'adults', 'all'];

/** Every field of an event that an agent may set. */
export const SETTABLE = [
  'title',
  'description',
  'start_at',
  'end_at',
  'timezone',
  'location_name',
  'address',
  'lat',
  'lng',
  'url',
  'cost',
  'audience',
  'event_type',
];
export const NULLABLE = ['description', 'end_at', 'address', 'url', 'cost'];
export const EVENT_FIELDS = ['event_id', 'agent_id', ...SETTABLE, 'created_at'];

export const UNKNOWN_ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
export const UNKNOWN_UUID = '00000000-0000-7000-8000-000000000000';

export const HOUR_MS = 3_600_000;

export type Fields = Record<string, unknown>;

/** A valid body of a create, different on each call. */
export function newEvent(fields: Fields = {}): Fields {
  return {
    title: `acceptance ${randomBytes(8).toString('hex')}`,
    start_at: '2031-05-01T18:00:00Z',
    timezone: 'Europe/Berlin',
    location_name: 'somewhere',
    ...randomPlace(),
    event_type: 'talk',
    ...fields,
  };
}

/** A valid body with every optional field. */
export function fullEvent(fields: Fields = {}): Fields {
  return newEvent({
    description: 'a description',
    end_at: '2031-05-01T20:00:00Z',
    address: 'an address',
    url: 'https://example.com/a',
    cost: '5 EUR',
    audience: 'adults',
    ...fields,
  });
}

/** A place away from the poles and the antimeridian, where no other test has events. */
export function randomPlace(): { lat: number; lng: number } {
  return { lat: randomInt(-60e6, 60e6) / 1e6, lng: randomInt(-170e6, 170e6) / 1e6 };
}

/**
 * A day in the far future on which no other test has events. Most tests search at a place of their own ('here'). The few that search
 * everywhere have years of their own, so that two tests hardly ever choose the same day.
 */
export function ownDay(search: 'here' | 'everywhere' = 'everywhere') {
  const year = search === 'here' ? randomInt(2200, 4000) : randomInt(4000, 9000);
  const startMs = Date.UTC(year, randomInt(12), randomInt(1, 29)) + randomInt(HOUR_MS);
  return { startMs, starts_after: iso(startMs), starts_before: iso(startMs + 24 * HOUR_MS) };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function titles(page: { events: { title: string }[] }): string[] {
  return page.events.map((event) => event.title);
}

export function ids(page: { events: { event_id: string }[] }): string[] {
  return page.events.map((event) => event.event_id);
}

/** Asserts status, code and the exact envelope of an error. */
export function assertError(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  const { error, detail, ...rest } = answer.body;
  assert.deepEqual(Object.keys(error), ['code', 'message'], answer.text);
  assert.equal(error.code, code, answer.text);
  assert.ok(typeof error.message === 'string' && error.message.length > 0, answer.text);
  assert.equal(Array.isArray(detail), status === 422, answer.text);
  assert.deepEqual(rest, {}, answer.text);
}

/** Asserts a 422 with exactly these issues, in any order, each as `body.title: string_too_long` or, for any type, `body.title`. */
export function assertInvalid(answer: Answer, expected: readonly string[]): void {
  assertError(answer, 422, 'VALIDATION_ERROR');
  const issues = answer.body.detail as { loc: (string | number)[]; msg: string; type: string }[];
  for (const issue of issues) {
    assert.deepEqual(Object.keys(issue).sort(), ['loc', 'msg', 'type'], answer.text);
    assert.notEqual(issue.msg, '');
    assert.match(issue.type, /^[a-z_]+$/);
  }
  const typed = new Set(
    expected.filter((place) => place.includes(': ')).map((place) => place.split(': ')[0]),
  );
  const actual = issues.map(({ loc, type }) => {
    const place = loc.join('.');
    return typed.has(place) ? `${place}: ${type}` : place;
  });
  assert.deepEqual(actual.sort(), [...expected].sort(), answer.text);
}
