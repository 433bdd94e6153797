// The names of query parameters: which of them an endpoint does not know, so that whoever guesses learns, and the address of
// the next page, which repeats the others.
import { safeName } from '../../domain/safe-name.ts';
import { decode } from './query.ts';

const MAX_NAMES = 10;

export interface KnownParameters {
  readonly names: ReadonlySet<string>;
  /** Matches what has known parameters only, as most queries do; of others it says nothing. */
  readonly usual: RegExp;
}

/** Names are plain words. */
export function knownParameters(names: readonly string[]): KnownParameters {
  const usual = names.length === 0 ? /^$/ : new RegExp(`^(?:(?:${names.join('|')})=[^&]*(?:&|$))*$`);
  return { names: new Set(names), usual };
}

/** The parameters that are not known, as a header names them; undefined where there are none. */
export function nameUnknown(query: string, known: KnownParameters): string | undefined {
  if (known.usual.test(query)) return undefined;
  const shown = new Set<string>();
  forEachParameter(query, (name) => {
    if (name !== undefined && known.names.has(name)) return;
    if (shown.size < MAX_NAMES) shown.add(safeName(name ?? ''));
  });
  return shown.size === 0 ? undefined : [...shown].join(', ');
}

/** The query without its cursor, and without what is not known. */
export function withoutCursor(query: string, known: KnownParameters): string {
  const kept: string[] = [];
  forEachParameter(query, (name, text) => {
    if (name !== undefined && known.names.has(name) && name !== 'cursor') kept.push(text);
  });
  return kept.join('&');
}

/** Visits each with its name, undefined where that cannot be decoded, and with its text as it was sent. */
function forEachParameter(query: string, visit: (name: string | undefined, text: string) => void): void {
  for (const text of query.split('&')) {
    if (text === '') continue;
    const equals = text.indexOf('=');
    visit(decode(equals < 0 ? text : text.slice(0, equals)), text);
  }
}
