// Measures the index alone, in a separate process with --expose-gc: microseconds per search, bytes per event, growth of
// `city` with the number of events for equal totals, and the first search after a quiet day.
import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIENCES, type Audience, EVENT_TYPES, type EventType, endsMs } from '../src/domain/events/event.ts';
import { readNearby } from '../src/domain/events/nearby.ts';
import { Zones } from '../src/memory/zones.ts';
import { EventIndex } from '../src/spatial/event-index.ts';
import type { IndexQuery } from '../src/spatial/index-entry.ts';
import { TagSet, tagOf } from '../src/spatial/tags.ts';
import { Chance } from '../test/support/random.ts';
import {
  NEW_SEARCHES,
  SEARCHES,
  type SearchName,
  type SearchParameters,
  searchCities,
  searchParameters,
} from './cases.ts';
import { DAY_MS, makeFacts, SEED, timezoneOf } from './events.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface IndexInput {
  readonly events: number;
  /** Total that `city` must find for each city; the radius is chosen accordingly. */
  readonly totals?: readonly number[];
}

export interface IndexOutput {
  readonly microseconds: Record<SearchName, number>;
  readonly meanTotals: Record<SearchName, number>;
  readonly bytesPerEvent: number;
  readonly cityTotals: readonly number[];
  /** Microseconds of `city` with radiuses that find `totals`. */
  readonly cityAtTotals: number | undefined;
  /** Milliseconds of the first search after a day without searches: it retires the events that ended meanwhile. */
  readonly afterQuietDay: Spread;
}

const PASSES = 9;
/** Minimum time of a pass. CPU time is counted in ticks, 4 ms on many machines, so a pass must span many of them. */
const PASS_MS = 200;
const QUIET_DAYS = 9;
const input = JSON.parse(process.argv[2]!) as IndexInput;
const nowMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const cities = searchCities();
const zones = new Zones();

async function build(): Promise<{ index: EventIndex; bytesPerEvent: number }> {
  const before = await usedBytes();
  const index = new EventIndex();
  const loader = index.loader(input.events);
  for (const facts of makeFacts(input.events, nowMs)) {
    const tag = tagOf(facts.event_type, facts.audience);
    const { event_id: id, start_ms: startMs, lat, lng } = facts;
    const zone = zones.numberOf(timezoneOf(facts.city, 'lively'));
    const rest = { version: 1, row: 1, isCancelled: false, updatedMs: facts.created_ms, zone };
    loader.add({ id, startMs, endsMs: endsMs(facts), lat, lng, tag, ...rest });
  }
  for (const _ of loader.finish());
  return { index, bytesPerEvent: ((await usedBytes()) - before) / input.events };
}

/** Collects garbage and waits, because array buffers are freed in the background some time later. */
async function usedBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    globalThis.gc!();
    await sleep(100);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function toIndexQuery(parameters: SearchParameters): IndexQuery {
  const { lat, lng, radius, event_type, audience, starts_after, starts_before } = parameters;
  const types = (event_type ?? EVENT_TYPES) as readonly EventType[];
  const audiences = (audience ?? AUDIENCES) as readonly Audience[];
  const tags = types.flatMap((type) => audiences.map((name) => tagOf(type, name)));
  return {
    lat,
    lng,
    radiusMiles: radius,
    status: 'scheduled',
    tags: event_type || audience ? new TagSet(tags) : undefined,
    startsFromMs: starts_after ? Date.parse(starts_after) : Number.NEGATIVE_INFINITY,
    startsBeforeMs: starts_before ? Date.parse(starts_before) : Number.POSITIVE_INFINITY,
    active: zones.windowsOf(readNearby(parameters, 'query'), nowMs),
    sort: parameters.sort ?? 'start',
    after: undefined,
    limit: 30,
  };
}

/** Mean over all queries in the median pass. Measures CPU time of this thread, because other processes share the machine. */
function time(index: EventIndex, queries: readonly IndexQuery[]): number {
  const searchAll = () => {
    for (const query of queries) index.search(query, nowMs);
  };
  searchAll(); // warm-up for the JIT compiler
  const startedMs = performance.now();
  searchAll();
  const turns = Math.ceil(PASS_MS / (performance.now() - startedMs));
  const passes = Array.from({ length: PASSES }, () => {
    const before = process.threadCpuUsage();
    for (let turn = 0; turn < turns; turn++) searchAll();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / (turns * queries.length);
  });
  return median(passes);
}

/** Finds, by bisection, the radius with about this total. */
function radiusFor(index: EventIndex, query: IndexQuery, total: number): number {
  let low = 0;
  let high = 100;
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    if (index.search({ ...query, radiusMiles: middle }, nowMs).total < total) low = middle;
    else high = middle;
  }
  return high;
}

const { index, bytesPerEvent } = await build();
const microseconds: Partial<Record<SearchName, number>> = {};
const meanTotals: Partial<Record<SearchName, number>> = {};
let cityTotals: number[] = [];
let cityAtTotals: number | undefined;
const chance = new Chance(SEED + 4);
for (const name of [...SEARCHES, ...NEW_SEARCHES]) {
  const queries = cities.map((city) =>
    toIndexQuery(searchParameters(name, city, chance, nowMs + 30 * DAY_MS)),
  );
  const totals = queries.map((query) => index.search(query, nowMs).total);
  meanTotals[name] = totals.reduce((sum, total) => sum + total, 0) / totals.length;
  microseconds[name] = time(index, queries);
  if (name !== 'city') continue;
  cityTotals = totals;
  const { totals: targetTotals } = input;
  if (targetTotals) {
    const equal = queries.map((query, at) => ({
      ...query,
      radiusMiles: radiusFor(index, query, targetTotals[at]!),
    }));
    cityAtTotals = time(index, equal);
  }
}
// Last, because it removes events from the search structures.
const quietDays = Array.from({ length: QUIET_DAYS }, (_, day) => {
  const startedMs = performance.now();
  index.search(toIndexQuery({ lat: 0, lng: 0, radius: 1 }), nowMs + (day + 2) * DAY_MS);
  return performance.now() - startedMs;
});
const afterQuietDay = spread(quietDays);
console.log(
  JSON.stringify({ microseconds, meanTotals, bytesPerEvent, cityTotals, cityAtTotals, afterQuietDay }),
);
