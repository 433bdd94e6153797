// The client: one method per operation that agents may call, named as its operationId, and a few that combine them.
import type { LocalEventsError } from './error.ts';
import { type CallOptions, headersOf, type Send, type Settings, segment, sender } from './request.ts';
import type {
  Event,
  EventCreate,
  EventsNearbyResponse,
  EventUpdate,
  FindPlacesQuery,
  GetEventFormats,
  GetEventQuery,
  GrantsResponse,
  ListOwnEventsQuery,
  OwnAgentResponse,
  OwnEventsResponse,
  PlacesResponse,
  ReadEvent,
  RegisterRequest,
  RegisterResponse,
  RotateRequest,
  SearchNearbyFormats,
  SearchNearbyQuery,
} from './types.ts';

export { type ErrorCode, LocalEventsError } from './error.ts';
export { type CallOptions, headersOf, type Settings } from './request.ts';
export type * from './types.ts';

/** An ETag, or an event that this client read or wrote. */
export type Version = string | Event;

/** A change only if the event still has this version. */
export interface ChangeOptions extends CallOptions {
  readonly ifMatch?: Version | undefined;
}

/** Attempts of editEvent: with this many edits at the same time, each is made. */
const MAX_EDITS = 10;

/**
 * A client for one service and one key. Every method rejects with LocalEventsError. What is safe to repeat is repeated after a
 * failure, and whatever was refused by a limit after the time that the service names.
 */
export class LocalEvents {
  readonly #send: Send;

  /** Throws TypeError if the settings cannot work. */
  constructor(settings: Settings) {
    this.#send = sender(settings);
  }

  /** Registers an agent. Its key is only in this response. Not repeated after a failure: that might register two agents. */
  register(body: RegisterRequest, options?: CallOptions): Promise<RegisterResponse> {
    return this.#send('POST', '/v1/auth/register', options, { body, hasNoKey: true, isRepeatable: false });
  }

  /** Replaces the key of this client by a new one, which is only in this response. Make a new client with it. */
  rotateKey(body: RotateRequest = {}, options?: CallOptions): Promise<RegisterResponse> {
    // Without an overlap, the key of a repeated request would be refused.
    return this.#send('POST', '/v1/auth/rotate', options, { body, isRepeatable: body.overlap_seconds !== 0 });
  }

  /** Ends the key of this client. */
  revokeKey(options?: CallOptions): Promise<void> {
    return this.#send('POST', '/v1/auth/revoke', options, { doneCode: 'INVALID_API_KEY' });
  }

  /** Your own agent, key and quota. */
  getOwnAgent(options?: CallOptions): Promise<OwnAgentResponse> {
    return this.#send('GET', '/v1/agents/me', options);
  }

  /** A page of your own events, by start. */
  listOwnEvents(query?: ListOwnEventsQuery, options?: CallOptions): Promise<OwnEventsResponse> {
    return this.#send('GET', '/v1/agents/me/events', options, { query });
  }

  /** The clients that may act for you, because a person has signed in with your key. */
  listOwnGrants(options?: CallOptions): Promise<GrantsResponse> {
    return this.#send('GET', '/v1/agents/me/grants', options);
  }

  /** Ends all grants. */
  endOwnGrants(options?: CallOptions): Promise<void> {
    return this.#send('DELETE', '/v1/agents/me/grants', options);
  }

  /** Ends a grant. */
  async endOwnGrant(grantId: string, options?: CallOptions): Promise<void> {
    const path = `/v1/agents/me/grants/${segment(grantId)}`;
    return this.#send('DELETE', path, options, { doneCode: 'NOT_FOUND' });
  }

  /** A page of events near `lat` and `lng`, or near a `place` by name; by start or distance. `format: 'ics'` returns text. */
  searchNearby<Format extends keyof SearchNearbyFormats = 'json'>(
    query: SearchNearbyQuery & { format?: Format | undefined },
    options?: CallOptions,
  ): Promise<SearchNearbyFormats[Format]> {
    return this.#send('GET', '/v1/events/nearby', options, { query });
  }

  /** Places with this name, and then those whose names begin with it. */
  findPlaces(query: FindPlacesQuery, options?: CallOptions): Promise<PlacesResponse> {
    return this.#send('GET', '/v1/places', options, { query });
  }

  /** Creates an event. If you already have one with this title, start and place, that one is returned, unchanged. */
  createEvent(body: EventCreate, options?: CallOptions): Promise<Event> {
    return this.#send('POST', '/v1/events', options, { body });
  }

  /** Any event of any agent. With `ifNoneMatch`: undefined if the event still has that version. */
  getEvent<Format extends keyof GetEventFormats = 'json'>(
    eventId: string,
    query: (GetEventQuery & { format?: Format | undefined }) | undefined,
    options: CallOptions & { readonly ifNoneMatch: Version },
  ): Promise<GetEventFormats[Format] | undefined>;
  getEvent<Format extends keyof GetEventFormats = 'json'>(
    eventId: string,
    query?: GetEventQuery & { format?: Format | undefined },
    options?: CallOptions,
  ): Promise<GetEventFormats[Format]>;
  async getEvent(
    eventId: string,
    query?: GetEventQuery,
    options?: CallOptions & { readonly ifNoneMatch?: Version },
  ): Promise<unknown> {
    const headers = { 'if-none-match': etagOf(options?.ifNoneMatch) };
    return this.#send('GET', `/v1/events/${segment(eventId)}`, options, { query, headers });
  }

  /**
   * Changes the named fields of your own event; null clears a field. Repeated after a failure only with `ifMatch`: without it, or with `*`, a
   * repetition could undo what others changed meanwhile. If the response was lost and the repetition is a PRECONDITION_FAILED, that
   * failure is its `cause`: the change that it met may be this one.
   */
  async updateEvent(eventId: string, body: EventUpdate, options?: ChangeOptions): Promise<Event> {
    const ifMatch = etagOf(options?.ifMatch);
    const isRepeatable = ifMatch !== undefined && ifMatch.trim() !== '*';
    const call = { body, headers: { 'if-match': ifMatch }, isRepeatable };
    return this.#send('PATCH', `/v1/events/${segment(eventId)}`, options, call);
  }

  /** Deletes your own event. */
  async deleteEvent(eventId: string, options?: ChangeOptions): Promise<void> {
    const call = { headers: { 'if-match': etagOf(options?.ifMatch) }, doneCode: 'NOT_FOUND' };
    return this.#send('DELETE', `/v1/events/${segment(eventId)}`, options, call);
  }

  /** All pages of a search, from `cursor` on if the query has one. */
  searchPages(
    query: SearchNearbyQuery,
    options?: CallOptions,
  ): AsyncGenerator<EventsNearbyResponse, void, undefined> {
    return pagesOf(query, (each) => this.searchNearby(each, options));
  }

  /** All pages of your own events. */
  listOwnPages(
    query: ListOwnEventsQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<OwnEventsResponse, void, undefined> {
    return pagesOf(query, (each) => this.listOwnEvents(each, options));
  }

  /**
   * Reads your own event, asks `change` what to change, and changes that, unless others changed the event meanwhile: then it begins
   * again. So `change` may be called several times. Undefined: nothing is to be changed. Returns the event as it is then.
   */
  async editEvent(
    eventId: string,
    change: (event: ReadEvent) => EventUpdate | undefined | Promise<EventUpdate | undefined>,
    options?: CallOptions,
  ): Promise<Event> {
    for (let edits = 1; ; edits++) {
      const event = await this.getEvent(eventId, {}, options);
      const body = await change(event);
      if (!body) return event;
      try {
        return await this.updateEvent(eventId, body, { ...options, ifMatch: event });
      } catch (error) {
        const { code, cause } = error as LocalEventsError;
        if (code !== 'PRECONDITION_FAILED' || edits === MAX_EDITS) throw error;
        if (!cause) continue;
        // A response was lost. Was it the one to this change?
        const now = await this.getEvent(eventId, {}, options);
        if (has(now, body)) return now;
        throw error;
      }
    }
  }
}

async function* pagesOf<
  Query extends { cursor?: string | undefined },
  Page extends { next_cursor: string | null },
>(query: Query, read: (query: Query) => Promise<Page>): AsyncGenerator<Page, void, undefined> {
  for (let { cursor } = query; ; ) {
    const page = await read({ ...query, cursor });
    yield page;
    if (!page.next_cursor) return;
    cursor = page.next_cursor;
  }
}

/** Throws TypeError if the event has none: a condition must not be dropped silently. */
function etagOf(version: Version | undefined): string | undefined {
  if (typeof version !== 'object') return version;
  const etag = headersOf(version).get('etag');
  if (etag === null) throw new TypeError('This event has no ETag. Read it with getEvent.');
  return etag;
}

function has(event: Event, body: EventUpdate): boolean {
  const values: Record<string, unknown> = { ...event };
  return Object.entries(body).every(
    ([name, value]) => value === undefined || (values[name] ?? null) === value,
  );
}
