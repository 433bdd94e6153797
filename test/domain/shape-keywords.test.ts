// The keywords of a shape: one that is not enforced is refused when the shape is compiled, never ignored.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type, { type TObject } from 'typebox';
import { compile } from '../../src/domain/shape.ts';

describe('a shape', () => {
  const unsafe = (field: object) => Type.Object({ field: Type.Unsafe<unknown>(field) });
  const refused: [what: string, schema: TObject][] = [
    ['a pattern', unsafe({ type: 'string', pattern: '^a' })],
    ['an unknown format', unsafe({ type: 'string', format: 'ipv4' })],
    ['multipleOf', unsafe({ type: 'number', multipleOf: 2 })],
    ['exclusiveMinimum', unsafe({ type: 'number', exclusiveMinimum: 0 })],
    ['an enumeration of numbers', unsafe({ type: 'number', enum: [1, 2] })],
    ['a length of a number', unsafe({ type: 'integer', minLength: 1 })],
    ['a bound of a string', unsafe({ type: 'string', minimum: 1 })],
    ['uniqueItems', unsafe({ type: 'array', items: { type: 'string' }, uniqueItems: true })],
    ['a keyword inside a list', unsafe({ type: 'array', items: { type: 'string', pattern: '^a' } })],
    ['anyOf', unsafe({ anyOf: [{ type: 'string' }, { type: 'number' }] })],
    ['const', unsafe({ const: 'a' })],
    ['no type', unsafe({})],
    ['two types', unsafe({ type: ['string', 'number'] })],
    ['three types', unsafe({ type: ['string', 'null', 'number'] })],
    ['null before the other type', unsafe({ type: ['null', 'string'] })],
    [
      'a nullable enumeration, whose null JSON Schema refuses',
      unsafe({ type: ['string', 'null'], enum: ['a'] }),
    ],
    ['an object inside', Type.Object({ inner: Type.Object({ name: Type.String() }) })],
    [
      'a schema for other fields',
      Type.Object({ name: Type.String() }, { additionalProperties: Type.String() }),
    ],
    ['minProperties', Type.Object({ name: Type.String() }, { minProperties: 1 })],
  ];
  for (const [what, schema] of refused) {
    it(`does not compile with ${what}`, () => assert.throws(() => compile(schema), Error));
  }

  it('may forbid other fields, and then refuses them by name', () => {
    const check = compile(
      Type.Object({ name: Type.String(), age: Type.Number() }, { additionalProperties: false }),
    );
    const { issues } = check({ name: 1, nmae: 'x', 'lev_a key perhaps': 1 }, 'body');
    const msg = 'unknown field; this request takes: name, age';
    assert.deepEqual(issues, [
      { loc: ['body', 'nmae'], msg, type: 'extra_forbidden' },
      { loc: ['body', '?'], msg, type: 'extra_forbidden' },
      { loc: ['body', 'name'], msg: 'must be a string, not number', type: 'string_type' },
      { loc: ['body', 'age'], msg: 'is required', type: 'missing' },
    ]);
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`x${at}`, at]));
    assert.equal(check({ ...many, name: '', age: 1 }, 'body').issues.length, 10);
  });

  it('may have a title, a description, examples and a default', () => {
    const described = unsafe({ type: 'string', title: 'T', description: 'D', examples: ['e'], default: 'd' });
    assert.deepEqual(compile(described)({ field: 'x' }, 'body').issues, []);
  });
});
