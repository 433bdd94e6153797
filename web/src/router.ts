// Router: a view keeps all its state in the URL, so that reloading, going back and returning from sign-in show the same
// again.
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Stored in the browser's history entry. */
  readonly state: PlaceState;
  /** Whether the user came by the back or forward button: then the browser restores the scroll position. */
  readonly isRevisited: boolean;
}

export interface PlaceState {
  /** Cursors of the pages before this one; that of the first page is empty. */
  readonly trail?: readonly string[];
  /** Whether the previous history entry is the same view without the open panel. */
  readonly onTop?: boolean;
}

export type Route =
  | { readonly view: 'agents' }
  | { readonly view: 'agent'; readonly id: string }
  | { readonly view: 'events' }
  | { readonly view: 'audit' }
  | { readonly view: 'missing' };

export function routeOf(path: string): Route {
  if (/^\/admin\/?$/.test(path)) return { view: 'agents' };
  if (/^\/admin\/events\/?$/.test(path)) return { view: 'events' };
  if (/^\/admin\/audit\/?$/.test(path)) return { view: 'audit' };
  const id = /^\/admin\/agents\/([0-9a-zA-Z-]+)\/?$/.exec(path)?.[1];
  return id ? { view: 'agent', id } : { view: 'missing' };
}

const CHANGED = 'place-changed';

function currentPlace(isRevisited = false): Place {
  const { pathname, search } = location;
  const state: PlaceState = history.state ?? {};
  if (routeOf(pathname).view === 'agents') lastList = { url: pathname + search, state };
  return { path: pathname, query: new URLSearchParams(search), state, isRevisited };
}

/** Path and query, without parameters added by a failed sign-in. */
export function currentUrl(): string {
  const { path, query } = currentPlace();
  if (query.has('problem')) return viewUrl(query.get('return') ?? '');
  return path + withQuery(query);
}

/** Path and query of a console view; `/admin` for any other URL. */
function viewUrl(url: string): string {
  const { origin, pathname, search } = URL.parse(url, location.origin) ?? {};
  const isView = origin === location.origin && routeOf(pathname ?? '').view !== 'missing';
  return isView ? `${pathname}${search}` : '/admin';
}

export function withQuery(query: URLSearchParams): string {
  return query.size > 0 ? `?${query}` : '';
}

export function navigate(url: string, options: { replace?: boolean; state?: PlaceState } = {}): void {
  const { replace = false, state = {} } = options;
  if (replace) history.replaceState(state, '', url);
  else history.pushState(state, '', url);
  dispatchEvent(new Event(CHANGED));
}

export function agentUrl(id: string): string {
  return `/admin/agents/${encodeURIComponent(id)}`;
}

export function eventsUrl(query: Readonly<Record<string, string>>): string {
  return `/admin/events${withQuery(new URLSearchParams(query))}`;
}

let lastList: { readonly url: string; readonly state: PlaceState } = { url: '/admin', state: {} };

/** The list of agents with the search, sort and page last shown. */
export function lastListUrl(): string {
  return lastList.url;
}

export function returnToList(): void {
  navigate(lastList.url, { state: lastList.state });
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => currentPlace());
  useEffect(() => {
    const visit = () => setPlace(currentPlace());
    const revisit = () => setPlace(currentPlace(true));
    addEventListener('popstate', revisit);
    addEventListener(CHANGED, visit);
    return () => {
      removeEventListener('popstate', revisit);
      removeEventListener(CHANGED, visit);
    };
  }, []);
  return place;
}
