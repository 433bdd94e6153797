// Parameters and headers of the event endpoints beyond the contract: `format`, `include` and entity-tag conditions, and the
// other formats as the API description shows them. The encoders are in response/formats.ts.
import Type from 'typebox';
import { readTogether, refuse } from '../../domain/errors.ts';
import {
  EventFeature,
  EventFeatureCollection,
  FEATURE_COLLECTION_EXAMPLE,
  FEATURE_EXAMPLE,
} from '../../domain/formats/geojson.ts';
import { CALENDAR_EXAMPLE } from '../../domain/formats/icalendar.ts';
import {
  LINKED_EVENT_EXAMPLE,
  LINKED_EVENTS_EXAMPLE,
  LinkedEvent,
  LinkedEvents,
} from '../../domain/formats/json-ld.ts';
import { NearbyParameters, type NearbyQuery, readNearby } from '../../domain/nearby.ts';
import { compile, oneOf } from '../../domain/shape.ts';
import type { OtherFormat } from '../endpoint.ts';
import { type Query, queryReader } from '../request/query.ts';
import { ENCODERS, FORMATS, type Format } from '../response/formats.ts';

const format = Type.Optional(
  oneOf(FORMATS, {
    description: 'Format of the response; overrides Accept. The default, without both, is json.',
  }),
);

export const EventParameters = Type.Object({ format });

export const SearchExtras = Type.Object({
  format,
  include: Type.Optional(
    Type.Array(oneOf(['distance']), {
      description: '`distance` adds distance_miles to each event (json and geojson).',
    }),
  ),
});

const readFormatParameter = queryReader(EventParameters, (values) => checked(values).format);

/** Reads the format from the query of a single event. Throws VALIDATION_ERROR. */
export function readFormat(query: Query): Format | undefined {
  return query.text === '' ? undefined : readFormatParameter(query);
}

export interface Search {
  readonly query: NearbyQuery;
  readonly format: Format | undefined;
  readonly hasDistance: boolean;
}

/** Reads the query of a search. Throws VALIDATION_ERROR. */
export const readSearch: (query: Query) => Search = queryReader(
  Type.Object({ ...NearbyParameters.properties, ...SearchExtras.properties }),
  (values: { format?: unknown; include?: unknown }) => {
    if (values.format === undefined && values.include === undefined) {
      return { query: readNearby(values, 'query'), format: undefined, hasDistance: false };
    }
    const [query, extras] = readTogether(
      () => readNearby(values, 'query'),
      () => checked(values),
    );
    const hasDistance = extras.include?.includes('distance') === true;
    return { query: { ...query, details: hasDistance }, format: extras.format, hasDistance };
  },
);

const check = compile(SearchExtras);

function checked(values: object) {
  const { value, issues } = check(values, 'query');
  refuse(issues);
  return value;
}

export const IfMatch = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description:
        'ETags of the version that you know, in any format. If the event has changed since, the response is a 412.',
      examples: ['"3"'],
    }),
  ),
});

export const IfNoneMatch = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description: 'ETags that you have. If the event has not changed, the response is a 304 without a body.',
      examples: ['"3"'],
    }),
  ),
});

const calendar: OtherFormat = {
  contentType: ENCODERS.ics.contentType,
  schema: Type.String({ description: 'iCalendar (RFC 5545).' }),
  example: CALENDAR_EXAMPLE,
};

export const EVENT_FORMATS: readonly OtherFormat[] = [
  { contentType: ENCODERS.geojson.contentType, schema: EventFeature, example: FEATURE_EXAMPLE },
  calendar,
  { contentType: ENCODERS.jsonld.contentType, schema: LinkedEvent, example: LINKED_EVENT_EXAMPLE },
];

export const SEARCH_FORMATS: readonly OtherFormat[] = [
  {
    contentType: ENCODERS.geojson.contentType,
    schema: EventFeatureCollection,
    example: FEATURE_COLLECTION_EXAMPLE,
  },
  calendar,
  { contentType: ENCODERS.jsonld.contentType, schema: LinkedEvents, example: LINKED_EVENTS_EXAMPLE },
];
