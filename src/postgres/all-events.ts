// The list of all events, for administrators. One statement returns the page and the total, from one snapshot; the total stops at
// EXACT_TOTAL, because counting a million rows takes seconds. Values are part of the text: the planner must know whether a word is
// rare or common. None of them has a quote or a backslash, except for the quotes around words.

import { type AllEventsQuery, EXACT_TOTAL } from '../domain/administration/event-list.ts';
import { DAY_MS } from '../domain/clock-and-random.ts';
import { METRES_PER_MILE } from '../domain/events/geo.ts';
import { newUlid } from '../domain/ids.ts';
import { cutPage } from '../domain/page-rows.ts';
import type { OwnedEventPage } from '../domain/store.ts';
import { fromWire } from '../domain/wire.ts';
import type { CancellableReads } from './cancel.ts';
import type { Statements } from './client/database.ts';
import { wireOf } from './records.ts';
import { allOf, HAS_STATUS, type Statement } from './search.ts';
import { HAS_UNKNOWN_WORDS, tsqueryOf } from './words.ts';

/** Undefined if some events lack the words that the search needs. */
export async function readAllEvents(
  statements: Statements,
  reads: CancellableReads,
  query: AllEventsQuery,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<OwnedEventPage | undefined> {
  const { limit, sort } = query;
  const rows = await reads.run(statements, allEventsStatement(query, nowMs), signal);
  const counted = Number(rows[0]![0]!.toString());
  if (counted < 0) return undefined;
  const { page, last } = cutPage(rows, limit, ([, id]) => id !== null);
  const [, lastId, lastStart] = last ?? [];
  const id = lastId?.toString() ?? '';
  return {
    items: page.map(([, , , json, name]) => ({ json: wireOf(json), agentName: fromWire(wireOf(name)) })),
    total: Math.min(counted, EXACT_TOTAL),
    isAtLeast: counted > EXACT_TOTAL,
    agentCount: query.countsAgents ? Number(rows[0]![5]!.toString()) : undefined,
    next: lastId ? { value: sort.key === 'start_at' ? Number(lastStart!.toString()) : id, id } : undefined,
  };
}

/**
 * Rows consist of the total, which is one more than EXACT_TOTAL if there are more, or -1 if words are missing, and of event_id,
 * start_ms, json and agent_name, and if it is asked for, of the number of agents. There is one row more than the page if more follow. If the page is empty, a single row has only the total.
 */
export function allEventsStatement(query: AllEventsQuery, nowMs: number): Statement {
  const { terms, sort, after, limit, countsAgents } = query;
  const [isAfter, direction] = sort.descending ? ['<', 'DESC'] : ['>', 'ASC'];
  const isByStart = sort.key === 'start_at';
  const order = `${isByStart ? `start_ms ${direction}, ` : ''}event_id ${direction}`;
  const afterId = `event_id ${isAfter} '${after?.id}'`;
  const afterBoth = `(start_ms, event_id) ${isAfter} (${Number(after?.value)}, '${after?.id}')`;
  const rest = after ? [isByStart ? afterBoth : afterId] : [];
  const parts = partsOf(query, nowMs);
  const columns = 'SELECT event_id, start_ms FROM';
  const pageOf = (rows: string) => `(${columns} ${rows} ORDER BY ${order} LIMIT ${limit + 1})`;
  const some = (...conditions: string[]) => {
    const counted = `SELECT event_id, start_ms${countsAgents ? ', agent_id' : ''} FROM`;
    const matching = parts.map((part) => `${counted} ${part(conditions)}`);
    return `SELECT * FROM (${matching.join(' UNION ALL ')}) AS matching LIMIT ${EXACT_TOTAL + 1}`;
  };
  const all = (...conditions: string[]) =>
    parts.map((part) => pageOf(part([...conditions, ...rest]))).join(' UNION ALL ');
  const words = terms && `'${tsqueryOf(terms).replaceAll("'", "''")}'::tsquery`;
  const agents = countsAgents ? ', count(DISTINCT agent_id) AS agents' : '';
  const isFew = `(SELECT total FROM counted) <= ${EXACT_TOTAL}`;
  // If few events have the words, they are found by the index of words. Otherwise the next one is near in the order of the list: a
  // function instead of the operator makes PostgreSQL read that order and not sort all of them.
  const [begin, pages] = terms
    ? [
        `few AS MATERIALIZED (${some(`words @@ ${words}`)}),
         counted AS MATERIALIZED (SELECT CASE WHEN ${HAS_UNKNOWN_WORDS} THEN -1 ELSE count(*) END AS total${agents} FROM few),`,
        `${pageOf(`few WHERE ${allOf(isFew, ...rest)}`)} UNION ALL ${all(`NOT ${isFew}`, `ts_match_vq(words, ${words})`)}`,
      ]
    : [`counted AS MATERIALIZED (SELECT count(*) AS total${agents} FROM (${some()}) AS few),`, all()];
  const text = `WITH ${begin} page AS (SELECT * FROM (${pages}) AS parts ORDER BY ${order} LIMIT ${limit + 1})
    SELECT total, page.event_id, page.start_ms, json, agent_name${countsAgents ? ', agents' : ''} FROM counted
    LEFT JOIN (page JOIN events USING (event_id) JOIN agents USING (agent_id)) ON true
    ORDER BY ${isByStart ? `page.start_ms ${direction}, ` : ''}page.event_id ${direction}`;
  return { text, values: [] };
}

/** A part of the events: a table of those that also meet the conditions. */
type Part = (conditions: readonly string[]) => string;

/** Parts that have no event in common. */
function partsOf(query: AllEventsQuery, nowMs: number): Part[] {
  const { eventId, agentId, types, createdFromMs, updatedFromMs, status, circle, when } = query;
  const filters: string[] = [];
  if (eventId !== undefined) filters.push(`event_id = '${eventId}'`);
  if (agentId !== undefined) filters.push(`agent_id = '${agentId}'`);
  if (types) filters.push(`event_type = ANY ('{${types.join(',')}}')`);
  if (createdFromMs !== undefined) filters.push(`event_id >= '${firstUlid(createdFromMs)}'`);
  if (updatedFromMs !== undefined) filters.push(`updated_ms >= ${updatedFromMs}`);
  filters.push(...HAS_STATUS[status]);
  if (circle) {
    const point = `st_setsrid(st_makepoint(${circle.lng}, ${circle.lat}), 4326)::geography`;
    filters.push(`st_dwithin(place, ${point}, ${circle.radiusMiles * METRES_PER_MILE}, false)`);
  }
  const partOf =
    (...own: string[]): Part =>
    (conditions) =>
      `events WHERE ${allOf(...own, ...filters, ...conditions)}`;
  if (when === 'all') return [partOf()];
  if (when === 'past') return [partOf(`start_ms <= ${nowMs}`, `ends_ms <= ${nowMs}`)];
  // Events that began more than a day ago and have not ended last longer than a day, and have an index of their own. OFFSET makes
  // PostgreSQL use it: they are so few that it would look for the first of them in the order of the list, among all that began.
  const dayBefore = nowMs - DAY_MS;
  const long = partOf(`start_ms <= ${dayBefore}`, `ends_ms > ${nowMs}`, `ends_ms - start_ms > ${DAY_MS}`);
  return [
    partOf(`start_ms > ${dayBefore}`, `ends_ms > ${nowMs}`),
    (conditions) => `(SELECT * FROM ${long(conditions)} OFFSET 0) AS events`,
  ];
}

/** The lowest ID of an event that was created at this time or later. */
function firstUlid(createdFromMs: number): string {
  return newUlid(Math.max(0, createdFromMs), (bytes) => bytes.fill(0));
}
