// Cursors: a position is encoded and decoded without loss, and no other text is accepted as a cursor.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EARLIEST_MS, LATEST_MS } from '../../src/domain/datetime.ts';
import {
  decodeCursor,
  decodeDistanceCursor,
  encodeCursor,
  encodeDistanceCursor,
} from '../../src/domain/events/cursor.ts';
import { anyText } from '../support/any-text.ts';
import { SEED } from './refusals.ts';

const ID = '01ARYZ6S41TSV4RRFFQ69G5FAV';
const ulids = fc.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
const startsMs = fc.integer({ min: EARLIEST_MS, max: LATEST_MS });
const positions = fc.record({ startMs: startsMs, id: ulids }, { noNullPrototype: true });
const base64url = (text: string) => Buffer.from(text, 'utf8').toString('base64url');

describe('encodeCursor', () => {
  it('writes what decodeCursor reads', () => {
    const property = fc.property(positions, (position) => {
      assert.deepEqual(decodeCursor(encodeCursor(position)), position);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('keeps the first and the last instant', () => {
    for (const startMs of [EARLIEST_MS, -1, 0, 1, LATEST_MS]) {
      assert.deepEqual(decodeCursor(encodeCursor({ startMs, id: ID })), { startMs, id: ID });
    }
  });

  it('needs no escaping in a query string', () => {
    const property = fc.property(positions, (position) => {
      assert.match(encodeCursor(position), /^[A-Za-z0-9_-]+$/);
    });
    fc.assert(property, { seed: SEED, numRuns: 500 });
  });

  it('includes a version: earlier cursors keep their meaning', () => {
    const text = 'MToxOTM1MjQ0ODAwMDAwOjAxQVJZWjZTNDFUU1Y0UlJGRlE2OUc1RkFW';
    assert.equal(Buffer.from(text, 'base64url').toString(), `1:1935244800000:${ID}`);
    assert.deepEqual(decodeCursor(text), { startMs: 1_935_244_800_000, id: ID });
  });
});

describe('decodeCursor', () => {
  const refused: [what: string, text: string][] = [
    ['nothing', ''],
    ['plain text', 'next'],
    ['a position that is not encoded', `1:0:${ID}`],
    ['an event_id', ID],
    ['another version', base64url(`2:0:${ID}`)],
    ['no version', base64url(`0:${ID}`)],
    ['a version with a zero before it', base64url(`01:0:${ID}`)],
    ['an empty start', base64url(`1::${ID}`)],
    ['a start that is text', base64url(`1:soon:${ID}`)],
    ['a start with a fraction', base64url(`1:0.5:${ID}`)],
    ['a start with a fraction of zero', base64url(`1:1.0:${ID}`)],
    ['a start in hexadecimal', base64url(`1:0x10:${ID}`)],
    ['a start with an exponent', base64url(`1:1e3:${ID}`)],
    ['a start with a plus', base64url(`1:+1:${ID}`)],
    ['a start with a space', base64url(`1: 1:${ID}`)],
    ['a start with a zero before it', base64url(`1:01:${ID}`)],
    ['a start of minus zero', base64url(`1:-0:${ID}`)],
    ['a start that is not a number', base64url(`1:NaN:${ID}`)],
    ['an infinite start', base64url(`1:Infinity:${ID}`)],
    ['a start before the year 1', base64url(`1:${EARLIEST_MS - 1}:${ID}`)],
    ['a start after the year 9999', base64url(`1:${LATEST_MS + 1}:${ID}`)],
    ['no event_id', base64url('1:0')],
    ['an empty event_id', base64url('1:0:')],
    ['an event_id in lower case', base64url(`1:0:${ID.toLowerCase()}`)],
    ['an event_id that is not a ULID', base64url(`1:0:8${ID.slice(1)}`)],
    ['a longer event_id', base64url(`1:0:${ID}0`)],
    ['something after the event_id', base64url(`1:0:${ID}:`)],
    ['a byte order mark', base64url(`\ufeff1:0:${ID}`)],
    ['NUL', base64url(`1:0:${ID}\0`)],
    ['JSON', base64url(JSON.stringify({ startMs: 0, id: ID }))],
    ['padding', `${encodeCursor({ startMs: 0, id: ID })}=`],
    ['a space at the end', `${encodeCursor({ startMs: 0, id: ID })} `],
    ['a line break at the end', `${encodeCursor({ startMs: 0, id: ID })}\n`],
    ['a cursor twice', encodeCursor({ startMs: 0, id: ID }).repeat(2)],
    ['half a cursor', encodeCursor({ startMs: 0, id: ID }).slice(0, 20)],
    ['a megabyte', 'A'.repeat(1_048_576)],
  ];
  for (const [what, text] of refused) {
    it(`refuses ${what}`, () => assert.equal(decodeCursor(text), undefined));
  }

  it('accepts only text that encodeCursor wrote, whatever is changed in it', () => {
    const mutated = fc
      .tuple(positions, fc.nat(60), fc.nat(3), anyText({ maxLength: 3 }))
      .map(([position, at, cut, text]) => {
        const cursor = encodeCursor(position);
        return cursor.slice(0, at) + text + cursor.slice(at + cut);
      });
    const madeUp = fc
      .tuple(fc.constantFrom('1', '2', ''), fc.oneof(fc.double(), fc.integer(), fc.string()), ulids)
      .map(([version, start, id]) => base64url(`${version}:${start}:${id}`));
    const anything = fc.oneof(mutated, madeUp, anyText(), fc.base64String());
    const property = fc.property(anything, (text) => {
      const position = decodeCursor(text);
      if (position) assert.equal(encodeCursor(position), text);
    });
    fc.assert(property, { seed: SEED, numRuns: 8_000 });
  });

  it('refuses another encoding of the same bytes', () => {
    const cursor = encodeCursor({ startMs: 10, id: ID });
    const bytesOf = (text: string) => Buffer.from(text, 'base64url').toString('latin1');
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const spellings = [...letters].map((letter) => cursor.slice(0, -1) + letter);
    const others = spellings.filter((text) => text !== cursor && bytesOf(text) === bytesOf(cursor));
    assert.ok(others.length > 0);
    for (const text of others) assert.equal(decodeCursor(text), undefined, text);
  });
});

describe('cursors of the order by distance', () => {
  const CENTRE = { lat: 52.52, lng: -0.1 };
  const known = { startMs: 7, id: ID, chord: 0.1 + 0.2, centre: CENTRE };
  const places = fc.record(
    {
      lat: fc.double({ min: -90, max: 90, noNaN: true }),
      lng: fc.double({ min: -180, max: 180, noNaN: true }),
    },
    { noNullPrototype: true },
  );

  it('keep every bit of the distance and the centre', () => {
    const chords = fc.double({ min: 0, max: 4, noNaN: true });
    const property = fc.property(positions, chords, places, (position, chord, { lat, lng }) => {
      // -0 is 0, as in a search.
      const encoded = { ...position, chord: chord + 0, centre: { lat: lat + 0, lng: lng + 0 } };
      assert.deepEqual(decodeDistanceCursor(encodeDistanceCursor(encoded)), encoded);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('are told apart from those of the order by start', () => {
    assert.equal(decodeCursor(encodeDistanceCursor(known)), undefined);
    assert.equal(decodeDistanceCursor(encodeCursor({ startMs: 7, id: ID })), undefined);
  });

  it('include a version of their own', () => {
    const text = base64url(`3:52.52:-0.1:0.30000000000000004:7:${ID}`);
    assert.deepEqual(decodeDistanceCursor(text), known);
  });

  const refused: [what: string, text: string][] = [
    // In version 2 a place at ±180° or at a pole had several distances.
    ['a cursor of the order before', base64url(`2:52.52:-0.1:1:7:${ID}`)],
    ['no chord', base64url(`3:52.52:-0.1::7:${ID}`)],
    ['a negative chord', base64url(`3:52.52:-0.1:-1:7:${ID}`)],
    ['a chord that no two places have', base64url(`3:52.52:-0.1:5:7:${ID}`)],
    ['an infinite chord', base64url(`3:52.52:-0.1:Infinity:7:${ID}`)],
    ['a centre that is text', base64url(`2:north:-0.1:1:7:${ID}`)],
    ['a start with a fraction', base64url(`3:52.52:-0.1:1:7.5:${ID}`)],
    ['no event_id', base64url('3:52.52:-0.1:1:7')],
    ['one value more', base64url(`3:52.52:-0.1:1:7:${ID}:`)],
  ];
  for (const [what, text] of refused) {
    it(`refuses ${what}`, () => assert.equal(decodeDistanceCursor(text), undefined));
  }
});
