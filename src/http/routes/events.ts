// Agents' endpoints for events.

import { CLEARABLE_FIELDS, Event, EventCreate, EventUpdate, parseEvent } from '../../domain/events/event.ts';
import { readEventCreate, readEventUpdate } from '../../domain/events/event-input.ts';
import { countFitting } from '../../domain/events/event-page.ts';
import { addIncluded, addLocalTimes, ReadEvent } from '../../domain/events/include.ts';
import {
  addDistances,
  CentredParameters,
  EventsNearbyResponse,
  type NearbyQuery,
  nextCursor,
} from '../../domain/events/nearby.ts';
import { otherTimezoneAt, otherTimezoneOf, TIMEZONE_MISMATCH } from '../../domain/events/place-timezone.ts';
import { mayHavePrefix } from '../../domain/events/word-query.ts';
import { hasManyWords } from '../../domain/events/words.ts';
import Type from '../../domain/schema.ts';
import type { EventRecord, LastChange } from '../../domain/store.ts';
import type { Wire } from '../../domain/wire.ts';
import * as events from '../../usecases/events.ts';
import { locate } from '../../usecases/places.ts';
import { findNetwork } from '../admission/request-client.ts';
import { MAX_EVENT_BODY_BYTES } from '../request/body.ts';
import { withCursor } from '../request/query.ts';
import {
  acceptedFormat,
  ENCODERS,
  encodeItems,
  etagOf,
  type FormatEncoder,
  isNotModified,
  knownVersions,
} from '../response/formats.ts';
import { Representation } from '../response/send.ts';
import { endpoint, type Route } from './endpoint.ts';
import {
  EVENT_FORMATS,
  EventParameters,
  IfMatch,
  IfNoneMatch,
  readReading,
  readSearch,
  SEARCH_FORMATS,
  SearchExtras,
} from './event-formats.ts';

export const EventPath = Type.Object({
  event_id: Type.String({ description: 'ULID of the event.', examples: ['01JZ9GX4T0QW3N1V8R5Y7K2MHD'] }),
});

const NO_HEADERS: readonly string[] = [];
const REPLAYED = ['idempotent-replayed', 'true'];
const WARNED = ['event-warnings', TIMEZONE_MISMATCH];

/** A page in another format ends after this many bytes of events as JSON; encoding them takes about 15 ms. */
const MAX_ENCODED_BYTES = 1_048_576;

const nearby = endpoint({
  operationId: 'searchNearby',
  tag: 'Events',
  summary: 'Search events by place, words, type, audience and time',
  description:
    'Returns events that have not ended and are not cancelled, ordered by start or distance, in pages, with the exact total. For "what is on today, tonight, this weekend" use when: it also finds events that have already begun, and needs no offset. For another period use active_after and active_before. starts_after and starts_before look only at the start. Send lat and lng, or place: the name of a town or a district. For the next page, pass next_cursor as cursor or follow the Link header; filters may change between pages, sort may not. Accept or format selects GeoJSON, iCalendar or JSON-LD; a page in one of these ends after 1 MiB of events, even if limit allows more.',
  access: 'public',
  query: CentredParameters,
  extras: SearchExtras,
  response: EventsNearbyResponse,
  otherFormats: SEARCH_FORMATS,
  responseHeaders: ['Vary', 'Link', 'Resolved-Place'],
  read: ({ query }) => readSearch(query),
  isExpensive: ({ query, headers }) =>
    query.values.get('include')?.some((names) => names.includes('local')) ||
    (query.values.get('format')?.[0] ?? acceptedFormat(headers.accept)) !== 'json',
  searchesPrefix: ({ values }) => mayHavePrefix(values.get('q')?.[0]),
  handle: async (call, search) => {
    const format = search.format ?? acceptedFormat(call.headers.accept);
    const { encodeItem, joinPage } = ENCODERS[format];
    const located = 'around' in search.query ? await locate(call.context, search.query, 'query') : undefined;
    const centred = located ? located.query : (search.query as NearbyQuery);
    const query = encodeItem || search.details ? { ...centred, details: true } : centred;
    const page = await events.findNearby(call.context, query, call.client);
    const count = encodeItem ? countFitting(page.events, MAX_ENCODED_BYTES) : page.events.length;
    const next = count < page.events.length ? page.details[count - 1] : page.next;
    const cursor = next && nextCursor(query, next);
    const { includes, hasDistance } = search;
    const complete =
      includes.length === 0
        ? page.events
        : page.events.map((event, at) => addIncluded(event, includes, page.details[at]?.updatedMs));
    const found = hasDistance ? addDistances(complete, page.details, query) : complete;
    const encode = encoderOf(encodeItem, includes.includes('local'), page.details);
    const items = encode
      ? await call.expensively(() => encodeItems(found.slice(0, count), encode, call.client))
      : found;
    const link =
      cursor === undefined
        ? NO_HEADERS
        : ['link', `</v1/events/nearby?${withCursor(call.query, cursor)}>; rel="next"`];
    const headers = located ? [...link, 'resolved-place', located.place] : link;
    return new Representation(joinPage(items, page.total, cursor), format, true, headers);
  },
});

const getEvent = endpoint({
  operationId: 'getEvent',
  tag: 'Events',
  summary: 'Read one event',
  description:
    'Returns any event of any agent, ended and cancelled ones included. Accept or format selects GeoJSON, iCalendar or JSON-LD.',
  access: 'public',
  path: EventPath,
  query: EventParameters,
  headers: IfNoneMatch,
  response: ReadEvent,
  otherFormats: EVENT_FORMATS,
  responseHeaders: ['ETag', 'Vary'],
  errors: ['NOT_FOUND'],
  read: ({ query }) => readReading(query),
  handle: async ({ context, path, headers }, { format = acceptedFormat(headers.accept), includes }) => {
    const record = await events.getEvent(context, path.event_id!);
    const etag = etagOf(record.version, format);
    const tag = ['etag', etag];
    if (isNotModified(headers['if-none-match'], etag))
      return new Representation(undefined, format, true, tag);
    const json = addIncluded(record.json, includes, record.updatedMs);
    const shown = includes.includes('local') ? addLocalTimes(json) : json;
    return new Representation(ENCODERS[format].encodeEvent(shown, record), format, true, tag);
  },
});

const createEvent = endpoint({
  operationId: 'createEvent',
  tag: 'Events',
  summary: 'Create an event',
  description:
    'Idempotent, so safe to retry: if you already have an event with the same title, start_at, lat and lng, the response is that event, unchanged, with Idempotent-Replayed: true.',
  access: 'readwrite',
  body: EventCreate,
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  response: Event,
  responseHeaders: ['ETag', 'Idempotent-Replayed', 'X-Unknown-Fields', 'Event-Warnings'],
  errors: ['EVENT_LIMIT_REACHED'],
  read: ({ context, body, isStrict }) => readEventCreate(body, context.clock(), isStrict),
  isExpensive: isLongToStore,
  handle: async ({ context, caller, client }, fields) => {
    const { kind, record } = await events.createEvent(context, caller, findNetwork(client), fields);
    if (kind === 'existing') return eventResponse(record, otherTimezoneOf(parseEvent(record.json)), REPLAYED);
    return eventResponse(record, otherTimezoneAt(fields));
  },
});

const updateEvent = endpoint({
  operationId: 'updateEvent',
  tag: 'Events',
  summary: 'Update your own event',
  description: `Changes only the fields that are present. null clears ${CLEARABLE_FIELDS}; other fields reject it. With If-Match, updates the event only if its version matches.`,
  access: 'readwrite',
  path: EventPath,
  headers: IfMatch,
  body: EventUpdate,
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  response: Event,
  responseHeaders: ['ETag', 'X-Unknown-Fields', 'Event-Warnings'],
  errors: ['NOT_FOUND', 'EVENT_LIMIT_REACHED', 'DUPLICATE_EVENT', 'PRECONDITION_FAILED'],
  read: ({ context, body }) => readEventUpdate(body, context.clock()),
  isExpensive: isLongToStore,
  handle: async ({ context, caller, client, path, headers }, update) => {
    const known = knownVersions(headers['if-match']);
    const network = findNetwork(client);
    const record = await events.updateEvent(context, caller, network, path.event_id!, update, known);
    return eventResponse(record, otherTimezoneOf(parseEvent(record.json)));
  },
});

const deleteEvent = endpoint({
  operationId: 'deleteEvent',
  tag: 'Events',
  summary: 'Delete your own event',
  description:
    'Deletes the event permanently. To call it off, set its status to cancelled instead. With If-Match, deletes it only if its version matches.',
  access: 'readwrite',
  path: EventPath,
  headers: IfMatch,
  errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
  handle: async ({ context, caller, path, headers }) => {
    await events.deleteEvent(context, caller, path.event_id!, knownVersions(headers['if-match']));
    return undefined;
  },
});

/** Whether its words take long to store: a few such requests at a time, so that others are served in between. */
function isLongToStore({ body }: { readonly body: unknown }): boolean {
  return typeof body === 'object' && body !== null && hasManyWords(body);
}

/** How each event of a page is encoded; undefined if its JSON is sent unchanged. */
function encoderOf(
  encodeItem: FormatEncoder['encodeItem'],
  hasLocal: boolean,
  changes: readonly LastChange[],
): ((event: Wire, at: number) => Wire) | undefined {
  if (!encodeItem) return hasLocal ? addLocalTimes : undefined;
  return (event, at) => encodeItem(hasLocal ? addLocalTimes(event) : event, changes[at]!);
}

/** Response to a write: always JSON, with the ETag. `otherTimezone`: the one of the event's place, if it has another clock. */
function eventResponse(
  { json, version }: EventRecord,
  otherTimezone: string | undefined,
  headers = NO_HEADERS,
): Representation {
  const warnings = otherTimezone === undefined ? NO_HEADERS : WARNED;
  return new Representation(json, 'json', false, ['etag', etagOf(version, 'json'), ...headers, ...warnings]);
}

export const routes: readonly Route[] = [
  ['GET', '/v1/events/nearby', nearby],
  ['POST', '/v1/events', createEvent],
  ['GET', '/v1/events/{event_id}', getEvent],
  ['PATCH', '/v1/events/{event_id}', updateEvent],
  ['DELETE', '/v1/events/{event_id}', deleteEvent],
];
