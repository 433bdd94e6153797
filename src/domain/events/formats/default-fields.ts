// Default values that an operator sets for fields missing from an imported file. A value in the file always wins.
import type { EventUpdate } from '../event.ts';

/** Create body, not validated yet. */
export type Draft = Record<string, unknown>;

export type DefaultFields = Pick<
  EventUpdate,
  'event_type' | 'audience' | 'timezone' | 'location_name' | 'address' | 'lat' | 'lng'
>;

/**
 * Removes null and undefined fields, then fills in the defaults. An item with `lat` or `lng` gets neither default coordinate, an
 * item with a `location_name` gets no default `address`.
 */
export function applyDefaults(draft: Draft, defaults: DefaultFields): Draft {
  const present = Object.fromEntries(
    Object.entries(draft).filter(([, value]) => value !== undefined && value !== null),
  );
  const { lat, lng, address, ...others } = defaults;
  const hasCoordinates = 'lat' in present || 'lng' in present;
  const coordinates = hasCoordinates || lat === undefined || lng === undefined ? {} : { lat, lng };
  const defaultAddress = 'location_name' in present || address === undefined ? {} : { address };
  return { ...others, ...defaultAddress, ...coordinates, ...present };
}
