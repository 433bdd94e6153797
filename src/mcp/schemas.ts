// Input and output schemas of the tools: the shapes of the domain, with descriptions for models if those for HTTP would
// mislead them. And how arguments are read by them.
import type { TObject, TProperties, TSchema } from 'typebox';
import { OwnLimits } from '../domain/administration/agent-details.ts';
import { readTogether, refuse } from '../domain/errors.ts';
import { EVENT_FIELDS, EventCreate, EventUpdate } from '../domain/events/event.ts';
import { ReadEvent } from '../domain/events/include.ts';
import {
  CentredParameters,
  EventsNearbyResponse,
  FILTERS,
  FoundEvent,
  PLACE,
} from '../domain/events/nearby.ts';
import { OwnEventsParameters, OwnEventsResponse } from '../domain/own-agent.ts';
import { PlacesParameters, PlacesResponse } from '../domain/places.ts';
import Type from '../domain/schema.ts';
import { compile, findUnknown, oneOf } from '../domain/shape.ts';
import { UNTRUSTED } from './text.ts';

const RFC_3339 = 'RFC 3339, such as 2031-05-01T18:00:00+02:00; without an offset, it is UTC.';

/** The arguments of a search, of which `place` stands first: models have names more often than coordinates. */
export const SearchParameters = Type.Object({ ...PLACE, ...CentredParameters.properties, ...FILTERS });

export const SearchInput = reworded(SearchParameters, {
  place:
    'Name of a town or a district, in any language; behind a comma its region, country, their codes, or its city: "Kreuzberg, Berlin". Not together with lat and lng.',
  lat: 'Latitude of the centre, in decimal degrees, instead of place.',
  lng: 'Longitude of the centre, in decimal degrees, instead of place.',
  radius:
    'Miles from the centre (1 km is 0.62 miles). Without it, 10 miles with place; with lat and lng, events at any distance match.',
  event_type: 'Types that match, as a list. Without it, all types match.',
  audience:
    'Audiences that match, as a list; "all" is a value of its own, not a wildcard. Without it, all match.',
  status:
    '"scheduled" (the default) leaves out cancelled events, "cancelled" finds only those, "any" finds both.',
  starts_after: `Only events that start at this time or later. ${RFC_3339}`,
  q: 'Words that title, description, place or address must have: up to 8 terms, separated by spaces; all must match. jazz* also matches longer words, -jazz only events without the word. Words must be those of the text, in its language: there are no synonyms.',
  starts_before: `Only events that start before this time. ${RFC_3339}`,
  active_after: `Only events that are still on after this time, also if they began before. ${RFC_3339}`,
  active_before: `Only events that begin before this time. With active_after: events that are on at some moment in between. ${RFC_3339}`,
  when: 'Only events that are on at some moment of this period, by the local clock of each event; tonight is 17:00 to 04:00. Not together with active_after or active_before.',
  sort: '"start" (the default) or "distance": the nearest first.',
});

const event_id = Type.String({ description: 'The event_id from a search or a create, 26 characters.' });

export const EventIdInput = reworded(Type.Object({ event_id }), {});

const DESCRIPTIONS = {
  ...Object.fromEntries(
    EVENT_FIELDS.flatMap(({ name, forTools }) => (forTools === undefined ? [] : [[name, forTools]])),
  ),
  timezone: 'IANA timezone name of the place, such as Europe/Berlin.',
};

export const CreateInput = reworded(EventCreate, DESCRIPTIONS);

/** Clears fields of an event. */
export const ClearInput = Type.Object({
  clear: Type.Optional(
    Type.Array(oneOf(EVENT_FIELDS.filter(({ isNullable }) => isNullable).map(({ name }) => name)), {
      description: 'Fields to clear, as a list.',
    }),
  ),
});

/**
 * Fields are not nullable here: clients that make every argument required let models send null for those to keep, and would clear
 * them. A null that is sent nevertheless clears the field, as over HTTP.
 */
export const UpdateInput = reworded(
  Type.Object({ event_id, ...withoutNull(EventUpdate.properties), ...ClearInput.properties }),
  DESCRIPTIONS,
);

export const NoInput = reworded(Type.Object({}), {});

export const AgentOutput = OwnLimits;

export const OwnEventsInput = reworded(OwnEventsParameters, {});

/** What HTTP adds to events only with `include`: tools always add these, and never the other one. */
const ALWAYS = ['start_local', 'end_local', 'distance_miles'];
const NEVER = 'updated_at';
const ON_REQUEST = / (?:Only|Always) with include=\w+\./;

const ShownEvent = complete(ReadEvent);

export const SearchOutput = withWarning(
  Type.Object({
    ...EventsNearbyResponse.properties,
    events: Type.Array(complete(FoundEvent)),
    resolved_place: Type.Optional(
      Type.String({ description: 'The place that `place` means, and its coordinates. Only with `place`.' }),
    ),
  }),
);

export const PlacesInput = reworded(PlacesParameters, {});

export const PlacesOutput = PlacesResponse;

export const OwnEventsOutput = withWarning(
  Type.Object({ ...OwnEventsResponse.properties, events: Type.Array(ShownEvent) }),
);

export const EventOutput = withWarning(ShownEvent);

export const DeletedOutput = Type.Object({
  event_id: Type.String(),
  deleted: Type.Boolean({ description: 'Always true: the event is permanently deleted.' }),
});

interface Field {
  readonly type: string | string[];
  readonly description?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly examples?: unknown[];
}

/**
 * The same fields with these descriptions, closed to other fields, so that models do not invent any. Keywords that strict modes of
 * model providers refuse are removed, and said in words. Formats and patterns are removed, too: `timezone` is not standard, and
 * `date-time` would forbid local times.
 */
function reworded(schema: TObject, descriptions: Record<string, string>): TObject {
  const properties = Object.entries(schema.properties).map(([name, field]) => {
    const {
      format,
      pattern,
      examples,
      minLength,
      maxLength,
      default: fallback,
      ...rest
    } = field as unknown as Field;
    const words = [descriptions[name] ?? rest.description ?? ''];
    if (maxLength !== undefined) words.push(`At most ${maxLength} characters.`);
    if (fallback !== undefined) words.push(`Default: ${fallback}.`);
    return [name, { ...rest, description: words.join(' ').trim() }];
  });
  return Object.assign(
    { ...schema },
    { properties: Object.fromEntries(properties), additionalProperties: false },
  );
}

/** The same optional fields, none of which may be null. */
function withoutNull(fields: TProperties): TProperties {
  const entries = Object.entries(fields).map(([name, field]) => {
    const { type } = field as unknown as Field;
    return [
      name,
      Type.Optional({ ...field, type: [type].flat().find((each) => each !== 'null') } as TSchema),
    ];
  });
  return Object.fromEntries(entries);
}

/** The shape of an event in results of tools: without words about `include`. */
function complete(event: TObject): TObject {
  const required = new Set([...((event.required ?? []) as string[]), ...ALWAYS]);
  const { [NEVER]: _, ...members } = event.properties;
  const properties = Object.entries(members).map(([name, field]) => {
    const { description, ...rest } = field as { description?: string };
    const shown = { ...rest, ...(description && { description: description.replace(ON_REQUEST, '') }) };
    // A copy lacks the hidden mark of an optional property.
    return [name, required.has(name) ? shown : Type.Optional(shown as TSchema)];
  });
  return Type.Object(Object.fromEntries(properties));
}

/** Adds the warning about untrusted text. */
function withWarning<T extends TObject>(schema: T): T {
  return { ...schema, description: UNTRUSTED };
}

export type Arguments = Readonly<Record<string, unknown>>;

export interface ArgumentRules<Input> {
  readonly input: TObject;
  /** Whether null is a value. If not, it counts as omitted, like the empty string and the empty list. */
  readonly nullClears?: true;
  /** Converts the arguments to the input of `run`. Need not check `event_id`. Throws VALIDATION_ERROR. */
  read(args: Arguments, nowMs: number): Input;
}

/**
 * Reads the arguments of a call once, and reports all their problems together, including unknown names. Models often send an empty
 * value for an argument that they do not use, or one value instead of a list: both are taken as they are meant. Throws
 * VALIDATION_ERROR.
 */
export function argumentReader<Input>(rules: ArgumentRules<Input>): (given: unknown, nowMs: number) => Input {
  const { event_id, ...others } = rules.input.properties;
  const known = new Set([...(event_id ? ['event_id'] : []), ...Object.keys(others)]);
  const lists = new Set([...known].filter((name) => isList(rules.input.properties[name])));
  const checkId = event_id && compile(Type.Object({ event_id }));
  return (given, nowMs) => {
    const args = asMeant(Object(given), lists, rules.nullClears === true);
    const [, , input] = readTogether(
      () => refuse(findUnknown(args, known, 'arguments')),
      () => refuse(checkId?.(args, 'arguments').issues ?? []),
      () => rules.read(args, nowMs),
    );
    return input;
  };
}

function isList(schema: object | undefined): boolean {
  return (schema as { type?: unknown } | undefined)?.type === 'array';
}

/** The arguments without empty values, and with a list of one value where a list is expected. */
function asMeant(given: object, lists: ReadonlySet<string>, nullClears: boolean): Arguments {
  const meant = Object.entries(given).filter(
    ([, value]) =>
      value !== '' && (value !== null || nullClears) && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(
    meant.map(([name, value]) => [name, lists.has(name) && typeof value === 'string' ? [value] : value]),
  );
}
