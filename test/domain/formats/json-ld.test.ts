// JSON-LD, checked against the requirements of schema.org and of the readers of events.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import type { Event } from '../../../src/domain/events/event.ts';
import {
  encodeLinkedEvent,
  encodeLinkedPart,
  joinGraph,
} from '../../../src/domain/events/formats/json-ld.ts';
import { fromWire } from '../../../src/domain/wire.ts';
import { anyEvent, EDGES, newEvent, wireOf } from './events.ts';

const text = { type: 'string', minLength: 1 };
const ajv = new Ajv2020({ allErrors: true, strictRequired: false });
formats.default(ajv);

/** The fields that search engines and calendars require, and the types of the others. */
const validate = ajv.compile({
  type: 'object',
  required: ['@type', '@id', 'name', 'startDate', 'location', 'eventAttendanceMode', 'eventStatus'],
  additionalProperties: false,
  properties: {
    '@context': { const: 'https://schema.org' },
    '@type': { const: 'Event' },
    '@id': { type: 'string', format: 'uri' },
    identifier: text,
    name: text,
    description: text,
    startDate: { type: 'string', format: 'date-time' },
    endDate: { type: 'string', format: 'date-time' },
    eventAttendanceMode: { const: 'https://schema.org/OfflineEventAttendanceMode' },
    eventStatus: { enum: ['https://schema.org/EventScheduled', 'https://schema.org/EventCancelled'] },
    dateModified: { type: 'string', format: 'date-time' },
    location: {
      type: 'object',
      required: ['@type', 'name', 'address', 'geo'],
      properties: {
        '@type': { const: 'Place' },
        name: text,
        address: text,
        geo: {
          type: 'object',
          required: ['@type', 'latitude', 'longitude'],
          properties: {
            '@type': { const: 'GeoCoordinates' },
            latitude: { type: 'number', minimum: -90, maximum: 90 },
            longitude: { type: 'number', minimum: -180, maximum: 180 },
          },
        },
      },
    },
    url: { type: 'string', format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://' },
    offers: {
      type: 'object',
      required: ['@type', 'description'],
      properties: { '@type': { const: 'Offer' } },
    },
    audience: { type: 'object', required: ['@type', 'audienceType'] },
    keywords: text,
  },
});

const unchanged = ({ created_at }: Event) => ({ version: 1, updatedMs: Date.parse(created_at) });

function read(wire: ReturnType<typeof encodeLinkedEvent>) {
  return JSON.parse(fromWire(wire));
}

function assertLinked(event: Event): void {
  const linked = read(encodeLinkedEvent(wireOf(event), unchanged(event)));
  const isValid: boolean = validate(linked);
  assert.ok(isValid, JSON.stringify(validate.errors));
  assert.equal(linked['@context'], 'https://schema.org');
  assert.equal(linked['@id'], `urn:ulid:${event.event_id}`);
  assert.equal(linked.identifier, event.event_id);
  assert.equal(linked.name, event.title);
  assert.equal(Date.parse(linked.startDate), Date.parse(event.start_at));
  assert.equal(event.end_at ? Date.parse(linked.endDate) : null, event.end_at && Date.parse(event.end_at));
  assert.equal(linked.eventStatus.endsWith('/EventCancelled'), event.status === 'cancelled');
  assert.equal(linked.dateModified, event.created_at);
  assert.equal(linked.description ?? '', event.description ?? '');
  assert.equal(linked.offers?.description ?? '', event.cost ?? '');
  assert.equal(linked.audience.audienceType, event.audience);
  assert.equal(linked.keywords, event.event_type);
  const { name, address, geo } = linked.location;
  assert.deepEqual([name, address], [event.location_name, event.address || event.location_name]);
  assert.deepEqual([geo.latitude, geo.longitude], [event.lat, event.lng]);
  if (linked.url !== undefined) assert.equal(linked.url, event.url);
}

describe('an event as JSON-LD', () => {
  for (const [name, event] of Object.entries(EDGES)) {
    it(`has the required fields: ${name}`, () => assertLinked(event));
  }

  it('has the required fields for any event', () => {
    fc.assert(fc.property(anyEvent, assertLinked), { seed: 20_261_115 });
  });

  it('has local times with their offset, and the time of the last change', () => {
    const event = newEvent({ end_at: '2031-12-01T20:00:00.500Z' });
    const linked = read(encodeLinkedEvent(wireOf(event), { version: 2, updatedMs: 1_000 }));
    assert.deepEqual(
      [linked.startDate, linked.endDate, linked.dateModified],
      ['2031-05-01T20:00:00+02:00', '2031-12-01T21:00:00.500+01:00', '1970-01-01T00:00:01.000Z'],
    );
  });

  it('can be put into a script element unchanged', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const hostile = { ...event, cost: '</script><!--' };
        assert.ok(!encodeLinkedEvent(wireOf(hostile), unchanged(hostile)).includes('<'));
      }),
      { seed: 20_261_115, numRuns: 30 },
    );
  });

  it('has a URL only if it leads to a web page', () => {
    const url = (given: string | null) => {
      const event = newEvent({ url: given });
      return read(encodeLinkedEvent(wireOf(event), unchanged(event))).url;
    };
    assert.equal(url('https://example.com/a'), 'https://example.com/a');
    for (const other of [null, '', 'example.com', 'javascript:alert(1)', 'https://exa mple.com']) {
      assert.equal(url(other), undefined);
    }
  });
});

describe('a page as JSON-LD', () => {
  it('is a graph of events with one context', () => {
    const events = Object.values(EDGES);
    const page = read(joinGraph(events.map((event) => encodeLinkedPart(wireOf(event), unchanged(event)))));
    assert.deepEqual(Object.keys(page), ['@context', '@graph']);
    assert.equal(page['@context'], 'https://schema.org');
    for (const [at, part] of page['@graph'].entries()) {
      const { '@context': _, ...alone } = read(
        encodeLinkedEvent(wireOf(events[at]!), unchanged(events[at]!)),
      );
      assert.deepEqual(part, alone);
      assert.ok(validate(part));
    }
  });

  it('is an empty graph if nothing was found', () => {
    assert.deepEqual(read(joinGraph([])), { '@context': 'https://schema.org', '@graph': [] });
  });
});
