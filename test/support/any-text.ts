// Any text that a string can hold, lone surrogates aside.
import fc, { type Arbitrary } from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** A character of any script. fast-check's own unit `binary` first fills a map with all 1.1 million of them. */
const CHARACTER: Arbitrary<string> = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    if (typeof text !== 'string' || [...text].length !== 1 || !text.isWellFormed())
      throw new Error('not a character');
    const codePoint = text.codePointAt(0)!;
    return codePoint < SURROGATES.first ? codePoint : codePoint - SURROGATES.count;
  },
);

/** Length in code points. */
export function anyText(length: { minLength?: number; maxLength?: number } = {}): Arbitrary<string> {
  return fc.string({ ...length, unit: CHARACTER });
}
