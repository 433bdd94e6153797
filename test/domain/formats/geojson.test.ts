// GeoJSON, validated against RFC 7946 as a schema, and read back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { Event } from '../../../src/domain/events/event.ts';
import { encodeFeature, joinFeatures } from '../../../src/domain/events/formats/geojson.ts';
import { fromWire } from '../../../src/domain/wire.ts';
import { anyEvent, EDGES, newEvent, wireOf } from './events.ts';
import { GEOJSON } from './geojson-schema.ts';

const validate = new Ajv2020({ allErrors: true, strictTuples: false, strictTypes: false }).compile(GEOJSON);

function assertGeoJson(value: unknown): void {
  assert.ok(validate(value), JSON.stringify(validate.errors));
}

function featureOf(event: Event) {
  return JSON.parse(fromWire(encodeFeature(wireOf(event))));
}

function assertFeature(event: Event): void {
  const feature = featureOf(event);
  assertGeoJson(feature);
  const { lat, lng, ...properties } = event;
  assert.deepEqual(feature, {
    type: 'Feature',
    id: event.event_id,
    geometry: { type: 'Point', coordinates: [lng, lat] },
    properties,
  });
}

describe('an event as GeoJSON', () => {
  for (const [name, event] of Object.entries(EDGES)) {
    it(`is a feature at its place: ${name}`, () => assertFeature(event));
  }

  it('is a feature at its place for any event', () => {
    fc.assert(fc.property(anyEvent, assertFeature), { seed: 20_261_115 });
  });

  it('keeps the distance that a search added, in its properties', () => {
    const found = { ...newEvent(), distance_miles: 1.5 };
    assert.equal(featureOf(found).properties.distance_miles, 1.5);
  });
});

describe('a page as GeoJSON', () => {
  it('is a collection with count, total and next_cursor beside the features', () => {
    const features = [newEvent({ title: 'ä' }), newEvent({ lat: 1 })].map((event) =>
      encodeFeature(wireOf(event)),
    );
    const page = JSON.parse(fromWire(joinFeatures(features, 7, 'next')));
    assertGeoJson(page);
    assert.deepEqual(Object.keys(page), ['type', 'features', 'count', 'total', 'next_cursor']);
    assert.deepEqual([page.count, page.total, page.next_cursor], [2, 7, 'next']);
    assert.equal(page.features[0].properties.title, 'ä');
  });

  it('is an empty collection if nothing was found', () => {
    const page = JSON.parse(joinFeatures([], 0, undefined));
    assertGeoJson(page);
    assert.deepEqual(page, {
      type: 'FeatureCollection',
      features: [],
      count: 0,
      total: 0,
      next_cursor: null,
    });
  });
});

describe('the schema of this test', () => {
  const feature = featureOf(newEvent());
  const bad: [name: string, value: unknown][] = [
    ['a longitude beyond the antimeridian', { type: 'Point', coordinates: [181, 0] }],
    ['latitude before longitude', { type: 'Point', coordinates: [0, 91] }],
    ['a position of one number', { type: 'Point', coordinates: [0] }],
    ['a feature without properties', { ...feature, properties: undefined }],
    ['a feature with coordinates', { ...feature, coordinates: [0, 0] }],
    ['a feature with an id that is true', { ...feature, id: true }],
    ['a collection without features', { type: 'FeatureCollection' }],
    ['an unknown type', { type: 'Event' }],
  ];
  for (const [name, value] of bad) {
    it(`refuses ${name}`, () => assert.equal(validate(JSON.parse(JSON.stringify(value))), false));
  }
});
