// Query strings: split and decoded once, by our own code, because common parsers hide errors that we must report (invalid
// UTF-8, repeated parameters, malformed numbers). Values are then validated by the same schemas as bodies.
import type { TObject } from 'typebox';
import { type Issue, invalid, MAX_SHOWN_ISSUES } from '../../domain/errors.ts';
import { MAX_SHOWN_NAMES, safeName } from '../../domain/shape.ts';

/** A parsed query string. */
export interface Query {
  /** As sent, without the question mark. */
  readonly text: string;
  /** Decoded values of each known parameter, in the order they were sent. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Where known parameters other than the cursor begin and end in the text, one pair after the other. */
  readonly spans: readonly number[];
  /** Names of unknown parameters for a header; undefined if there are none. */
  readonly unknown: string | undefined;
  /** Parts that are not valid percent-encoded UTF-8. */
  readonly issues: readonly Issue[];
}

/**
 * Names of the parameters of an endpoint. Those in a query are compared where they stand: to cut each out and look it up takes
 * several times as long.
 */
export class ParameterNames {
  readonly #names: ReadonlySet<string>;
  readonly #byLength: string[][] = [];

  constructor(names: ReadonlySet<string>) {
    this.#names = names;
    for (const name of names) {
      this.#byLength[name.length] ??= [];
      this.#byLength[name.length]!.push(name);
    }
  }

  /** The known name that is this part of the text. */
  find(text: string, from: number, end: number): string | undefined {
    const names = this.#byLength[end - from];
    if (names !== undefined) {
      for (const name of names) if (text.startsWith(name, from)) return name;
    }
    return undefined;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }
}

/**
 * Splits and decodes, and throws nothing: `queryReader` reports the issues, for endpoints that take parameters. Stops at as
 * many issues as a response shows: finding one takes microseconds, and a URL has room for thousands.
 */
export function parseQuery(text: string, known: ParameterNames): Query {
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
      const plainName = known.find(text, from, nameEnd);
      const name = plainName ?? decode(text.slice(from, nameEnd));
      const value = decode(text.slice(nameEnd + 1, end));
      const isKnown = plainName !== undefined || (name !== undefined && known.has(name));
      if (name === undefined || value === undefined) {
        // Echo only known names: any other text could be a key and must stay out of responses.
        const loc = isKnown ? ['query', name!] : ['query'];
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
  let others = '';
  for (let at = 0; at < spans.length; at += 2) others += `${text.slice(spans[at], spans[at + 1])}&`;
  return `${others}cursor=${cursor}`;
}

/**
 * Creates a query reader: converts each parameter to its type in the schema and passes them to `check`, which throws
 * VALIDATION_ERROR. The error lists the parsing issues and those of `check` together. `failed` are those that were sent but not converted.
 */
export function queryReader<T>(
  schema: TObject,
  check: (values: object, failed: ReadonlySet<unknown>) => T,
): (query: Query) => T {
  const types = new Map(
    Object.entries(schema.properties).map(([name, field]) => [name, (field as { type: string }).type]),
  );
  return (query) => {
    const values: Record<string, unknown> = {};
    let hasIssues = query.issues.length > 0;
    for (const [name, texts] of query.values) {
      const type = types.get(name);
      if (type === undefined) continue;
      const value = convert(type, texts);
      if (value === undefined) hasIssues = true;
      else values[name] = value;
    }
    if (!hasIssues) return check(values, NONE);
    if (query.issues.length >= MAX_SHOWN_ISSUES) throw invalid(query.issues);
    const issues: Issue[] = [...query.issues];
    for (const [name, type] of types) {
      const texts = query.values.get(name);
      if (texts && !(name in values)) issues.push({ loc: ['query', name], ...describe(type, texts) });
    }
    throw invalid([...issues, ...furtherIssues((failed) => check(values, failed), issues)]);
  };
}

const NONE: ReadonlySet<unknown> = new Set();

/** Undefined if a parameter of this type cannot have these values. */
function convert(type: string, texts: readonly string[]): unknown {
  if (type === 'array') return texts;
  if (texts.length > 1) return undefined;
  const text = texts[0]!;
  if (type === 'string') return text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return (type === 'integer' ? WHOLE : DECIMAL).test(text) ? Number(text) : undefined;
}

/** Why they could not be converted. */
function describe(type: string, texts: readonly string[]): Pick<Issue, 'msg' | 'type'> {
  if (texts.length > 1) return { msg: 'must be sent only once', type: 'value_error' };
  if (type === 'boolean') return { msg: 'must be true or false', type: 'bool_parsing' };
  if (type === 'integer') return { msg: 'must be a whole number such as 30', type: 'int_parsing' };
  return { msg: 'must be a decimal number such as 12.5', type: 'float_parsing' };
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
function furtherIssues(check: (failed: ReadonlySet<unknown>) => unknown, known: readonly Issue[]): Issue[] {
  const failed = new Set<unknown>(known.map((issue) => issue.loc[1]));
  try {
    check(failed);
    return [];
  } catch (error) {
    const { issues } = error as { issues?: readonly Issue[] };
    if (!issues) throw error;
    return issues.filter((issue) => !failed.has(issue.loc[1]));
  }
}
