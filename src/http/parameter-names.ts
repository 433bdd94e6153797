// The names of query parameters: which of them an endpoint does not know, so that whoever guesses learns, and the address of
// the next page, which repeats the others.
import { decode } from './query.ts';

const MAX_NAMES = 10;
/** Any other text stays out of responses, and so does what may be a key. */
const SHOWABLE = /^(?!lev_)[A-Za-z0-9_.-]{1,50}$/;

/** The parameters that are not known, as a header names them; undefined where there are none. */
export function nameUnknown(query: string, known: ReadonlySet<string>): string | undefined {
  let names: Set<string> | undefined;
  for (let from = 0; from < query.length; ) {
    const end = endOfParameter(query, from);
    const sent = query.slice(from, endOfName(query, from, end));
    // As it was sent first: almost always that is enough.
    if (end > from && !known.has(sent)) {
      const name = decode(sent);
      if (name === undefined || !known.has(name)) {
        names ??= new Set();
        if (names.size < MAX_NAMES) names.add(name !== undefined && SHOWABLE.test(name) ? name : '?');
      }
    }
    from = end + 1;
  }
  return names && [...names].join(', ');
}

/** The query without its cursor, and without what is not known. */
export function withoutCursor(query: string, known: ReadonlySet<string>): string {
  const kept: string[] = [];
  for (let from = 0; from < query.length; ) {
    const end = endOfParameter(query, from);
    const name = decode(query.slice(from, endOfName(query, from, end)));
    if (name !== undefined && known.has(name) && name !== 'cursor') kept.push(query.slice(from, end));
    from = end + 1;
  }
  return kept.join('&');
}

function endOfParameter(query: string, from: number): number {
  const mark = query.indexOf('&', from);
  return mark < 0 ? query.length : mark;
}

function endOfName(query: string, from: number, end: number): number {
  const equals = query.indexOf('=', from);
  return equals < 0 || equals > end ? end : equals;
}
