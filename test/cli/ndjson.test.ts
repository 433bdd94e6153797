// Lines from bytes: the same lines whatever the chunks, long ones without holding them in memory, and a reason for bad ones.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Line, MAX_LINE_BYTES, parseLine, readLines } from '../../src/cli/ndjson.ts';

async function linesOf(...chunks: (string | Uint8Array)[]): Promise<Line[]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  return (await Array.fromAsync(readLines(stream()))).flat();
}

const textOf = ({ bytes }: Line) => bytes?.toString();
const lineOf = (text: string): Line => ({ number: 1, bytes: Buffer.from(text) });
const lineOfBytes = (...bytes: number[]): Line => ({ number: 1, bytes: Buffer.from(bytes) });

describe('readLines', () => {
  it('returns the same lines however the bytes are split', async () => {
    const text = fc.array(fc.constantFrom('a', 'ü', '😀', '\n', '\r\n', ' '), { maxLength: 40 });
    const cuts = fc.array(fc.nat(120), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(text, cuts, async (parts, at) => {
        const bytes = Buffer.from(parts.join(''));
        const places = [
          0,
          ...at.map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b),
          bytes.length,
        ];
        const chunks = places.slice(1).map((to, index) => bytes.subarray(places[index], to));
        const expected = parts.join('').split('\n');
        if (expected.at(-1) === '') expected.pop();
        const lines = await linesOf(...chunks);
        assert.deepEqual(
          lines.map(textOf),
          expected.map((line) => line.replace(/\r$/, '')),
        );
        assert.deepEqual(
          lines.map(({ number }) => number),
          expected.map((_, index) => index + 1),
        );
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  for (const end of ['', '\n', '\r\n']) {
    it(`accepts a line of 1 MiB and no longer one, before ${JSON.stringify(end)}`, async () => {
      const longest = 'x'.repeat(MAX_LINE_BYTES);
      assert.deepEqual((await linesOf(longest + end)).map(textOf), [longest]);
      assert.deepEqual((await linesOf('x', longest, end)).map(textOf), [undefined]);
      assert.deepEqual((await linesOf(`${longest}x${end}`)).map(textOf), [undefined]);
    });
  }

  it('reads on after a line of any length', async () => {
    const chunk = 'x'.repeat(1_000_000);
    const lines = await linesOf('a\n', ...Array<string>(50).fill(chunk), '\nb\n', 'c');
    assert.deepEqual(lines.map(textOf), ['a', undefined, 'b', 'c']);
  });
});

describe('parseLine', () => {
  it('reads JSON, also after a byte order mark', () => {
    assert.deepEqual(parseLine(lineOf('\ufeff{"a": "ü\u{1f600}"}')), { a: 'ü\u{1f600}' });
    assert.equal(parseLine(lineOf(' null\t')), null);
  });

  it('returns nothing for a blank line', () => {
    for (const text of ['', ' \t', '\r', '\ufeff']) assert.equal(parseLine(lineOf(text)), undefined);
  });

  const unreadable: [name: string, line: Line, reason: RegExp][] = [
    ['a line that is too long', { number: 1, bytes: undefined }, /must not be longer than 1 MiB/],
    ['bytes that are not UTF-8', lineOfBytes(0x22, 0xc3, 0x28, 0x22), /must be valid UTF-8/],
    ['a surrogate in UTF-8', lineOfBytes(0x22, 0xed, 0xa0, 0x80, 0x22), /must be valid UTF-8/],
    ['half an object', lineOf('{"a": '), /must be valid JSON/],
    ['two objects', lineOf('{} {}'), /must be valid JSON, see character 3/],
    ['a form feed', lineOf('\f'), /must be valid JSON/],
  ];
  for (const [name, line, reason] of unreadable) {
    it(`refuses ${name}`, () => {
      assert.throws(() => parseLine(line), { code: 'VALIDATION_ERROR', message: reason });
    });
  }
});
