// Where the page is: the address is the only place where a view keeps its state, so that reloading, going back and coming
// back from signing in show the same again.
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Kept by the browser with the entry of its history. */
  readonly state: PlaceState;
  /** Whether it was reached by going back or forward, which leads to where its page was scrolled to. */
  readonly isRevisited: boolean;
}

export interface PlaceState {
  /** Cursors of the pages before this one; the first page has the empty one. */
  readonly trail?: readonly string[];
  /** Whether the entry before this one is the same view without what lies on top. */
  readonly onTop?: boolean;
}

export type Route =
  | { readonly view: 'agents' }
  | { readonly view: 'agent'; readonly id: string }
  | { readonly view: 'audit' }
  | { readonly view: 'missing' };

export function routeOf(path: string): Route {
  if (/^\/admin\/?$/.test(path)) return { view: 'agents' };
  if (/^\/admin\/audit\/?$/.test(path)) return { view: 'audit' };
  const id = /^\/admin\/agents\/([0-9a-zA-Z-]+)\/?$/.exec(path)?.[1];
  return id ? { view: 'agent', id } : { view: 'missing' };
}

const CHANGED = 'place-changed';

function currentPlace(isRevisited = false): Place {
  const { pathname, search } = location;
  if (routeOf(pathname).view === 'agents') lastList = pathname + search;
  return { path: pathname, query: new URLSearchParams(search), state: history.state ?? {}, isRevisited };
}

/** Path and query, without what a sign-in that failed has added. */
export function currentAddress(): string {
  const { path, query } = currentPlace();
  if (query.has('problem')) return viewAddress(query.get('return') ?? '');
  return path + withQuery(query);
}

/** Path and query of a view of the console; of the first one for any other address. */
function viewAddress(wanted: string): string {
  const { origin, pathname, search } = URL.parse(wanted, location.origin) ?? {};
  const isView = origin === location.origin && routeOf(pathname ?? '').view !== 'missing';
  return isView ? `${pathname}${search}` : '/admin';
}

export function withQuery(query: URLSearchParams): string {
  return query.size > 0 ? `?${query}` : '';
}

export function navigate(address: string, options: { replace?: boolean; state?: PlaceState } = {}): void {
  const { replace = false, state = {} } = options;
  if (replace) history.replaceState(state, '', address);
  else history.pushState(state, '', address);
  dispatchEvent(new Event(CHANGED));
}

export function agentAddress(id: string): string {
  return `/admin/agents/${encodeURIComponent(id)}`;
}

let lastList = '/admin';

/** The list of agents as it was seen last. */
export function lastListAddress(): string {
  return lastList;
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
