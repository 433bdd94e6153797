// Searches by SQL: how many run at a time, and how they end. They take far longer than all other statements, so they may use only a
// part of the connections, and searches for prefixes, which take longest, only a part of these.
import { AppError } from '../domain/errors.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { hasPrefix } from '../domain/events/word-query.ts';
import type { NearbyPage, Searcher } from '../domain/store.ts';
import type { CancellableReads } from './cancel.ts';
import { ConcurrencyLimit } from './client/concurrency-limit.ts';
import type { DatabaseOptions, Statements } from './client/database.ts';
import { searchDatabase } from './exact-search.ts';
import type { Statement } from './search.ts';
import { SearchZones } from './search-zones.ts';

/** Parts of the connections. */
const USED_BY_SEARCHES = 0.5;
const USED_BY_PREFIX_SEARCHES = 0.25;

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
