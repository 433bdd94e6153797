// Query strings: split and decoded once, by our own code, because common parsers hide errors that we must report (invalid
// UTF-8, repeated parameters, malformed numbers). Values are then validated by the same schemas as bodies.
import type { TObject } from 'typebox';
import { type Issue, invalid, MAX_SHOWN_ISSUES } from '../../domain/errors.ts';
import { MAX_SHOWN_NAMES, safeName } from '../../domain/safe-name.ts';

/** A parsed query string. */
export interface Query {
  /** As sent, without the question mark. */
  readonly text: string;
  /** Decoded values of each known parameter, in the order they were sent. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Where known parameters other than the cursor begin and end in the text, in turn. */
  readonly spans: readonly number[];
  /** Names of unknown parameters for a header; undefined if there are none. */
  readonly unknown: string | undefined;
  /** Parts that are not valid percent-encoded UTF-8. */
  readonly issues: readonly Issue[];
}

/**
 * Splits and decodes, and throws nothing: `queryReader` reports the issues, for endpoints that take parameters. Stops at as
 * many issues as a response shows: finding one takes microseconds, and a URL has room for thousands.
 */
export function parseQuery(text: string, known: ReadonlySet<string>): Query {
  const values = new Map<string, string[]>();
  const spans: number[] = [];
  const issues: Issue[] = [];
  let unknown: Set<string> | undefined;
  for (let from = 0; from < text.length && issues.length < MAX_SHOWN_ISSUES; ) {
    const mark = text.indexOf('&', from);
    const end = mark < 0 ? text.length : mark;
    if (end > from) {
      const equals = text.indexOf('=', from);
      const nameEnd = equals < 0 || equals > end ? end : equals;
      const rawName = text.slice(from, nameEnd);
      const name = decode(rawName);
      const value = decode(text.slice(nameEnd + 1, end));
      const isKnown = name !== undefined && known.has(name);
      if (name === undefined || value === undefined) {
        // Echo only known names: any other text could be a key and must stay out of responses.
        const loc = known.has(name ?? rawName) ? ['query', name ?? rawName] : ['query'];
        issues.push({ loc, msg: 'must be valid percent-encoded UTF-8', type: 'string_unicode' });
      } else if (isKnown) {
        const earlier = values.get(name);
        if (earlier) earlier.push(value);
        else values.set(name, [value]);
        if (name !== 'cursor') spans.push(from, end);
      }
      if (!isKnown) {
        unknown ??= new Set();
        if (unknown.size < MAX_SHOWN_NAMES) unknown.add(safeName(name ?? ''));
      }
    }
    from = end + 1;
  }
  return { text, values, spans, unknown: unknown && [...unknown].join(', '), issues };
}

/** Returns the same query string with another cursor; unknown parameters are dropped. The cursor needs no escaping. */
export function withCursor({ text, values, spans, unknown }: Query, cursor: string): string {
  if (unknown === undefined && !values.has('cursor')) return `${text}&cursor=${cursor}`;
  let kept = '';
  for (let at = 0; at < spans.length; at += 2) kept += `${text.slice(spans[at], spans[at + 1])}&`;
  return `${kept}cursor=${cursor}`;
}

/**
 * Creates a query reader: converts each parameter to its type in the schema and passes them to `check`, which throws
 * VALIDATION_ERROR. The error lists the parsing issues and those of `check` together.
 */
export function queryReader<T>(schema: TObject, check: (values: object) => T): (query: Query) => T {
  const types = new Map(
    Object.entries(schema.properties).map(([name, field]) => [name, (field as { type?: string }).type]),
  );
  return (query) => {
    const values: Record<string, unknown> = {};
    if (query.issues.length >= MAX_SHOWN_ISSUES) throw invalid(query.issues);
    const issues: Issue[] = [...query.issues];
    for (const [name, type] of types) {
      const texts = query.values.get(name);
      if (texts === undefined) continue;
      if (type === 'array') values[name] = texts;
      else if (texts.length > 1) {
        issues.push({ loc: ['query', name], msg: 'must be sent only once', type: 'value_error' });
      } else if (type === 'string') values[name] = texts[0];
      else if (type === 'boolean') {
        if (texts[0] === 'true' || texts[0] === 'false') values[name] = texts[0] === 'true';
        else issues.push({ loc: ['query', name], msg: 'must be true or false', type: 'bool_parsing' });
      } else if ((type === 'integer' ? WHOLE : DECIMAL).test(texts[0]!)) values[name] = Number(texts[0]);
      else if (type === 'integer') {
        issues.push({ loc: ['query', name], msg: 'must be a whole number such as 30', type: 'int_parsing' });
      } else {
        const msg = 'must be a decimal number such as 12.5';
        issues.push({ loc: ['query', name], msg, type: 'float_parsing' });
      }
    }
    if (issues.length === 0) return check(values);
    throw invalid([...issues, ...furtherIssues(() => check(values), issues)]);
  };
}

const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WHOLE = /^-?\d+$/;

/** Decodes as HTML forms do: a plus is a space. Returns undefined for an invalid escape or bytes that are not UTF-8. */
function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

/** Returns further issues that `check` finds, without those of parameters that already failed: it sees them as missing. */
function furtherIssues(check: () => unknown, known: readonly Issue[]): Issue[] {
  const failed = new Set(known.map((issue) => issue.loc[1]));
  try {
    check();
    return [];
  } catch (error) {
    const { issues } = error as { issues?: readonly Issue[] };
    if (!issues) throw error;
    return issues.filter((issue) => !failed.has(issue.loc[1]));
  }
}
