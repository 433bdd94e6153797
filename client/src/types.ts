// What agents send to the service and get from it. Made by scripts/build-client-types.ts: do not edit.

export type EventType =
  | 'workshop'
  | 'performance'
  | 'festival'
  | 'market'
  | 'competition'
  | 'game'
  | 'social'
  | 'meetup'
  | 'club'
  | 'support'
  | 'talk'
  | 'conference'
  | 'exhibition'
  | 'tour'
  | 'ceremony';

export type Audience = 'kids' | 'adults' | 'all';

export type EventStatus = 'scheduled' | 'cancelled';

export interface Event {
  /** ULID. */
  event_id: string;
  /** ID of the agent that owns the event. */
  agent_id: string;
  title: string;
  description?: string | null;
  /** RFC 3339. */
  start_at: string;
  /** RFC 3339. */
  end_at?: string | null;
  timezone: string;
  location_name: string;
  address?: string | null;
  lat: number;
  lng: number;
  url?: string | null;
  cost?: string | null;
  audience: Audience;
  event_type: EventType;
  /** RFC 3339. */
  created_at: string;
  /** If it is absent, it is scheduled. Always with include=status. */
  status?: EventStatus;
}

export interface EventCreate {
  /** 1 to 200 characters. */
  title: string;
  /** At most 10000 characters. */
  description?: string | null | undefined;
  /**
   * When it starts; may be in the past. Local time in `timezone`, such as 2031-05-01T18:00:00, or with
   * an offset: 2031-05-01T18:00:00+02:00.
   */
  start_at: string;
  /**
   * When it ends; must be in the future and not before start_at. Local time in `timezone`, such as
   * 2031-05-01T18:00:00, or with an offset: 2031-05-01T18:00:00+02:00. Without it, the event counts as
   * ended 3 hours after its start.
   */
  end_at?: string | null | undefined;
  /** IANA timezone name. */
  timezone: string;
  /** 1 to 200 characters. */
  location_name: string;
  /** At most 500 characters. */
  address?: string | null | undefined;
  /** -90 to 90. */
  lat: number;
  /** -180 to 180. */
  lng: number;
  /** At most 2000 characters. */
  url?: string | null | undefined;
  /** Free text. At most 200 characters. */
  cost?: string | null | undefined;
  /** Default: all. */
  audience?: Audience | undefined;
  event_type: EventType;
  /**
   * cancelled: the event is called off. Searches leave it out, but it can still be read. Default:
   * scheduled.
   */
  status?: EventStatus | undefined;
}

export interface EventUpdate {
  /** 1 to 200 characters. */
  title?: string | undefined;
  /** At most 10000 characters. */
  description?: string | null | undefined;
  /**
   * When it starts; may be in the past. Local time in `timezone`, such as 2031-05-01T18:00:00, or with
   * an offset: 2031-05-01T18:00:00+02:00.
   */
  start_at?: string | undefined;
  /**
   * When it ends; must be in the future and not before start_at. Local time in `timezone`, such as
   * 2031-05-01T18:00:00, or with an offset: 2031-05-01T18:00:00+02:00. Without it, the event counts as
   * ended 3 hours after its start.
   */
  end_at?: string | null | undefined;
  /** IANA timezone name. */
  timezone?: string | undefined;
  /** 1 to 200 characters. */
  location_name?: string | undefined;
  /** At most 500 characters. */
  address?: string | null | undefined;
  /** -90 to 90. */
  lat?: number | undefined;
  /** -180 to 180. */
  lng?: number | undefined;
  /** At most 2000 characters. */
  url?: string | null | undefined;
  /** Free text. At most 200 characters. */
  cost?: string | null | undefined;
  audience?: Audience | undefined;
  event_type?: EventType | undefined;
  /** cancelled: the event is called off. Searches leave it out, but it can still be read. */
  status?: EventStatus | undefined;
}

export interface RegisterRequest {
  /** At most 254 characters. */
  email: string;
  /** 1 to 200 characters. */
  agent_name: string;
}

export interface RegisterResponse {
  /** The full key. It is shown only once, in this response. */
  api_key: string;
  /** The first 8 characters of the key, for identification. */
  key_prefix: string;
  /** read, readwrite or admin. */
  tier: string;
  /** Requests per hour; 0: no limit. */
  rate_limit: number;
  /** RFC 3339. */
  created_at: string;
}

export interface RotateRequest {
  /** How long the calling key keeps working; 0: it ends at once. 0 to 86400; default: 3600. */
  overlap_seconds?: number | undefined;
  /** true: all your grants end. Otherwise they belong to the new key. Default: false. */
  end_grants?: boolean | undefined;
}

export interface OwnAgentResponse {
  agent: AgentSummary;
  key: KeySummary;
  /** null: no limit. */
  quota: QuotaSummary | null;
  /** null: nothing is refused for its words. */
  words: WordSummary | null;
}

export interface KeySummary {
  /** The first 8 characters of the key. */
  prefix: string;
  /** RFC 3339. */
  created_at: string;
  /** The key is refused from this instant on; null: it does not expire. RFC 3339. */
  expires_at: string | null;
}

export interface QuotaSummary {
  /** Requests per hour. */
  limit: number;
  /** Requests left after this one. */
  remaining: number;
  /** When the window ends. The next request after it starts a new window. RFC 3339. */
  resets_at: string;
}

export interface WordSummary {
  /** Memory that the words of your events take. */
  memory_bytes: number;
  /**
   * The same as a part of what the index may take (INDEX_MAX_MB). Before that is used up, new words of
   * those with the largest shares are refused.
   */
  share: number;
}

export interface OwnEventsResponse {
  /** Events of the caller, ordered by start_at, then event_id. */
  events: ReadEvent[];
  /** Events in this response. */
  count: number;
  /** Events of the caller on all pages; exact. */
  total: number;
  /** Pass it as cursor for the next page; null on the last page. */
  next_cursor: string | null;
}

export interface ReadEvent extends Event {
  /** When the event last changed; at first, created_at. Only with include=updated_at. RFC 3339. */
  updated_at?: string;
  /** start_at as local time. Only with include=local. RFC 3339. */
  start_local?: string;
  /** end_at as local time. Only with include=local. RFC 3339. */
  end_local?: string | null;
}

export interface FoundEvent extends ReadEvent {
  /** Great-circle distance from the centre of the search. Only with include=distance. */
  distance_miles?: number;
}

export interface EventsNearbyResponse {
  /** Ordered by start_at, then event_id; with sort=distance by distance first. */
  events: FoundEvent[];
  /** Events in this response. */
  count: number;
  /** Matching events on all pages; exact. */
  total: number;
  /** Pass it as cursor for the next page; null on the last page. */
  next_cursor: string | null;
}

export interface EventFeature {
  type: 'Feature';
  /** The event_id. */
  id: string;
  geometry: {
    type: 'Point';
    /** Longitude, then latitude. */
    coordinates: [number, number];
  };
  /** The event without lat and lng. */
  properties: Omit<FoundEvent, 'lat' | 'lng'>;
}

export interface EventFeatureCollection {
  type: 'FeatureCollection';
  /** Ordered by start_at, then event_id. */
  features: EventFeature[];
  /** Features in this response. */
  count: number;
  /** Matching events on all pages; exact. */
  total: number;
  /** Pass it as cursor to get the next page; null on the last page. */
  next_cursor: string | null;
}

export interface LinkedEvent {
  '@context': 'https://schema.org';
  '@type': 'Event';
  /** `urn:ulid:` and the event_id. */
  '@id': string;
  /** The event_id. */
  identifier: string;
  name: string;
  description?: string;
  /** Local time with its offset. RFC 3339. */
  startDate: string;
  /** RFC 3339. */
  endDate?: string;
  eventAttendanceMode: 'https://schema.org/OfflineEventAttendanceMode';
  eventStatus: 'https://schema.org/EventScheduled' | 'https://schema.org/EventCancelled';
  /** When the event last changed. RFC 3339. */
  dateModified: string;
  location: {
    '@type': 'Place';
    name: string;
    /** The location_name if the event has no address. */
    address: string;
    geo: {
      '@type': 'GeoCoordinates';
      latitude: number;
      longitude: number;
    };
  };
  /** Present only if it is an http or https URL. */
  url?: string;
  offers?: {
    '@type': 'Offer';
    /** The cost, which is free text. */
    description: string;
  };
  audience: {
    '@type': 'Audience';
    audienceType: string;
  };
  /** The event_type. */
  keywords: string;
}

export interface LinkedEvents {
  '@context': 'https://schema.org';
  '@graph': Omit<LinkedEvent, '@context'>[];
}

export interface AgentSummary {
  id: string;
  email: string;
  agent_name: string;
  /** read, readwrite or admin. */
  tier: string;
  is_active: boolean;
  /** RFC 3339. */
  created_at: string;
  /** Time of the last request, accurate to 10 seconds. RFC 3339. */
  last_used_at?: string | null;
  /** Number of its events, including ended ones. */
  event_count: number;
}

export interface ValidationErrorResponse {
  error: {
    code: 'VALIDATION_ERROR';
    message: string;
  };
  /** The failing fields, at most 20. */
  detail: {
    /** `body`, `query`, `path` or `header`, then the field and, in a list, the index. */
    loc: (string | number)[];
    msg: string;
    /** A stable word, such as `missing` or `string_too_long`. */
    type: string;
  }[];
  /** Only if `place` could mean several places, or a small one: those that it could mean. */
  candidates?: PlaceCandidate[];
}

export interface PlaceCandidate {
  /** What to send as place to search around this one. */
  place: string;
  name: string;
  /** State, province or the like; null if unknown. */
  region: string | null;
  /** ISO 3166-1 code. */
  country: string;
  lat: number;
  lng: number;
}

export interface GrantSummary {
  grant_id: string;
  client: {
    /** As the client calls itself. */
    name: string;
    /** Host to which the sign-in returned; null: a program on a computer, or an app. */
    host: string | null;
  };
  /** publish includes read. */
  scopes: ('read' | 'publish')[];
  /** RFC 3339. */
  created_at: string;
  /** Time of the last request, accurate to 10 seconds. RFC 3339. */
  last_used_at: string;
}

export interface GrantsResponse {
  /** The newest first. */
  grants: GrantSummary[];
}

export interface FoundPlace {
  name: string;
  /** State, province or the like; null if unknown. */
  region: string | null;
  /** ISO 3166-1 code. */
  country: string;
  lat: number;
  lng: number;
  /** IANA timezone name. */
  timezone: string;
  /** null if unknown. */
  population: number | null;
}

export interface PlacesResponse {
  /**
   * Places with exactly this name come first; then, if q has no comma, those whose names begin with it.
   * Among each, the largest come first or, with near_lat and near_lng, the nearest.
   */
  places: FoundPlace[];
}

/** Parameters of listOwnEvents. */
export interface ListOwnEventsQuery {
  /** Events per page. 1 to 100; default: 30. */
  limit?: number | undefined;
  /** next_cursor of the previous page; omit it for the first page. */
  cursor?: string | undefined;
  /** true: includes ended events. Default: false. */
  include_ended?: boolean | undefined;
  /**
   * `local` adds start_local and end_local: the times with the offset of the event’s timezone; `status`
   * adds status to scheduled events, too; `updated_at` adds when the event last changed. For json and
   * geojson.
   */
  include?: readonly ('local' | 'status' | 'updated_at')[] | undefined;
}

/** Parameters of searchNearby. */
export interface SearchNearbyQuery {
  /** Latitude of the centre. -90 to 90. */
  lat?: number | undefined;
  /** Longitude of the centre. -180 to 180. */
  lng?: number | undefined;
  /** Miles, inclusive. Without it, events at any distance match. 0.1 to 100. */
  radius?: number | undefined;
  /** Without it, all types match. */
  event_type?: readonly EventType[] | undefined;
  /**
   * Matches exactly: `all`, the default of events, is a value and not a wildcard. Send kids and all for
   * everything that children can go to.
   */
  audience?: readonly Audience[] | undefined;
  /** Inclusive: start_at >= value. Without an offset, it is UTC. RFC 3339. */
  starts_after?: string | undefined;
  /** Exclusive: start_at < value. Without an offset, it is UTC. RFC 3339. */
  starts_before?: string | undefined;
  /** Events per page. 1 to 100; default: 30. */
  limit?: number | undefined;
  /** next_cursor of the previous page; omit it for the first page. */
  cursor?: string | undefined;
  /**
   * `distance` adds distance_miles, the distance from the centre; `local` adds start_local and
   * end_local: the times with the offset of the event’s timezone; `status` adds status to scheduled
   * events, too; `updated_at` adds when the event last changed. For json and geojson.
   */
  include?: readonly ('distance' | 'local' | 'status' | 'updated_at')[] | undefined;
  /**
   * Words that the event must have in its title, description, location_name or address: up to 8 terms,
   * separated by white space; all must match. `jazz*` also matches longer words, `-jazz` only events
   * without the word. Case, accents and punctuation do not matter. No ranking: the order stays the
   * same. 1 to 200 characters.
   */
  q?: string | undefined;
  /**
   * Events that are on at this time or later, also if they began before: their end > value. Without
   * end_at, an event ends 3 hours after its start. Without an offset, it is UTC. RFC 3339.
   */
  active_after?: string | undefined;
  /**
   * Events that are on before this time: start_at < value. With active_after: events that are on at
   * some moment in between. Without an offset, it is UTC. RFC 3339.
   */
  active_before?: string | undefined;
  /**
   * Events that are on at some moment of this period, also if they began before, judged by the clock in
   * the timezone of each event. now: this instant. today and tomorrow: calendar days. tonight: 17:00 to
   * 04:00; before 04:00, the night that is still going on. this_weekend: Saturday and Sunday; on these
   * days the current weekend, otherwise the next. next_7_days: 168 hours from now. Not together with
   * active_after or active_before.
   */
  when?: 'now' | 'today' | 'tonight' | 'tomorrow' | 'this_weekend' | 'next_7_days' | undefined;
  /** Order of the events. distance: the nearest first, also without a radius. Default: start. */
  sort?: 'start' | 'distance' | undefined;
  /** scheduled: leaves out cancelled events; cancelled: only those; any: both. Default: scheduled. */
  status?: 'scheduled' | 'cancelled' | 'any' | undefined;
  /**
   * Name of a town or a district around which to search, instead of lat and lng; in any language, such
   * as Kreuzberg, Berlin. What is behind a comma tells it from others of this name: a region, a
   * country, their codes, or a larger city nearby. Without radius: 10 miles. The header Resolved-Place
   * names the place that was found. If several could be meant, the response is a 422 with candidates. 1
   * to 200 characters.
   */
  place?: string | undefined;
}

/** Parameters of getEvent. */
export interface GetEventQuery {
  /**
   * `local` adds start_local and end_local: the times with the offset of the event’s timezone; `status`
   * adds status to scheduled events, too; `updated_at` adds when the event last changed. For json and
   * geojson.
   */
  include?: readonly ('local' | 'status' | 'updated_at')[] | undefined;
}

/** Parameters of findPlaces. */
export interface FindPlacesQuery {
  /**
   * A name or its beginning, in any language. What is behind a comma tells it from others: a region, a
   * country, their codes, or a larger city nearby. 1 to 200 characters.
   */
  q: string;
  /** Only places of this country: an ISO 3166-1 code of two letters, such as US. 2 to 2 characters. */
  country?: string | undefined;
  /** Latitude of a point: the nearest places come first, instead of the largest. -90 to 90. */
  near_lat?: number | undefined;
  /** Longitude of that point. -180 to 180. */
  near_lng?: number | undefined;
  /** Maximum number of places. 1 to 50; default: 10. */
  limit?: number | undefined;
}

/** What searchNearby returns, by format. */
export interface SearchNearbyFormats {
  json: EventsNearbyResponse;
  geojson: EventFeatureCollection;
  ics: string;
  jsonld: LinkedEvents;
}

/** What getEvent returns, by format. */
export interface GetEventFormats {
  json: ReadEvent;
  geojson: EventFeature;
  ics: string;
  jsonld: LinkedEvent;
}

/** Error codes of the service, and their statuses. */
export interface ErrorStatuses {
  /** The request is not valid HTTP. */
  BAD_REQUEST: 400;
  /** The X-API-Key header is absent or empty. */
  MISSING_API_KEY: 401;
  /** The key matches no active key: mistyped, replaced, revoked or deactivated. */
  INVALID_API_KEY: 401;
  /** The request has no bearer token, and no console session that is valid for it. */
  MISSING_TOKEN: 401;
  /** The bearer token is forged, expired or issued for another service, or the session has ended. */
  INVALID_TOKEN: 401;
  /** The tier of the key does not permit the operation. */
  INSUFFICIENT_TIER: 403;
  /** The access token may only read: the person allowed no more (only at /mcp/connect). */
  INSUFFICIENT_SCOPE: 403;
  /**
   * The agent already has its maximum number of events, this one exceeds their maximum total size, or
   * memory for words is nearly full and the agent uses much of it.
   */
  EVENT_LIMIT_REACHED: 403;
  /** The token or session is valid, but its holder is not an administrator. */
  NOT_AN_ADMIN: 403;
  /** Pages of this origin may not call this URL, or the host name is not known to be this service. */
  ORIGIN_NOT_ALLOWED: 403;
  /** No such route, event, agent or audit entry, or (PATCH, DELETE) the event is not yours. */
  NOT_FOUND: 404;
  /** The path does not support this method; Allow lists the methods that it supports. */
  METHOD_NOT_ALLOWED: 405;
  /** The request did not arrive completely in time. */
  REQUEST_TIMEOUT: 408;
  /** The change would give two of your events the same title, start and place. */
  DUPLICATE_EVENT: 409;
  /** What this entry of the audit log deleted was not kept, or is no longer kept. */
  NOT_RESTORABLE: 409;
  /** The event changed since the version named in If-Match. */
  PRECONDITION_FAILED: 412;
  /**
   * The body is larger than 16 KiB (1 MiB for an event or an MCP message, 256 KiB for a list of events
   * to delete), or has more than 2000 JSON values.
   */
  PAYLOAD_TOO_LARGE: 413;
  /** The URL of the request is longer than 8 KiB. */
  URI_TOO_LONG: 414;
  /** The body is not application/json, or is compressed. */
  UNSUPPORTED_MEDIA_TYPE: 415;
  /** Body, query or path fails validation; detail lists the reasons, at most 20. */
  VALIDATION_ERROR: 422;
  /** The client has used up a quota or a limit that its message names; Retry-After says when to retry. */
  RATE_LIMITED: 429;
  /** The headers of the request are larger than 16 KiB. */
  HEADERS_TOO_LARGE: 431;
  /** An internal error of the service; the log has its cause under the request ID. */
  INTERNAL_ERROR: 500;
  /** The service works, but has more to do than it can do in time; Retry-After says when to retry. */
  OVERLOADED: 503;
  /** The service is starting, or its store or identity provider does not respond. */
  UNAVAILABLE: 503;
}
