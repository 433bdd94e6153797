// Use cases of agents for places: search them by name, and search for events around a place that has a name.
import type { NearbyQuery, PlaceSearch } from '../domain/events/nearby.ts';
import { describePlace, type FoundPlace, type PlacesQuery, resolvedPlace } from '../domain/places.ts';
import type { Context } from './context.ts';

/** Throws UNAVAILABLE if the names cannot be loaded. */
export function findPlaces({ places }: Context, query: PlacesQuery): Promise<readonly FoundPlace[]> {
  return places.find(query);
}

/**
 * The search around the place that is meant, and what that place is. Throws VALIDATION_ERROR if the name is unknown or could mean several
 * places (`at` is the first step of its `loc`), and UNAVAILABLE.
 */
export async function locate(
  { places }: Context,
  { name, around }: PlaceSearch,
  at: string,
): Promise<{ readonly query: NearbyQuery; readonly place: string }> {
  const place = resolvedPlace(await places.resolve(name), at);
  const { lat, lng } = place;
  return { query: around({ lat, lng }), place: describePlace(place) };
}
