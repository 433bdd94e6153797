// Where someone may be sent after signing in: a view of the console on this service and nothing else, for the address comes
// from whoever made the link.

const HOME = '/admin';
/** Of a view with a long search and a cursor; sealed, it fits into a cookie. */
const MAX_LENGTH = 1_500;

/** Plain segments only: no escapes, no empty ones, and nothing that a browser could read as another host. */
const PATH = /^\/admin(?:\/[A-Za-z0-9_~.-]+)*\/?$/;
const QUERY = /^[A-Za-z0-9_~.!*'()&=+%:@,;/?$-]*$/;

/** These do something when they are opened, or show no view. */
const NO_VIEWS = /^\/admin\/(?:login|callback|session|token|logout|picture|assets)(?:\/|$)/;

/** The path itself where someone may be sent there, otherwise the first page. */
export function toReturnPath(wanted: string | undefined): string {
  if (wanted === undefined || wanted.length > MAX_LENGTH) return HOME;
  const mark = wanted.indexOf('?');
  const path = mark < 0 ? wanted : wanted.slice(0, mark);
  const query = mark < 0 ? '' : wanted.slice(mark + 1);
  const isView = PATH.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path) && !NO_VIEWS.test(path);
  return isView && QUERY.test(query) ? wanted : HOME;
}
