// The checker of untrusted values: it coerces nothing and names every failing field. Which values it accepts is in shape-oracle.test.ts,
// the keywords of a shape are in shape-keywords.test.ts, and the limits of each field in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { compile, nullableString, oneOf } from '../../src/domain/shape.ts';

const Thing = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 3 }),
  note: Type.Optional(nullableString({ maxLength: 2 })),
  size: Type.Number({ minimum: -1, maximum: 1 }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 30 })),
  open: Type.Optional(Type.Boolean()),
  kind: Type.Optional(oneOf(['a', 'bb'])),
  kinds: Type.Optional(Type.Array(oneOf(['a', 'bb']))),
  at: Type.Optional(Type.String({ format: 'date-time' })),
});
const check = compile(Thing);
const FITS = { name: 'abc', size: 0 };

/** The issues of one field, as types. */
function typesOf(field: string, value: unknown): string[] {
  const { issues } = check({ ...FITS, [field]: value }, 'body');
  return issues.map((issue) => {
    assert.deepEqual(issue.loc.slice(0, 2), ['body', field]);
    return [...issue.loc.slice(2), issue.type].join(' ');
  });
}

describe('compile', () => {
  it('fills in defaults and omits fields that are not sent', () => {
    assert.deepEqual(check(FITS, 'body'), { value: { name: 'abc', size: 0, count: 30 }, issues: [] });
  });

  it('keeps values unchanged', () => {
    const sent = {
      name: '  a',
      note: null,
      size: -0.5,
      count: 1,
      open: false,
      kind: 'bb',
      kinds: [],
      at: '2031-05-01T18:00:00Z',
    };
    assert.deepEqual(check(sent, 'body'), { value: sent, issues: [] });
  });

  it('ignores unknown fields', () => {
    const { value, issues } = check({ ...FITS, event_id: 'x', agent_id: 'y', constructor: 'z' }, 'body');
    assert.deepEqual(issues, []);
    assert.deepEqual(Object.keys(value), ['name', 'size', 'count']);
  });

  it('names every failing field once, with its location first', () => {
    const sent = { note: 'long', size: 2, count: '5', open: 0, kind: 'c', kinds: ['a', 'c', 1], at: 'soon' };
    const { issues } = check(sent, 'query');
    assert.deepEqual(
      issues.map((issue) => `${issue.loc.join('.')}: ${issue.type}`),
      [
        'query.name: missing',
        'query.note: string_too_long',
        'query.size: less_than_equal',
        'query.count: int_type',
        'query.open: bool_type',
        'query.kind: enum',
        'query.kinds.1: enum',
        'query.kinds.2: string_type',
        'query.at: datetime_parsing',
      ],
    );
    const other = {
      name: '',
      note: 0,
      size: -2,
      count: 5.5,
      open: 'true',
      kind: null,
      kinds: { 0: 'a', length: 1 },
    };
    assert.deepEqual(
      check(other, 'body').issues.map(({ loc, type }) => `${loc.join('.')}: ${type}`),
      [
        'body.name: string_too_short',
        'body.note: string_type',
        'body.size: greater_than_equal',
        'body.count: int_from_float',
        'body.open: bool_type',
        'body.kind: string_type',
        'body.kinds: list_type',
      ],
    );
  });

  it('returns the valid fields even if others fail', () => {
    const { value } = check({ name: 'abc', size: 7, kinds: ['a', 'c'] }, 'body');
    assert.deepEqual(value, { name: 'abc', count: 30 });
  });

  it('never repeats a value in a message', () => {
    const secret = 'lev_secret';
    const { issues } = check(
      {
        name: secret,
        note: secret,
        size: secret,
        count: [secret],
        open: { secret },
        kind: secret,
        kinds: [secret],
        at: secret,
      },
      'body',
    );
    assert.equal(issues.length, 8);
    assert.ok(!JSON.stringify(issues).includes(secret));
  });
});

describe('text', () => {
  const illFormed: [what: string, text: string][] = [
    ['a lone high surrogate', '\ud800'],
    ['a lone low surrogate', '\udc00'],
    ['a high surrogate at the end', 'a\ud83d'],
    ['a pair the wrong way round', '\ude00\ud83d'],
    ['two high surrogates before a low one', '\ud83d\ud83d\ude00'],
    ['NUL', '\0'],
    ['NUL inside', 'a\0b'],
  ];
  for (const [what, text] of illFormed) {
    it(`refuses ${what} in every kind of string`, () => {
      for (const field of ['name', 'note', 'kind', 'at']) {
        assert.deepEqual(typesOf(field, text), ['string_unicode'], field);
      }
      assert.deepEqual(typesOf('kinds', ['a', text]), ['1 string_unicode']);
    });
  }
});

describe('names that every object has', () => {
  const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', '__defineGetter__'];
  const Odd = Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()])));

  it('are missing if they are not sent', () => {
    const { issues } = compile(Odd)({}, 'body');
    assert.deepEqual(
      issues.map((issue) => `${issue.loc[1]}: ${issue.type}`),
      names.map((name) => `${name}: missing`),
    );
  });

  it('are ordinary fields if they are sent', () => {
    const sent = Object.fromEntries(names.map((name) => [name, name]));
    assert.deepEqual(compile(Odd)(sent, 'body'), { value: sent, issues: [] });
  });

  it('are not values of an enumeration', () => {
    for (const name of [...names, '__proto__']) assert.deepEqual(typesOf('kind', name), ['enum']);
  });

  it('do not let __proto__ supply fields', () => {
    const { value, issues } = check(
      JSON.parse('{"__proto__": {"name": "abc", "size": 0, "polluted": 1}}'),
      'body',
    );
    assert.deepEqual(
      issues.map((issue) => `${issue.loc[1]}: ${issue.type}`),
      ['name: missing', 'size: missing'],
    );
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal('polluted' in {}, false);
    assert.equal(check(Object.create(FITS), 'body').issues.length, 2);
  });

  it('may be absent: an object without a prototype is accepted', () => {
    assert.deepEqual(check(Object.assign(Object.create(null), FITS), 'body').issues, []);
  });
});
