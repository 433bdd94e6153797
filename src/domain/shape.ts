// Checks untrusted values against the flat TypeBox objects of this folder, without coercion, and names every failing field.
// `compile` throws for a keyword that is not enforced, so schema and check cannot drift apart.
import type { Static, TObject, TSchema } from 'typebox';
import { DATE_TIME_PATTERN, isTimezone, parseDateTime } from './datetime.ts';
import { type Issue, refuse } from './errors.ts';
import { isUuid } from './ids.ts';
import Type from './schema.ts';

/** A string with a fixed set of values, as `{type, enum}`: client generators make the best code from this format. */
export function oneOf<const T extends string>(values: readonly T[], options: object = {}) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options });
}

/** A string that may also be null. */
export function nullableString(options: object = {}) {
  return Type.Unsafe<string | null>({ type: ['string', 'null'], ...options });
}

/** An integer that may also be null. */
export function nullableInteger(options: object = {}) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], ...options });
}

/**
 * Checks a value; `at` is the first step of every `loc`. The result has the known fields that pass, with defaults filled in.
 * It is a complete `T` only if there are no issues.
 */
export type Check<T> = (input: unknown, at: string) => { value: T; issues: Issue[] };

/** Why a value fails; `index` is the failing entry of a list. */
interface Failure {
  readonly msg: string;
  readonly type: string;
  readonly index?: number;
}

/** Undefined if the value passes, so that the common case allocates nothing. */
type FieldCheck = (value: unknown, at: string) => readonly Failure[] | undefined;

/** Throws for a schema with a keyword that is not enforced. */
export function compile<T extends TObject>(schema: T): Check<Static<T>> {
  requireEnforced('object', schema);
  const required = new Set<string>(schema.required ?? []);
  const { additionalProperties = true } = schema as Keywords;
  if (typeof additionalProperties !== 'boolean') throw new Error('unenforced additionalProperties');
  const known = new Set(Object.keys(schema.properties));
  const fields = Object.entries(schema.properties).map(([name, field]) => ({
    name,
    check: compileField(field as Keywords),
    required: required.has(name),
    fallback: (field as Keywords).default,
  }));
  return (input, at) => {
    const issues: Issue[] = [];
    const value: Record<string, unknown> = {};
    if (input === undefined) {
      issues.push({ loc: [at], msg: 'a JSON object is required', type: 'missing' });
    } else if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      issues.push({ loc: [at], msg: 'must be a JSON object', type: 'dict_type' });
    } else {
      if (!additionalProperties) issues.push(...findUnknown(input, known, at));
      for (const { name, check, required, fallback } of fields) {
        if (!Object.hasOwn(input, name)) {
          if (required) issues.push({ loc: [at, name], msg: 'is required', type: 'missing' });
          else if (fallback !== undefined) value[name] = fallback;
          continue;
        }
        const given = (input as Record<string, unknown>)[name];
        const failures = check(given, at);
        if (failures === undefined) value[name] = given;
        else {
          for (const { index, msg, type } of failures) {
            issues.push({ loc: index === undefined ? [at, name] : [at, name, index], msg, type });
          }
        }
      }
    }
    return { value: value as Static<T>, issues };
  };
}

/** Reads a value of this schema; `at` is the first step of every `loc`. Throws VALIDATION_ERROR naming every failing field. */
export function reader<T extends TObject>(schema: T, at: string): (input: unknown) => Static<T> {
  const check = compile(schema);
  return (input) => {
    const { value, issues } = check(input, at);
    refuse(issues);
    return value;
  };
}

/** One issue for each unknown field. The name of a field is shown only if that is safe. */
export function findUnknown(input: object, known: ReadonlySet<string>, at: string): Issue[] {
  const unknown = Object.keys(input).filter((name) => !known.has(name));
  const takes = known.size > 0 ? `: ${[...known].join(', ')}` : ' none';
  const msg = `unknown field; this request takes${takes}`;
  return unknown
    .slice(0, MAX_SHOWN_NAMES)
    .map((name) => ({ loc: [at, safeName(name)], msg, type: 'extra_forbidden' }));
}

interface Keywords extends TSchema {
  type?: string | string[];
  enum?: string[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
  items?: Keywords;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
  additionalProperties?: boolean | object;
}

/** Keywords that the check of each type enforces. */
const ENFORCED: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  string: ['enum', 'minLength', 'maxLength', 'format', 'pattern'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['items', 'minItems', 'maxItems'],
};
const DESCRIPTIVE = ['type', 'default', 'description', 'examples', 'title'];

function requireEnforced(type: string, schema: object): void {
  const known = [...DESCRIPTIVE, ...(ENFORCED[type] ?? [])];
  for (const keyword of Object.keys(schema)) {
    if (!known.includes(keyword)) throw new Error(`unenforced keyword ${keyword} of type ${type}`);
  }
}

function compileField(schema: Keywords): FieldCheck {
  const [type, ...others] = [schema.type].flat();
  if (others.length === 1 && others[0] === 'null' && !schema.enum) {
    const check = compileField({ ...schema, type: type! });
    return (value, at) => (value === null ? undefined : check(value, at));
  }
  if (type === undefined || others.length > 0) throw new Error(`unsupported type ${schema.type}`);
  requireEnforced(type, schema);
  if (type === 'string') return stringCheck(schema);
  if (type === 'number' || type === 'integer') return numberCheck(schema, type);
  if (type === 'boolean') return booleanCheck;
  if (type === 'array') return arrayCheck(schema, compileField(schema.items!));
  throw new Error(`unsupported type ${type}`);
}

function stringCheck(schema: Keywords): FieldCheck {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  const format = findFormat(schema);
  const choices = schema.enum?.join(', ');
  return (value, at) => {
    if (typeof value !== 'string') return fail(`must be a string${butWas(value)}`, 'string_type');
    if (schema.enum?.includes(value)) return undefined;
    if (!value.isWellFormed()) return fail('must not contain lone surrogates', 'string_unicode');
    if (value.includes('\0')) return fail('must not contain NUL characters', 'string_unicode');
    if (schema.enum) return fail(`must be one of: ${choices}`, 'enum');
    const length = countCodePoints(value, minLength, maxLength);
    if (length < minLength) return fail(`must have at least ${plural(minLength)}`, 'string_too_short');
    if (length > maxLength) return fail(`must have at most ${plural(maxLength)}`, 'string_too_long');
    return format?.(value, at);
  };
}

function findFormat({ format, pattern }: Keywords): FormatCheck | undefined {
  if (pattern !== undefined && pattern !== DATE_TIME_PATTERN)
    throw new Error(`unsupported pattern ${pattern}`);
  if (pattern !== undefined) return checkEventTime;
  if (format !== undefined && !FORMATS[format]) throw new Error(`unsupported format ${format}`);
  return format === undefined ? undefined : FORMATS[format];
}

function fail(msg: string, type: string): [Failure] {
  return [{ msg, type }];
}

/** Counts exactly only if needed: the number of UTF-16 units shows that most texts are short enough, or too long. */
function countCodePoints(text: string, least: number, most: number): number {
  if ((text.length <= most && least <= 1) || text.length > 2 * most) return text.length;
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++;
  }
  return text.length - pairs;
}

function numberCheck(schema: Keywords, type: 'number' | 'integer'): FieldCheck {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  return (value) => {
    if (typeof value !== 'number') {
      return fail(`must be a number${butWas(value)}`, type === 'integer' ? 'int_type' : 'float_type');
    }
    if (!(value >= minimum)) return fail(`must be ${minimum} or more`, 'greater_than_equal');
    if (!(value <= maximum)) return fail(`must be ${maximum} or less`, 'less_than_equal');
    if (type === 'integer' && !Number.isInteger(value))
      return fail('must be a whole number', 'int_from_float');
    return undefined;
  };
}

const booleanCheck: FieldCheck = (value) =>
  typeof value === 'boolean' ? undefined : fail(`must be true or false${butWas(value)}`, 'bool_type');

function arrayCheck(schema: Keywords, item: FieldCheck): FieldCheck {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  return (value, at) => {
    if (!Array.isArray(value)) return fail(`must be a list${butWas(value)}`, 'list_type');
    if (value.length < minItems)
      return fail(`must have at least ${plural(minItems, 'entry', 'entries')}`, 'too_short');
    if (value.length > maxItems)
      return fail(`must have at most ${plural(maxItems, 'entry', 'entries')}`, 'too_long');
    let failures: Failure[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const failed = item(value[index], at);
      if (failed) {
        failures ??= [];
        for (const failure of failed) failures.push({ ...failure, index });
      }
    }
    return failures;
  };
}

type FormatCheck = (value: string, at: string) => readonly Failure[] | undefined;

const checkEventTime: FormatCheck = (value) =>
  parseDateTime(value)
    ? undefined
    : fail(
        'must be a date-time such as 2031-05-01T18:00:00 (local to timezone) or 2031-05-01T18:00:00+02:00',
        'datetime_parsing',
      );

/** Formats that the shapes use. An e-mail needs a name, an @ and a dotted domain; mail servers decide about the rest. */
const FORMATS: Record<string, FormatCheck> = {
  'date-time': (value, at) => {
    if (parseDateTime(value)) return undefined;
    const hint =
      at === 'query' && /^\S+ \d{2}:\d{2}$/.test(value)
        ? ' (in a query, write the + of an offset as %2B)'
        : '';
    return fail(`must be an RFC 3339 date-time such as 2027-05-01T18:00:00Z${hint}`, 'datetime_parsing');
  },
  email: (value) =>
    EMAIL.test(value)
      ? undefined
      : fail('must be an e-mail address such as agent@example.com', 'value_error'),
  timezone: (value) =>
    isTimezone(value)
      ? undefined
      : fail('must be an IANA timezone name such as Europe/Berlin', 'value_error'),
  uuid: (value) =>
    isUuid(value)
      ? undefined
      : fail('must be a UUID such as 0190a6d8-3c5e-7b1a-9f00-2b6f1c9d4e7a', 'uuid_parsing'),
};

const EMAIL =
  /^(?=.{3,})[^\s@"(),:;<>[\\\]\p{Cc}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u;

function butWas(value: unknown): string {
  if (value === null) return ', not null';
  return Array.isArray(value)
    ? ', not a list'
    : `, not ${value === Object(value) ? 'an object' : typeof value}`;
}

function plural(count: number, one = 'character', many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const SHOWABLE = /^(?!lev_)[A-Za-z0-9_.-]{1,50}$/;

/** Maximum number of such names in a response. */
export const MAX_SHOWN_NAMES = 10;

export function safeName(name: string): string {
  return SHOWABLE.test(name) ? name : '?';
}
