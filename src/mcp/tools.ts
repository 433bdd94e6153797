// The tools: a description for models, and the use case behind each. The rules are the same as over HTTP.
import type { TObject } from 'typebox';
import { readTogether, refuse } from '../domain/errors.ts';
import { CLEARABLE_FIELDS, type EventUpdate, endsMs, parseEvent } from '../domain/events/event.ts';
import { readEventCreate, readEventUpdate } from '../domain/events/event-input.ts';
import { countFitting } from '../domain/events/event-page.ts';
import { addLocalTimes } from '../domain/events/include.ts';
import {
  addDistances,
  type NearbyQuery,
  nextCursor,
  type PlaceSearch,
  readNearby,
  readPlaceSearch,
} from '../domain/events/nearby.ts';
import { otherTimezoneOf, TIMEZONE_MISMATCH } from '../domain/events/place-timezone.ts';
import { encodeOwnCursor, readOwnEvents } from '../domain/own-agent.ts';
import { readPlaces } from '../domain/places.ts';
import { compile } from '../domain/shape.ts';
import type { Searcher } from '../domain/store.ts';
import type { Wire } from '../domain/wire.ts';
import type { AgentCaller } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import { createEvent, deleteEvent, findNearby, getEvent, updateEvent } from '../usecases/events.ts';
import { findOwnEvents, getOwnLimits } from '../usecases/own-agent.ts';
import { findPlaces, locate } from '../usecases/places.ts';
import type { Network } from '../usecases/stored-bytes.ts';
import type { ArgumentRules, Arguments } from './schemas.ts';
import * as schemas from './schemas.ts';
import {
  type EventShown,
  type PageWords,
  showAgent,
  showEvent,
  showPage,
  showPlaces,
  UNTRUSTED,
} from './text.ts';

/** `Caller`: who may call it. A tool that needs no agent takes undefined, too. */
export interface Tool<Input = unknown, Caller = AgentCaller> extends ArgumentRules<Input> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly output: TObject;
  /**
   * readOnly: changes nothing, and is allowed for every tier. destructive: may overwrite or delete. idempotent: repeating the
   * call changes nothing more. openWorld: reads text of other people, or publishes text to them.
   */
  readonly hints: readonly [readOnly: boolean, destructive: boolean, idempotent: boolean, openWorld: boolean];
  /** Throws the errors of the use case. A property, so that TypeScript checks the type of the caller. */
  readonly run: (
    context: Context,
    caller: Caller,
    input: Input,
    network: Network,
    searcher: Searcher,
  ) => Promise<ToolOutput>;
}

/** A tool that needs no agent. */
export type PublicTool<Input = unknown> = Tool<Input, AgentCaller | undefined>;

/** Lets TypeScript infer the type of the input. */
function tool<Input>(definition: Tool<Input>): Tool {
  return definition as unknown as Tool;
}

function publicTool<Input>(definition: PublicTool<Input>): PublicTool {
  return definition as unknown as PublicTool;
}

interface ToolOutput {
  readonly structured: object;
  readonly text: string;
}

/**
 * Bytes of JSON on a page: several times the size of a hundred average events. A model cannot use megabytes of text, and
 * encoding it blocks other requests.
 */
const MAX_PAGE_BYTES = 262_144;

const EVENT_TIMES =
  'Times are RFC 3339 with an offset or Z; without one, they are local time in `timezone`. end_at must be in the future and not before start_at; without it, the event counts as ended 3 hours after its start.';

const PUBLISHED_BEFORE =
  'You published this event before. It is unchanged, even if you sent other values now: use update_event to change it.';

const IS_CANCELLED = 'It is cancelled, so searches leave it out unless they ask for it.';

const otherTimezone = (timezone: string, there: string) =>
  `Warning (${TIMEZONE_MISMATCH}): when it starts, the clocks at lat, lng show the time of ${there}, not of ${timezone}. Check timezone, and that lat and lng are not swapped; correct them with update_event.`;

const HAS_ENDED = 'It has already ended, so searches do not find it.';

/** The tools of whoever reads without a key. */
export const PUBLIC_TOOLS: readonly PublicTool[] = [
  publicTool({
    name: 'search_events',
    title: 'Search events near a place',
    description: `Find in-person events near a place: what is on, when and where. Use it whenever somebody asks what to do, where to go or what happens around a town, an address or a date.
If you have the name of a town or a district, send it as place, and where it is behind a comma: "Kreuzberg, Berlin", "Springfield, IL". Do not guess coordinates. The result names the place that was found: check it. If a name could mean several places, the error lists what to send instead; if that does not tell, ask. Send lat and lng, not place, only if you know exact coordinates, such as those of an address.
radius is in miles; without it, a search with place finds events within 10 miles, and one with lat and lng at any distance, so set it for "near". For "now", "today", "tonight", "tomorrow", "this weekend" or "the next days" set when: it uses the local clock of each event and also finds what has already begun, such as exhibitions. For any other period set active_after and active_before. Set starts_after (inclusive) and starts_before (exclusive) only for events that begin in a period. These four are UTC unless they have an offset: use the offset of the place. q finds words, such as "jazz" or "jazz*": use it for a topic that no event_type has, and try other words or other languages if it finds nothing. Events that have ended are never found; cancelled ones only with status "any" or "cancelled", and then say so. Events are ordered by start; set sort to "distance" for the nearest first. A page has 30 events, or as many as limit (1 to 100) says, and fewer if they are very long. total counts all matching events. The result shows each event in its local time, with its distance from the point; get_event returns more about one. If there are more pages, call again with the cursor from the result.
Example: {"place": "Kreuzberg, Berlin", "radius": 3, "event_type": ["workshop", "talk"], "when": "this_weekend", "sort": "distance", "limit": 10}
${UNTRUSTED}`,
    input: schemas.SearchInput,
    output: schemas.SearchOutput,
    hints: [true, false, true, true],
    read: readSearch,
    run: async (context, _caller, search, _network, searcher) => {
      const located = 'around' in search ? await locate(context, search, 'arguments') : undefined;
      const query = { ...(located ? located.query : (search as NearbyQuery)), details: true };
      const { events, details, total, next } = await findNearby(context, query, searcher);
      const count = countFitting(events, MAX_PAGE_BYTES);
      const after = count < events.length ? details[count - 1] : next;
      return pageOf(
        addDistances(events.slice(0, count), details, query),
        total,
        after && nextCursor(query, after),
        {
          found: 'matching events',
          order: query.sort === 'distance' ? 'the nearest first' : 'ordered by start',
          ifNone:
            'Try a larger radius (up to 100 miles, or none for any distance), a longer time range or fewer filters.',
        },
        located && { place: located.place, radiusMiles: query.radiusMiles! },
      );
    },
  }),
  publicTool({
    name: 'get_event',
    title: 'Read one event',
    description: `Read all fields of one event, by its event_id. Use it for details of an event that a search found, or to check whether an event still exists. Events of all agents can be read, including ended ones.
Example: {"event_id": "01JZ9GX4T0QW3N1V8R5Y7K2MHD"}
${UNTRUSTED}`,
    input: schemas.EventIdInput,
    output: schemas.EventOutput,
    hints: [true, false, true, true],
    read: readEventId,
    run: async (context, _caller, eventId) => eventOf((await getEvent(context, eventId)).json, 'Found.'),
  }),
  publicTool({
    name: 'find_places',
    title: 'Find places by name',
    description: `Find towns and districts by name, in any language, with coordinates, timezone and population. Use it for the lat, lng and timezone of an event to publish, or to find out which places have a name. To search for events around a place, send its name to search_events instead. q is the name or its beginning, and where the place is behind a comma: a region, a country, their codes, or a larger city nearby. Places with exactly this name come first; among them the largest or, with near_lat and near_lng, the nearest. It knows no streets, venues or addresses. Place names: GeoNames, CC BY 4.0.
Example: {"q": "Springfield, IL"}`,
    input: schemas.PlacesInput,
    output: schemas.PlacesOutput,
    hints: [true, false, true, false],
    read: (args) => readPlaces(args, 'arguments'),
    run: async (context, _caller, query) => {
      const places = await findPlaces(context, query);
      return { structured: { places }, text: showPlaces(places) };
    },
  }),
];

export const TOOLS: readonly Tool[] = [
  ...PUBLIC_TOOLS,
  tool({
    name: 'create_event',
    title: 'Publish an event',
    description: `Publish an in-person event that everybody can find. Use it only when you are asked to announce or add one; ask for details that you do not know instead of guessing. Needs a key with the readwrite tier. It is safe to retry: if you already published an event with the same title, start_at, lat and lng, the response is that event, unchanged.
${EVENT_TIMES} audience is "all" by default. cost is free text.
Example: {"title": "Lantern workshop", "event_type": "workshop", "start_at": "2031-05-01T18:00:00", "end_at": "2031-05-01T20:00:00", "timezone": "Europe/Berlin", "location_name": "Kulturhaus Mitte", "lat": 52.5264, "lng": 13.3955, "cost": "5 EUR"}`,
    input: schemas.CreateInput,
    output: schemas.EventOutput,
    hints: [false, false, true, true],
    read: readEventCreate,
    run: async (context, { agent }, fields, network) => {
      const { kind, record } = await createEvent(context, agent, network, fields);
      return eventOf(record.json, kind === 'created' ? 'Published.' : PUBLISHED_BEFORE, context.clock());
    },
  }),
  tool({
    name: 'update_event',
    title: 'Change an event of yours',
    description: `Change an event that you published. Only the fields that you send are changed. Use it to correct or move an event, or to call it off ("status": "cancelled"; "scheduled" puts it on again); list_my_events lists yours. Needs a key with the readwrite tier; events of other agents cannot be changed. To remove ${CLEARABLE_FIELDS.replace(' and ', ' or ')}, name it in clear.
${EVENT_TIMES}
Example: {"event_id": "01JZ9GX4T0QW3N1V8R5Y7K2MHD", "start_at": "2031-05-01T19:00:00", "clear": ["cost"]}`,
    input: schemas.UpdateInput,
    output: schemas.EventOutput,
    hints: [false, true, true, true],
    nullClears: true,
    read: (args, nowMs) => ({ eventId: readEventId(args), update: readUpdate(args, nowMs) }),
    run: async (context, { agent }, { eventId, update }, network) => {
      const { json } = await updateEvent(context, agent, network, eventId, update);
      const isChange = Object.keys(update).length > 0;
      return eventOf(
        json,
        isChange ? 'Changed.' : 'Unchanged: no field to change was given.',
        context.clock(),
      );
    },
  }),
  tool({
    name: 'delete_event',
    title: 'Delete an event of yours',
    description: `Delete an event that you published, permanently. Use it only when you are asked to, and be sure of the event_id: this cannot be undone. If an event is called off, do not delete it: use update_event with "status": "cancelled", so that people who look for it learn that it does not take place. To move an event, use update_event, too. Needs a key with the readwrite tier; events of other agents cannot be deleted.
Example: {"event_id": "01JZ9GX4T0QW3N1V8R5Y7K2MHD"}`,
    input: schemas.EventIdInput,
    output: schemas.DeletedOutput,
    hints: [false, true, true, false],
    read: readEventId,
    run: async (context, { agent }, eventId) => {
      await deleteEvent(context, agent, eventId);
      return { structured: { event_id: eventId, deleted: true }, text: `Deleted the event ${eventId}.` };
    },
  }),
  tool({
    name: 'list_my_events',
    title: 'List your events',
    description: `List the events that you (the agent with this key) published, ordered by start. Use it to find the event_id of an event to change or delete, or to check what you have already published before you publish more. Events that have ended are left out unless include_ended is true. A page has 30 events, or as many as limit (1 to 100) says, and fewer if they are very long. If there are more pages, call again with the cursor from the result.
Example: {"include_ended": true, "limit": 10}
${UNTRUSTED}`,
    input: schemas.OwnEventsInput,
    output: schemas.OwnEventsOutput,
    hints: [true, false, true, false],
    read: (args) => readOwnEvents(args, 'arguments'),
    run: async (context, { agent }, query) => {
      const { items, total, next } = await findOwnEvents(context, agent, query);
      const events = items.map(({ json }) => json);
      const count = countFitting(events, MAX_PAGE_BYTES);
      const after = count < items.length ? items[count - 1]!.position : next;
      return pageOf(events.slice(0, count), total, after && encodeOwnCursor(after), {
        found: 'events of yours',
        order: 'ordered by start',
        ifNone:
          query.when === 'all'
            ? 'Use create_event to publish one.'
            : 'To include events that have ended, set "include_ended": true.',
      });
    },
  }),
  tool({
    name: 'get_my_agent',
    title: 'See your quota, limits and tier',
    description: `Show what you (the agent with this key) may do here: your tier, how many tool calls and requests are left this hour and when the quota is renewed, and how many events and bytes you have stored of those that you may. Use it if a call is refused with INSUFFICIENT_TIER or EVENT_LIMIT_REACHED, and before you publish or search a lot.
Example: {}`,
    input: schemas.NoInput,
    output: schemas.AgentOutput,
    hints: [true, false, true, false],
    read: () => undefined,
    run: async (context, caller) => {
      const structured = await getOwnLimits(context, caller);
      return { structured, text: showAgent(structured, context.clock()) };
    },
  }),
];

/** `around`: the place that was looked up for the search, if one was. */
function pageOf(
  wires: readonly Wire[],
  total: number,
  cursor: string | undefined,
  words: PageWords,
  around?: { readonly place: string; readonly radiusMiles: number },
): ToolOutput {
  const events = wires.map(toShown);
  const page = { events, count: events.length, total, next_cursor: cursor ?? null };
  const text = showPage(page, words);
  if (!around) return { structured: page, text };
  const { place, radiusMiles } = around;
  return {
    structured: { ...page, resolved_place: place },
    text: `Within ${radiusMiles} miles of ${place}:\n${text}`,
  };
}

/** A model that sends neither a place nor coordinates is told of both ways. */
function readSearch(args: Arguments): NearbyQuery | PlaceSearch {
  if (args.place !== undefined) return readPlaceSearch(args, 'arguments');
  const isMissing = args.lat === undefined && args.lng === undefined;
  const msg = 'is required, or lat and lng instead';
  const issue = { loc: ['arguments', 'place'], msg, type: 'missing' };
  const [, query] = readTogether(
    () => refuse(isMissing ? [issue] : []),
    () => readNearby(isMissing ? { ...args, lat: 0, lng: 0 } : args, 'arguments'),
  );
  return query;
}

/**
 * The text says if searches do not find the event: because it is cancelled or, with `nowMs`, because it has ended by then. With `nowMs`
 * it also says if the event's timezone does not fit its place.
 */
function eventOf(wire: Wire, outcome: string, nowMs = Number.NEGATIVE_INFINITY): ToolOutput {
  const event = toShown(wire);
  const start_ms = Date.parse(event.start_at);
  const hasEnded = endsMs({ start_ms, end_ms: event.end_at ? Date.parse(event.end_at) : null }) <= nowMs;
  const there = nowMs > Number.NEGATIVE_INFINITY ? otherTimezoneOf(event) : undefined;
  const notes = [
    outcome,
    hasEnded ? HAS_ENDED : '',
    event.status === 'cancelled' ? IS_CANCELLED : '',
    there === undefined ? '' : otherTimezone(event.timezone, there),
  ];
  return { structured: event, text: showEvent(event, notes.filter((note) => note !== '').join(' ')) };
}

const checkClear = compile(schemas.ClearInput);

/** A field that is both changed and cleared is changed. Throws VALIDATION_ERROR. */
function readUpdate(args: Arguments, nowMs: number): EventUpdate {
  const { value, issues } = checkClear(args, 'arguments');
  const cleared = Object.fromEntries((value.clear ?? []).map((name) => [name, null]));
  const [, update] = readTogether(
    () => refuse(issues),
    () => readEventUpdate({ ...cleared, ...args }, nowMs),
  );
  return update;
}

/** The event with its local times. */
function toShown(wire: Wire): EventShown {
  return parseEvent(addLocalTimes(wire)) as EventShown;
}

/** argumentReader has checked that it is a string. */
function readEventId({ event_id }: Arguments): string {
  return event_id as string;
}
