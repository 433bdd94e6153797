// Conversion of events and searches to those of the index, which has one tag for event type and audience.
import {
  AUDIENCES,
  type Audience,
  EVENT_TYPES,
  type EventRow,
  type EventType,
  endsMs,
} from '../domain/event.ts';
import type { NearbyQuery } from '../domain/nearby.ts';
import type { IndexEntry, IndexQuery } from '../spatial/event-index.ts';
import { TagSet, tagOf } from '../spatial/tags.ts';

/** Database columns that the index needs, in the order of IndexValues. */
export const INDEX_COLUMNS = 'row_id, event_id, version, start_ms, end_ms, lat, lng, event_type, audience';

export type IndexValues = [
  row: number,
  id: string,
  version: number,
  startMs: number,
  endMs: number | null,
  lat: number,
  lng: number,
  type: EventType,
  audience: Audience,
];

export function entryOf(values: IndexValues): IndexEntry {
  const [row, id, version, startMs, endMs, lat, lng, type, audience] = values;
  const ends = endsMs({ start_ms: startMs, end_ms: endMs });
  return { id, version, row, startMs, endsMs: ends, lat, lng, tag: tagOf(type, audience) };
}

export function toEntry(event: EventRow, row: number): IndexEntry {
  return {
    id: event.event_id,
    version: event.version,
    row,
    startMs: event.start_ms,
    endsMs: endsMs(event),
    lat: event.lat,
    lng: event.lng,
    tag: tagOf(event.event_type, event.audience),
  };
}

export function toIndexQuery(query: NearbyQuery): IndexQuery {
  return {
    lat: query.lat,
    lng: query.lng,
    radiusMiles: query.radiusMiles,
    tags: query.types || query.audiences ? tagsOf(query.types, query.audiences) : undefined,
    startsFromMs: query.startsFromMs ?? Number.NEGATIVE_INFINITY,
    startsBeforeMs: query.startsBeforeMs ?? Number.POSITIVE_INFINITY,
    after: query.after,
    limit: query.limit,
  };
}

function tagsOf(
  types: readonly EventType[] = EVENT_TYPES,
  audiences: readonly Audience[] = AUDIENCES,
): TagSet {
  const tags = new TagSet();
  for (const type of types) for (const audience of audiences) tags.add(tagOf(type, audience));
  return tags;
}
