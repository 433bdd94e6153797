// Events: the single table of their fields, and everything derived from it: shapes on the wire, stored columns, JSON.
// event-input.ts reads request bodies and applies the rules about times.
import Type, { type Static, type TObject, type TOptional, type TSchema, type TString } from 'typebox';
import { formatInstant } from './datetime.ts';
import { nullableString, oneOf } from './shape.ts';
import { fromWire, type Wire } from './wire.ts';

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

/** Without end_at, an event counts as ended this long after its start. A constant, so that nodes cannot disagree. */
export const ASSUMED_DURATION_MS = 3 * 3_600_000;

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
  /** Type of its own column, in addition to the JSON. Needed if searches use the field or the JSON does not have it. */
  readonly column?: ColumnKind;
  /** `on request`: only if `include` names it. Needs a column: the stored JSON has only what every response has. */
  readonly shown?: 'on request';
  /** Free text written by other people, which readers must not trust. */
  readonly untrusted?: true;
  /** Description for models, if the schema has none or its own would mislead them. */
  readonly forTools?: string;
}

const LOCAL_TIME = 'Without an offset, it is local time in `timezone`.';

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
      format: 'date-time',
      description: `When it starts; may be in the past. ${LOCAL_TIME}`,
      examples: ['2031-05-01T18:00:00Z'],
    }),
    required: true,
    storedAs: 'start_ms',
    column: 'integer',
  },
  end_at: {
    schema: nullableString({
      format: 'date-time',
      description: `When it ends; must be in the future and not before start_at. ${LOCAL_TIME} Without it, the event counts as ended 3 hours after its start.`,
      examples: ['2031-05-01T20:00:00Z'],
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

const IN_JSON = EVENT_FIELDS.filter(({ shown }) => shown !== 'on request');
const ON_REQUEST = EVENT_FIELDS.filter(({ shown }) => shown === 'on request');

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
  start_at: '2031-05-01T18:00:00.000Z',
  end_at: '2031-05-01T20:00:00.000Z',
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

type Shown = Exclude<FieldName, NameWith<{ readonly shown: 'on request' }>>;

const settable = objectOf<
  { [N in Exclude<Shown, Nullable>]: Schema<N> } & { [N in Nullable]: TOptional<Schema<N>> }
>(IN_JSON, ({ schema, isNullable }) => {
  const { type, enum: values, format } = schema as { type: string; enum?: string[]; format?: string };
  const shown = { type, ...(values && { enum: values }), ...(format === 'date-time' && { format }) };
  return isNullable ? Type.Optional(Type.Unsafe(shown)) : Type.Unsafe(shown);
});

/** An event in a response. Optional fields are null or absent. */
export const Event = Type.Object(
  {
    event_id: Type.String({ description: 'ULID.' }),
    agent_id: Type.String({ format: 'uuid', description: 'ID of the agent that owns the event.' }),
    ...settable.properties,
    created_at: Type.String({ format: 'date-time' }),
  },
  { examples: [EVENT_EXAMPLE] },
) as TObject<{ event_id: TString; agent_id: TString; created_at: TString } & (typeof settable)['properties']>;
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

/** A whole event. */
export interface EventRow extends EventFields {
  readonly event_id: string;
  readonly agent_id: string;
  /** 1 when created, one more with every change. */
  readonly version: number;
  readonly created_ms: number;
}

/** Columns of an event in every engine, in order, without the last one, `json`. */
export const EVENT_COLUMNS: readonly (readonly [name: keyof EventRow, kind: ColumnKind])[] = [
  ['event_id', 'text'],
  ['agent_id', 'uuid'],
  ['version', 'integer'],
  ...EVENT_FIELDS.flatMap(({ stored, column }) => (column ? [[stored, column] as const] : [])),
];

/** Columns that decodeEvent needs: the JSON, and the fields that it lacks. */
export const STORED_EVENT_COLUMNS: readonly string[] = [
  'json',
  'version',
  ...ON_REQUEST.map(({ stored }) => stored),
];

/** A row of STORED_EVENT_COLUMNS. */
export interface StoredEvent extends Partial<EventFields> {
  readonly json: string;
  readonly version: number;
}

/** The instant from which searches exclude the event. */
export function endsMs(row: Pick<EventRow, 'start_ms' | 'end_ms'>): number {
  return row.end_ms ?? row.start_ms + ASSUMED_DURATION_MS;
}

/** JSON of the event in a response. Both engines store it, so that a read needs no encoding. */
export function encodeEvent(row: EventRow): string {
  const { event_id, agent_id, created_ms } = row;
  const fields = toWireFields(row, IN_JSON);
  return JSON.stringify({ event_id, agent_id, ...fields, created_at: formatInstant(created_ms) });
}

/** Parses the JSON of an event in a response. */
export function parseEvent(wire: Wire): Event {
  return JSON.parse(fromWire(wire)) as Event;
}

/** The inverse of encodeEvent. */
export function decodeEvent(row: StoredEvent): EventRow {
  const event = JSON.parse(row.json) as Record<string, unknown>;
  const decoded: Record<string, unknown> = {
    event_id: event.event_id,
    agent_id: event.agent_id,
    version: row.version,
    created_ms: Date.parse(event.created_at as string),
  };
  for (const { name, stored, storedAs, default: fallback = null } of IN_JSON) {
    const value = event[name] ?? fallback;
    decoded[stored] = storedAs && value !== null ? Date.parse(value as string) : value;
  }
  for (const { stored, default: fallback = null } of ON_REQUEST) decoded[stored] = row[stored] ?? fallback;
  return decoded as unknown as EventRow;
}

/** Request body that creates an equal event. Fields shown on request are omitted if they have their default. */
export function encodeEventCreate(row: EventFields): string {
  const changed = ON_REQUEST.filter(({ stored, default: fallback = null }) => row[stored] !== fallback);
  return JSON.stringify(toWireFields(row, [...IN_JSON, ...changed]));
}

function toWireFields(row: EventFields, fields: readonly EventField[]): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const { name, stored, storedAs } of fields) {
    const value = row[stored];
    wire[name] = storedAs && value !== null ? formatInstant(value as number) : value;
  }
  return wire;
}
