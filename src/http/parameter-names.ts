// The names of query parameters: which of them an endpoint does not know, so that whoever guesses learns, and the address of
// the next page, which repeats the others.
import { decode } from './query.ts';

const MAX_NAMES = 10;
/** Any other text stays out of responses, and so does what may be a key. */
const SHOWABLE = /^(?!lev_)[A-Za-z0-9_.-]{1,50}$/;

/** The parameters that are not known, as a header names them; undefined where there are none. */
export function nameUnknown(query: string, known: ReadonlySet<string>): string | undefined {
  let names: Set<string> | undefined;
  forEachParameter(query, (name) => {
    if (name !== undefined && known.has(name)) return;
    names ??= new Set();
    if (names.size < MAX_NAMES) names.add(name !== undefined && SHOWABLE.test(name) ? name : '?');
  });
  return names && [...names].join(', ');
}

/** The query of the next page: what is known of this one, with the cursor in place of any other. */
export function nextQuery(query: string, known: ReadonlySet<string>, cursor: string): string {
  let kept = '';
  forEachParameter(query, (name, text) => {
    if (name !== undefined && known.has(name) && name !== 'cursor') kept += `${text}&`;
  });
  return `${kept}cursor=${cursor}`;
}

/** Visits each with its name, undefined where that cannot be decoded, and with its text as it was sent. */
function forEachParameter(query: string, visit: (name: string | undefined, text: string) => void): void {
  for (let from = 0; from < query.length; ) {
    const mark = query.indexOf('&', from);
    const text = query.slice(from, mark < 0 ? query.length : mark);
    from += text.length + 1;
    if (text === '') continue;
    const equals = text.indexOf('=');
    visit(decode(equals < 0 ? text : text.slice(0, equals)), text);
  }
}
