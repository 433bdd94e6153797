// Query strings, compared with what the platform decodes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import Type, { type Static, type TObject } from 'typebox';
import { AppError } from '../../src/domain/errors.ts';
import { ParameterNames, parseQuery, queryReader } from '../../src/http/request/query.ts';

/** Parses and reads a query with the parameters of the schema. */
function readerOf<T extends TObject>(schema: T): (text: string) => Static<T> {
  const reader = queryReader(schema, (values) => values as Static<T>);
  const known = new ParameterNames(new Set(Object.keys(schema.properties)));
  return (text) => reader(parseQuery(text, known));
}

const read = readerOf(
  Type.Object({ text: Type.Optional(Type.String()), list: Type.Optional(Type.Array(Type.String())) }),
);

/** Result of decodeURIComponent, with a plus as a space; undefined if it throws. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const hex = fc.stringMatching(/^[0-9a-fA-F]{2}$/);
const pieces = fc.oneof(
  fc.constantFrom('%', '%4', '%%', '%zz', '%C3%A9', '%F0%9F%98%80', '%C3', '%ED%A0%80', '+', '=', '/', 'é'),
  hex.map((digits) => `%${digits}`),
  fc.string({ maxLength: 3 }).filter((text) => !/[&#]/.test(text)),
);
const values = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));

describe('a query string', () => {
  it('is decoded as the platform decodes it, and refused if the platform refuses it', () => {
    let refused = 0;
    const property = fc.property(values, (value) => {
      const expected = decoded(value);
      if (expected !== undefined) assert.equal(read(`text=${value}`).text, expected);
      else {
        refused++;
        assert.throws(
          () => read(`text=${value}`),
          (error) => error instanceof AppError && error.issues?.[0]?.type === 'string_unicode',
        );
      }
    });
    fc.assert(property, { seed: 20_261_115, numRuns: 10_000 });
    assert.ok(refused > 500, `only ${refused} refused`);
  });

  it('gives each value of a list, in order, among unknown parameters', () => {
    const property = fc.property(fc.array(fc.string({ unit: 'grapheme' })), (items) => {
      const text = items.map((item) => `list=${encodeURIComponent(item)}&other=1`).join('&');
      assert.deepEqual(read(text).list ?? [], items);
    });
    fc.assert(property, { seed: 20_261_115 });
  });

  it('takes true and false for a boolean, and nothing else', () => {
    const reader = readerOf(Type.Object({ flag: Type.Optional(Type.Boolean()) }));
    assert.deepEqual(
      [reader('flag=true'), reader('flag=%66alse'), reader('')],
      [{ flag: true }, { flag: false }, {}],
    );
    for (const text of ['flag', 'flag=', 'flag=1', 'flag=TRUE', 'flag=true+', 'flag=null', 'flag=on']) {
      assert.throws(
        () => reader(text),
        (error) => error instanceof AppError && error.issues?.[0]?.type === 'bool_parsing',
      );
    }
  });

  it('finds a name however it is escaped, and an empty value without an equals sign', () => {
    assert.deepEqual(read('&&%74%65xt&'), { text: '' });
    assert.deepEqual(read('text=a=b&'), { text: 'a=b' });
    assert.deepEqual(read(''), {});
  });
});
