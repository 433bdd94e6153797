// Input and output schemas of the tools: the shapes of the domain, with descriptions for models if those for HTTP would
// mislead them.
import Type, { type TObject, type TProperties } from 'typebox';
import { EVENT_FIELDS, Event, EventCreate, EventUpdate } from '../domain/event.ts';
import { EventsNearbyResponse, NearbyParameters } from '../domain/nearby.ts';
import { OwnEventsParameters, OwnEventsResponse } from '../domain/own-events.ts';
import { UNTRUSTED } from './text.ts';

const RFC_3339 = 'RFC 3339, such as 2031-05-01T18:00:00+02:00; without an offset, it is UTC.';

export const SearchInput = reworded(NearbyParameters, {
  lat: 'Latitude of the centre, in decimal degrees.',
  lng: 'Longitude of the centre, in decimal degrees.',
  radius: 'Miles from the centre (1 km is 0.62 miles). Without it, events at any distance match.',
  event_type: 'Types that match, as a list. Without it, all types match.',
  audience:
    'Audiences that match, as a list; "all" is a value of its own, not a wildcard. Without it, all match.',
  starts_after: `Only events that start at this time or later. ${RFC_3339}`,
  starts_before: `Only events that start before this time. ${RFC_3339}`,
});

const event_id = Type.String({
  description: 'The event_id from a search or a create, 26 characters.',
  examples: ['01JZ9GX4T0QW3N1V8R5Y7K2MHD'],
});

export const EventIdInput = closed({ event_id });

const DESCRIPTIONS = Object.fromEntries(
  EVENT_FIELDS.flatMap(({ name, forTools }) => (forTools === undefined ? [] : [[name, forTools]])),
);

export const CreateInput = reworded(EventCreate, DESCRIPTIONS);

export const UpdateInput = reworded(Type.Object({ event_id, ...EventUpdate.properties }), DESCRIPTIONS);

export const OwnEventsInput = closed(OwnEventsParameters.properties);

const FoundEvent = Type.Object({
  ...Event.properties,
  distance_miles: Type.Number({ minimum: 0, description: 'Miles from the centre of the search.' }),
});

export const SearchOutput = withWarning(
  Type.Object({ ...EventsNearbyResponse.properties, events: Type.Array(FoundEvent) }),
);

export const OwnEventsOutput = withWarning(OwnEventsResponse);

export const EventOutput = withWarning(Event);

export const DeletedOutput = Type.Object({
  event_id: Type.String(),
  deleted: Type.Boolean({ description: 'Always true: the event is permanently deleted.' }),
});

/**
 * The same fields with these descriptions, closed to other fields. Formats are removed: `timezone` is not a standard one, and
 * `date-time` would forbid local times.
 */
function reworded<T extends TObject>(schema: T, descriptions: Record<string, string>): TObject {
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    const { format, ...rest } = field as { format?: string };
    return [name, { ...rest, ...(name in descriptions && { description: descriptions[name] }) }];
  });
  return { ...schema, properties: Object.fromEntries(properties), additionalProperties: false };
}

/** Allows no other arguments, so that models do not invent any. */
function closed<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}

/** Adds the warning about untrusted text. */
function withWarning<T extends TObject>(schema: T): T {
  return { ...schema, description: UNTRUSTED };
}
