// The statement of a search: the page and the exact total, of one moment, in one round trip.

import { METRES_PER_MILE } from '../domain/geo.ts';
import type { NearbyQuery } from '../domain/nearby.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** Events that last longer have an index of their own, events_long. */
const DAY_MS = 86_400_000;

const ORDER = 'ORDER BY start_ms, event_id';

/** Rows are total, start_ms, event_id, json and, with details, lat and lng; one more than the page where more follow; a lone total has no event. */
export function searchStatement(query: NearbyQuery, nowMs: number): Statement {
  const values: (string | number)[] = [];
  const put = (value: string | number, type: string) => `$${values.push(value)}::${type}`;
  const { after, limit } = query;
  const page: Page = {
    after: after && `(start_ms, event_id) > (${put(after.startMs, 'bigint')}, ${put(after.id, 'text')})`,
    limit: put(limit + 1, 'bigint'),
  };
  const now = put(nowMs, 'bigint');
  const text =
    query.radiusMiles === undefined ? everywhere(query, now, put, page) : within(query, now, put, page);
  return { text, values };
}

type Put = (value: string | number, type: string) => string;

interface Page {
  readonly after: string | undefined;
  readonly limit: string;
}

/** What is in the circle is found once, for the total and the page. */
function within(query: NearbyQuery, now: string, put: Put, page: Page): string {
  const lng = put(query.lng, 'double precision');
  const lat = put(query.lat, 'double precision');
  const metres = put(query.radiusMiles! * METRES_PER_MILE, 'double precision');
  // On the sphere, as the index of the embedded engine measures.
  const circle = `st_dwithin(place, st_setsrid(st_makepoint(${lng}, ${lat}), 4326)::geography, ${metres}, false)`;
  // As expressions, so that no index but that of places can be chosen for them.
  const columns = { start: '(start_ms + 0)', type: "(event_type || '')", audience: "(audience || '')" };
  const matching = allOf(`ends_ms > ${now}`, ...filtersOf(query, columns, put), circle);
  return `WITH matching AS MATERIALIZED (SELECT start_ms, event_id FROM events WHERE ${matching}),
    page AS (${pageOf('matching', [], page)})
    ${answerOf(query, 'SELECT count(*) AS total FROM matching')}`;
}

/** What has begun is found once; of what is to come, the page and the number are each found in an index of their own. */
function everywhere(query: NearbyQuery, now: string, put: Put, page: Page): string {
  const columns = { start: 'start_ms', type: 'event_type', audience: 'audience' };
  const filters = filtersOf(query, columns, put);
  const begun = [`start_ms <= ${now}`, `ends_ms > ${now}`, ...filters];
  const short = allOf(`start_ms > ${now} - ${DAY_MS}`, `ends_ms - start_ms <= ${DAY_MS}`, ...begun);
  const long = allOf(`ends_ms - start_ms > ${DAY_MS}`, ...begun);
  const toCome = [`start_ms > ${now}`, ...filters];
  const pages = `((${pageOf('begun', [], page)}) UNION ALL (${pageOf('events', toCome, page)}))`;
  return `WITH begun AS MATERIALIZED (
      SELECT start_ms, event_id FROM events WHERE ${short}
      UNION ALL SELECT start_ms, event_id FROM events WHERE ${long}
    ),
    page AS (SELECT start_ms, event_id FROM ${pages} AS parts ${ORDER} LIMIT ${page.limit})
    ${answerOf(query, `SELECT (SELECT count(*) FROM begun) + (SELECT count(*) FROM events WHERE ${allOf(...toCome)}) AS total`)}`;
}

interface Columns {
  readonly start: string;
  readonly type: string;
  readonly audience: string;
}

function filtersOf(query: NearbyQuery, columns: Columns, put: Put): string[] {
  const { types, audiences, startsFromMs, startsBeforeMs } = query;
  const filters: string[] = [];
  const anyOf = (names: readonly string[]) => `ANY (string_to_array(${put(names.join(','), 'text')}, ','))`;
  if (types) filters.push(`${columns.type} = ${anyOf(types)}`);
  if (audiences) filters.push(`${columns.audience} = ${anyOf(audiences)}`);
  if (startsFromMs !== undefined) filters.push(`${columns.start} >= ${put(startsFromMs, 'bigint')}`);
  if (startsBeforeMs !== undefined) filters.push(`${columns.start} < ${put(startsBeforeMs, 'bigint')}`);
  return filters;
}

function pageOf(source: string, filters: readonly string[], { after, limit }: Page): string {
  const where = allOf(...filters, ...(after ? [after] : []));
  return `SELECT start_ms, event_id FROM ${source} WHERE ${where} ${ORDER} LIMIT ${limit}`;
}

function allOf(...conditions: readonly string[]): string {
  return conditions.join(' AND ') || 'true';
}

function answerOf({ details }: NearbyQuery, total: string): string {
  return `SELECT total, page.start_ms, page.event_id, json${details ? ', lat, lng' : ''} FROM (${total}) AS counted
    LEFT JOIN (page JOIN events USING (event_id)) ON true ORDER BY page.start_ms, page.event_id`;
}
