// State of a list, stored in the URL's query: search, sort, filter and page. Cursors only lead forward, so the cursors of
// earlier pages are stored in the browser's history entry.
import { navigate, type Place, withQuery } from './router.ts';

export const PAGE_SIZE = 50;

export interface ListState {
  readonly q: string;
  readonly sort: string;
  readonly page: number;
  /** Query string for the API. */
  readonly apiQuery: string;
  /** Whether the cursor of the previous page is known; otherwise "previous" leads to the first page. */
  readonly knowsPrevious: boolean;
  readonly search: (q: string) => void;
  readonly sortBy: (sort: string) => void;
  readonly filter: (name: string, value: string | undefined) => void;
  readonly toNext: (cursor: string) => void;
  readonly toPrevious: () => void;
  /** Replaces a page that no longer exists by the one before it, or by the first if that is unknown. */
  readonly replaceByPrevious: () => void;
  readonly replaceByFirst: () => void;
}

export interface ListOptions {
  readonly defaultSort?: string;
  /** Allowed sort keys; any other in the URL means the default. */
  readonly sortKeys?: readonly string[];
  /** Further query parameters for the API. */
  readonly filters?: Readonly<Record<string, string>>;
  /** Converts the typed text to the one that the API searches for. Default: unchanged. */
  readonly toSearch?: (q: string) => string;
}

export function listState({ path, query, state }: Place, options: ListOptions = {}): ListState {
  const { defaultSort = '', sortKeys = [], filters = {} } = options;
  const q = query.get('q') ?? '';
  const requestedSort = query.get('sort') ?? '';
  const sort = sortKeys.includes(requestedSort.replace(/^-/, '')) ? requestedSort : defaultSort;
  const cursor = query.get('cursor') ?? '';
  const page = cursor ? Math.max(2, Number.parseInt(query.get('page') ?? '', 10) || 2) : 1;
  const trail = state.trail ?? [];
  const previous = page <= 2 ? '' : trail.at(-1);
  const knowsPrevious = previous !== undefined;

  /** Applies changes to the query. All except a change of page lead to the first page. */
  const go = (
    changes: Record<string, string | undefined>,
    replace = false,
    nextTrail?: readonly string[],
  ) => {
    const next = new URLSearchParams(query);
    for (const name of ['cursor', 'page', 'event']) next.delete(name);
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    navigate(path + withQuery(next), { replace, ...(nextTrail && { state: { trail: nextTrail } }) });
  };
  const toPage = (number: number, to: string, nextTrail: readonly string[], replace = false) =>
    go(to ? { cursor: to, page: String(number) } : {}, replace, nextTrail);
  const goBack = (replace: boolean) => toPage(page - 1, previous ?? '', trail.slice(0, -1), replace);

  const apiParams = new URLSearchParams({ limit: String(PAGE_SIZE), ...filters });
  if (sort) apiParams.set('sort', sort);
  if (q) apiParams.set('q', options.toSearch?.(q) ?? q);
  if (cursor) apiParams.set('cursor', cursor);

  return {
    q,
    sort,
    page,
    apiQuery: withQuery(apiParams),
    knowsPrevious,
    search: (text) => go({ q: text }, true),
    sortBy: (next) => go({ sort: next === defaultSort ? undefined : next }),
    filter: (name, value) => go({ [name]: value }),
    toNext: (next) => toPage(page + 1, next, [...trail, cursor]),
    toPrevious: () => goBack(false),
    replaceByPrevious: () => goBack(true),
    replaceByFirst: () => go({}, true),
  };
}
