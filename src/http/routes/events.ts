// Events over HTTP, for agents.
import Type from 'typebox';
import { Event, EventCreate, EventUpdate } from '../../domain/event.ts';
import { EventsNearbyResponse, NearbyParameters, readNearby } from '../../domain/nearby.ts';
import * as events from '../../usecases/events.ts';
import { searchNearby } from '../../usecases/nearby.ts';
import { endpoint } from '../endpoint.ts';
import { queryReader } from '../query.ts';

export const EventPath = Type.Object({
  event_id: Type.String({ description: 'ULID of the event.', examples: ['01JZ9GX4T0QW3N1V8R5Y7K2MHD'] }),
});

const readParameters = queryReader(NearbyParameters, (values) => readNearby(values, 'query'));

export const nearby = endpoint({
  operationId: 'searchNearby',
  tag: 'Events',
  summary: 'Search events by place, type, audience and time',
  description:
    'Events that have not ended, ordered by start, in pages, with the exact total. Pass next_cursor as cursor for the next page; filters may change from page to page.',
  access: 'read',
  query: NearbyParameters,
  answer: EventsNearbyResponse,
  handle: ({ context, query }) => searchNearby(context, readParameters(query)),
});

export const getEvent = endpoint({
  operationId: 'getEvent',
  tag: 'Events',
  summary: 'Read one event',
  description: 'Any event of any agent, ended ones included.',
  access: 'read',
  path: EventPath,
  answer: Event,
  errors: ['NOT_FOUND'],
  handle: async ({ context, path }) => (await events.getEvent(context, path.event_id!)).json,
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
  errors: ['EVENT_LIMIT_REACHED'],
  handle: async ({ context, caller, body }) => (await events.createEvent(context, caller, body)).json,
});

export const updateEvent = endpoint({
  operationId: 'updateEvent',
  tag: 'Events',
  summary: 'Change an event of yours',
  description:
    'Changes the fields that are present, and only those. null clears description, end_at, address, url and cost; the other fields refuse it.',
  access: 'readwrite',
  path: EventPath,
  body: EventUpdate,
  answer: Event,
  errors: ['NOT_FOUND', 'DUPLICATE_EVENT'],
  handle: async ({ context, caller, path, body }) =>
    (await events.updateEvent(context, caller, path.event_id!, body)).json,
});

export const deleteEvent = endpoint({
  operationId: 'deleteEvent',
  tag: 'Events',
  summary: 'Delete an event of yours',
  description: 'Removes the event for good.',
  access: 'readwrite',
  path: EventPath,
  errors: ['NOT_FOUND'],
  handle: async ({ context, caller, path }) => {
    await events.deleteEvent(context, caller, path.event_id!);
    return undefined;
  },
});
