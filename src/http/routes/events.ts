// Events over HTTP, for agents.
import Type from 'typebox';
import { encodeCursor } from '../../domain/cursor.ts';
import { CLEARABLE_FIELDS, Event, EventCreate, EventUpdate } from '../../domain/event.ts';
import { readEventCreate, readEventUpdate } from '../../domain/event-input.ts';
import { addDistances, EventsNearbyResponse, NearbyParameters } from '../../domain/nearby.ts';
import type { EventRecord } from '../../domain/store.ts';
import * as events from '../../usecases/events.ts';
import { findNearby } from '../../usecases/nearby.ts';
import { endpoint, Representation } from '../endpoint.ts';
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

export const nearby = endpoint({
  operationId: 'searchNearby',
  tag: 'Events',
  summary: 'Search events by place, type, audience and time',
  description:
    'Events that have not ended, ordered by start, in pages, with the exact total. Pass next_cursor as cursor for the next page, or follow Link; filters may change from page to page. With Accept or format also as GeoJSON, iCalendar or JSON-LD.',
  access: 'read',
  query: NearbyParameters,
  extras: SearchExtras,
  answer: EventsNearbyResponse,
  otherFormats: SEARCH_FORMATS,
  responseHeaders: ['Vary', 'Link'],
  handle: async (call) => {
    const search = readSearch(call.query);
    const format = search.format ?? acceptedFormat(call.headers.accept);
    const page = await findNearby(call.context, search.query);
    const cursor = page.next && encodeCursor(page.next);
    const found = search.hasDistance ? addDistances(page.events, page.details, search.query) : page.events;
    const { encodeItem, joinPage } = ENCODERS[format];
    const items = encodeItem ? await encodeItems(found, encodeItem) : found;
    const more =
      cursor === undefined
        ? NO_HEADERS
        : ['link', `</v1/events/nearby?${withCursor(call.query, cursor)}>; rel="next"`];
    return new Representation(joinPage(items, page.total, cursor), format, true, more);
  },
});

export const getEvent = endpoint({
  operationId: 'getEvent',
  tag: 'Events',
  summary: 'Read one event',
  description:
    'Any event of any agent, ended ones included. With Accept or format also as GeoJSON, iCalendar or JSON-LD.',
  access: 'read',
  path: EventPath,
  query: EventParameters,
  headers: IfNoneMatch,
  answer: Event,
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
    'Idempotent: with the title, start_at, lat and lng of an event that you created before, that event comes back unchanged. So a create may be repeated safely.',
  access: 'readwrite',
  body: EventCreate,
  answer: Event,
  responseHeaders: ['ETag'],
  errors: ['EVENT_LIMIT_REACHED'],
  handle: async ({ context, caller, body }) =>
    written((await events.createEvent(context, caller, readEventCreate(body, context.clock()))).record),
});

export const updateEvent = endpoint({
  operationId: 'updateEvent',
  tag: 'Events',
  summary: 'Change an event of yours',
  description: `Changes the fields that are present, and only those. null clears ${CLEARABLE_FIELDS}; other fields refuse it. With If-Match, only if the event is still as you know it.`,
  access: 'readwrite',
  path: EventPath,
  headers: IfMatch,
  body: EventUpdate,
  answer: Event,
  responseHeaders: ['ETag'],
  errors: ['NOT_FOUND', 'DUPLICATE_EVENT', 'PRECONDITION_FAILED'],
  handle: async ({ context, caller, path, headers, body }) => {
    const update = readEventUpdate(body, context.clock());
    const known = knownVersions(headers['if-match']);
    return written(await events.updateEvent(context, caller, path.event_id!, update, known));
  },
});

export const deleteEvent = endpoint({
  operationId: 'deleteEvent',
  tag: 'Events',
  summary: 'Delete an event of yours',
  description: 'Removes the event for good. With If-Match, only while it is as you know it.',
  access: 'readwrite',
  path: EventPath,
  headers: IfMatch,
  errors: ['NOT_FOUND', 'PRECONDITION_FAILED'],
  handle: async ({ context, caller, path, headers }) => {
    await events.deleteEvent(context, caller, path.event_id!, knownVersions(headers['if-match']));
    return undefined;
  },
});

/** What a write answers with: always JSON. */
function written({ json, version }: EventRecord): Representation {
  return new Representation(json, 'json', false, ['etag', etagOf(version, 'json')]);
}
