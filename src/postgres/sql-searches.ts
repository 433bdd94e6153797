// Searches by SQL: how many run at a time, and how they end. They take far longer than all other statements, so they may use only a
// part of the connections, and searches for prefixes, which take longest, only a part of these. search.ts has their SQL.
import { AppError } from '../domain/errors.ts';
import type { Position } from '../domain/events/cursor.ts';
import { cutPage } from '../domain/events/event-page.ts';
import { chordBetween, type NearbyQuery } from '../domain/events/nearby.ts';
import { hasPrefix } from '../domain/events/word-query.ts';
import type { EventDetails, NearbyPage, Searcher } from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import type { CancellableReads, RawRows } from './cancel.ts';
import { ConcurrencyLimit } from './client/concurrency-limit.ts';
import type { DatabaseOptions, Statements } from './client/database.ts';
import { numberOf, wireOf } from './records.ts';
import { type Statement, searchStatement } from './search.ts';
import { SearchZones } from './search-when.ts';

/** Parts of the connections. */
const USED_BY_SEARCHES = 0.5;
const USED_BY_PREFIX_SEARCHES = 0.25;

/** Attempts of a search whose events change while they are read, or are in timezones that it has not met yet. */
const MAX_ROUNDS = 100;

export class SqlSearches {
  readonly #limit: ConcurrencyLimit;
  readonly #prefixLimit: ConcurrencyLimit;
  readonly #zones = new SearchZones();
  readonly #reads: CancellableReads;

  constructor(
    options: Pick<DatabaseOptions, 'poolSize' | 'poolTimeoutMs' | 'metrics'>,
    reads: CancellableReads,
  ) {
    const { poolSize, poolTimeoutMs, metrics } = options;
    const limitOf = (part: number, name: string) =>
      new ConcurrencyLimit(Math.ceil(poolSize * part), poolTimeoutMs, name, metrics, tooManySearches);
    this.#limit = limitOf(USED_BY_SEARCHES, 'searches_by_sql');
    this.#prefixLimit = limitOf(USED_BY_PREFIX_SEARCHES, 'prefix_searches_by_sql');
    this.#reads = reads;
  }

  /** Reserves room for a search without a prefix, if there is some. `run` uses it. */
  reserve(query: NearbyQuery): boolean {
    return !hasPrefix(query.terms) && this.#limit.tryAcquire();
  }

  /**
   * Undefined if some events lack the words that the search needs. Throws OVERLOADED if it must wait too long, and the reason of the
   * searcher's signal if that is aborted.
   */
  async run(
    statements: Statements,
    query: NearbyQuery,
    nowMs: number,
    searcher: Searcher | undefined,
    isReserved: boolean,
  ): Promise<NearbyPage | undefined> {
    const mayBeLong = hasPrefix(query.terms);
    if (mayBeLong) await this.#prefixLimit.acquire();
    try {
      if (!isReserved) await this.#limit.acquire();
      return await this.#search(statements, query, nowMs, searcher).finally(() => this.#limit.release());
    } finally {
      if (mayBeLong) this.#prefixLimit.release();
    }
  }

  async #search(
    statements: Statements,
    query: NearbyQuery,
    nowMs: number,
    searcher: Searcher | undefined,
  ): Promise<NearbyPage | undefined> {
    // Searches by words can take seconds. The others use prepared statements, which cannot be told apart to end one.
    const signal = query.terms && searcher?.signal;
    signal?.throwIfAborted();
    const read = signal && ((statement: Statement) => this.#reads.run(statements, statement, signal));
    return searchDatabase(statements, this.#zones, query, nowMs, read);
  }
}

function tooManySearches(): AppError {
  return new AppError('OVERLOADED', 'Searches take long at the moment, and others are waiting. Retry.', {
    retryAfterSeconds: 1,
  });
}

/** Undefined if some events lack the words that the search needs. `read` reads what may take long. */
export async function searchDatabase(
  statements: Statements,
  zones: SearchZones,
  query: NearbyQuery,
  nowMs: number,
  read = (statement: Statement) => readPrepared(statements, statement),
): Promise<NearbyPage | undefined> {
  const isByDistance = query.sort === 'distance';
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const rows = await read(searchStatement(query, nowMs, zones));
    const [counted, unknown] = rows[0]!;
    const total = numberOf(counted);
    if (total < 0) return undefined;
    if (unknown) {
      zones.learn(unknown.toString().split(','));
      continue;
    }
    const found = rows.filter(([, , , id]) => id).map(detailsOf);
    const { page, last } = cutPage(isByDistance ? nearestFirst(found, query) : found, query.limit);
    const events = isByDistance
      ? await readBodies(statements, page)
      : page.map((_, at) => wireOf(rows[at]![4]));
    if (events) return { events, details: query.details ? page : [], total, next: last && positionOf(last) };
  }
  throw new AppError('UNAVAILABLE', 'The data changes faster than it can be read. Retry.');
}

/** Reads with a prepared statement: PostgreSQL need not plan it each time. */
async function readPrepared(statements: Statements, { text, values }: Statement): Promise<RawRows> {
  const rows = await statements.run('search', (sql) =>
    sql.unsafe(text, [...values], { prepare: true }).raw(),
  );
  return rows as unknown as RawRows;
}

function detailsOf([, , start, id, , version, lat, lng, updated]: RawRows[number]): EventDetails {
  return {
    startMs: numberOf(start),
    id: id!.toString('latin1'),
    version: numberOf(version),
    lat: numberOf(lat),
    lng: numberOf(lng),
    updatedMs: numberOf(updated),
  };
}

function positionOf({ startMs, id, chord }: Position): Position {
  return chord === undefined ? { startMs, id } : { startMs, id, chord };
}

/** Those after the cursor, in order. */
function nearestFirst(found: readonly EventDetails[], query: NearbyQuery): EventDetails[] {
  return found
    .map((event) => ({ ...event, chord: chordBetween(query, event) }))
    .filter((event) => !query.after || compare(event, query.after) > 0)
    .sort(compare);
}

function compare(a: Position, b: Position): number {
  return a.chord! - b.chord! || a.startMs - b.startMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** Undefined if one of the events has changed since. */
async function readBodies(
  statements: Statements,
  page: readonly EventDetails[],
): Promise<readonly Wire[] | undefined> {
  if (page.length === 0) return [];
  const rows = await readPrepared(statements, {
    text: `SELECT event_id, version, json FROM events WHERE event_id = ANY (string_to_array($1::text, ','))`,
    values: [page.map(({ id }) => id).join(',')],
  });
  const bodies = new Map(rows.map(([id, version, json]) => [`${id}/${version}`, wireOf(json)]));
  const events = page.map(({ id, version }) => bodies.get(`${id}/${version}`));
  return events.every((event) => event !== undefined) ? events : undefined;
}
