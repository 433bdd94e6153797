// Places on a sphere as unit vectors. Distances become chords, so the poles and the antimeridian need no special case.

/** Mean radius of WGS 84 as in PostGIS, so that both engines draw the same circle. */
export const EARTH_RADIUS_METRES = 6_371_008.771415059;
export const METRES_PER_MILE = 1_609.344;

/** In degrees. */
export interface Place {
  readonly lat: number;
  readonly lng: number;
}

export interface UnitVector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

const RADIANS_PER_DEGREE = Math.PI / 180;

/** The same for every name of a place: sin(±π) and cos(90°) are not 0 in floating point, so they would tell -180 from 180. */
export function unitVector(lat: number, lng: number): UnitVector {
  const phi = lat * RADIANS_PER_DEGREE;
  const lambda = (lng === -180 ? 180 : lng) * RADIANS_PER_DEGREE;
  const equatorial = lat === 90 || lat === -90 ? 0 : Math.cos(phi);
  return { x: equatorial * Math.cos(lambda), y: equatorial * Math.sin(lambda), z: Math.sin(phi) };
}

/** Squared length of the straight line between two places, in radii of the sphere. Grows with the great-circle distance. */
export function chordSquared(a: UnitVector, b: UnitVector): number {
  const dx = a.x - b.x;
  const dy = a.y - b.y;
  const dz = a.z - b.z;
  return dx * dx + dy * dy + dz * dz;
}

/** Great-circle distance. Uses difference and sum of the vectors, so it is exact for short distances and near the antipode. */
export function milesBetween(a: UnitVector, b: UnitVector): number {
  const apart = Math.sqrt(chordSquared(a, b));
  const together = Math.hypot(a.x + b.x, a.y + b.y, a.z + b.z);
  return (2 * Math.atan2(apart, together) * EARTH_RADIUS_METRES) / METRES_PER_MILE;
}

/**
 * Squared chord of a great-circle distance in miles, up to half the circumference. Exact to a millimetre, except within 100 m of
 * the antipode, where it is exact to decimetres. No search of the API reaches that far.
 */
export function chordSquaredOfMiles(miles: number): number {
  const halfChord = Math.sin((miles * METRES_PER_MILE) / EARTH_RADIUS_METRES / 2);
  return 4 * halfChord * halfChord;
}
