// JSON as it is sent: exactly the UTF-8 bytes of the text, one character per byte.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fromWire, joinWire, toWire } from '../../src/domain/wire.ts';

describe('text as it is sent', () => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.json());

  it('has the bytes of any text, and converts back to it', () => {
    const property = fc.property(texts, (text) => {
      assert.deepEqual(Buffer.from(toWire(text), 'latin1'), Buffer.from(text));
      assert.equal(fromWire(toWire(text)), text);
    });
    fc.assert(property, { seed: 20_261_115, numRuns: 2_000 });
  });

  it('is joined as the texts would be', () => {
    const property = fc.property(fc.array(texts), (items) => {
      assert.equal(fromWire(joinWire('[', items.map(toWire), ']')), `[${items.join(',')}]`);
    });
    fc.assert(property, { seed: 20_261_115 });
  });
});
