// Encodes events as GeoJSON (RFC 7946): a Point with the event's other fields as properties. geojson-reader.ts decodes it.

import Type, { nameShapes } from '../../schema.ts';
import { oneOf } from '../../shape.ts';
import { joinWire, toWire, type Wire } from '../../wire.ts';
import { EVENT_EXAMPLE, parseEvent } from '../event.ts';
import { pageMembers } from '../event-page.ts';
import { FoundEvent } from '../nearby.ts';

const { lat: _lat, lng: _lng, ...properties } = FoundEvent.properties;

export const EventFeature = Type.Object({
  type: oneOf(['Feature']),
  id: Type.String({ description: 'The event_id.' }),
  geometry: Type.Object({
    type: oneOf(['Point']),
    coordinates: Type.Array(Type.Number(), {
      minItems: 2,
      maxItems: 2,
      description: 'Longitude, then latitude.',
    }),
  }),
  properties: Type.Object(properties, { description: 'The event without lat and lng.' }),
});

export const EventFeatureCollection = Type.Object({
  type: oneOf(['FeatureCollection']),
  features: Type.Array(EventFeature, { description: 'Ordered by start_at, then event_id.' }),
  count: Type.Integer({ minimum: 0, description: 'Features in this response.' }),
  total: Type.Integer({ minimum: 0, description: 'Matching events on all pages; exact.' }),
  next_cursor: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Pass it as cursor to get the next page; null on the last page.',
  }),
});

nameShapes({ EventFeature, EventFeatureCollection });

export function encodeFeature(event: Wire): Wire {
  const { lat, lng, ...rest } = parseEvent(event);
  const geometry = { type: 'Point', coordinates: [lng, lat] };
  return toWire(JSON.stringify({ type: 'Feature', id: rest.event_id, geometry, properties: rest }));
}

/** Joins encoded features to a page. */
export function joinFeatures(features: readonly Wire[], total: number, cursor: string | undefined): Wire {
  const members = pageMembers(features.length, total, cursor);
  return joinWire('{"type":"FeatureCollection","features":[', features, `],${members}}`);
}

const example = toWire(JSON.stringify(EVENT_EXAMPLE));
export const FEATURE_EXAMPLE: unknown = JSON.parse(encodeFeature(example));
export const FEATURE_COLLECTION_EXAMPLE: unknown = JSON.parse(
  joinFeatures([encodeFeature(example)], 1, undefined),
);
