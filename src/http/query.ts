// Query strings: split and decoded here because the usual parsers hide what must be refused (bad UTF-8, repeated
// parameters, numbers that are none). Values are then checked by the same shapes as bodies.
import type { TObject } from 'typebox';
import { type Issue, invalid } from '../domain/errors.ts';

/** Each parameter with all its values, in order. */
export interface QueryString {
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Names, as sent, of parameters that are not valid UTF-8. */
  readonly undecodable: readonly string[];
}

const NONE: QueryString = { values: new Map(), undecodable: [] };

export function parseQueryString(text: string): QueryString {
  if (text === '') return NONE;
  const values = new Map<string, string[]>();
  const undecodable: string[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const name = decode(rawName);
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      undecodable.push(name ?? rawName);
      continue;
    }
    const earlier = values.get(name);
    if (earlier) earlier.push(value);
    else values.set(name, [value]);
  }
  return { values, undecodable };
}

/** As in forms: a plus is a space. Undefined for a bad escape or bytes that are not UTF-8. */
function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WHOLE = /^-?\d+$/;

/**
 * Gives the parameters that the schema knows the types that it names; others are ignored. `check` reads the result and
 * throws VALIDATION_ERROR; what cannot be decoded here is reported together with what it finds.
 */
export function readQuery<T>(query: QueryString, schema: TObject, check: (values: object) => T): T {
  // Only a name that is known is repeated: any other text, a key perhaps, stays out of responses.
  const issues: Issue[] = query.undecodable.map((name) => ({
    loc: Object.hasOwn(schema.properties, name) ? ['query', name] : ['query'],
    msg: 'must be valid percent-encoded UTF-8',
    type: 'string_unicode',
  }));
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties)) {
    const sent = query.values.get(name);
    if (sent === undefined) continue;
    const { type } = field as { type?: string };
    if (type === 'array') values[name] = sent;
    else if (sent.length > 1) {
      issues.push({ loc: ['query', name], msg: 'must be sent once only', type: 'value_error' });
    } else if (type === 'string') values[name] = sent[0];
    else if ((type === 'integer' ? WHOLE : DECIMAL).test(sent[0]!)) values[name] = Number(sent[0]);
    else if (type === 'integer') {
      issues.push({ loc: ['query', name], msg: 'must be a whole number such as 30', type: 'int_parsing' });
    } else {
      issues.push({
        loc: ['query', name],
        msg: 'must be a decimal number such as 12.5',
        type: 'float_parsing',
      });
    }
  }
  if (issues.length === 0) return check(values);
  throw invalid([...issues, ...furtherIssues(() => check(values), issues)]);
}

/** What `check` finds beside the parameters that failed already (which it takes for missing). */
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
