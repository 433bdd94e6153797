// Converts GeoJSON features (RFC 7946) to bodies of creates: the properties have the names of an event's fields, the place
// is a Point. The rules of a create validate the values.
import { type AppError, invalid } from '../errors.ts';
import { complete, type DefaultFields, type Draft } from './default-fields.ts';

/** Throws VALIDATION_ERROR unless the value is a Feature with a point or without a geometry. */
export function readFeature(value: unknown, given: DefaultFields): Draft {
  if (!isObject(value) || value.type !== 'Feature') throw refused([], 'must be a GeoJSON Feature');
  const { geometry, properties } = value;
  if (!isObject(properties ?? {})) throw refused(['properties'], 'must be an object');
  return complete({ ...(properties as Draft | null), ...placeOf(geometry ?? null) }, given);
}

/** Ignores a height after the two coordinates. Accepts a MultiPoint of one point: some programs write all points so. */
function placeOf(geometry: unknown): Draft {
  if (geometry === null) return {};
  const { type, coordinates: given } = isObject(geometry) ? geometry : {};
  const isSinglePoint = type === 'MultiPoint' && Array.isArray(given) && given.length === 1;
  if (type !== 'Point' && !isSinglePoint) throw refused(['geometry'], 'must be a Point');
  const coordinates = isSinglePoint ? given[0] : given;
  if (!Array.isArray(coordinates) || coordinates.length < 2) {
    throw refused(['geometry', 'coordinates'], 'must be a list of longitude and latitude');
  }
  return { lat: refusedIfNull(coordinates[1]), lng: refusedIfNull(coordinates[0]) };
}

/** Replaces null, which would count as missing, with a value that fails validation like any other that is not a number. */
function refusedIfNull(value: unknown): unknown {
  return value === null ? '' : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(at: readonly string[], msg: string): AppError {
  return invalid([{ loc: ['body', ...at], msg, type: 'value_error' }]);
}
