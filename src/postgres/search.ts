// SQL of a search. One statement returns the page and the exact total, from one snapshot. It has one of two plans: all matches are
// found once, or page and total are read from indexes. sql-searches.ts runs it; search-when.ts has the conditions on when events are on.
import { DAY_MS } from '../domain/clock-and-random.ts';
import type { Position } from '../domain/events/cursor.ts';
import { METRES_PER_MILE } from '../domain/events/geo.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { type Put, SearchZones, whenOf } from './search-when.ts';
import { HAS_UNKNOWN_WORDS, tsqueryOf } from './words.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** Conditions on the status. The last one matches the index events_cancelled. */
export const HAS_STATUS: Readonly<Record<NearbyQuery['status'], readonly string[]>> = {
  any: [],
  scheduled: ["status = 'scheduled'"],
  cancelled: ["status = 'cancelled'"],
};

const ORDER = 'ORDER BY start_ms, event_id';

/**
 * Rows consist of total, unknown timezones, start_ms, event_id, json, version, lat, lng and updated_ms.
 * The total is -1 if some events lack the words that the search needs. Unknown timezones are those of matches that `zones` does not
 * know: the search must be repeated with them.
 * By start, the rows are those of the page, and one more if more follow. By distance, they are all that may be on the page, without JSON:
 * distances are compared bit by bit, and sin and cos of the database may differ. If there are no events, a single row has the total.
 */
export function searchStatement(query: NearbyQuery, nowMs: number, zones = new SearchZones()): Statement {
  const values: (string | number)[] = [];
  const put: Put = (value, type) => `$${values.push(value)}::${type}`;
  const { when, activeFromMs, activeBeforeMs, sort } = query;
  const isPlain = sort === 'start' && (when ?? activeFromMs ?? activeBeforeMs) === undefined;
  const text =
    isPlain && !isIndexed(query) ? readIndexes(query, nowMs, put) : findOnce(query, nowMs, zones, put);
  return { text, values };
}

/** Whether the index of places or that of words finds the events. */
function isIndexed({ radiusMiles, terms }: NearbyQuery): boolean {
  return radiusMiles !== undefined || terms !== undefined;
}

/** All conditions on events except for their status, and when they are on. A new filter is a line here. */
function filtersOf(query: NearbyQuery, put: Put): string[] {
  const { radiusMiles, terms, types, audiences, startsFromMs, startsBeforeMs } = query;
  // Expressions instead of plain columns, so that the planner can use no other index than those of places and words.
  const text = (column: string) => (isIndexed(query) ? `(${column} || '')` : column);
  const number = (column: string) => (isIndexed(query) ? `(${column} + 0)` : column);
  const anyOf = (names: readonly string[]) => `ANY (string_to_array(${put(names.join(','), 'text')}, ','))`;
  const filters = [
    types && `${text('event_type')} = ${anyOf(types)}`,
    audiences && `${text('audience')} = ${anyOf(audiences)}`,
    startsFromMs !== undefined && `${number('start_ms')} >= ${put(startsFromMs, 'bigint')}`,
    startsBeforeMs !== undefined && `${number('start_ms')} < ${put(startsBeforeMs, 'bigint')}`,
    radiusMiles !== undefined && isWithin(query, radiusMiles, put),
    terms && `words @@ ${put(tsqueryOf(terms), 'text')}::tsquery`,
  ];
  return filters.filter((filter) => typeof filter === 'string');
}

function isWithin({ lat, lng }: NearbyQuery, radiusMiles: number, put: Put): string {
  const [x, y, metres] = [lng, lat, radiusMiles * METRES_PER_MILE].map((value) =>
    put(value, 'double precision'),
  );
  // `false`: distances on the sphere, as in the embedded engine.
  return `st_dwithin(place, st_setsrid(st_makepoint(${x}, ${y}), 4326)::geography, ${metres}, false)`;
}

/** Parts of the events that have not ended at `time`, each with its own index: short and long ones that have begun, and later ones. */
function partsAt(time: string): readonly [short: string, long: string, later: string] {
  const hasBegun = `start_ms <= ${time} AND ends_ms > ${time}`;
  return [
    `start_ms > ${time} - ${DAY_MS} AND ends_ms - start_ms <= ${DAY_MS} AND ${hasBegun}`,
    `ends_ms - start_ms > ${DAY_MS} AND ${hasBegun}`,
    `start_ms > ${time}`,
  ];
}

/** Page and total each read their own index. Only events that have begun are found once, for both. */
function readIndexes(query: NearbyQuery, nowMs: number, put: Put): string {
  const [short, long, later] = partsAt(put(nowMs, 'bigint'));
  const filters = filtersOf(query, put);
  const conditions = [...filters, ...HAS_STATUS[query.status]];
  const isAfter = isLater(query.after, put);
  const firstRows = `${ORDER} LIMIT ${put(query.limit + 1, 'bigint')}`;
  const select = (from: string, ...where: readonly string[]) =>
    `SELECT start_ms, event_id FROM ${from} WHERE ${allOf(...where)}`;
  const pages = [select('begun', isAfter), select('events', later, ...conditions, isAfter)];
  return `WITH begun AS MATERIALIZED (
      ${select('events', short, ...conditions)} UNION ALL ${select('events', long, ...conditions)}
    ),
    page AS (SELECT * FROM (${pages.map((page) => `(${page} ${firstRows})`).join(' UNION ALL ')}) AS parts ${firstRows}),
    counted AS (SELECT (SELECT count(*) FROM begun) + ${countOf([later, ...filters], query.status)} AS total, NULL AS unknown)
    ${resultOf(query)}`;
}

/** Counts scheduled events as all events less the cancelled ones, which are few: both counts read only an index. */
function countOf(conditions: readonly string[], status: NearbyQuery['status']): string {
  const count = (more: readonly string[]) =>
    `(SELECT count(*) FROM events WHERE ${allOf(...conditions, ...more)})`;
  if (status !== 'scheduled') return count(HAS_STATUS[status]);
  return `(${count([])} - ${count(HAS_STATUS.cancelled)})`;
}

/** Page and total are made of the same matches, which are found once. */
function findOnce(query: NearbyQuery, nowMs: number, zones: SearchZones, put: Put): string {
  const { sort, status, terms, after, limit } = query;
  const { zoneTable, join, isOn, unknown, fromMs } = whenOf(query, nowMs, zones, put);
  const conditions = allOf(...filtersOf(query, put), ...HAS_STATUS[status], ...isOn);
  // Events that end before the first interval begins are left out.
  const parts = isIndexed(query)
    ? [`ends_ms > ${put(nowMs, 'bigint')}`]
    : partsAt(put(Math.max(nowMs, fromMs - 1), 'bigint'));
  const columns = [
    'start_ms, event_id',
    ...(unknown ? [`${unknown} AS unknown`] : []),
    ...(sort === 'distance' ? [`version, lat, lng, updated_ms, ${chordOf(query, put)} AS chord`] : []),
  ].join(', ');
  const matching = parts.map(
    (part) => `SELECT ${columns} FROM events ${join} WHERE ${part} AND ${conditions}`,
  );
  const page =
    sort === 'distance'
      ? nearest(query, put)
      : `SELECT * FROM matching WHERE ${isLater(after, put)} ${ORDER} LIMIT ${put(limit + 1, 'bigint')}`;
  return `WITH ${zoneTable} matching AS MATERIALIZED (${matching.join(' UNION ALL ')}),
    page AS (${page}),
    counted AS (SELECT ${terms ? `CASE WHEN ${HAS_UNKNOWN_WORDS} THEN -1 ELSE count(*) END` : 'count(*)'} AS total,
      ${unknown ? "string_agg(DISTINCT unknown, ',')" : 'NULL'} AS unknown FROM matching)
    ${resultOf(query)}`;
}

function isLater(after: Position | undefined, put: Put): string {
  return after
    ? `(start_ms, event_id) > (${put(after.startMs, 'bigint')}, ${put(after.id, 'text')})`
    : 'true';
}

function resultOf({ sort }: NearbyQuery): string {
  const [json, source] =
    sort === 'distance' ? ['NULL AS json', 'page'] : ['json', '(page JOIN events USING (event_id))'];
  return `SELECT total, counted.unknown, page.start_ms, page.event_id, ${json}, version, lat, lng, updated_ms
    FROM counted LEFT JOIN ${source} ON true ORDER BY page.start_ms, page.event_id`;
}

function allOf(...conditions: readonly string[]): string {
  return conditions.join(' AND ') || 'true';
}

/** SQL: the squared chord between centre and event, up to the last bits, by the haversine formula. Far cheaper than st_distance. */
function chordOf({ lat, lng }: NearbyQuery, put: Put): string {
  const [north, east] = [put(lat, 'double precision'), put(lng, 'double precision')];
  // PostgreSQL refuses a product that is too small for a number. A billionth of a degree is far below the margin.
  const inRadians = (angle: string) => `radians(CASE WHEN abs(${angle}) < 1e-9 THEN 0 ELSE ${angle} END)`;
  const haversine = (angle: string) => `sin(${inRadians(angle)} / 2) * sin(${inRadians(angle)} / 2)`;
  const shrink = `cos(${inRadians('lat')}) * cos(${inRadians(north)})`;
  return `4 * (${haversine(`(lat - ${north})`)} + ${shrink} * ${haversine(`(lng - ${east})`)})`;
}

/** Far more than the error of squared chords from the database. As a distance: 6 m at the centre, millimetres from some miles on. */
const MARGIN = 1e-12;

/**
 * All events that may be on the page: those that are not surely nearer than the cursor, up to the chord with which there are surely
 * enough for the page and one more. Of the events at one place, only the first ones can be on the page: of all, or of those after the cursor.
 */
function nearest({ after, limit }: NearbyQuery, put: Put): string {
  const cursor = put(after?.chord ?? -1, 'double precision');
  const count = put(limit, 'bigint');
  const later = isLater(after, put);
  return `SELECT * FROM (
      SELECT *, ${later} AS is_later, row_number() OVER (PARTITION BY lat, lng ${ORDER}) AS place,
        row_number() OVER (PARTITION BY lat, lng, ${later} ${ORDER}) AS later_place
      FROM matching WHERE chord >= ${cursor} - ${MARGIN} AND chord <= ${MARGIN} + coalesce((
        SELECT chord FROM matching WHERE chord > ${cursor} + ${MARGIN} ORDER BY chord OFFSET ${count} LIMIT 1
      ), 'infinity')
    ) AS near WHERE place <= ${count} + 1 OR (is_later AND later_place <= ${count} + 1)`;
}
