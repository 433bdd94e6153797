// The statement of a search: the page and the exact total, of one moment, in one round trip.
import type { NearbyQuery } from '../domain/nearby.ts';
import { METRES_PER_MILE } from '../spatial/geo.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** Events that last longer have an index of their own, events_long. */
const DAY_MS = 86_400_000;

/** Rows are total, start_ms, event_id and json, one more than the page where more follow; a lone total has no event. */
export function searchStatement(query: NearbyQuery, nowMs: number): Statement {
  const values: (string | number)[] = [];
  const put = (value: string | number, type: string) => `$${values.push(value)}::${type}`;
  const now = put(nowMs, 'bigint');
  const filters = [`ends_ms > ${now}`, ...filtersOf(query, put)];
  const after = query.after
    ? `(start_ms, event_id) > (${put(query.after.startMs, 'bigint')}, ${put(query.after.id, 'text')})`
    : 'true';
  const limit = put(query.limit + 1, 'bigint');
  const pageOf = (source: string) =>
    `SELECT start_ms, event_id FROM ${source} AND ${after} ORDER BY start_ms, event_id LIMIT ${limit}`;
  const text =
    query.radiusMiles === undefined
      ? everywhere(filters.join(' AND '), now, pageOf)
      : within(filters.join(' AND '), circleOf(query, put), pageOf);
  return { text, values };
}

type Put = (value: string | number, type: string) => string;

function filtersOf(query: NearbyQuery, put: Put): string[] {
  const { types, audiences, startsFromMs, startsBeforeMs } = query;
  const filters: string[] = [];
  const anyOf = (names: readonly string[]) => `ANY (string_to_array(${put(names.join(','), 'text')}, ','))`;
  if (types) filters.push(`event_type = ${anyOf(types)}`);
  if (audiences) filters.push(`audience = ${anyOf(audiences)}`);
  if (startsFromMs !== undefined) filters.push(`start_ms >= ${put(startsFromMs, 'bigint')}`);
  if (startsBeforeMs !== undefined) filters.push(`start_ms < ${put(startsBeforeMs, 'bigint')}`);
  return filters;
}

function circleOf(query: NearbyQuery, put: Put): string {
  const lng = put(query.lng, 'double precision');
  const lat = put(query.lat, 'double precision');
  const metres = put(query.radiusMiles! * METRES_PER_MILE, 'double precision');
  // On the sphere, as the index of the embedded engine measures.
  return `st_dwithin(place, st_setsrid(st_makepoint(${lng}, ${lat}), 4326)::geography, ${metres}, false)`;
}

/** What is in the circle is found once, for the total and the page. */
function within(filters: string, circle: string, pageOf: (source: string) => string): string {
  return `WITH matching AS MATERIALIZED (SELECT start_ms, event_id FROM events WHERE ${filters} AND ${circle}),
    page AS (${pageOf('matching WHERE true')})
    ${answerOf('SELECT count(*) AS total FROM matching')}`;
}

/** In two parts, so that what ended long ago is not looked at: short events from a day ago on, and long ones. */
function everywhere(filters: string, now: string, pageOf: (source: string) => string): string {
  const parts = [
    `events WHERE ${filters} AND start_ms > ${now} - ${DAY_MS} AND ends_ms - start_ms <= ${DAY_MS}`,
    `events WHERE ${filters} AND ends_ms - start_ms > ${DAY_MS}`,
  ];
  const pages = parts.map((part) => `(${pageOf(part)})`).join(' UNION ALL ');
  const counts = parts.map((part) => `(SELECT count(*) FROM ${part})`).join(' + ');
  return `WITH page AS (${pageOf(`(${pages}) AS parts WHERE true`)}) ${answerOf(`SELECT ${counts} AS total`)}`;
}

function answerOf(total: string): string {
  return `SELECT total, page.start_ms, page.event_id, json FROM (${total}) AS counted
    LEFT JOIN (page JOIN events USING (event_id)) ON true ORDER BY page.start_ms, page.event_id`;
}
