// The checker of untrusted values: it coerces nothing and names every failing field. The keywords of a shape are in
// shape-keywords.test.ts.
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
  });

  it('returns the valid fields even if others fail', () => {
    const { value } = check({ name: 'abc', size: 7, kinds: ['a', 'c'] }, 'body');
    assert.deepEqual(value, { name: 'abc', count: 30 });
  });

  const wholes: [what: string, value: unknown, type: string][] = [
    ['nothing', undefined, 'missing'],
    ['null', null, 'dict_type'],
    ['a list', [FITS], 'dict_type'],
    ['a string', JSON.stringify(FITS), 'dict_type'],
    ['a number', 1, 'dict_type'],
    ['true', true, 'dict_type'],
  ];
  for (const [what, value, type] of wholes) {
    it(`refuses ${what} instead of an object`, () => {
      const { issues } = check(value, 'body');
      assert.deepEqual(
        issues.map((issue) => [...issue.loc, issue.type]),
        [['body', type]],
      );
    });
  }

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

describe('a field', () => {
  const others: [what: string, value: unknown][] = [
    ['null', null],
    ['a list', []],
    ['an object', {}],
    ['undefined', undefined],
  ];
  const wrong: Record<string, [type: string, values: [string, unknown][]]> = {
    name: ['string_type', [...others, ['a number', 4], ['true', true]]],
    size: ['float_type', [...others, ['digits', '0'], ['true', true], ['an empty string', '']]],
    count: ['int_type', [...others, ['digits', '5'], ['false', false]]],
    open: ['bool_type', [...others, ['1', 1], ['0', 0], ['the word', 'true']]],
    kinds: [
      'list_type',
      [
        ['null', null],
        ['a value alone', 'a'],
        ['an object', { 0: 'a', length: 1 }],
      ],
    ],
  };
  for (const [field, [type, values]] of Object.entries(wrong)) {
    for (const [what, value] of values) {
      it(`${field} does not accept ${what}`, () => assert.deepEqual(typesOf(field, value), [type]));
    }
  }

  it('that is nullable accepts null or a string, and nothing else', () => {
    assert.deepEqual(typesOf('note', null), []);
    assert.deepEqual(typesOf('note', 0), ['string_type']);
    assert.deepEqual(typesOf('note', false), ['string_type']);
  });

  const numbers: [field: string, value: number, types: string[]][] = [
    ['size', 1, []],
    ['size', -1, []],
    ['size', -0, []],
    ['size', 5e-324, []],
    ['size', 1 + Number.EPSILON, ['less_than_equal']],
    ['size', -1 - Number.EPSILON, ['greater_than_equal']],
    ['size', Number.POSITIVE_INFINITY, ['less_than_equal']],
    ['size', Number.NEGATIVE_INFINITY, ['greater_than_equal']],
    ['size', Number.NaN, ['greater_than_equal']],
    ['count', 1, []],
    ['count', 100, []],
    ['count', 1e2, []],
    ['count', 0, ['greater_than_equal']],
    ['count', 101, ['less_than_equal']],
    ['count', 5.5, ['int_from_float']],
  ];
  for (const [field, value, types] of numbers) {
    it(`${field} ${types.length === 0 ? 'accepts' : 'does not accept'} ${Object.is(value, -0) ? '-0' : value}`, () => {
      assert.deepEqual(typesOf(field, value), types);
    });
  }
});

describe('text', () => {
  const lengths: [what: string, text: string, types: string[]][] = [
    ['nothing', '', ['string_too_short']],
    ['three letters', 'abc', []],
    ['four letters', 'abcd', ['string_too_long']],
    ['three characters of two UTF-16 units', '😀😀😀', []],
    ['four of them', '😀😀😀😀', ['string_too_long']],
    ['one such character and two letters', 'a😀b', []],
    ['two letters with combining marks', 'e\u0301e\u0301', ['string_too_long']],
    ['a family of five code points', '👨‍👩‍👧', ['string_too_long']],
    ['spaces alone', '   ', []],
    ['far too many letters', 'a'.repeat(100_000), ['string_too_long']],
    ['far too many characters of two UTF-16 units', '😀'.repeat(100_000), ['string_too_long']],
    ['the last code point', '\u{10ffff}'.repeat(3), []],
    ['noncharacters and control characters', '\uffff\u0001\u007f', []],
  ];
  for (const [what, text, types] of lengths) {
    it(`${types.length === 0 ? 'accepts' : 'refuses'} ${what}`, () => {
      assert.deepEqual(typesOf('name', text), types);
    });
  }

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

describe('a format', () => {
  const formats: [format: string, good: string, bad: string, type: string][] = [
    ['date-time', '2031-05-01T18:00:00Z', '2031-05-01', 'datetime_parsing'],
    ['timezone', 'Europe/Berlin', '+02:00', 'value_error'],
    ['email', 'agent@example.com', 'agent@', 'value_error'],
    ['uuid', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F', '017f22e279b07cc398c4dc0c0c07398f', 'uuid_parsing'],
  ];
  for (const [format, good, bad, type] of formats) {
    it(`of ${format} is enforced`, () => {
      const read = compile(Type.Object({ field: Type.String({ format }) }));
      assert.deepEqual(read({ field: good }, 'body').issues, []);
      assert.deepEqual(
        read({ field: bad }, 'body').issues.map((issue) => issue.type),
        [type],
      );
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
