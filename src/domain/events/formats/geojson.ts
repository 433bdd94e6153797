// Events as GeoJSON (RFC 7946): a Point with the event's other fields as properties. Features of files are converted to create bodies; the
// rules of a create check their values.

import { type AppError, invalid } from '../../errors.ts';
import Type, { nameShapes } from '../../schema.ts';
import { nullableString, oneOf } from '../../shape.ts';
import { joinWire, toWire, type Wire } from '../../wire.ts';
import { EVENT_EXAMPLE, parseEvent } from '../event.ts';
import { pageMembers } from '../event-page.ts';
import { FoundEvent } from '../nearby.ts';
import { applyDefaults, type DefaultFields, type Draft } from './default-fields.ts';

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
  next_cursor: nullableString({
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

/** Throws VALIDATION_ERROR if the value is not a Feature with an object of properties, or has a geometry other than a point. */
export function readFeature(value: unknown, defaults: DefaultFields): Draft {
  if (!isObject(value) || value.type !== 'Feature') throw invalidFeature([], 'must be a GeoJSON Feature');
  const { geometry, properties } = value;
  if (!isObject(properties ?? {})) throw invalidFeature(['properties'], 'must be an object');
  return applyDefaults({ ...(properties as Draft | null), ...coordinatesOf(geometry ?? null) }, defaults);
}

/** Ignores the altitude. Accepts a MultiPoint of one point, because some programs write every point layer that way. */
function coordinatesOf(geometry: unknown): Draft {
  if (geometry === null) return {};
  const { type, coordinates } = isObject(geometry) ? geometry : {};
  const isSinglePoint = type === 'MultiPoint' && Array.isArray(coordinates) && coordinates.length === 1;
  if (type !== 'Point' && !isSinglePoint) throw invalidFeature(['geometry'], 'must be a Point');
  const position = isSinglePoint ? coordinates[0] : coordinates;
  if (!Array.isArray(position) || position.length < 2) {
    throw invalidFeature(['geometry', 'coordinates'], 'must be an array of longitude and latitude');
  }
  return { lat: rejectNull(position[1]), lng: rejectNull(position[0]) };
}

/** Replaces null by a value that fails validation: null would count as a missing field and get the default. */
function rejectNull(value: unknown): unknown {
  return value === null ? '' : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalidFeature(at: readonly string[], msg: string): AppError {
  return invalid([{ loc: ['body', ...at], msg, type: 'value_error' }]);
}
