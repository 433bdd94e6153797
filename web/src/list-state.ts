// The state of a list, which is the query of the address: search, sort, filter and page. Pages are reached by cursors, and
// these lead forward only; the ones passed on the way are kept with the entry of the browser's history.
import { navigate, type Place, withQuery } from './router.ts';

export const PAGE_SIZE = 50;

export interface ListState {
  readonly q: string;
  readonly sort: string;
  readonly page: number;
  /** The query for the API. */
  readonly apiQuery: string;
  /** Whether the way back is known page by page; otherwise there is only the first. */
  readonly knowsPrevious: boolean;
  readonly search: (q: string) => void;
  readonly sortBy: (sort: string) => void;
  readonly filter: (name: string, value: string | undefined) => void;
  readonly toNext: (cursor: string) => void;
  readonly toPrevious: () => void;
  /** In place of a page that is no more, the one before it, as far as that is known. */
  readonly replaceByPrevious: () => void;
  readonly replaceByFirst: () => void;
}

export interface ListOptions {
  readonly defaultSort?: string;
  /** What it can be sorted by; anything else in the address counts as the default. */
  readonly sortKeys?: readonly string[];
  /** Sent to the API beside the rest. */
  readonly filters?: Readonly<Record<string, string>>;
}

export function listState({ path, query, state }: Place, options: ListOptions = {}): ListState {
  const { defaultSort = '', sortKeys = [], filters = {} } = options;
  const q = query.get('q') ?? '';
  const wanted = query.get('sort') ?? '';
  const sort = sortKeys.includes(wanted.replace(/^-/, '')) ? wanted : defaultSort;
  const cursor = query.get('cursor') ?? '';
  const page = cursor ? Math.max(2, Number.parseInt(query.get('page') ?? '', 10) || 2) : 1;
  const trail = state.trail ?? [];
  const previous = page <= 2 ? '' : trail.at(-1);
  const knowsPrevious = previous !== undefined;

  /** Any change but one of the page leads to the first one. */
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

  const asked = new URLSearchParams({ limit: String(PAGE_SIZE), ...filters });
  if (sort) asked.set('sort', sort);
  if (q) asked.set('q', q);
  if (cursor) asked.set('cursor', cursor);

  return {
    q,
    sort,
    page,
    apiQuery: withQuery(asked),
    knowsPrevious,
    search: (text) => go({ q: text }, true),
    sortBy: (next) => go({ sort: next === defaultSort ? undefined : next }),
    filter: (name, value) => go({ [name]: value, sort: undefined }),
    toNext: (next) => toPage(page + 1, next, [...trail, cursor]),
    toPrevious: () => goBack(false),
    replaceByPrevious: () => goBack(true),
    replaceByFirst: () => go({}, true),
  };
}
