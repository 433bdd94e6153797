// The path to return to after signing in: a view of the console on this service and nothing else, because anybody can make a
// link with such a path.

const HOME = '/admin';
/** Enough for a view with a long search and a cursor. Sealed, it still fits in a cookie. */
const MAX_LENGTH = 1_500;

/** Plain segments only: no escapes, no empty segments, nothing that a browser could read as another host. */
const PATH = /^\/admin(?:\/[A-Za-z0-9_~.-]+)*\/?$/;
const QUERY = /^[A-Za-z0-9_~.!*'()&=+%:@,;/?$-]*$/;

/** Paths that have an effect when they are opened, or show no view. */
const NOT_VIEWS =
  /^\/admin\/(?:login|callback|session|token|logout|logout-everywhere|picture|assets)(?:\/|$)/;

/** The path, if it is allowed; otherwise the first page of the console. */
export function toReturnPath(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > MAX_LENGTH) return HOME;
  const mark = wanted.indexOf('?');
  const path = mark < 0 ? wanted : wanted.slice(0, mark);
  const query = mark < 0 ? '' : wanted.slice(mark + 1);
  const isView = PATH.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path) && !NOT_VIEWS.test(path);
  return isView && QUERY.test(query) ? wanted : HOME;
}
