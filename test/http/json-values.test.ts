// The number of JSON values counted from bytes, against the number that JSON.parse finds.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { countValues, hasMoreValues } from '../../src/http/request/body.ts';

const SEED = 20_261_115;
const NO_LIMIT = Number.POSITIVE_INFINITY;

/** The number of values in a parsed one, itself included. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + valuesIn(member), 1);
}

const count = (text: string, max = NO_LIMIT) => countValues(Buffer.from(text), max);

/** Texts that look like JSON, end a string too early or escape its end, short and longer than a native search starts at. */
const tricky = fc
  .array(
    fc.constantFrom(
      '"',
      '\\',
      '\\"',
      '\\\\',
      ',',
      '[',
      ']',
      '{',
      '}',
      ':',
      ' ',
      '\n',
      '\u0000',
      'é',
      '🎷',
      'x'.repeat(40),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, {}, [], ''),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    tricky,
    fc.array(tie('json'), { maxLength: 6 }),
    fc.dictionary(tricky, tie('json'), { maxKeys: 6 }),
  ),
}));

const spaces = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

/** Writes the value as JSON with the given strings between its tokens, and characters escaped if `isEscaped`. */
function write(value: unknown, between: () => string, isEscaped: boolean): string {
  const gap = between();
  if (typeof value === 'string')
    return gap + (isEscaped ? escapeAll(value) : JSON.stringify(value)) + between();
  if (Array.isArray(value)) {
    return `${gap}[${value.map((item) => write(item, between, isEscaped)).join(',') || between()}]${between()}`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${write(name, between, isEscaped)}:${write(member, between, isEscaped)}`,
    );
    return `${gap}{${members.join(',') || between()}}${between()}`;
  }
  return gap + JSON.stringify(value) + between();
}

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('countValues', () => {
  const examples: [text: string, values: number][] = [
    ['1', 1],
    ['"a,b,c"', 1],
    ['[]', 1],
    ['{ }', 1],
    ['[ \n\t\r ]', 1],
    ['[1]', 2],
    ['[1,1,1]', 4],
    ['{"a":1,"b":[]}', 3],
    ['[[],{},[[]]]', 5],
    ['{"a,b":"[1,2]","\\",":{"c":"\\\\"},"d":null}', 5],
    [`["${'x'.repeat(100)}\\"",1]`, 3],
    [`["${'x'.repeat(100)}\\\\",1]`, 3],
    [`["${'\\"'.repeat(100)}",1]`, 3],
    [`["${'x'.repeat(31)}\\"${'x'.repeat(40)}",1]`, 3],
    ['\ufeff[1,2]', 3],
  ];
  for (const [text, values] of examples) {
    it(`finds ${values} in ${text.length > 50 ? `${text.slice(0, 50)}…` : JSON.stringify(text)}`, () => {
      assert.equal(count(text), values);
    });
  }

  it('is the number of values that JSON.parse finds, whatever the strings and spaces are', () => {
    const property = fc.property(
      json,
      fc.array(spaces, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      (value, gaps, escaped) => {
        let at = 0;
        const text = write(value, () => gaps[at++ % gaps.length]!, escaped);
        assert.equal(count(text), valuesIn(JSON.parse(text)));
      },
    );
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('stops right above the maximum', () => {
    assert.equal(count('[1,1,1]', 4), 4);
    assert.equal(count('[1,1,1]', 3), 4);
    assert.equal(count('[1,1,1]', 1), 2);
    assert.equal(count(`[${'1,'.repeat(100_000)}1]`, 2_000), 2_001);
  });

  it('takes any bytes: invalid JSON, half of it, invalid UTF-8', () => {
    const parts = fc.constantFrom(
      '"',
      '\\',
      ',',
      '[',
      ']',
      '{',
      '}',
      ' ',
      '\xff',
      '\xc3',
      'x',
      'x'.repeat(40),
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.array(parts, { maxLength: 60 }).map((texts) => Buffer.from(texts.join(''), 'latin1')),
      fc.tuple(json, fc.nat(100)).map(([value, end]) => Buffer.from(JSON.stringify(value)).subarray(0, end)),
    );
    const property = fc.property(bytes, (given) => {
      const found = countValues(given, NO_LIMIT);
      assert.ok(Number.isSafeInteger(found) && found >= 1 && found <= given.length + 1);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });
});

describe('hasMoreValues', () => {
  it('is what the count says, also for texts that it need not count', () => {
    const property = fc.property(json, fc.integer({ min: 1, max: 12 }), (value, max) => {
      const bytes = Buffer.from(JSON.stringify(value));
      assert.equal(hasMoreValues(bytes, max), valuesIn(value) > max);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
    for (let max = 1; max < 20; max++) {
      const list = (length: number) => Buffer.from(`[${Array(length).fill(1).join(',')}]`);
      assert.equal(hasMoreValues(list(max - 1), max), false);
      assert.equal(hasMoreValues(list(max), max), true, 'the shortest text with too many values');
    }
  });
});
