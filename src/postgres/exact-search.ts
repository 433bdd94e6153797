// Searches by SQL that ask when events are on, or want the nearest first. SQL finds the candidates of the page and the total in one
// statement. Their order is decided here: distances are compared bit by bit, and sin and cos of the database may differ.
import { DAY_MS } from '../domain/clock-and-random.ts';
import { AppError } from '../domain/errors.ts';
import type { Position } from '../domain/events/cursor.ts';
import { chordBetween, type NearbyQuery } from '../domain/events/nearby.ts';
import { commonInterval, type Interval, localInterval } from '../domain/events/when.ts';
import { cutPage } from '../domain/page-rows.ts';
import type { EventDetails, NearbyPage } from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import type { Statements } from './client/database.ts';
import { wireOf } from './records.ts';
import {
  allOf,
  circleOf,
  filtersOf,
  HAS_STATUS,
  type Put,
  type ReadRows,
  readPrepared,
  type Statement,
  search,
  totalOf,
  wordsOf,
} from './search.ts';
import type { SearchZones } from './search-zones.ts';

/** Attempts of a search whose events change while they are read, or are in timezones that it has not met yet. */
const MAX_ROUNDS = 100;

/** Squared chords of the database are exact to far less than this: 6 m at the centre, millimetres from some miles on. */
const MARGIN = 1e-12;

/** Every search by SQL. Undefined if some events lack the words that the search needs. `read` reads what may take long. */
export async function searchDatabase(
  statements: Statements,
  zones: SearchZones,
  query: NearbyQuery,
  nowMs: number,
  read = readPrepared(statements),
): Promise<NearbyPage | undefined> {
  const { when, activeFromMs, activeBeforeMs, sort } = query;
  const isPlain = (when ?? activeFromMs ?? activeBeforeMs) === undefined && sort === 'start';
  if (isPlain) return search(read, query, nowMs);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { total, unknown, candidates } = await findCandidates(read, zones, query, nowMs);
    if (total < 0) return undefined;
    if (unknown.length > 0) {
      zones.learn(unknown);
      continue;
    }
    const { after, limit } = query;
    const following = candidates.filter((event) => !after || compare(event, after) > 0).sort(compare);
    const { page, last } = cutPage(following, limit);
    const events = await readBodies(statements, page);
    if (!events) continue;
    return { events, details: query.details ? page : [], total, next: last && positionOf(last) };
  }
  throw new AppError('UNAVAILABLE', 'The data changes faster than it can be read. Retry.');
}

type Candidate = EventDetails;

interface Found {
  readonly total: number;
  /** Timezones whose interval was not known. */
  readonly unknown: readonly string[];
  /** The first of the page, in any order, and possibly others. */
  readonly candidates: Candidate[];
}

function compare(a: Position, b: Position): number {
  const byDistance = a.chord === undefined ? 0 : a.chord - b.chord!;
  return byDistance || a.startMs - b.startMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function positionOf({ startMs, id, chord }: Candidate): Position {
  return chord === undefined ? { startMs, id } : { startMs, id, chord };
}

async function findCandidates(
  read: ReadRows,
  zones: SearchZones,
  query: NearbyQuery,
  nowMs: number,
): Promise<Found> {
  const rows = await read(candidateStatement(query, nowMs, zones));
  const texts = rows.map((row) => row.map((bytes) => bytes?.toString('latin1')));
  const candidates = texts.flatMap(([, , start, id, version, lat, lng, updated]): Candidate[] => {
    if (id === undefined) return [];
    const place = { lat: Number(lat), lng: Number(lng) };
    const event = {
      startMs: Number(start),
      id,
      version: Number(version),
      ...place,
      updatedMs: Number(updated),
    };
    return [query.sort === 'distance' ? { ...event, chord: chordBetween(query, place) } : event];
  });
  const [total, unknown] = texts[0]!;
  return { total: Number(total), unknown: unknown?.split(',') ?? [], candidates };
}

/** Undefined if one of them has changed since. */
async function readBodies(
  statements: Statements,
  page: readonly Candidate[],
): Promise<readonly Wire[] | undefined> {
  if (page.length === 0) return [];
  const ids = page.map(({ id }) => id).join(',');
  const rows = (await statements.run('search', (sql) =>
    sql
      .unsafe(
        `SELECT event_id, version, json FROM events WHERE event_id = ANY (string_to_array($1::text, ','))`,
        [ids],
        { prepare: true },
      )
      .raw(),
  )) as unknown as readonly (readonly Buffer[])[];
  const bodies = new Map(rows.map(([id, version, json]) => [`${id}/${version}`, wireOf(json)]));
  const events = page.map(({ id, version }) => bodies.get(`${id}/${version}`));
  return events.every((event) => event !== undefined) ? events : undefined;
}

/** Rows consist of total, unknown timezones, start_ms, event_id, version, lat, lng and updated_ms; all but the first two may be null. */
function candidateStatement(query: NearbyQuery, nowMs: number, zones: SearchZones): Statement {
  const values: (string | number)[] = [];
  const put: Put = (value, type) => `$${values.push(value)}::${type}`;
  const { begin, join, conditions, unknown, interval } = whenOf(query, nowMs, zones, put);
  const chord = query.sort === 'distance' ? `, ${chordOf(query, put)} AS chord` : '';
  const columns = `SELECT start_ms, event_id, version, lat, lng, updated_ms, ${unknown} AS unknown${chord} FROM events ${join}`;
  const source =
    query.radiusMiles === undefined
      ? everywhere(query, nowMs, interval, put)
      : [allOf(`ends_ms > ${put(nowMs, 'bigint')}`, ...filtersOf(query, WITHIN, put), circleOf(query, put))];
  const others = [...HAS_STATUS[query.status], ...wordsOf(query, put)];
  const parts = source.map((where) => `${columns} WHERE ${allOf(where, ...conditions, ...others)}`);
  const text = `WITH ${begin} matching AS MATERIALIZED (${parts.join(' UNION ALL ')})
    SELECT total, unknown, candidate.* FROM (
      SELECT ${totalOf(query)} AS total, string_agg(DISTINCT unknown, ',') AS unknown FROM matching
    ) AS counted LEFT JOIN (${query.sort === 'distance' ? nearest(query, put) : first(query, put)}) AS candidate ON true`;
  return { text, values };
}

/** Expressions instead of plain columns, so that the planner can use no other index than that of places. */
const WITHIN = { start: '(start_ms + 0)', type: "(event_type || '')", audience: "(audience || '')" };
const PLAIN = { start: 'start_ms', type: 'event_type', audience: 'audience' };

/** Events that have begun when the interval begins, short ones and long ones, and those that begin later. */
function everywhere(query: NearbyQuery, nowMs: number, { fromMs }: Interval, put: Put): string[] {
  const now = put(nowMs, 'bigint');
  const pivot = put(Math.max(nowMs, fromMs), 'bigint');
  const filters = filtersOf(query, PLAIN, put);
  const begun = [`start_ms < ${pivot}`, `ends_ms > ${pivot}`, ...filters];
  return [
    allOf(`start_ms > ${pivot} - ${DAY_MS}`, `ends_ms - start_ms <= ${DAY_MS}`, ...begun),
    allOf(`ends_ms - start_ms > ${DAY_MS}`, ...begun),
    allOf(`start_ms >= ${pivot}`, `ends_ms > ${now}`, ...filters),
  ];
}

interface WhenParts {
  /** Begin of the WITH clause. */
  readonly begin: string;
  readonly join: string;
  readonly conditions: readonly string[];
  /** The timezone of an event whose interval is not known, otherwise null. */
  readonly unknown: string;
  /** Around the intervals of all timezones. */
  readonly interval: Interval;
}

function whenOf(query: NearbyQuery, nowMs: number, zones: SearchZones, put: Put): WhenParts {
  const { when, activeFromMs, activeBeforeMs } = query;
  const common = when && commonInterval(when, nowMs);
  if (!when || common) {
    const from = common?.fromMs ?? activeFromMs;
    const before = common?.beforeMs ?? activeBeforeMs;
    return {
      begin: '',
      join: '',
      conditions: isOn(optional(from, put), optional(before, put)),
      unknown: 'NULL::text',
      interval: { fromMs: from ?? Number.NEGATIVE_INFINITY, beforeMs: before ?? Number.POSITIVE_INFINITY },
    };
  }
  const known = zones.intervals(when, nowMs);
  const list = (texts: readonly (string | number)[], type: string) =>
    `string_to_array(${put(texts.join(','), 'text')}, ',')::${type}[]`;
  const [names, from, before] = [
    list(
      known.map(([name]) => name),
      'text',
    ),
    list(
      known.map(([, { fromMs }]) => fromMs),
      'bigint',
    ),
    list(
      known.map(([, { beforeMs }]) => beforeMs),
      'bigint',
    ),
  ];
  const interval = aroundAll(query, nowMs);
  return {
    begin: `zone AS MATERIALIZED (SELECT * FROM unnest(${names}, ${from}, ${before}) AS zone (name, from_ms, before_ms)),`,
    join: `LEFT JOIN zone ON name = timezone`,
    conditions: [
      ...isOn(put(interval.fromMs, 'bigint'), put(interval.beforeMs, 'bigint')),
      `(name IS NULL OR ${allOf('from_ms < before_ms', ...isOn('from_ms', 'before_ms'))})`,
    ],
    unknown: `CASE WHEN name IS NULL THEN timezone END`,
    interval,
  };
}

function optional(ms: number | undefined, put: Put): string | undefined {
  return ms === undefined ? undefined : put(ms, 'bigint');
}

/** SQL: the event is on at some moment of the interval; without length, it is on at its start. */
function isOn(from: string | undefined, before: string | undefined): string[] {
  const conditions: string[] = [];
  if (before) conditions.push(`start_ms < ${before}`);
  if (from) conditions.push(`(ends_ms > ${from} OR (ends_ms = start_ms AND start_ms >= ${from}))`);
  return conditions;
}

/** An interval around those of all timezones. Local dates differ by a day at most, but it may be Sunday here and Monday there. */
function aroundAll({ when }: NearbyQuery, nowMs: number): Interval {
  const { fromMs, beforeMs } = localInterval(when!, nowMs, 'UTC');
  const marginMs = (when === 'this_weekend' ? 9 : 3) * DAY_MS;
  return { fromMs: fromMs - marginMs, beforeMs: beforeMs + marginMs };
}

/** SQL: nearly the squared chord between centre and event, by the haversine formula. Far cheaper than st_distance. */
function chordOf({ lat, lng }: NearbyQuery, put: Put): string {
  const [north, east] = [put(lat, 'double precision'), put(lng, 'double precision')];
  // PostgreSQL refuses a product that is too small for a number. A billionth of a degree is far below the margin.
  const inRadians = (angle: string) => `radians(CASE WHEN abs(${angle}) < 1e-9 THEN 0 ELSE ${angle} END)`;
  const haversine = (angle: string) => `sin(${inRadians(angle)} / 2) * sin(${inRadians(angle)} / 2)`;
  const shrink = `cos(${inRadians('lat')}) * cos(${inRadians(north)})`;
  return `4 * (${haversine(`(lat - ${north})`)} + ${shrink} * ${haversine(`(lng - ${east})`)})`;
}

const CANDIDATE = 'start_ms, event_id, version, lat, lng, updated_ms';

function first({ after, limit }: NearbyQuery, put: Put): string {
  const isAfter = after ? isLater(after, put) : 'true';
  return `SELECT ${CANDIDATE} FROM matching WHERE ${isAfter} ORDER BY start_ms, event_id LIMIT ${put(limit + 1, 'bigint')}`;
}

function isLater({ startMs, id }: Position, put: Put): string {
  return `(start_ms, event_id) > (${put(startMs, 'bigint')}, ${put(id, 'text')})`;
}

/**
 * As many events as a page needs that are surely farther than the cursor, with everything that may be as near. Of events at the
 * same place only the first can be on the page: the first of all, or the first after the cursor.
 */
function nearest({ after, limit }: NearbyQuery, put: Put): string {
  const cursor = put(after?.chord ?? -1, 'double precision');
  const count = put(limit, 'bigint');
  const later = after ? isLater(after, put) : 'true';
  return `SELECT ${CANDIDATE} FROM (
      SELECT *, ${later} AS is_later, row_number() OVER (PARTITION BY lat, lng ORDER BY start_ms, event_id) AS place,
        row_number() OVER (PARTITION BY lat, lng, ${later} ORDER BY start_ms, event_id) AS later_place
      FROM matching WHERE chord >= ${cursor} - ${MARGIN} AND chord <= ${MARGIN} + coalesce((
        SELECT chord FROM matching WHERE chord > ${cursor} + ${MARGIN} ORDER BY chord OFFSET ${count} LIMIT 1
      ), 'infinity')
    ) AS near WHERE place <= ${count} + 1 OR (is_later AND later_place <= ${count} + 1)`;
}
