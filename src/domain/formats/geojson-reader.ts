// GeoJSON features (RFC 7946) into bodies of creates: the properties have the names of an event's fields, the place is a
// Point. What the values must be is left to the rules of a create.
import { type AppError, invalid } from '../errors.ts';
import { complete, type DefaultFields, type Draft } from './default-fields.ts';

/** Throws VALIDATION_ERROR for what is no feature, or is no point. */
export function readFeature(value: unknown, given: DefaultFields): Draft {
  if (!isObject(value) || value.type !== 'Feature') throw refused([], 'must be a GeoJSON Feature');
  const { geometry, properties } = value;
  if (!isObject(properties ?? {})) throw refused(['properties'], 'must be an object');
  return complete({ ...(properties as Draft | null), ...placeOf(geometry ?? null) }, given);
}

/** A height behind the two coordinates says nothing about an event. Some programs write every layer of points as MultiPoints. */
function placeOf(geometry: unknown): Draft {
  if (geometry === null) return {};
  const { type, coordinates: given } = isObject(geometry) ? geometry : {};
  const isLonely = type === 'MultiPoint' && Array.isArray(given) && given.length === 1;
  if (type !== 'Point' && !isLonely) throw refused(['geometry'], 'must be a Point');
  const coordinates = isLonely ? given[0] : given;
  if (!Array.isArray(coordinates) || coordinates.length < 2) {
    throw refused(['geometry', 'coordinates'], 'must be a list of longitude and latitude');
  }
  return { lat: numberOr(coordinates[1]), lng: numberOr(coordinates[0]) };
}

/** null would count as lacking; it is as wrong as any other value that is no number. */
function numberOr(value: unknown): unknown {
  return value === null ? '' : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(at: readonly string[], msg: string): AppError {
  return invalid([{ loc: ['body', ...at], msg, type: 'value_error' }]);
}
