// The parameters of a search, after their types were read, and distances in JSON. What is refused is in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeCursor, encodeDistanceCursor } from '../../src/domain/events/cursor.ts';
import { addDistances, readNearby } from '../../src/domain/events/nearby.ts';
import { fromWire, toWire } from '../../src/domain/wire.ts';
import { newEvent } from './formats/events.ts';

const CENTRE = { lat: 52.5, lng: 13.4 };
const POSITION = { startMs: 1_935_244_800_000, id: '01ARYZ6S41TSV4RRFFQ69G5FAV' };

const DISTANCE_CURSOR = encodeDistanceCursor({ ...POSITION, chord: 0.1, centre: CENTRE });
const read = (parameters: object = {}) => readNearby({ ...CENTRE, ...parameters }, 'query');

describe('readNearby', () => {
  it('accepts only a centre: any distance, any kind, any time, 30 per page', () => {
    assert.deepEqual(read(), {
      lat: 52.5,
      lng: 13.4,
      radiusMiles: undefined,
      types: undefined,
      audiences: undefined,
      startsFromMs: undefined,
      startsBeforeMs: undefined,
      status: 'scheduled',
      terms: undefined,
      activeFromMs: undefined,
      activeBeforeMs: undefined,
      when: undefined,
      sort: 'start',
      after: undefined,
      limit: 30,
      details: false,
    });
  });

  it('accepts every parameter', () => {
    const parameters = {
      lat: -90,
      lng: 180,
      radius: 0.1,
      event_type: ['talk', 'tour', 'talk'],
      audience: ['all'],
      starts_after: '2031-05-01T18:00:00.1239+02:00',
      starts_before: '2031-06-01T00:00:00Z',
      status: 'any',
      q: 'Jazz',
      active_after: '2031-05-02T00:00:00',
      active_before: '2031-05-02T00:00:00.001Z',
      sort: 'start',
      limit: 100,
      cursor: encodeCursor(POSITION),
    };
    assert.deepEqual(read(parameters), {
      lat: -90,
      lng: 180,
      radiusMiles: 0.1,
      types: ['talk', 'tour', 'talk'],
      audiences: ['all'],
      startsFromMs: Date.parse('2031-05-01T16:00:00.123Z'),
      startsBeforeMs: Date.parse('2031-06-01T00:00:00Z'),
      status: 'any',
      terms: [{ isNegative: false, words: ['jazz'], prefix: undefined }],
      activeFromMs: Date.parse('2031-05-02T00:00:00Z'),
      activeBeforeMs: Date.parse('2031-05-02T00:00:00.001Z'),
      when: undefined,
      sort: 'start',
      after: POSITION,
      limit: 100,
      details: false,
    });
  });

  it('accepts each word, and the cursor of its order and centre', () => {
    for (const when of ['now', 'today', 'tonight', 'tomorrow', 'this_weekend', 'next_7_days'])
      assert.equal(read({ when }).when, when);
    const { sort, after } = read({ sort: 'distance', cursor: DISTANCE_CURSOR });
    assert.deepEqual({ sort, after }, { sort: 'distance', after: { ...POSITION, chord: 0.1 } });
  });

  it('turns -0 into 0', () => {
    const { lat, lng } = read({ lat: -0, lng: -0 });
    assert.ok(Object.is(lat, 0) && Object.is(lng, 0));
  });

  it('accepts a window that ends before it begins', () => {
    const { startsFromMs, startsBeforeMs } = read({
      starts_after: '2031-05-01T18:00:00Z',
      starts_before: '2031-05-01T17:00:00Z',
    });
    assert.ok(startsFromMs! > startsBeforeMs!);
  });
});

describe('addDistances', () => {
  const measured = (events: readonly ReturnType<typeof newEvent>[]) => {
    const wires = events.map((event) => toWire(JSON.stringify(event)));
    return addDistances(wires, events, { lat: 0, lng: 0 }).map(fromWire);
  };

  it('adds the distance to each event as the last field, and changes nothing else', () => {
    const events = [
      newEvent({ title: 'é 🎪', lat: 1, lng: 0 }),
      newEvent({ lat: 0, lng: 0, description: null }),
    ];
    const [far, here] = measured(events);
    assert.equal(far, `${JSON.stringify(events[0]).slice(0, -1)},"distance_miles":69.093419}`);
    assert.equal(here, `${JSON.stringify(events[1]).slice(0, -1)},"distance_miles":0}`);
  });

  it('rounds to six decimals, and never writes an exponent', () => {
    const miles = (lng: number) => {
      const [wire] = measured([newEvent({ lat: 0, lng })]);
      return /"distance_miles":(.*)}$/.exec(wire!)![1];
    };
    assert.equal(miles(1e-8), '0.000001');
    assert.equal(miles(1e-12), '0');
    assert.equal(miles(5e-324), '0');
    assert.equal(miles(180), '12436.815468');
  });
});
