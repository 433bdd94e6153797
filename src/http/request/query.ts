// Query strings: split and decoded here because the usual parsers hide what must be refused (bad UTF-8, repeated
// parameters, numbers that are none). Values are then checked by the same shapes as bodies.
import type { TObject } from 'typebox';
import { type Issue, invalid } from '../../domain/errors.ts';

/**
 * Reads query strings: gives the parameters that the schema knows the types that it names, and ignores others. `check`
 * makes the result of them and throws VALIDATION_ERROR; what is wrong with the text itself is reported together with what
 * it finds.
 */
export function queryReader<T>(schema: TObject, check: (values: object) => T): (text: string) => T {
  const types = new Map(
    Object.entries(schema.properties).map(([name, field]) => [name, (field as { type?: string }).type]),
  );
  return (text) => {
    const values: Record<string, unknown> = {};
    const issues: Issue[] = [];
    const sent = split(text, types, issues);
    for (const [name, type] of types) {
      const texts = sent.get(name);
      if (texts === undefined) continue;
      if (type === 'array') values[name] = texts;
      else if (texts.length > 1) {
        issues.push({ loc: ['query', name], msg: 'must be sent once only', type: 'value_error' });
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

/** Each known parameter with all its values, in order. */
function split(text: string, known: ReadonlyMap<string, unknown>, issues: Issue[]): Map<string, string[]> {
  const sent = new Map<string, string[]>();
  for (let from = 0; from < text.length; ) {
    const mark = text.indexOf('&', from);
    const end = mark < 0 ? text.length : mark;
    const equals = text.indexOf('=', from);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    const rawName = text.slice(from, nameEnd);
    const name = decode(rawName);
    const value = decode(text.slice(nameEnd + 1, end));
    from = end + 1;
    if (name === undefined || value === undefined) {
      // Only a name that is known is repeated: any other text, a key perhaps, stays out of responses.
      const loc = known.has(name ?? rawName) ? ['query', name ?? rawName] : ['query'];
      issues.push({ loc, msg: 'must be valid percent-encoded UTF-8', type: 'string_unicode' });
    } else if (known.has(name)) {
      const earlier = sent.get(name);
      if (earlier) earlier.push(value);
      else sent.set(name, [value]);
    }
  }
  return sent;
}

/** As in forms: a plus is a space. Undefined for a bad escape or bytes that are not UTF-8. */
export function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
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
