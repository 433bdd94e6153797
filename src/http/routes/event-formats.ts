// Parameters and headers of the event endpoints beyond the contract: `format`, `include` and entity-tag conditions, and the
// other formats as the API description shows them. The encoders are in response/formats.ts.

import { readTogether } from '../../domain/errors.ts';
import {
  EventFeature,
  EventFeatureCollection,
  FEATURE_COLLECTION_EXAMPLE,
  FEATURE_EXAMPLE,
} from '../../domain/events/formats/geojson.ts';
import { CALENDAR_EXAMPLE } from '../../domain/events/formats/icalendar.ts';
import {
  LINKED_EVENT_EXAMPLE,
  LINKED_EVENTS_EXAMPLE,
  LinkedEvent,
  LinkedEvents,
} from '../../domain/events/formats/json-ld.ts';
import { INCLUDES, type Include, includeParameter, splitIncludes } from '../../domain/events/include.ts';
import {
  FILTERS,
  NearbyParameters,
  type NearbyQuery,
  PLACE,
  type PlaceSearch,
  readNearby,
  readPlaceSearch,
} from '../../domain/events/nearby.ts';
import Type from '../../domain/schema.ts';
import { oneOf, reader } from '../../domain/shape.ts';
import type { OtherFormat } from '../guide/description.ts';
import { type Query, queryReader } from '../request/query.ts';
import { ENCODERS, FORMATS, type Format } from '../response/formats.ts';

const format = Type.Optional(
  oneOf(FORMATS, {
    description: 'Format of the response; overrides Accept. The default, without both, is json.',
  }),
);

export const EventParameters = Type.Object({ format, include: includeParameter(INCLUDES) });

const Shown = Type.Object({ format, include: includeParameter(['distance', ...INCLUDES]) });

export const SearchExtras = Type.Object({ ...Shown.properties, ...FILTERS, ...PLACE });

const readShownEvent = reader(EventParameters, 'query');
const readShown = reader(Shown, 'query');

export interface Reading {
  readonly format: Format | undefined;
  readonly includes: readonly Include[];
}

const NONE: readonly Include[] = [];
const PLAIN: Reading = { format: undefined, includes: NONE };

const readEventParameters = queryReader(EventParameters, (values): Reading => {
  const { format, include = [] } = readShownEvent(splitIncludes(values));
  return { format, includes: include };
});

/** Reads the query of a single event. Throws VALIDATION_ERROR. */
export function readReading(query: Query): Reading {
  return query.text === '' ? PLAIN : readEventParameters(query);
}

export interface Search extends Reading {
  /** Or a search around a place that must be looked up. */
  readonly query: NearbyQuery | PlaceSearch;
  readonly hasDistance: boolean;
  /** Whether the response needs the details of the events. */
  readonly details: boolean;
}

const PLAIN_SEARCH = { ...PLAIN, hasDistance: false, details: false };

/** Reads the query of a search. Throws VALIDATION_ERROR. */
export const readSearch: (query: Query) => Search = queryReader(
  Type.Object({ ...NearbyParameters.properties, ...Shown.properties, ...PLACE }),
  (values: { format?: unknown; include?: unknown; place?: unknown }, failed) => {
    const hasPlace = values.place !== undefined || failed.has('place');
    const readCentred = hasPlace ? readPlaceSearch : readNearby;
    if (values.format === undefined && values.include === undefined) {
      return { ...PLAIN_SEARCH, query: readCentred(values, 'query') };
    }
    const [query, extras] = readTogether(
      () => readCentred(values, 'query'),
      () => readShown(splitIncludes(values)),
    );
    const { format, include = [] } = extras;
    const hasDistance = include.includes('distance');
    const includes = include.filter((name) => name !== 'distance');
    const details = hasDistance || includes.includes('updated_at');
    return { query, format, includes, hasDistance, details };
  },
);

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
