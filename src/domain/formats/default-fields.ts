// Fields that other formats may lack, and what an operator says in their place. A value of the file always wins.
import type { EventUpdate } from '../event.ts';

/** A create body in the making, unchecked. */
export type Draft = Record<string, unknown>;

export type DefaultFields = Pick<
  EventUpdate,
  'event_type' | 'audience' | 'timezone' | 'location_name' | 'address' | 'lat' | 'lng'
>;

/**
 * The draft without its empty fields and with the given ones where it has none. A place is taken whole or not at all, and an
 * address only with the name that it belongs to.
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
