// Events: the single table of their fields, and everything derived from it: shapes on the wire, stored columns, JSON.
// event-input.ts reads request bodies and applies the rules about times.

import type { Static, TObject, TOptional, TSchema, TString } from 'typebox';
import { HOUR_MS } from '../clock-and-random.ts';
import { DATE_TIME_PATTERN, formatInstant } from '../datetime.ts';
import Type, { nameShapes } from '../schema.ts';
import { nullableString, oneOf } from '../shape.ts';
import { fromWire, type Wire } from '../wire.ts';

export const EVENT_TYPES = [
  'workshop',
  'performance',
  'festival',
  'market',
  'competition',
  'game',
  'social',
  'meetup',
  'club',
  'support',
  'talk',
  'conference',
  'exhibition',
  'tour',
  'ceremony',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const AUDIENCES = ['kids', 'adults', 'all'] as const;
export type Audience = (typeof AUDIENCES)[number];

export const STATUSES = ['scheduled', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

/** Without end_at, an event counts as ended this long after its start. A constant, so that nodes cannot disagree. */
export const ASSUMED_DURATION_MS = 3 * HOUR_MS;

/** The type of a stored column, for every engine. */
export type ColumnKind = 'text' | 'uuid' | 'integer' | 'real' | 'boolean';

/** A field that agents set. */
interface Field {
  /** Schema of the value in a request. If it allows null, null is the default and clears the field in an update. */
  readonly schema: TSchema;
  /** Whether a create must have it. */
  readonly required?: true;
  /** Value if a create omits the field, and for events stored before the field existed. Null unless given. */
  readonly default?: string | number | boolean;
  /** For a date-time: name of the stored field, which is in milliseconds. */
  readonly storedAs?: string;
  /** Type of its own column, in addition to the JSON. Needed if searches use the field. */
  readonly column?: ColumnKind;
  /** `unless default`: responses have it, as their last member, only if it is not the default, or if `include` names it. */
  readonly shown?: 'unless default';
  /** Free text written by other people, which readers must not trust. */
  readonly untrusted?: true;
  /** Description for models, if the schema has none or its own would mislead them. */
  readonly forTools?: string;
}

const LOCAL_TIME =
  'Local time in `timezone`, such as 2031-05-01T18:00:00, or with an offset: 2031-05-01T18:00:00+02:00.';

/** In the order of the JSON, which is also the order of the stored columns. Add new fields at the end. */
const FIELDS = {
  title: {
    schema: Type.String({ minLength: 1, maxLength: 200, examples: ['Lantern workshop'] }),
    required: true,
    column: 'text',
    untrusted: true,
    forTools: 'Name of the event.',
  },
  description: {
    schema: nullableString({ maxLength: 10_000, examples: ['Bring scissors. Paper and glue are there.'] }),
    untrusted: true,
    forTools: 'Details for visitors.',
  },
  start_at: {
    schema: Type.String({
      pattern: DATE_TIME_PATTERN,
      description: `When it starts; may be in the past. ${LOCAL_TIME}`,
      examples: ['2031-05-01T18:00:00'],
    }),
    required: true,
    storedAs: 'start_ms',
    column: 'integer',
  },
  end_at: {
    schema: nullableString({
      pattern: DATE_TIME_PATTERN,
      description: `When it ends; must be in the future and not before start_at. ${LOCAL_TIME} Without it, the event counts as ended 3 hours after its start.`,
      examples: ['2031-05-01T20:00:00'],
    }),
    storedAs: 'end_ms',
    column: 'integer',
  },
  timezone: {
    schema: Type.String({
      format: 'timezone',
      description: 'IANA timezone name.',
      examples: ['Europe/Berlin'],
    }),
    required: true,
    column: 'text',
  },
  location_name: {
    schema: Type.String({ minLength: 1, maxLength: 200, examples: ['Kulturhaus Mitte'] }),
    required: true,
    untrusted: true,
    forTools: 'Name of the place.',
  },
  address: {
    schema: nullableString({ maxLength: 500, examples: ['Auguststr. 21, 10117 Berlin'] }),
    untrusted: true,
    forTools: 'Street, number and town.',
  },
  lat: {
    schema: Type.Number({ minimum: -90, maximum: 90, examples: [52.5264] }),
    required: true,
    column: 'real',
    forTools: 'Latitude of the place, in decimal degrees.',
  },
  lng: {
    schema: Type.Number({ minimum: -180, maximum: 180, examples: [13.3955] }),
    required: true,
    column: 'real',
    forTools: 'Longitude of the place, in decimal degrees.',
  },
  url: {
    schema: nullableString({ maxLength: 2000, examples: ['https://example.com/lanterns'] }),
    untrusted: true,
    forTools: 'Page with more information.',
  },
  cost: {
    schema: nullableString({ maxLength: 200, description: 'Free text.', examples: ['5 EUR'] }),
    untrusted: true,
    forTools: 'Free text, such as "5 EUR" or "free".',
  },
  audience: {
    schema: oneOf(AUDIENCES, { examples: ['all'] }),
    default: 'all',
    column: 'text',
    forTools: 'Who it is for.',
  },
  event_type: {
    schema: oneOf(EVENT_TYPES, { examples: ['workshop'] }),
    required: true,
    column: 'text',
    forTools: 'What kind of event it is.',
  },
  status: {
    schema: oneOf(STATUSES, {
      description: 'cancelled: the event is called off. Searches leave it out, but it can still be read.',
      examples: ['scheduled'],
    }),
    default: 'scheduled',
    column: 'text',
    shown: 'unless default',
    forTools: '"cancelled" calls the event off: searches leave it out, but it can still be read.',
  },
} as const satisfies Record<string, Field>;

type Fields = typeof FIELDS;
type FieldName = keyof Fields;
type Schema<N extends FieldName> = Fields[N]['schema'];
type NameWith<Property extends object> = {
  [N in FieldName]: Fields[N] extends Property ? N : never;
}[FieldName];
type Required = NameWith<{ readonly required: true }>;
type Nullable = { [N in FieldName]: null extends Static<Schema<N>> ? N : never }[FieldName];

/** A field definition with its derived properties. */
export interface EventField extends Field {
  readonly name: FieldName;
  /** The name in EventFields. */
  readonly stored: keyof EventFields;
  readonly isNullable: boolean;
}

export const EVENT_FIELDS: readonly EventField[] = Object.entries<Field>(FIELDS).map(([name, field]) => ({
  ...field,
  name: name as FieldName,
  stored: (field.storedAs ?? name) as keyof EventFields,
  isNullable: [(field.schema as { type?: string | string[] }).type].flat().includes('null'),
}));

const ALWAYS_SHOWN = EVENT_FIELDS.filter(({ shown }) => shown === undefined);
const SHOWN_UNLESS_DEFAULT = EVENT_FIELDS.filter(({ shown }) => shown === 'unless default');

/** Fields that null clears in an update, as part of a sentence: "a, b and c". */
export const CLEARABLE_FIELDS = EVENT_FIELDS.filter(({ isNullable }) => isNullable)
  .map(({ name }) => name)
  .join(', ')
  .replace(/, (\w+)$/, ' and $1');

/** Fields with text of other people, as part of a sentence: "a, b, c". */
export const UNTRUSTED_FIELDS = EVENT_FIELDS.filter(({ untrusted }) => untrusted)
  .map(({ name }) => name)
  .join(', ');

export const EventCreate = objectOf<
  { [N in Required]: Schema<N> } & { [N in Exclude<FieldName, Required>]: TOptional<Schema<N>> }
>(EVENT_FIELDS, (field) => {
  if (field.required) return field.schema;
  const { default: fallback } = field;
  return Type.Optional(fallback === undefined ? field.schema : { ...field.schema, default: fallback });
});

export const EventUpdate = objectOf<{ [N in FieldName]: TOptional<Schema<N>> }>(EVENT_FIELDS, ({ schema }) =>
  Type.Optional(schema),
);
export type EventUpdate = Static<typeof EventUpdate>;

/** An example for the OpenAPI description and other documents. */
export const EVENT_EXAMPLE = {
  event_id: '01JZ9GX4T0QW3N1V8R5Y7K2MHD',
  agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90',
  title: 'Lantern workshop',
  description: 'Bring scissors. Paper and glue are there.',
  start_at: '2031-05-01T16:00:00.000Z',
  end_at: '2031-05-01T18:00:00.000Z',
  timezone: 'Europe/Berlin',
  location_name: 'Kulturhaus Mitte',
  address: 'Auguststr. 21, 10117 Berlin',
  lat: 52.5264,
  lng: 13.3955,
  url: 'https://example.com/lanterns',
  cost: '5 EUR',
  audience: 'all',
  event_type: 'workshop',
  created_at: '2026-11-15T09:30:00.000Z',
};

type NotAlways = NameWith<{ readonly shown: 'unless default' }>;

const settable = objectOf<
  { [N in Exclude<FieldName, Nullable | NotAlways>]: Schema<N> } & { [N in Nullable]: TOptional<Schema<N>> }
>(ALWAYS_SHOWN, ({ schema, isNullable, storedAs }) => {
  const { type, enum: values } = schema as { type: string; enum?: string[] };
  const shown = { type, ...(values && { enum: values }), ...(storedAs && { format: 'date-time' }) };
  return isNullable ? Type.Optional(Type.Unsafe(shown)) : Type.Unsafe(shown);
});

const shownUnlessDefault = objectOf<{ [N in NotAlways]: TOptional<Schema<N>> }>(
  SHOWN_UNLESS_DEFAULT,
  ({ name, schema, default: fallback }) => {
    const { type, enum: values } = schema as { type: string; enum?: string[] };
    const description = `If it is absent, it is ${fallback}. Always with include=${name}.`;
    return Type.Optional(Type.Unsafe({ type, ...(values && { enum: values }), description }));
  },
);

/** An event in a response. Optional fields are null or absent. */
export const Event = Type.Object(
  {
    event_id: Type.String({ description: 'ULID.' }),
    agent_id: Type.String({ format: 'uuid', description: 'ID of the agent that owns the event.' }),
    ...settable.properties,
    created_at: Type.String({ format: 'date-time' }),
    ...shownUnlessDefault.properties,
  },
  { examples: [EVENT_EXAMPLE] },
) as TObject<
  { event_id: TString; agent_id: TString; created_at: TString } & (typeof settable)['properties'] &
    (typeof shownUnlessDefault)['properties']
>;
export type Event = Static<typeof Event>;

function objectOf<Properties extends Record<string, TSchema>>(
  fields: readonly EventField[],
  schemaOf: (field: EventField) => TSchema,
): TObject<Properties> {
  const properties = Object.fromEntries(fields.map((field) => [field.name, schemaOf(field)]));
  return Type.Object(properties) as unknown as TObject<Properties>;
}

type StoredName<N extends FieldName> = Fields[N] extends { readonly storedAs: infer S extends string }
  ? S
  : N;
type StoredValue<N extends FieldName> = Fields[N] extends { readonly storedAs: string }
  ? number | Extract<Static<Schema<N>>, null>
  : Static<Schema<N>>;

/** The fields of an event as they are stored: date-times in milliseconds. */
export type EventFields = { readonly [N in FieldName as StoredName<N>]: StoredValue<N> };

/** Stored values of the fields that a create may omit. */
export const EVENT_DEFAULTS = Object.fromEntries(
  EVENT_FIELDS.filter(({ required }) => !required).map(({ stored, default: fallback = null }) => [
    stored,
    fallback,
  ]),
) as { readonly [N in Exclude<FieldName, Required> as StoredName<N>]: StoredValue<N> };

nameShapes({ Event, EventCreate, EventUpdate });

/** A whole event. */
export interface EventRow extends EventFields {
  readonly event_id: string;
  readonly agent_id: string;
  /** 1 when created, one more with every change. */
  readonly version: number;
  readonly created_ms: number;
  /** When it last changed; `created_ms` if it never did. Later with every version. */
  readonly updated_ms: number;
  /** Members of its JSON that only a newer version knows, if there are any. A change keeps them. */
  readonly unknown?: Readonly<Record<string, unknown>>;
}

/** Columns of an event in every engine, in order, without the last one, `json`. */
export const EVENT_COLUMNS: readonly (readonly [name: keyof Omit<EventRow, 'unknown'>, kind: ColumnKind])[] =
  [
    ['event_id', 'text'],
    ['agent_id', 'uuid'],
    ['version', 'integer'],
    ...EVENT_FIELDS.flatMap(({ stored, column }) => (column ? [[stored, column] as const] : [])),
    ['updated_ms', 'integer'],
  ];

/** Columns that decodeEvent needs: the JSON, and what it lacks. */
export const STORED_EVENT_COLUMNS: readonly string[] = ['json', 'version', 'updated_ms'];

/** A row of STORED_EVENT_COLUMNS. */
export interface StoredEvent {
  readonly json: string;
  readonly version: number;
  readonly updated_ms: number;
}

/** The instant from which searches exclude the event. */
export function endsMs(row: Pick<EventRow, 'start_ms' | 'end_ms'>): number {
  return row.end_ms ?? row.start_ms + ASSUMED_DURATION_MS;
}

/** JSON of the event in a response. Both engines store it, so that a read needs no encoding. */
export function encodeEvent(row: EventRow): string {
  const { event_id, agent_id } = row;
  const wire = addFields({ event_id, agent_id }, row, ALWAYS_SHOWN);
  wire.created_at = formatInstant(row.created_ms);
  return JSON.stringify(Object.assign(addFields(wire, row, changedOf(row)), row.unknown));
}

/** Parses the JSON of an event in a response. */
export function parseEvent(wire: Wire): Event {
  return JSON.parse(fromWire(wire)) as Event;
}

/** The inverse of encodeEvent. */
export function decodeEvent(row: StoredEvent): EventRow {
  const { event_id, agent_id, created_at, ...event } = JSON.parse(row.json) as Record<string, unknown>;
  const { version, updated_ms } = row;
  const created_ms = Date.parse(created_at as string);
  const decoded: Record<string, unknown> = { event_id, agent_id, version, created_ms, updated_ms };
  for (const { name, stored, storedAs, default: fallback = null } of EVENT_FIELDS) {
    const value = event[name] ?? fallback;
    decoded[stored] = storedAs && value !== null ? Date.parse(value as string) : value;
    delete event[name];
  }
  if (Object.keys(event).length > 0) decoded.unknown = event;
  return decoded as unknown as EventRow;
}

/** Request body that creates an equal event. */
export function encodeEventCreate(row: EventFields): string {
  return JSON.stringify(addFields({}, row, [...ALWAYS_SHOWN, ...changedOf(row)]));
}

/** Fields that are shown because they do not have their default. */
function changedOf(row: EventFields): readonly EventField[] {
  return SHOWN_UNLESS_DEFAULT.filter(({ stored, default: fallback = null }) => row[stored] !== fallback);
}

/** Adds fields of a row, as responses show them. */
function addFields(
  wire: Record<string, unknown>,
  row: EventFields,
  fields: readonly EventField[],
): Record<string, unknown> {
  for (const { name, stored, storedAs } of fields) {
    const value = row[stored];
    wire[name] = storedAs && value !== null ? formatInstant(value as number) : value;
  }
  return wire;
}
