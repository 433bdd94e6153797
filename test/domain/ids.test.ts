// IDs: the format and order of ULIDs, and version 7 UUIDs as RFC 9562 defines them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Random } from '../../src/domain/clock-and-random.ts';
import { isUlid, isUuid, newUlid, newUuid } from '../../src/domain/ids.ts';
import { SEED } from './refusals.ts';

const MAX_MS = 2 ** 48 - 1;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const always =
  (value: number): Random =>
  (bytes) =>
    bytes.fill(value);
const repeating =
  (source: readonly number[]): Random =>
  (bytes) =>
    bytes.map((_, at) => source[at % source.length]!);
const bytes16 = fc.array(fc.nat(255), { minLength: 16, maxLength: 16 });
const instants = fc.integer({ min: 0, max: MAX_MS });

/** The number that the text encodes, by the definition of the format. */
function decode(text: string): bigint {
  return [...text].reduce((sum, letter) => sum * 32n + BigInt(CROCKFORD.indexOf(letter)), 0n);
}

describe('newUlid', () => {
  it('starts with the time, as in the example of the specification', () => {
    assert.equal(newUlid(1_469_918_176_385, always(0)), '01ARYZ6S410000000000000000');
    assert.equal(newUlid(0, always(255)), '0000000000ZZZZZZZZZZZZZZZZ');
    assert.equal(newUlid(MAX_MS, always(255)), '7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
  });

  it('holds the time in its first 48 bits and has the format of a ULID', () => {
    const property = fc.property(instants, bytes16, (ms, bytes) => {
      const id = newUlid(ms, repeating(bytes));
      assert.match(id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      assert.ok(isUlid(id));
      assert.equal(decode(id) >> 80n, BigInt(ms));
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('sorts by age, whatever the random bits are', () => {
    const property = fc.property(instants, instants, bytes16, bytes16, (one, other, some, more) => {
      fc.pre(one < other);
      assert.ok(newUlid(one, repeating(some)) < newUlid(other, repeating(more)));
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('has 80 random bits, with every character equally likely', () => {
    const places = Array.from({ length: 16 }, () => new Set<string>());
    for (let byte = 0; byte < 256; byte++) {
      const letters = newUlid(0, always(byte)).slice(10);
      assert.equal(letters, CROCKFORD[byte % 32]!.repeat(16));
      for (const [place, letter] of [...letters].entries()) places[place]!.add(letter);
    }
    assert.deepEqual(
      places.map((letters) => letters.size),
      Array(16).fill(32),
    );
    const steps = newUlid(0, repeating(Array.from({ length: 16 }, (_, at) => at)));
    assert.equal(steps, '00000000000123456789ABCDEF');
  });
});

describe('isUlid', () => {
  const refused: [what: string, text: string][] = [
    ['nothing', ''],
    ['25 characters', '01ARYZ6S41TSV4RRFFQ69G5FA'],
    ['27 characters', '01ARYZ6S41TSV4RRFFQ69G5FAVA'],
    ['lower case', '01aryz6s41tsv4rrffq69g5fav'],
    ['more than 128 bits', '81ARYZ6S41TSV4RRFFQ69G5FAV'],
    ['the letter I', '01ARYZ6S41TSV4RRFFQ69G5FAI'],
    ['the letter L', '01ARYZ6S41TSV4RRFFQ69G5FAL'],
    ['the letter O', '01ARYZ6S41TSV4RRFFQ69G5FAO'],
    ['the letter U', '01ARYZ6S41TSV4RRFFQ69G5FAU'],
    ['a line break at the end', '01ARYZ6S41TSV4RRFFQ69G5FAV\n'],
    ['a space before it', ' 01ARYZ6S41TSV4RRFFQ69G5FAV'],
    ['a UUID', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'],
  ];
  it('accepts a ULID', () => assert.equal(isUlid('01ARYZ6S41TSV4RRFFQ69G5FAV'), true));
  for (const [what, text] of refused) {
    it(`refuses ${what}`, () => assert.equal(isUlid(text), false));
  }
});

describe('newUuid', () => {
  it('writes the example of RFC 9562, appendix A.6', () => {
    const chance = [255, 255, 255, 255, 255, 255, 0xfc, 0xc3, 0xd8, 0xc4, 0xdc, 0x0c, 0x0c, 0x07, 0x39, 0x8f];
    assert.equal(newUuid(0x017f22e279b0, repeating(chance)), '017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });

  it('has version 7, the variant of the RFC and the time, whatever the random bits are', () => {
    const property = fc.property(instants, bytes16, (ms, bytes) => {
      const id = newUuid(ms, repeating(bytes));
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.ok(isUuid(id));
      assert.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), ms);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('has 74 random bits', () => {
    assert.equal(newUuid(0, always(0)), '00000000-0000-7000-8000-000000000000');
    assert.equal(newUuid(0, always(255)), '00000000-0000-7fff-bfff-ffffffffffff');
  });

  it('sorts by age', () => {
    assert.ok(newUuid(1_699_999_999_999, always(255)) < newUuid(1_700_000_000_000, always(0)));
  });
});

describe('isUuid', () => {
  const accepted = ['017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '017F22E2-79B0-7CC3-98C4-DC0C0C07398F'];
  const refused: [what: string, text: string][] = [
    ['nothing', ''],
    ['no hyphens', '017f22e279b07cc398c4dc0c0c07398f'],
    ['hyphens in other places', '017f22e27-9b0-7cc3-98c4-dc0c0c07398f'],
    ['braces', '{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}'],
    ['a URN', 'urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f'],
    ['one digit less', '017f22e2-79b0-7cc3-98c4-dc0c0c07398'],
    ['one digit more', '017f22e2-79b0-7cc3-98c4-dc0c0c07398ff'],
    ['a letter that is not a digit', '017f22e2-79b0-7cc3-98c4-dc0c0c07398g'],
    ['a line break at the end', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n'],
    ['a ULID', '01ARYZ6S41TSV4RRFFQ69G5FAV'],
  ];
  for (const text of accepted) it(`accepts ${text}`, () => assert.equal(isUuid(text), true));
  for (const [what, text] of refused) {
    it(`refuses ${what}`, () => assert.equal(isUuid(text), false));
  }
});
