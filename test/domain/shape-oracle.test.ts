// The checker compared with Ajv, an independent implementation of JSON Schema: both accept and refuse the same fields of
// every shape that the service reads. What JSON Schema cannot express (our formats, NUL, lone surrogates) is added by hand.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv, type ErrorObject } from 'ajv';
import fc from 'fast-check';
import type { TObject } from 'typebox';
import { EventSelection } from '../../src/domain/administration/admin.ts';
import { AgentListParameters, EventListParameters } from '../../src/domain/administration/list.ts';
import { AgentUpdate, RegisterRequest } from '../../src/domain/agent.ts';
import { EventCreate, EventUpdate } from '../../src/domain/events/event.ts';
import { NearbyParameters } from '../../src/domain/events/nearby.ts';
import { compile } from '../../src/domain/shape.ts';
import { anyText } from '../support/any-text.ts';
import { SEED } from './refusals.ts';

interface Field {
  type: string | string[];
  enum?: string[];
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
  items?: Field;
  minItems?: number;
  maxItems?: number;
}

/** Valid and invalid texts of each format; the oracle knows no others. */
const FORMATS: Record<string, { good: string[]; bad: string[] }> = {
  'date-time': {
    good: ['2031-05-01T18:00:00Z', '2031-05-01T18:00:00.123456+02:00', '2031-05-01T18:00:00'],
    bad: ['2031-05-01', '2031-05-01 18:00:00Z', '2031-02-29T18:00:00Z', 'soon', ''],
  },
  timezone: {
    good: ['Europe/Berlin', 'Asia/Calcutta', 'UTC'],
    bad: ['+05:30', 'PST', 'Mars/Phobos', '', 'europe'],
  },
  email: {
    good: ['agent@example.com', 'a.b+c@sub.example.org', `${'a'.repeat(64)}@example.com`],
    bad: ['agent', '@example.com', 'agent@', 'a b@example.com', 'a@b@example.com', 'agent@localhost'],
  },
};

/** The same for a pattern, which cannot know how many days a month has. */
const PATTERN = {
  good: FORMATS['date-time']!.good,
  bad: FORMATS['date-time']!.bad.filter((text) => !text.includes('-02-29T')),
};

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  ownProperties: true,
  useDefaults: true,
});
for (const [name, { good }] of Object.entries(FORMATS)) ajv.addFormat(name, (text) => good.includes(text));

const anyJson = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    1,
    '',
    '0',
    'all',
    [],
    {},
    ['all'],
    Number.POSITIVE_INFINITY,
  ),
  fc.double(),
  anyText(),
  fc.jsonValue(),
);

/** Values on both sides of every bound of the field. */
function around(field: Field): fc.Arbitrary<unknown> {
  if (field.items) {
    const few = fc.array(fc.oneof({ weight: 6, arbitrary: around(field.items) }, anyJson), { maxLength: 6 });
    const { maxItems } = field;
    if (maxItems === undefined) return few;
    const lengths = fc.constantFrom(maxItems - 1, maxItems, maxItems + 1, 2 * maxItems);
    const many = fc.tuple(fc.oneof(around(field.items), anyJson), lengths);
    return fc.oneof(
      { weight: 3, arbitrary: few },
      many.map(([item, length]) => Array(length).fill(item)),
    );
  }
  if (field.enum)
    return fc.constantFrom(...field.enum, field.enum[0]!.toUpperCase(), `${field.enum[0]} `, '', 'none');
  const texts = textsOf(field);
  if (texts) {
    const { good, bad } = texts;
    return fc.constantFrom(...good, ...good, ...bad, `${good[0]}\0`, `${good[0]}\ud800`);
  }
  if ([field.type].flat()[0] === 'string') return strings(field.maxLength ?? 10);
  if (field.type === 'boolean') return fc.boolean();
  const { minimum = 0, maximum = 0 } = field;
  const bounds = [minimum, maximum].flatMap((bound) => [
    bound - 1e-9,
    bound,
    bound + 1e-9,
    bound - 1,
    bound + 1,
  ]);
  const inside = fc.double({ min: minimum, max: maximum, noNaN: true });
  return fc.oneof(fc.constantFrom(...bounds), inside, fc.integer({ min: -1_000, max: 1_000 }));
}

function textsOf({ format, pattern }: Field): { good: string[]; bad: string[] } | undefined {
  if (pattern !== undefined) return PATTERN;
  return format === undefined ? undefined : FORMATS[format]!;
}

function strings(maxLength: number): fc.Arbitrary<string> {
  const lengths = [0, 1, 2, maxLength - 1, maxLength, maxLength + 1, 2 * maxLength, 2 * maxLength + 1];
  const repeated = fc
    .tuple(fc.constantFrom('a', ' ', '😀', 'e\u0301', '\u{10ffff}', '\n'), fc.constantFrom(...lengths))
    .map(([unit, length]) => unit.repeat(length));
  const broken = fc
    .tuple(fc.string(), fc.constantFrom('\0', '\ud83d', '\ude00'), fc.string())
    .map((parts) => parts.join(''));
  const plain = anyText({ maxLength: 30 });
  return fc.oneof({ weight: 4, arbitrary: plain }, { weight: 3, arbitrary: repeated }, broken);
}

function fitting(field: Field): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0, maxLength = 30 } = field;
  if (field.items) return fc.array(fitting(field.items), { minLength: field.minItems ?? 0 });
  if (field.enum) return fc.constantFrom(...field.enum);
  const texts = textsOf(field);
  if (texts) return fc.constantFrom(...texts.good);
  if (field.type === 'boolean') return fc.boolean();
  if (field.type === 'integer') return fc.integer({ min, max });
  if (field.type === 'number') return fc.double({ min, max, noNaN: true });
  return anyText({ minLength: 1, maxLength: Math.min(maxLength, 30) });
}

/** Objects in which every field may be absent, valid, almost valid or of any type, with unknown fields beside them. */
function bodies(schema: TObject): fc.Arbitrary<Record<string, unknown>> {
  const fields = (toArbitrary: (field: Field) => fc.Arbitrary<unknown>) =>
    Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [
        name,
        toArbitrary(field as unknown as Field),
      ]),
    );
  const anything = fields((field) => fc.oneof({ weight: 8, arbitrary: around(field) }, anyJson));
  const requiredKeys = (schema.required ?? []) as string[];
  const body = fc.oneof(
    fc.record<Record<string, unknown>>(anything, { requiredKeys: [] }),
    fc.record<Record<string, unknown>>(anything, { requiredKeys }),
    fc.record<Record<string, unknown>>(fields(fitting), { requiredKeys }),
  );
  const unknownName = fc.oneof(
    fc.string(),
    fc.constantFrom('constructor', 'toString', '__proto__', 'event_id'),
  );
  return fc
    .tuple(fc.dictionary(unknownName, anyJson), body)
    .map(([extra, known]) => ({ ...extra, ...known }));
}

function isIllFormed(value: unknown): boolean {
  return typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'));
}

/** Names (and indexes) that must be refused: those that Ajv refuses, and text that no field may hold. */
function expected(
  errors: readonly ErrorObject[],
  schema: TObject,
  body: Record<string, unknown>,
): Set<string> {
  const places = errors.map(({ instancePath, keyword, params }) =>
    keyword === 'required' ? String(params.missingProperty) : instancePath.slice(1).replace('/', '.'),
  );
  for (const name of Object.keys(schema.properties)) {
    const value = body[name];
    if (isIllFormed(value)) places.push(name);
    const { type } = schema.properties[name] as unknown as Field;
    if (type !== 'array' || !Array.isArray(value)) continue;
    for (const [index, item] of value.entries()) if (isIllFormed(item)) places.push(`${name}.${index}`);
  }
  // A list that is too long has no further issues: it may be very long.
  const tooLong = errors
    .filter(({ keyword }) => keyword === 'maxItems')
    .map(({ instancePath }) => instancePath.slice(1));
  return new Set(places.filter((place) => !tooLong.some((name) => place.startsWith(`${name}.`))));
}

describe('the checker and Ajv', () => {
  const shapes = {
    EventCreate,
    EventUpdate,
    RegisterRequest,
    NearbyParameters,
    AgentUpdate,
    AgentListParameters,
    EventListParameters,
    EventSelection,
  };
  for (const [name, schema] of Object.entries<TObject>(shapes)) {
    it(`agree on every field of ${name}`, () => {
      const check = compile(schema);
      const validate = ajv.compile(schema);
      let accepted = 0;
      const property = fc.property(bodies(schema), (body) => {
        const { value, issues } = check(body, 'body');
        const withDefaults = { ...body };
        validate(withDefaults);
        const refused = issues.map((issue) => issue.loc.slice(1).join('.'));
        assert.deepEqual(new Set(refused), expected(validate.errors ?? [], schema, body));
        assert.equal(new Set(refused).size, refused.length, 'a field is named twice');
        if (refused.length > 0) return;
        accepted++;
        const known = Object.keys(schema.properties).filter((field) => Object.hasOwn(withDefaults, field));
        assert.deepEqual(value, Object.fromEntries(known.map((field) => [field, withDefaults[field]])));
      });
      fc.assert(property, { seed: SEED, numRuns: 1_500 });
      assert.ok(accepted > 300, `only ${accepted} accepted`);
    });

    it(`agree on each field of ${name} alone`, () => {
      const check = compile(schema);
      const validate = ajv.compile(schema);
      for (const [field, rules] of Object.entries(schema.properties)) {
        const values = fc.oneof({ weight: 3, arbitrary: around(rules as unknown as Field) }, anyJson);
        const property = fc.property(values, (value) => {
          const body = { [field]: value };
          const refused = check(body, 'body').issues.map((issue) => issue.loc.slice(1).join('.'));
          validate({ ...body });
          assert.deepEqual(new Set(refused), expected(validate.errors ?? [], schema, body));
        });
        fc.assert(property, { seed: SEED, numRuns: 500 });
      }
    });
  }
});
