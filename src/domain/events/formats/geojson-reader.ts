// Converts GeoJSON features (RFC 7946) to create bodies: properties are named like event fields, the coordinates come from a
// Point. Validating the values is left to the rules of a create.
import { type AppError, invalid } from '../../errors.ts';
import { applyDefaults, type DefaultFields, type Draft } from './default-fields.ts';

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
