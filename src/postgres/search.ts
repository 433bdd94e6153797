// SQL of a search. One statement returns the page and the exact total, from one snapshot. Searches by when events are on, and
// by distance, are in exact-search.ts.

import { DAY_MS } from '../domain/clock-and-random.ts';
import type { Position } from '../domain/events/cursor.ts';
import { METRES_PER_MILE } from '../domain/events/geo.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { cutPage } from '../domain/page-rows.ts';
import type { EventDetails, NearbyPage } from '../domain/store.ts';
import type { Statements } from './client/database.ts';
import { numberOf, wireOf } from './records.ts';
import { HAS_UNKNOWN_WORDS, tsqueryOf } from './words.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number)[];
}

/** Events that last longer than this are in a separate index, events_long. */

/** Conditions on the status. The last one matches the index events_cancelled. */
export const HAS_STATUS: Readonly<Record<NearbyQuery['status'], readonly string[]>> = {
  any: [],
  scheduled: ["status = 'scheduled'"],
  cancelled: ["status = 'cancelled'"],
};

const ORDER = 'ORDER BY start_ms, event_id';

export type RawRows = readonly (readonly (Buffer | null)[])[];
export type ReadRows = (statement: Statement) => Promise<RawRows>;

/** Reads with prepared statements: PostgreSQL need not plan them each time. */
export function readPrepared(statements: Statements): ReadRows {
  return async ({ text, values }) => {
    const rows = await statements.run('search', (sql) =>
      sql.unsafe(text, [...values], { prepare: true }).raw(),
    );
    return rows as unknown as RawRows;
  };
}

/** Undefined if some events lack the words that the search needs. */
export async function search(
  read: ReadRows,
  query: NearbyQuery,
  nowMs: number,
): Promise<NearbyPage | undefined> {
  const found = (await read(searchStatement(query, nowMs))) as unknown as readonly FoundRow[];
  const total = Number(found[0]![0].toString('latin1'));
  if (total < 0) return undefined;
  const { page, last } = cutPage(found, query.limit, ([, , id]) => id !== null);
  return {
    events: page.map(([, , , json]) => wireOf(json)),
    details: query.details ? page.map(detailsOf) : [],
    total,
    next: last && positionOf(last),
  };
}

/** A row of a search; `id` is null in a row that has only the total. */
type FoundRow = readonly [
  total: Buffer,
  start: Buffer,
  id: Buffer | null,
  json: Buffer,
  lat?: Buffer,
  lng?: Buffer,
  version?: Buffer,
  updated?: Buffer,
];

function positionOf([, start, id]: FoundRow): Position {
  return { startMs: Number(start.toString('latin1')), id: id!.toString('latin1') };
}

function detailsOf(row: FoundRow): EventDetails {
  const [lat, lng, version, updatedMs] = row.slice(4).map(numberOf);
  return { ...positionOf(row), lat: lat!, lng: lng!, version: version!, updatedMs: updatedMs! };
}

/**
 * Rows consist of total, start_ms, event_id, json and, with details, lat, lng, version and updated_ms. Returns one row more than
 * the page if more follow. If the page is empty, a single row has only the total.
 */
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
    query.radiusMiles === undefined && !query.terms
      ? everywhere(query, now, put, page)
      : within(query, now, put, page);
  return { text, values };
}

export type Put = (value: string | number, type: string) => string;

interface Page {
  readonly after: string | undefined;
  readonly limit: string;
}

/** Events in the circle, or with the words, are found once, for both the total and the page. */
function within(query: NearbyQuery, now: string, put: Put, page: Page): string {
  // Expressions instead of plain columns, so that the planner can use no other indexes than those of places and words.
  const columns = { start: '(start_ms + 0)', type: "(event_type || '')", audience: "(audience || '')" };
  const matching = allOf(
    `ends_ms > ${now}`,
    ...filtersOf(query, columns, put),
    ...HAS_STATUS[query.status],
    ...(query.radiusMiles === undefined ? [] : [circleOf(query, put)]),
    ...wordsOf(query, put),
  );
  return `WITH matching AS MATERIALIZED (SELECT start_ms, event_id FROM events WHERE ${matching}),
    page AS (${pageOf('matching', [], page)})
    ${resultOf(query, `SELECT ${totalOf(query)} AS total FROM matching`)}`;
}

/** SQL: the words of `q`. */
export function wordsOf({ terms }: NearbyQuery, put: Put): string[] {
  return terms ? [`words @@ ${put(tsqueryOf(terms), 'text')}::tsquery`] : [];
}

/** SQL: the number of matches, or -1 if some events lack the words that the search needs. */
export function totalOf({ terms }: NearbyQuery): string {
  return terms ? `CASE WHEN ${HAS_UNKNOWN_WORDS} THEN -1 ELSE count(*) END` : 'count(*)';
}

export function circleOf(query: NearbyQuery, put: Put): string {
  const point = pointOf(query, put);
  // `false`: distances on the sphere, as in the embedded engine.
  return `st_dwithin(place, ${point}, ${put(query.radiusMiles! * METRES_PER_MILE, 'double precision')}, false)`;
}

function pointOf({ lat, lng }: NearbyQuery, put: Put): string {
  return `st_setsrid(st_makepoint(${put(lng, 'double precision')}, ${put(lat, 'double precision')}), 4326)::geography`;
}

/** Events that have started are found once. For upcoming events, page and total each use their own index. */
function everywhere(query: NearbyQuery, now: string, put: Put, page: Page): string {
  const columns = { start: 'start_ms', type: 'event_type', audience: 'audience' };
  const filters = filtersOf(query, columns, put);
  const hasStatus = HAS_STATUS[query.status];
  const begun = [`start_ms <= ${now}`, `ends_ms > ${now}`, ...filters, ...hasStatus];
  const short = allOf(`start_ms > ${now} - ${DAY_MS}`, `ends_ms - start_ms <= ${DAY_MS}`, ...begun);
  const long = allOf(`ends_ms - start_ms > ${DAY_MS}`, ...begun);
  const toCome = [`start_ms > ${now}`, ...filters];
  const pages = `((${pageOf('begun', [], page)}) UNION ALL (${pageOf('events', [...toCome, ...hasStatus], page)}))`;
  return `WITH begun AS MATERIALIZED (
      SELECT start_ms, event_id FROM events WHERE ${short}
      UNION ALL SELECT start_ms, event_id FROM events WHERE ${long}
    ),
    page AS (SELECT start_ms, event_id FROM ${pages} AS parts ${ORDER} LIMIT ${page.limit})
    ${resultOf(query, `SELECT (SELECT count(*) FROM begun) + ${countOf(toCome, query.status)} AS total`)}`;
}

/** Scheduled events are all without the cancelled ones, which are few: both counts need only an index. */
function countOf(filters: readonly string[], status: NearbyQuery['status']): string {
  const count = (conditions: readonly string[]) =>
    `(SELECT count(*) FROM events WHERE ${allOf(...conditions)})`;
  const cancelled = count([...filters, ...HAS_STATUS.cancelled]);
  if (status === 'cancelled') return cancelled;
  return status === 'any' ? count(filters) : `(${count(filters)} - ${cancelled})`;
}

interface Columns {
  readonly start: string;
  readonly type: string;
  readonly audience: string;
}

export function filtersOf(query: NearbyQuery, columns: Columns, put: Put): string[] {
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

export function allOf(...conditions: readonly string[]): string {
  return conditions.join(' AND ') || 'true';
}

function resultOf({ details }: NearbyQuery, total: string): string {
  return `SELECT total, page.start_ms, page.event_id, json${details ? ', lat, lng, version, updated_ms' : ''} FROM (${total}) AS counted
    LEFT JOIN (page JOIN events USING (event_id)) ON true ORDER BY page.start_ms, page.event_id`;
}
