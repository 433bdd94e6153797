// The wire form: exactly the UTF-8 bytes of the text, one a character.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fromWire, joinWire, toWire } from '../../src/domain/wire.ts';

describe('the wire form', () => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.json());

  it('holds the bytes of any text, and gives the text back', () => {
    const property = fc.property(texts, (text) => {
      assert.deepEqual(Buffer.from(toWire(text), 'latin1'), Buffer.from(text));
      assert.equal(fromWire(toWire(text)), text);
    });
    fc.assert(property, { seed: 20_261_115, numRuns: 2_000 });
  });

  it('is put together as the texts would be', () => {
    const property = fc.property(fc.array(texts), (items) => {
      assert.equal(fromWire(joinWire('[', items.map(toWire), ']')), `[${items.join(',')}]`);
    });
    fc.assert(property, { seed: 20_261_115 });
  });
});
