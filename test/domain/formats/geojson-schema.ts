// GeoJSON as RFC 7946 defines it, as a JSON schema: every object type, and the members that each must not have (section 7.1).
// It knows nothing of events.

const position = {
  type: 'array',
  minItems: 2,
  maxItems: 3,
  prefixItems: [
    { type: 'number', minimum: -180, maximum: 180 },
    { type: 'number', minimum: -90, maximum: 90 },
    { type: 'number' },
  ],
  items: { type: 'number' },
};

const listOf = (items: object, minItems = 0) => ({ type: 'array', items, minItems });

const bbox = {
  type: 'array',
  items: { type: 'number' },
  oneOf: [4, 6].map((length) => ({ minItems: length, maxItems: length })),
};

/** An object of this type with these members, and with no member that defines another type. */
function objectOf(type: string, members: Record<string, object>, foreign: readonly string[]): object {
  return {
    type: 'object',
    required: ['type', ...Object.keys(members).filter((name) => name !== 'id')],
    properties: {
      type: { const: type },
      bbox,
      ...members,
      ...Object.fromEntries(foreign.map((name) => [name, false])),
    },
  };
}

const GEOMETRIES: Record<string, object> = {
  Point: position,
  MultiPoint: listOf(position),
  LineString: listOf(position, 2),
  MultiLineString: listOf(listOf(position, 2)),
  Polygon: listOf(listOf(position, 4)),
  MultiPolygon: listOf(listOf(listOf(position, 4))),
};

const geometry = {
  oneOf: [
    ...Object.entries(GEOMETRIES).map(([type, coordinates]) =>
      objectOf(type, { coordinates }, ['geometries', 'geometry', 'properties', 'features']),
    ),
    objectOf('GeometryCollection', { geometries: listOf({ $ref: '#/$defs/geometry' }) }, [
      'coordinates',
      'geometry',
      'properties',
      'features',
    ]),
  ],
};

const feature = objectOf(
  'Feature',
  {
    geometry: { oneOf: [{ type: 'null' }, { $ref: '#/$defs/geometry' }] },
    properties: { type: ['object', 'null'] },
    id: { type: ['string', 'number'] },
  },
  ['coordinates', 'geometries', 'features'],
);

const featureCollection = objectOf('FeatureCollection', { features: listOf({ $ref: '#/$defs/feature' }) }, [
  'coordinates',
  'geometries',
  'geometry',
  'properties',
]);

export const GEOJSON = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $defs: { geometry, feature, featureCollection },
  oneOf: ['geometry', 'feature', 'featureCollection'].map((name) => ({ $ref: `#/$defs/${name}` })),
};
