// Default values from the operator for fields that other formats may lack. A value in the file always wins.
import type { EventUpdate } from '../event.ts';

/** Body of a create before validation. */
export type Draft = Record<string, unknown>;

export type DefaultFields = Pick<
  EventUpdate,
  'event_type' | 'audience' | 'timezone' | 'location_name' | 'address' | 'lat' | 'lng'
>;

/**
 * Removes the empty fields of the draft and fills in the given defaults. Default coordinates apply only together, to a draft
 * with neither lat nor lng; a default address applies only to a draft without location_name.
 */
export function complete(draft: Draft, given: DefaultFields): Draft {
  const present = Object.fromEntries(
    Object.entries(draft).filter(([, value]) => value !== undefined && value !== null),
  );
  const { lat, lng, address, ...others } = given;
  const hasPlace = 'lat' in present || 'lng' in present;
  const place = hasPlace || lat === undefined || lng === undefined ? {} : { lat, lng };
  const street = 'location_name' in present || address === undefined ? {} : { address };
  return { ...others, ...street, ...place, ...present };
}
