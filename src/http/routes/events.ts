// Agents' endpoints for events.
import Type from 'typebox';
import { encodeCursor } from '../../domain/cursor.ts';
import { CLEARABLE_FIELDS, Event, EventCreate, EventUpdate } from '../../domain/event.ts';
import { readEventCreate, readEventUpdate } from '../../domain/event-input.ts';
import { countFitting } from '../../domain/event-page.ts';
import { addDistances, EventsNearbyResponse, NearbyParameters } from '../../domain/nearby.ts';
import type { EventRecord } from '../../domain/store.ts';
import * as events from '../../usecases/events.ts';
import { findNetwork } from '../admission/request-client.ts';
import { endpoint, Representation } from '../endpoint.ts';
import { MAX_EVENT_BODY_BYTES } from '../request/body.ts';
import { etagOf, isNotModified, knownVersions } from '../request/conditions.ts';
import { withCursor } from '../request/query.ts';
import { acceptedFormat, ENCODERS, encodeItems } from '../response/formats.ts';
import {
  EVENT_FORMATS,
  EventParameters,
  IfMatch,
  IfNoneMatch,
  readFormat,
  readSearch,
  SEARCH_FORMATS,
  SearchExtras,
} from './event-formats.ts';

export const EventPath = Type.Object({
  event_id: Type.String({ description: 'ULID of the event.', examples: ['01JZ9GX4T0QW3N1V8R5Y7K2MHD'] }),
});

const NO_HEADERS: readonly string[] = [];

/** A page in another format ends after this many bytes of events as JSON; encoding them takes about 15 ms. */
const MAX_ENCODED_BYTES = 1_048_576;

export const nearby = endpoint({
  operationId: 'searchNearby',
  tag: 'Events',
  summary: 'Search events by place, type, audience and time',
  description:
    'Returns events that have not ended, ordered by start, in pages, with the exact total. For the next page, pass next_cursor as cursor or follow the Link header; filters may change between pages. Accept or format selects GeoJSON, iCalendar or JSON-LD; a page in one of these ends after 1 MiB of events, even if limit allows more.',
  access: 'read',
  query: NearbyParameters,
  extras: SearchExtras,
  response: EventsNearbyResponse,
  otherFormats: SEARCH_FORMATS,
  responseHeaders: ['Vary', 'Link'],
  isExpensive: ({ query, headers }) =>
    (query.values.get('format')?.[0] ?? acceptedFormat(headers.accept)) !== 'json',
  handle: async (call) => {
    const search = readSearch(call.query);
    const format = search.format ?? acceptedFormat(call.headers.accept);
    const { encodeItem, joinPage } = ENCODERS[format];
    const query = encodeItem ? { ...search.query, details: true } : search.query;
    const page = await events.findNearby(call.context, query);
    const count = encodeItem ? countFitting(page.events, MAX_ENCODED_BYTES) : page.events.length;
    const next = count < page.events.length ? page.details[count - 1] : page.next;
    const cursor = next && encodeCursor(next);
    const found = search.hasDistance ? addDistances(page.events, page.details, search.query) : page.events;
    const items = encodeItem ? await encodeItems(found.slice(0, count), encodeItem, call.client) : found;
    const link =
      cursor === undefined
        ? NO_HEADERS
        : ['link', `</v1/events/nearby?${withCursor(call.query, cursor)}>; rel="next"`];
    return new Representation(joinPage(items, page.total, cursor), format, true, link);
  },
});

export const getEvent = endpoint({
  operationId: 'getEvent',
  tag: 'Events',
  summary: 'Read one event',
  description:
    'Returns any event of any agent, ended ones included. Accept or format selects GeoJSON, iCalendar or JSON-LD.',
  access: 'read',
  path: EventPath,
  query: EventParameters,
  headers: IfNoneMatch,
  response: Event,
  otherFormats: EVENT_FORMATS,
  responseHeaders: ['ETag', 'Vary'],
  errors: ['NOT_FOUND'],
  handle: async ({ context, path, query, headers }) => {
    const format = readFormat(query) ?? acceptedFormat(headers.accept);
    const { json, version } = await events.getEvent(context, path.event_id!);
    const etag = etagOf(version, format);
    const wire = isNotModified(headers['if-none-match'], etag)
      ? undefined
      : ENCODERS[format].encodeEvent(json);
    return new Representation(wire, format, true, ['etag', etag]);
  },
});

export const createEvent = endpoint({
  operationId: 'createEvent',
  tag: 'Events',
  summary: 'Create an event',
  description:
    'Idempotent, so safe to retry: if you already have an event with the same title, start_at, lat and lng, the response is that event, unchanged.',
  access: 'readwrite',
  body: EventCreate,
  maxBodyBytes: MAX_EVENT_BODY_BYTES,
  response: Event,
  responseHeaders: ['ETag'],
  errors: ['EVENT_LIMIT_REACHED'],
  handle: async ({ context, caller, client, body }) => {
    const fields = readEventCreate(body, context.clock());
    return eventResponse((await events.createEvent(context, caller, findNetwork(client), fields)).record);
  },
});

export const updateEvent = endpoint({
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
  responseHeaders: ['ETag'],
  errors: ['NOT_FOUND', 'EVENT_LIMIT_REACHED', 'DUPLICATE_EVENT', 'PRECONDITION_FAILED'],
  handle: async ({ context, caller, client, path, headers, body }) => {
    const update = readEventUpdate(body, context.clock());
    const known = knownVersions(headers['if-match']);
    const network = findNetwork(client);
    return eventResponse(await events.updateEvent(context, caller, network, path.event_id!, update, known));
  },
});

export const deleteEvent = endpoint({
  operationId: 'deleteEvent',
  tag: 'Events',
  summary: 'Delete your own event',
  description: 'Deletes the event permanently. With If-Match, deletes it only if its version matches.',
  access: 'readwrite',
  path: EventPath,
  headers: IfMatch,
  errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
  handle: async ({ context, caller, path, headers }) => {
    await events.deleteEvent(context, caller, path.event_id!, knownVersions(headers['if-match']));
    return undefined;
  },
});

/** Response to a write: always JSON, with the ETag. */
function eventResponse({ json, version }: EventRecord): Representation {
  return new Representation(json, 'json', false, ['etag', etagOf(version, 'json')]);
}
