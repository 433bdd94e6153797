// The functions that build schemas against TypeBox's own: the same JSON, in the same order.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import TypeBox from 'typebox';
import Type from '../../src/domain/schema.ts';

function build(T: typeof Type) {
  return {
    Array: T.Array(T.String(), { maxItems: 3, description: 'a list' }),
    Boolean: T.Boolean({ default: false }),
    Integer: T.Integer({ minimum: 1 }),
    Null: T.Null(),
    Number: T.Number({ maximum: 1.5 }),
    Object: T.Object({ id: T.String(), note: T.Optional(T.String({ maxLength: 2 })) }, { title: 'both' }),
    'Object without required properties': T.Object({ a: T.Optional(T.Null()) }),
    'Object in an object': T.Object({ inner: T.Object({ deep: T.Optional(T.Integer()) }) }),
    Optional: T.Optional(T.Array(T.Number())),
    String: T.String({ enum: ['a', 'b'] }),
    Union: T.Union([T.String(), T.Null()], { description: 'either' }),
    Unsafe: T.Unsafe<string | null>({ type: ['string', 'null'] }),
  };
}

describe('schemas', () => {
  const theirs = build(TypeBox) as Readonly<Record<string, object>>;
  for (const [name, ours] of Object.entries(build(Type))) {
    it(`${name} is what TypeBox builds`, () => {
      assert.equal(JSON.stringify(ours), JSON.stringify(theirs[name]));
    });
  }

  it('marks a copy as optional, not the schema that it is given', () => {
    const name = Type.String();
    Type.Optional(name);
    assert.deepEqual(Type.Object({ name }).required, ['name']);
  });
});
