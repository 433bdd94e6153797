// Text of every kind is returned as it was sent: through the body of a create or an update, the stored JSON and its parse.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeEvent, encodeEvent } from '../../src/domain/events/event.ts';
import { applyEventUpdate, readEventCreate, readEventUpdate } from '../../src/domain/events/event-input.ts';
import { fromWire, toWire } from '../../src/domain/wire.ts';
import { anyText } from '../support/any-text.ts';
import { SEED } from './refusals.ts';

const REQUIRED = {
  start_at: '2031-05-01T18:00:00Z',
  timezone: 'UTC',
  lat: 0,
  lng: 0,
  event_type: 'talk',
};
const SERVER = { event_id: 'E', agent_id: 'A', version: 1, created_ms: 0, updated_ms: 0 };

function text(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const units = ['grapheme', 'grapheme-composite', 'binary-ascii'] as const;
  const strings = units.map((unit) => fc.string({ unit, minLength, maxLength }));
  strings.push(anyText({ minLength, maxLength }));
  const nasty = fc.constantFrom(
    ' outer spaces ',
    '\t\r\n',
    '"\\/\b\f',
    '\\u0000',
    '\u2028\u2029',
    '\ufeffmark',
    'e\u0301 \u00e9',
    '\ufffd\uffff\u{10ffff}',
    '</script><!--',
    '\u202eright to left',
    '👨‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿',
    "'; DROP TABLE events; --",
    '{"a":1}',
    'null',
    '__proto__',
    '\u0001\u001f\u007f\u0085',
  );
  return fc
    .oneof({ weight: 4, arbitrary: fc.oneof(...strings) }, nasty)
    .filter((value) => !value.includes('\0') && value.isWellFormed() && [...value].length <= maxLength);
}

const texts = fc.record({
  title: text(1, 200),
  description: fc.option(text(0, 300)),
  location_name: text(1, 200),
  address: fc.option(text(0, 300)),
  url: fc.option(text(0, 300)),
  cost: fc.option(text(0, 200)),
});

describe('text', () => {
  it('survives a create unchanged', () => {
    const property = fc.property(texts, (sent) => {
      const body = JSON.parse(JSON.stringify({ ...REQUIRED, ...sent }));
      const wire = JSON.parse(fromWire(toWire(encodeEvent({ ...SERVER, ...readEventCreate(body, 0) }))));
      for (const [field, value] of Object.entries(sent)) assert.equal(wire[field], value, field);
    });
    fc.assert(property, { seed: SEED, numRuns: 2_000 });
  });

  it('survives an update unchanged', () => {
    const before = { title: 'before', location_name: 'before' };
    const row = { ...SERVER, ...readEventCreate({ ...REQUIRED, ...before }, 0) };
    const property = fc.property(texts, (sent) => {
      const update = readEventUpdate(JSON.parse(JSON.stringify(sent)), 0);
      const wire = JSON.parse(fromWire(toWire(encodeEvent(applyEventUpdate(row, update, 0)))));
      for (const [field, value] of Object.entries(sent)) assert.equal(wire[field], value, field);
    });
    fc.assert(property, { seed: SEED, numRuns: 1_000 });
  });

  it('survives encoding and decoding', () => {
    const property = fc.property(texts, fc.double(), fc.double(), (sent, lat, lng) => {
      const row = { ...SERVER, ...readEventCreate({ ...REQUIRED, ...sent }, 0), lat: lat + 0, lng: lng + 0 };
      if (Number.isFinite(lat) && Number.isFinite(lng))
        assert.deepEqual(
          decodeEvent({ json: encodeEvent(row), version: row.version, updated_ms: row.updated_ms }),
          row,
        );
    });
    fc.assert(property, { seed: SEED, numRuns: 1_000 });
  });
});
