// The index alone, in a process of its own: microseconds per search, bytes per event, and how `city` grows with the number
// of events where it finds equally many. Started with --expose-gc.
import { AUDIENCES, EVENT_TYPES, endsMs } from '../src/domain/event.ts';
import { EventIndex, type IndexQuery } from '../src/spatial/event-index.ts';
import { TagSet } from '../src/spatial/tags.ts';
import { Chance } from '../test/support/random.ts';
import { SEARCHES, type SearchName, type SearchParameters, searchCities, searchParameters } from './cases.ts';
import { DAY_MS, makeFacts, SEED } from './events.ts';

export interface IndexInput {
  readonly events: number;
  /** For each of the cities, how many events `city` has to find, at whatever radius that takes. */
  readonly totals?: readonly number[];
}

export interface IndexOutput {
  readonly microseconds: Record<SearchName, number>;
  readonly meanTotals: Record<SearchName, number>;
  readonly bytesPerEvent: number;
  readonly cityTotals: readonly number[];
  /** Microseconds of `city` with the radius that finds `totals`. */
  readonly cityAtTotals: number | undefined;
}

const PASSES = 9;
const input = JSON.parse(process.argv[2]!) as IndexInput;
const nowMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const cities = searchCities();

function build(): { index: EventIndex; bytesPerEvent: number } {
  const before = usedBytes();
  const index = new EventIndex();
  const loader = index.loader(input.events);
  for (const facts of makeFacts(input.events, nowMs)) {
    const tag = EVENT_TYPES.indexOf(facts.event_type) * AUDIENCES.length + AUDIENCES.indexOf(facts.audience);
    const { event_id: id, start_ms: startMs, lat, lng } = facts;
    loader.add({ id, version: 1, row: 1, startMs, endsMs: endsMs(facts), lat, lng, tag });
  }
  for (const _ of loader.finish());
  return { index, bytesPerEvent: (usedBytes() - before) / input.events };
}

function usedBytes(): number {
  globalThis.gc!();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function toIndexQuery(parameters: SearchParameters): IndexQuery {
  const { lat, lng, radius, event_type, audience, starts_after, starts_before } = parameters;
  const types = (event_type ?? EVENT_TYPES).map((type) => (EVENT_TYPES as readonly string[]).indexOf(type));
  const audiences = (audience ?? AUDIENCES).map((name) => (AUDIENCES as readonly string[]).indexOf(name));
  const tags = types.flatMap((type) => audiences.map((name) => type * AUDIENCES.length + name));
  return {
    lat,
    lng,
    radiusMiles: radius,
    tags: event_type || audience ? new TagSet(tags) : undefined,
    startsFromMs: starts_after ? Date.parse(starts_after) : Number.NEGATIVE_INFINITY,
    startsBeforeMs: starts_before ? Date.parse(starts_before) : Number.POSITIVE_INFINITY,
    after: undefined,
    limit: 30,
  };
}

/** The mean over all queries in the median pass, in CPU time of this thread: others may use the machine too. */
function time(index: EventIndex, queries: readonly IndexQuery[]): number {
  const passes = Array.from({ length: PASSES + 2 }, () => {
    const before = process.threadCpuUsage();
    for (const query of queries) index.search(query, nowMs);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / queries.length;
  });
  // The first two are for the compiler.
  return passes.slice(2).sort((a, b) => a - b)[PASSES >> 1]!;
}

/** The radius, by halving, at which about so many are found. */
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

const { index, bytesPerEvent } = build();
const microseconds: Partial<Record<SearchName, number>> = {};
const meanTotals: Partial<Record<SearchName, number>> = {};
let cityTotals: number[] = [];
let cityAtTotals: number | undefined;
const chance = new Chance(SEED + 4);
for (const name of SEARCHES) {
  const queries = cities.map((city) =>
    toIndexQuery(searchParameters(name, city, chance, nowMs + 30 * DAY_MS)),
  );
  const totals = queries.map((query) => index.search(query, nowMs).total);
  meanTotals[name] = totals.reduce((sum, total) => sum + total, 0) / totals.length;
  microseconds[name] = time(index, queries);
  if (name !== 'city') continue;
  cityTotals = totals;
  const { totals: wanted } = input;
  if (wanted) {
    const equal = queries.map((query, at) => ({
      ...query,
      radiusMiles: radiusFor(index, query, wanted[at]!),
    }));
    cityAtTotals = time(index, equal);
  }
}
console.log(JSON.stringify({ microseconds, meanTotals, bytesPerEvent, cityTotals, cityAtTotals }));
