// Encodes events as JSON-LD with the schema.org vocabulary, for pages and crawlers. Fields without a schema.org term are left
// out, so there is no reader.

import { formatInstant, formatLocal } from '../../datetime.ts';
import Type, { nameShapes } from '../../schema.ts';
import { oneOf } from '../../shape.ts';
import type { LastChange } from '../../store.ts';
import { joinWire, toWire, type Wire } from '../../wire.ts';
import { EVENT_EXAMPLE, type Event, parseEvent } from '../event.ts';
import { isWebUrl } from './web-url.ts';

const CONTEXT = 'https://schema.org';

const context = oneOf([CONTEXT]);
const linked = {
  '@type': oneOf(['Event']),
  '@id': Type.String({ description: '`urn:ulid:` and the event_id.' }),
  identifier: Type.String({ description: 'The event_id.' }),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  startDate: Type.String({ format: 'date-time', description: 'Local time with its offset.' }),
  endDate: Type.Optional(Type.String({ format: 'date-time' })),
  eventAttendanceMode: oneOf([`${CONTEXT}/OfflineEventAttendanceMode`]),
  eventStatus: oneOf([`${CONTEXT}/EventScheduled`, `${CONTEXT}/EventCancelled`]),
  dateModified: Type.String({ format: 'date-time', description: 'When the event last changed.' }),
  location: Type.Object({
    '@type': oneOf(['Place']),
    name: Type.String(),
    address: Type.String({ description: 'The location_name if the event has no address.' }),
    geo: Type.Object({
      '@type': oneOf(['GeoCoordinates']),
      latitude: Type.Number(),
      longitude: Type.Number(),
    }),
  }),
  url: Type.Optional(Type.String({ description: 'Present only if it is an http or https URL.' })),
  offers: Type.Optional(
    Type.Object({
      '@type': oneOf(['Offer']),
      description: Type.String({ description: 'The cost, which is free text.' }),
    }),
  ),
  audience: Type.Object({ '@type': oneOf(['Audience']), audienceType: Type.String() }),
  keywords: Type.String({ description: 'The event_type.' }),
};

export const LinkedEvent = Type.Object({ '@context': context, ...linked });
export const LinkedEvents = Type.Object({ '@context': context, '@graph': Type.Array(Type.Object(linked)) });

nameShapes({ LinkedEvent, LinkedEvents });

export function encodeLinkedEvent(event: Wire, change: LastChange): Wire {
  return encode({ '@context': CONTEXT, ...toLinkedData(parseEvent(event), change) });
}

/** Encodes an event as a node of a graph: without the context, which the graph has. */
export function encodeLinkedPart(event: Wire, change: LastChange): Wire {
  return encode(toLinkedData(parseEvent(event), change));
}

/** Joins encoded nodes to a graph. */
export function joinGraph(nodes: readonly Wire[]): Wire {
  return joinWire(`{"@context":"${CONTEXT}","@graph":[`, nodes, ']}');
}

/** Escapes "<", so that a page can embed the JSON in a script element. */
function encode(value: object): Wire {
  return toWire(JSON.stringify(value).replaceAll('<', '\\u003c'));
}

function toLinkedData(event: Event, { updatedMs }: LastChange): object {
  const { event_id, description, end_at, location_name, address, url, cost } = event;
  const local = (time: string) => formatLocal(Date.parse(time), event.timezone);
  return {
    '@type': 'Event',
    '@id': `urn:ulid:${event_id}`,
    identifier: event_id,
    name: event.title,
    ...(description && { description }),
    startDate: local(event.start_at),
    ...(end_at && { endDate: local(end_at) }),
    eventAttendanceMode: `${CONTEXT}/OfflineEventAttendanceMode`,
    eventStatus: `${CONTEXT}/Event${event.status === 'cancelled' ? 'Cancelled' : 'Scheduled'}`,
    dateModified: formatInstant(updatedMs),
    location: {
      '@type': 'Place',
      name: location_name,
      address: address || location_name,
      geo: { '@type': 'GeoCoordinates', latitude: event.lat, longitude: event.lng },
    },
    ...(url && isWebUrl(url) && { url }),
    ...(cost && { offers: { '@type': 'Offer', description: cost } }),
    audience: { '@type': 'Audience', audienceType: event.audience },
    keywords: event.event_type,
  };
}

const example = toWire(JSON.stringify(EVENT_EXAMPLE));
const unchanged: LastChange = { version: 1, updatedMs: Date.parse(EVENT_EXAMPLE.created_at) };
export const LINKED_EVENT_EXAMPLE: unknown = JSON.parse(encodeLinkedEvent(example, unchanged));
export const LINKED_EVENTS_EXAMPLE: unknown = JSON.parse(joinGraph([encodeLinkedPart(example, unchanged)]));
